"""The rows of the table of regimes: which number may be published, and is then right."""

import random

import numpy as np
import pytest
from labelled import DAY, FPR, PRECISION, RECALL, by_outcome, stream
from recount import Recount
from streams import in_batches

from monitor.config import Config
from monitor.config.labelling import Labelling
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.join.sampling import SQUARED_WEIGHTS, WEIGHT_UNIT, WEIGHTS, strata
from monitor.labels.refusals import REASONS, REFUSED
from monitor.metrics import precision_at
from monitor.snapshot import METRIC_NAMES
from monitor.windows.weights import SUMS

RATIO = 0.02 / 0.98


def monitor_of(windows=("7d",), **settings):
    settings = {"label_timeout": "10d", "class_ratios": [RATIO], **settings}
    return Monitor(Config(defaults=settings, windows=list(windows)))


def seen(labelled=(1, 1, 1, 1), delays=(0, 0, 0, 0), *, weighted=False, seed=2, **settings):
    """The last week of twenty days of 20,000 predictions, and the model."""
    events = stream(
        20, 20_000, seed, labelled=labelled, delays=delays, weighted=weighted, sigma=0.3
    )
    snapshot = events.into(monitor_of(**settings), 20).snapshot()
    return snapshot.windows[0], snapshot.models[0]


def covers(estimate, truth):
    return estimate.lower[0] <= truth <= estimate.upper[0]


def all_cover(window):
    truths = {"precision": PRECISION, "recall": RECALL, "false_positive_rate": FPR}
    truths |= {"prevalence": 0.02, "log_likelihood_ratio": np.log(RECALL / FPR)}
    known = {name: covers(window.metrics[name], truth) for name, truth in truths.items()}
    known["precision_at"] = covers(window.precision_at[RATIO], PRECISION)
    return {name for name, covered in known.items() if not covered} == set()


def raw(window):
    counts = window.counts[0]
    at = float(precision_at(counts, class_ratio=RATIO))
    return float(counts.tp / (counts.tp + counts.fp)), at


def test_all_labelled_everything_is_right():
    window, _ = seen()
    assert all_cover(window)
    assert window.status.tolist() == ["mature"]


def test_positives_that_lag_are_held_back_and_right_once_mature():
    """Two in five positives are confirmed at once and the others after ten days."""
    events = stream(20, 20_000, 2)
    later = np.random.default_rng(1).random(len(events.time)) < 0.6
    events.delay[events.actual & later] = 10
    settings = {"maturity": "1d", "label_timeout": "18d"}
    young = events.into(monitor_of(**settings), 20).snapshot().windows[0]
    assert raw(young) == (pytest.approx(0.395, abs=0.03), pytest.approx(PRECISION, abs=0.06))
    assert young.status.tolist() == ["immature"]
    assert all(np.isnan(young.metrics[name].estimate[0]) for name in METRIC_NAMES)
    mature, _ = seen(delays=(3, 0.1, 3, 0.1), label_timeout="18d")
    assert mature.status.tolist() == ["mature"]
    assert all_cover(mature)


@pytest.mark.slow
def test_all_positives_and_few_negatives_need_weights():
    rates = (1, 0.05, 1, 0.05)
    unweighted, _ = seen(rates)
    assert raw(unweighted) == (pytest.approx(0.970, abs=0.01), pytest.approx(PRECISION, abs=0.06))
    window, _ = seen(rates, weighted=True, labelling="weighted")
    assert all_cover(window)


@pytest.mark.parametrize("labelling", ["sampled", "weighted"])
def test_all_flagged_and_few_others_are_right_by_begg_and_greenes(labelling):
    window, model = seen((1, 1, 0.01, 0.01), weighted=True, labelling=labelling)
    reads, at_ratio = raw(window)
    assert reads == pytest.approx(PRECISION, abs=0.03)
    assert at_ratio == pytest.approx(0.039, abs=0.02)
    assert all_cover(window)
    assert window.metrics["balanced_precision"].estimate[0] > 0.98
    assert model.watched.detectors_off == ""
    assert model.watched.prevalence_shift_detected is None
    assert model.refused == {}


def test_flagged_positives_and_unflagged_positives_at_different_rates_need_weights():
    rates = (0.4, 1, 0.1, 1)
    unweighted, _ = seen(rates)
    assert raw(unweighted) == (
        pytest.approx(0.395, abs=0.03),
        pytest.approx(0.658, abs=0.04),
    )
    window, _ = seen(rates, weighted=True, labelling="weighted")
    assert all_cover(window)


def test_silence_past_the_timeout_is_a_negative():
    window, model = seen(
        (1, 0, 1, 0), delays=(2, 0, 2, 0), labelling="negatives_by_timeout", label_timeout="6d"
    )
    assert all_cover(window)
    assert model.maturity_ms == 6 * DAY
    assert window.close[0] <= 20 * DAY - 6 * DAY
    assert window.label_coverage()[1][0] == 1


def test_flagged_alone_gives_precision_and_refuses_the_rest():
    window, model = seen((1, 1, 0, 0), labelling="flagged_only")
    assert covers(window.metrics["precision"], PRECISION)
    for name in set(METRIC_NAMES) - {"precision"}:
        assert np.isnan([values[0] for values in window.metrics[name]]).all()
        assert model.refused[name] == "flagged_only"
    assert np.isnan(window.precision_at[RATIO].estimate[0])
    assert "precision alone" in model.refused_because
    assert {v.verdict for v in model.watched.verdicts.values()} == {Verdict.INSUFFICIENT_EVIDENCE}
    assert model.watched.detections == ()
    assert model.watched.detectors_off == "flagged_only"
    assert model.watched.prevalence_shift_detected is None


def test_every_reason_has_its_sentence():
    assert {r for refused in REFUSED.values() for r in refused.values()} <= set(REASONS)
    assert {str(regime) for regime in REFUSED} <= {str(regime) for regime in Labelling}


def reported(seed=1, n=3000, timeout=5000.0):
    """Predictions of which positives are reported, some too late, some taken back."""
    chance, events = random.Random(seed), []
    for i in range(n):
        events.append(
            {"type": "prediction", "id": f"p{i}", "ts": i * 10, "prediction": int(i % 3 == 0)}
        )
        if chance.random() < 0.2:
            delay = chance.uniform(0, 1.3 * timeout)
            events.append({"type": "label", "id": f"p{i}", "ts": i * 10 + delay, "label": 1})
            if chance.random() < 0.2:
                back = {"type": "label", "id": f"p{i}", "ts": i * 10 + delay * 1.01}
                events.append({**back, "label": chance.choice([None, 0])})
    return sorted(events, key=lambda e: e["ts"])


def silent_cells(events, timeout, opens, closes):
    truth = Recount(events, timeout)
    cells = [0, 0, 0, 0]
    for identity, made in truth.predictions.items():
        if opens <= made["ts"] < closes:
            positive = truth.label_of(identity) == 1
            cells[(0 if positive else 1) if made["prediction"] else (2 if positive else 3)] += 1
    return cells


@pytest.mark.parametrize("order", ["in order", "shuffled"])
def test_windows_lifetime_and_books_equal_the_recount_where_silence_is_a_negative(order):
    timeout, events = 5000.0, reported()
    taken = events if order == "in order" else random.Random(3).sample(events, len(events))
    monitor = Monitor(
        Config(
            defaults={"labelling": "negatives_by_timeout", "label_timeout": "5000s"},
            windows=["1h", "2h"],
        )
    )
    for batch in in_batches(taken, 500):
        monitor.apply(batch)
    snapshot = monitor.snapshot()
    now, model = snapshot.watermark_ms / 1000, snapshot.models[0]
    for window in snapshot.windows:
        bounds = window.open[0] / 1000, window.close[0] / 1000
        assert bounds[1] <= now - timeout
        assert window.counts[0].cells.tolist() == silent_cells(events, timeout, *bounds)
    old = silent_cells(events, timeout, -1, now - timeout)
    assert snapshot.lifetime.counts[0].cells.tolist() == old
    assert model.expired == 0
    made = model.predictions_positive + model.predictions_negative
    assert made == model.matched + model.pending + model.evicted == 3000


def test_the_predictions_that_had_to_be_forgotten_are_no_negatives():
    events = [
        {"type": "prediction", "id": f"p{i}", "ts": i / 100, "prediction": 1} for i in range(40_000)
    ]
    config = Config(
        defaults={"labelling": "negatives_by_timeout", "label_timeout": "1h"},
        windows=["1h"],
        max_pending=10_000,
    )
    monitor = Monitor(config)
    for batch in in_batches(events, 5000):
        monitor.apply(batch)
    later = {"type": "prediction", "id": "x", "ts": 9000, "prediction": 0}
    for batch in in_batches([{**later, "id": str(i)} for i in range(4)], 4):
        monitor.apply(batch)
    model, window = monitor.snapshot().models[0], monitor.snapshot().lifetime
    assert model.evicted > 0
    assert window.counts.fp[0] == 40_000 - model.evicted


def test_strata_weigh_right_on_average_and_exactly_where_they_can():
    key = np.arange(1, 200_001, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for probability in (1.0, 0.5, 0.3, 0.1, 0.013, 1e-3):
        code = strata(np.full(len(key), probability), key)
        assert len(np.unique(code)) <= 2
        assert WEIGHTS[code].mean() / WEIGHT_UNIT == pytest.approx(1 / probability, rel=1e-3)
    assert (strata(np.array([1.0, 0.5, 0.25]), key[:3]) == [1, 9, 17]).all()
    assert SQUARED_WEIGHTS[9] == 4 * WEIGHT_UNIT
    assert strata(np.array([np.nan]), key[:1]).tolist() == [0]
    assert strata(np.array([1e-9]), key[:1]).tolist() == [127]


def test_order_duplicates_and_batches_change_no_weight():
    events = stream(3, 2000, 5, prevalence=0.2, labelled=(1, 0.7, 0.2, 0.03), weighted=True)
    by_day = events.into(monitor_of(labelling="weighted"), step=DAY)
    by_hour = events.into(monitor_of(labelling="weighted"), step=DAY // 24)
    backwards = monitor_of(labelling="weighted")
    for batch in reversed(list(events.batches())):
        backwards.apply(batch)
        backwards.apply(batch)
    sums = [m._windows.weights.lifetime.tolist() for m in (by_day, by_hour, backwards)]
    assert sums[0] == sums[1] == sums[2]
    assert len(sums[0][0]) == SUMS
    expected = by_outcome(events.predicted, events.actual, range(4))
    for cell in range(4):
        labels = np.isfinite(events.delay) & (expected == cell)
        weight = (1 / events.probability[labels]).sum()
        assert sums[0][0][cell] / WEIGHT_UNIT == pytest.approx(weight, rel=0.02)


def test_retracted_labels_leave_no_weight_behind():
    events = stream(2, 2000, 6, prevalence=0.2, labelled=(1, 0.7, 0.2, 0.03), weighted=True)
    monitor = events.into(monitor_of(labelling="weighted"))
    for batch in events.batches():
        batch.labels.value[:] = 2
        batch.labels.time[:] += 1
        monitor.apply(batch)
    assert not monitor._windows.weights.lifetime.any()
    assert not monitor.snapshot().lifetime.counts.total.any()


def test_labels_without_a_probability_do_not_count_where_labels_are_weighted():
    window, _ = seen((1, 1, 0.5, 0.5), labelling="weighted")
    assert window.counts.total[0] > 0
    assert np.isnan(window.metrics["recall"].estimate[0])


@pytest.mark.parametrize("labelling", ["sampled", "weighted", "negatives_by_timeout"])
def test_a_label_clock_does_not_go_with_regimes_that_count_predictions(labelling):
    with pytest.raises(ValueError, match="must be prediction under labelling"):
        Config(models={"m": {"labelling": labelling, "clock": "label"}})


def test_verdicts_rest_on_expected_outcomes_where_labels_are_sampled():
    fallen = lambda day: np.where(day < 20, 0.8, 0.4)  # noqa: E731  # a rate by the day
    events = stream(30, 5000, 7, prevalence=0.2, fpr=0.05, recall=fallen, labelled=(1, 1, 0.2, 0.2))
    model = events.into(monitor_of(labelling="sampled"), 30).snapshot().models[0]
    found = model.watched.verdicts["7d"]
    assert found.verdict == Verdict.MODEL_DEGRADED
    assert found.judgement.fell[:1] == ("recall",)
    steady = stream(30, 5000, 8, prevalence=0.2, fpr=0.05, labelled=(1, 1, 0.2, 0.2))
    found = steady.into(monitor_of(labelling="sampled"), 30).snapshot().models[0].watched
    assert found.verdicts["7d"].verdict in {Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE}
    assert found.detections == ()


def test_a_change_of_the_audit_rate_is_no_change_of_the_model():
    events = stream(30, 5000, 9, prevalence=0.2, fpr=0.05, labelled=(1, 1, 0.4, 0.4))
    rng = np.random.default_rng(1)
    late = (events.time > 20 * DAY) & ~events.predicted & (rng.random(len(events.time)) < 0.75)
    events.delay[late] = np.inf
    model = events.into(monitor_of(labelling="sampled"), 30).snapshot().models[0]
    assert model.watched.verdicts["7d"].verdict in {
        Verdict.NO_CHANGE,
        Verdict.INSUFFICIENT_EVIDENCE,
    }
    assert not model.watched.degradation_detected


def test_an_audit_that_stopped_leaves_nothing_to_judge():
    events = stream(30, 5000, 8, prevalence=0.2, fpr=0.05, labelled=(1, 1, 0.2, 0.2))
    events.delay[(events.time > 18 * DAY) & ~events.predicted] = np.inf
    snapshot = events.into(monitor_of(labelling="sampled"), 30).snapshot()
    found = snapshot.models[0].watched.verdicts["7d"]
    assert found.verdict == Verdict.INSUFFICIENT_EVIDENCE
    assert found.attribution is None
    assert np.isnan(snapshot.windows[0].metrics["recall"].estimate[0])
    assert covers(snapshot.windows[0].metrics["precision"], 0.8)
