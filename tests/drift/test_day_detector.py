"""The detector by days, on simulated days and against a recomputation."""

import numpy as np
import pytest
from drift.test_day_scatter import drawn

from monitor.counts import ConfusionCounts
from monitor.drift.components import Component
from monitor.drift.day_detector import DayDetector, day_threshold
from monitor.drift.day_scatter import DayScatter

THRESHOLD = day_threshold(1)


def alarms(detector, stream, scatter):
    """Days on which the detector alarms; it starts anew after each."""
    found = []
    for day in range(stream.shape[-1]):
        if detector.update(stream[day], scatter):
            found.append(day)
            detector.restart()
    return found


def of(reference, threshold=THRESHOLD):
    return DayDetector(reference=reference.sum(), days=reference.shape[-1], threshold=threshold)


@pytest.mark.parametrize(
    ("sd", "rho"),
    [
        pytest.param(0.0, 0.0, marks=pytest.mark.slow),
        pytest.param(0.3, 0.0, marks=pytest.mark.slow),
        (0.3, 0.5),
    ],
)
def test_false_alarms_stay_within_the_budget(sd, rho):
    rng, count, years = np.random.default_rng(1), 0, 60
    for _ in range(years):
        reference, stream = drawn(rng, 28, sd, rho), drawn(rng, 365, sd, rho)
        count += len(alarms(of(reference), stream, DayScatter.learn([reference])))
    assert count <= years, "one a year"


@pytest.mark.parametrize(("sd", "most"), [(0.0, 4), (0.3, 14)])
def test_a_fall_of_recall_is_found(sd, most):
    rng, delays = np.random.default_rng(2), []
    for _ in range(30):
        reference, worse = drawn(rng, 28, sd), drawn(rng, 60, sd, recall=0.6)
        delays.append(alarms(of(reference), worse, DayScatter.learn([reference]))[0] + 1)
    assert np.median(delays) <= most


def test_prevalence_and_a_slide_of_the_threshold_are_no_evidence():
    reference = ConfusionCounts(tp=22_400, fp=12_600, fn=5_600, tn=239_400)
    detector = DayDetector(reference=reference, days=28, threshold=THRESHOLD)
    scatter = DayScatter.learn([])
    for _ in range(60):
        assert not detector.update(ConfusionCounts(tp=80, fp=495, fn=20, tn=9_405), scatter)
    odds = np.exp(-0.15)  # both rates lower by .15 in log-odds
    recall, false = 4 * odds / (1 + 4 * odds), odds / 19 / (1 + odds / 19)
    tp, fp = 1_000 * recall, 9_000 * false
    slid = ConfusionCounts(tp=tp, fp=fp, fn=1_000 - tp, tn=9_000 - fp)
    assert not any(detector.update(slid, scatter) for _ in range(60))


def test_a_change_of_mix_is_no_evidence_within_segments():
    reference = ConfusionCounts(tp=[9_000, 2_000], fn=[1_000, 2_000], fp=[500, 500], tn=[9_500] * 2)
    now = ConfusionCounts(tp=[90, 200], fn=[10, 200], fp=[50, 50], tn=[950, 950])
    scatter = DayScatter.learn([])
    within = DayDetector(reference=reference, days=28, threshold=THRESHOLD)
    whole = DayDetector(reference=reference.sum(), days=28, threshold=THRESHOLD)
    assert not any(within.update(now, scatter) for _ in range(30))
    assert any(whole.update(now.sum(), scatter) for _ in range(30))


def test_the_statistic_is_the_recursion_of_shiryaev_and_roberts():
    reference = ConfusionCounts(tp=2_240, fp=1_260, fn=560, tn=23_940)
    day = ConfusionCounts(tp=74, fp=45, fn=26, tn=855)
    scatter = DayScatter.learn([])
    detector = DayDetector(reference=reference, days=28, threshold=THRESHOLD)
    p, f = 2240.5 / 2801, 1260.5 / 25201
    positive, negative = 100 * p * (1 - p), 900 * f * (1 - f)
    deviation = (74 - 100 * p) / positive - (45 - 900 * f) / negative
    own = 1 / (2800 * p * (1 - p)) + 1 / (25200 * f * (1 - f))
    own += scatter.of_days(28)[Component.ODDS_RATIO]
    baseline, rows = -0.1 - np.sqrt(own), 1 / positive + 1 / negative
    variance = rows + scatter.long_run[Component.ODDS_RATIO]
    steps = np.array([0.15, 0.3, 0.6, 1.2])
    ratio = np.exp(
        ((deviation - baseline) ** 2 - (deviation - baseline + steps) ** 2) / (2 * variance)
    )
    expected = np.zeros(4)
    for _ in range(5):
        expected = (1 + expected) * ratio
        detector.update(day, scatter)
        assert detector.evidence == pytest.approx(expected.mean() / THRESHOLD)


def test_a_day_without_a_class_counts_as_time_and_state_is_restored():
    reference = ConfusionCounts(tp=2_240, fp=1_260, fn=560, tn=23_940)
    first, second = (
        DayDetector(reference=reference, days=28, threshold=THRESHOLD) for _ in range(2)
    )
    scatter = DayScatter.learn([])
    first.update(ConfusionCounts(tp=0, fp=5, fn=0, tn=95), scatter)
    assert first.evidence == pytest.approx(1 / THRESHOLD)
    second.restore(first.state())
    day = ConfusionCounts(tp=60, fp=45, fn=40, tn=855)
    assert first.update(day, scatter) == second.update(day, scatter)
    assert first.evidence == second.evidence


def test_a_threshold_needs_a_budget_above_zero():
    with pytest.raises(ValueError, match="false_pages_per_year must be above 0"):
        day_threshold(0)
