"""Versions that share a window: other thresholds are no worse model, a worse version is one."""

import numpy as np
import pytest
from scipy.special import expit

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import judge_on_curve
from monitor.drift.verdict import DEGRADED
from monitor.events.score_bins import bin_of
from monitor.metrics.histogram import ScoreHistogram

CUT = 1.5


def window(seed, cases, days, *, slid=0.0, shift=0.0, spread=0.6, slid_all=0.0):
    """Outcomes by version and day, and scores by day; every other case is of a new version.

    Args:
        seed: of the cases.
        cases: of both versions.
        days: of the window.
        slid: threshold of the new version less that of the old one.
        shift: mean of the positives of the new version less that of the old one.
        spread: standard deviation of the positives; that of negatives is 1.
        slid_all: threshold of both less 1.5.
    """
    rng = np.random.default_rng(seed)
    day, positive = np.sort(rng.integers(0, days, cases)), rng.random(cases) < 0.1
    new = np.arange(cases) % 2
    mean = np.where(positive, 2 + shift * new, 0)
    value = rng.normal(mean, np.where(positive, spread, 1.0))
    flagged = value > CUT + slid * new + slid_all
    cells, scores = np.zeros((2, days, 4)), np.zeros((2, days, 1000), np.int64)
    np.add.at(
        cells, (new, day, np.select([positive & flagged, flagged, positive], [0, 1, 2], 3)), 1
    )
    np.add.at(scores, (np.where(positive, 0, 1), day, bin_of(expit(value - CUT))), 1)
    return cells, scores


def judged(seed, *, by_version=True, scored=True, cases=30_000, **changed):
    before, scores = window(seed, 60_000, 28, spread=changed.get("spread", 0.6))
    after, _ = window(seed + 1_000, cases, 7, **changed)
    positive, negative = scores
    known = ScoreHistogram(positive=positive, negative=negative, unlabelled=0 * positive)
    whole = ComparedOutcomes(
        *(ConfusionCounts.from_cells(one.sum(axis=0)) for one in (before, after))
    )
    parts = map(ConfusionCounts.from_cells, (before, after))
    found, _ = judge_on_curve(
        whole,
        Dispersion.of(1.0),
        between=None,
        scores=known if scored else None,
        days=whole,
        by_version=ComparedOutcomes(*parts) if by_version else None,
    )
    return found.verdict


@pytest.mark.parametrize("slid", [-0.6, 0.6])
@pytest.mark.parametrize("spread", [0.6, 1.6])
def test_another_threshold_of_a_version_is_no_worse_model(slid, spread):
    found = [judged(seed, slid=slid, spread=spread) for seed in range(10)]
    assert not DEGRADED & {*found}
    assert found.count(Verdict.THRESHOLD_MOVED) >= 9


@pytest.mark.parametrize("slid", [-20.0, 20.0])
@pytest.mark.parametrize("spread", [0.6, 1.6])
def test_a_version_that_flags_everything_or_nothing_is_no_threshold_among_others(slid, spread):
    found = [judged(seed, slid=slid, spread=spread) for seed in range(5)]
    assert {*found} <= DEGRADED | {Verdict.OPERATING_POINT_MOVED, Verdict.INSUFFICIENT_EVIDENCE}
    assert found == [judged(seed, slid=slid, spread=spread, by_version=False) for seed in range(5)]


def test_counted_together_they_lie_below_the_curve_that_each_lies_on():
    assert {judged(seed, slid=-0.6, by_version=False) for seed in range(10)} <= DEGRADED


@pytest.mark.parametrize("slid", [-0.6, 0.0, 0.6])
@pytest.mark.parametrize("spread", [0.6, 1.6])
def test_a_worse_version_is_a_worse_model_at_any_threshold(slid, spread):
    found = [judged(seed, slid=slid, shift=-0.8, spread=spread) for seed in range(10)]
    assert sum(one in DEGRADED for one in found) >= 9


def test_without_scores_a_fall_within_versions_counts():
    alike = [judged(seed, slid=-0.6, spread=1.0, scored=False) for seed in range(10)]
    worse = [judged(seed, shift=-0.8, spread=1.0, scored=False) for seed in range(10)]
    assert not DEGRADED & {*alike}
    assert {*worse} <= DEGRADED


@pytest.mark.parametrize("seed", [3, 4])
def test_rates_in_one_direction_that_scores_leave_open_are_no_worse_model(seed):
    """One version at a lower threshold, of few outcomes: by the rates alone it would be worse."""
    whole = {"cases": 2_000, "spread": 1.6, "by_version": False}
    found = [judged(one, slid_all=-0.5, **whole) for one in range(10 * seed, 10 * seed + 15)]
    rates = [
        judged(one, slid_all=-0.5, scored=False, **whole)
        for one in range(10 * seed, 10 * seed + 15)
    ]
    assert not DEGRADED & {*found}
    assert DEGRADED & {*rates}
