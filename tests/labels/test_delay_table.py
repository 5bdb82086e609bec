"""The table of delays, row by row through the engine: what is wrong is not published as right.

Positives take 20 days in the median (lognormal), negatives 3. By the time of the label,
a window reads other precisions than the truth of any week; counted too early, far lower ones.
"""

from functools import cache

import numpy as np
import pytest
from labelled import DAY, FPR, PRECISION, PREVALENCE, RECALL, stream

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.labels.cohorts import Coverage
from monitor.labels.corrected import corrected
from monitor.metrics import balanced_precision
from monitor.snapshot import METRIC_NAMES

DAYS, PER_DAY, SIGMA = 120, 6000, 0.75
SLOW = {"delays": (20, 3, 20, 3), "sigma": SIGMA}
ENDS = (90, 100, 110, 120)


@cache
def steady():
    return stream(DAYS, PER_DAY, 31, **SLOW)


def snapshots(events, ends, **settings):
    settings = {"label_timeout": "120d", **settings}
    monitor, found = Monitor(Config(defaults=settings, windows=["7d"])), []
    for day, batch in enumerate(events.batches(max(ends))):
        monitor.apply(batch)
        if day + 1 in ends:
            found.append(monitor.snapshot())
    return found


def counted(snapshots):
    """Precision and recall of all the windows' counts; and precision were silence negative."""
    windows = [snapshot.windows[0] for snapshot in snapshots]
    cells = sum(window.counts[0].cells for window in windows)
    tp, fp, fn, _ = cells.tolist()
    flagged = sum(int(window.predicted_positive[0]) for window in windows)
    return tp / (tp + fp), tp / (tp + fn), tp / flagged


def ten_days_ago(before, after):
    return lambda day: np.where(day < DAYS - 10, before, after)


def test_by_the_time_of_labels_a_steady_stream_is_right():
    precision, recall, _ = counted(snapshots(steady(), ENDS, clock="label"))
    assert precision == pytest.approx(PRECISION, abs=0.025)
    assert recall == pytest.approx(RECALL, abs=0.025)


@pytest.mark.slow
def test_by_the_time_of_labels_growth_reads_as_lower_precision_and_decides_nothing():
    events = stream(DAYS, 2 * PER_DAY, 32, **SLOW)
    chosen = np.random.default_rng(1).random(len(events.time)) < 1.02 ** (events.time / DAY - DAYS)
    for name in ("time", "predicted", "actual", "delay", "probability", "group"):
        setattr(events, name, getattr(events, name)[chosen])
    found = snapshots(events, ENDS[2:], clock="label")
    assert counted(found)[0] - PRECISION == pytest.approx(-0.093, abs=0.03)
    watched = found[-1].models[0].watched
    assert watched.detections == ()
    assert Verdict.PREVALENCE_SHIFT not in {v.verdict for v in watched.verdicts.values()}


@pytest.mark.slow
def test_by_the_time_of_labels_rarer_positives_are_seen_late():
    halved = ten_days_ago(PREVALENCE, PREVALENCE / 2)
    found = snapshots(stream(DAYS, PER_DAY, 33, prevalence=halved, **SLOW), (DAYS,), clock="label")
    truth = 0.01 * RECALL / (0.01 * RECALL + 0.99 * FPR)
    assert counted(found)[0] - truth == pytest.approx(0.159, abs=0.04)


@pytest.mark.slow
def test_by_the_time_of_labels_a_fall_of_recall_is_seen_late():
    fallen = ten_days_ago(RECALL, 0.5)
    found = snapshots(stream(DAYS, PER_DAY, 34, recall=fallen, **SLOW), (DAYS,), clock="label")
    assert counted(found)[1] - 0.5 == pytest.approx(0.27, abs=0.05)


@pytest.mark.slow
def test_labelled_so_far_and_silence_so_far_are_far_too_low_and_nothing_is_published():
    found = snapshots(steady(), ENDS, maturity="0s")
    precision, recall, with_silence = counted(found)
    assert precision - PRECISION == pytest.approx(-0.54, abs=0.04)
    assert recall == pytest.approx(RECALL, abs=0.08)
    assert with_silence - PRECISION == pytest.approx(-0.60, abs=0.02)
    for window in (snapshot.windows[0] for snapshot in found):
        assert window.status[0] == "immature"
        assert all(np.isnan(window.metrics[name].estimate[0]) for name in METRIC_NAMES)
    with pytest.raises(ValueError, match="must be at least the label_timeout"):
        Config(defaults={"labelling": "negatives_by_timeout", "maturity": "7d"})


@pytest.mark.parametrize(
    ("age", "bias"), [("30d", -0.07), pytest.param("60d", -0.017, marks=pytest.mark.slow)]
)
def test_a_cut_off_is_too_low_as_counted_and_right_as_published(age, bias):
    # The longest delays show after a hundred days: what looks there say is settled.
    found = snapshots(steady(), ENDS[1:], maturity=age)
    windows = [snapshot.windows[0] for snapshot in found]
    true = sum(steady().cells(int(w.open[0]), int(w.close[0])) for w in windows)
    truth = true[0] / (true[0] + true[1])
    assert counted(found)[0] - truth == pytest.approx(bias, abs=0.012)
    assert {window.status[0] for window in windows} == {"corrected"}
    published = np.mean([window.metrics["precision"].estimate[0] for window in windows])
    assert published - truth == pytest.approx(0, abs=0.01)
    cells = sum(window.counts[0].cells for window in windows)
    as_counted = float(balanced_precision(ConfusionCounts.from_cells(cells)))
    assert as_counted == pytest.approx(RECALL / (RECALL + FPR), abs=0.002)


def test_even_a_week_of_which_a_thirtieth_came_is_right_where_that_is_known():
    """The offset log(G1/G0) with G1 = .03, which the engine withholds all the same."""
    rng = np.random.default_rng(35)
    whole = np.array([2_240, 1_372, 560, 135_828])
    share = np.array([0.03, 0.75, 0.03, 0.75])
    came = rng.binomial(rng.poisson(whole, (4_000, 4)), share)
    found = corrected(came, Coverage(share, np.zeros(4)), "precision")
    truth = whole[0] / (whole[0] + whole[1])
    assert abs(found.estimate.mean() - truth) <= 0.01
    covered = (found.lower <= truth) & (truth <= found.upper)
    assert 0.93 <= covered.mean() <= 0.97


CHANGED, MATURITY = 30, 15


@pytest.mark.slow
@pytest.mark.parametrize("slower", ["predictions from then on", "labels from then on"])
def test_a_pipeline_half_as_slow_again_is_not_taken_for_rarer_positives(slower):
    events = stream(60, 8000, 1, delays=(4, 0.6, 4, 0.6))
    if slower == "predictions from then on":
        hit = events.actual & (events.time >= CHANGED * DAY)
        events.delay[hit] *= 1.5
    else:
        arrival = events.time / DAY + events.delay
        hit = events.actual & (arrival >= CHANGED)
        events.delay[hit] += 0.5 * np.minimum(arrival - CHANGED, events.delay)[hit]
    settings = {"label_timeout": "60d", "reference": {"first": "10d"}}
    monitor = Monitor(Config(defaults=settings, windows=["7d"]))
    found = {}
    for day, batch in enumerate(events.batches(60)):
        monitor.apply(batch)
        if day >= CHANGED - 2:
            watched = monitor.snapshot().models[0].watched
            found[day + 1] = watched.verdicts["7d"]
    untrusted = {day for day, v in found.items() if v.verdict == Verdict.LABELS_NOT_TRUSTWORTHY}
    assert untrusted
    assert CHANGED < min(untrusted) <= CHANGED + 2 * MATURITY
    assert found[min(untrusted)].label_fault == "delays_changed"
    assert {v.verdict for v in found.values()} <= {
        Verdict.NO_CHANGE,
        Verdict.INSUFFICIENT_EVIDENCE,
        Verdict.LABELS_NOT_TRUSTWORTHY,
    }
    assert watched.detections == ()
