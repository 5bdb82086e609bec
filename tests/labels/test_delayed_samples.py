"""Samples of labels that come late: corrected within either stratum, or held back."""

from dataclasses import replace

import numpy as np
import pytest
from labelled import FPR, PRECISION, PREVALENCE, RECALL, stream

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.engine import Monitor
from monitor.join.deltas import CELLS
from monitor.labels.cohorts import Coverage
from monitor.labels.estimates import measure
from monitor.labels.evidence import Evidence, Kind
from monitor.snapshot import METRIC_NAMES

DAYS = 60
LATE = {"delays": (6, 1, 6, 1)}
TRUTHS = {
    "precision": PRECISION,
    "recall": RECALL,
    "false_positive_rate": FPR,
    "prevalence": PREVALENCE,
    "log_likelihood_ratio": np.log(RECALL / FPR),
}


def young_windows(labelling, labelled, *, seed, maturity="7d", weighted=False):
    events = stream(DAYS, 12_000, seed, labelled=labelled, weighted=weighted, **LATE)
    settings = {"labelling": labelling, "label_timeout": "40d", "maturity": maturity}
    monitor, found = Monitor(Config(defaults=settings, windows=["7d"])), []
    for day, batch in enumerate(events.batches(DAYS)):
        monitor.apply(batch)
        if day + 1 in {40, 50, 60}:
            found.append(monitor.snapshot().windows[0])
    return found


def as_counted(window):
    counts = window.counts[0]
    return float(counts.tp / (counts.tp + counts.fp))


def test_a_young_sample_is_corrected_in_either_stratum():
    windows = young_windows("sampled", (1, 1, 0.2, 0.2), seed=1)
    assert {window.status[0] for window in windows} == {"corrected"}
    assert np.mean([as_counted(window) for window in windows]) < PRECISION - 0.03
    for name, truth in TRUTHS.items():
        held = [w.metrics[name].lower[0] <= truth <= w.metrics[name].upper[0] for w in windows]
        assert sum(held) >= 2, name
    means = [np.mean([w.metrics[n].estimate[0] for w in windows]) for n in ("precision", "recall")]
    assert means == [pytest.approx(PRECISION, abs=0.015), pytest.approx(RECALL, abs=0.04)]


def test_precision_of_flagged_cases_alone_is_corrected_while_they_are_young():
    windows = young_windows("flagged_only", (1, 1, 0, 0), seed=2)
    assert {window.status[0] for window in windows} == {"corrected"}
    assert np.mean([as_counted(window) for window in windows]) < PRECISION - 0.03
    published = np.array([list(w.metrics["precision"]) for w in windows])[..., 0]
    assert published[:, 0].mean() == pytest.approx(PRECISION, abs=0.015)
    for window in windows:
        for name in set(METRIC_NAMES) - {"precision"}:
            assert np.isnan(window.metrics[name].estimate[0])


@pytest.mark.slow
def test_young_weighted_labels_are_held_back_and_right_once_they_have_come():
    rates = {"labelled": (1, 1, 0.2, 0.2), "weighted": True}
    for window in young_windows("weighted", seed=3, **rates):
        assert window.status[0] == "immature"
        assert all(np.isnan(window.metrics[name].estimate[0]) for name in METRIC_NAMES)
    window = young_windows("weighted", seed=8, maturity="auto", **rates)[-1]
    assert window.status[0] == "mature"
    recall = window.metrics["recall"]
    assert recall.lower[0] <= RECALL <= recall.upper[0]


@pytest.mark.parametrize("labelling", ["sampled", "flagged_only"])
def test_young_samples_below_half_coverage_are_absent(labelling):
    rates = (1, 1, 0.2, 0.2) if labelling == "sampled" else (1, 1, 0, 0)
    for window in young_windows(labelling, rates, seed=4, maturity="1d"):
        assert window.status[0] == "immature"
        assert np.isnan(window.metrics["precision"].estimate[0])


AUDIT, DRAWS = 0.05, 4_000
WEEK = np.array([2_240, 1_372, 560, 135_828])
SHARES = [(0.75, 0.99, 0.75, 0.99), (0.6, 0.9, 0.6, 0.9), (0.9, 0.95, 0.5, 0.7)]


def drawn(shares, rng):
    """Weeks in which all flagged cases and a twentieth of the others are asked for."""
    made = rng.poisson(WEEK, (DRAWS, 4))
    asked = rng.binomial(made, (1, 1, AUDIT, AUDIT))
    cells = np.zeros((DRAWS, CELLS), dtype=np.int64)
    cells[:, :4] = rng.binomial(asked, shares)
    cells[:, 4], cells[:, 5] = made[:, 0] + made[:, 1], made[:, 2] + made[:, 3]
    return cells


@pytest.mark.parametrize("shares", SHARES)
def test_corrected_samples_are_unbiased_and_covered_where_coverage_is_known(shares):
    rng = np.random.default_rng(5)
    evidence = Evidence.of(np.full(DRAWS, Kind.CORRECTED_SAMPLED), drawn(shares, rng))
    evidence.coverage.share[:] = shares
    truth = ConfusionCounts.from_cells(WEEK)
    truths = {
        "precision": truth.tp / truth.predicted_positive,
        "recall": truth.tp / truth.actual_positive,
        "false_positive_rate": truth.fp / truth.actual_negative,
        "prevalence": truth.actual_positive / truth.total,
        "log_likelihood_ratio": np.log(truth.tp / truth.actual_positive)
        - np.log(truth.fp / truth.actual_negative),
    }
    for name, true in truths.items():
        estimate, lower, upper = measure(evidence, name)
        assert 0.94 <= np.mean((lower <= true) & (true <= upper)) <= 0.985, name
        if name == "precision":
            assert abs(estimate.mean() - true) <= 0.005


def test_the_error_of_the_coverage_is_in_the_interval_of_a_sample():
    rng, shares = np.random.default_rng(6), np.array(SHARES[0])
    cells = drawn(shares, rng)
    noisy = shares * np.exp(0.05 * rng.standard_normal((DRAWS, 4)))
    held = {}
    for known in (0.0, 0.05**2):
        evidence = Evidence.of(np.full(DRAWS, Kind.CORRECTED_FLAGGED), cells)
        evidence = replace(evidence, coverage=Coverage(noisy, np.full((DRAWS, 4), known)))
        _, lower, upper = measure(evidence, "precision")
        held[known] = np.mean((lower <= PRECISION) & (upper >= PRECISION))
    assert held[0.0] < 0.85
    assert 0.93 <= held[0.05**2] <= 0.97


def test_mature_and_corrected_samples_agree_where_all_has_come():
    cells = drawn((1, 1, 1, 1), np.random.default_rng(7))[:50]
    for name in METRIC_NAMES:
        young = measure(Evidence.of(np.full(50, Kind.CORRECTED_SAMPLED), cells), name)
        mature = measure(Evidence.of(np.full(50, Kind.SAMPLED), cells), name)
        np.testing.assert_allclose(young, mature, rtol=1e-9)
