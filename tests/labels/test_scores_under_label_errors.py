"""Corrected scores decide what corrected rates leave open: another threshold, or a worse model."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, block_ms_of, diagnose
from monitor.drift import Verdict
from monitor.drift.curve_parts import curve_parts, curve_parts_at_all
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.labels.error_ranges import Corner, LabelledBlocks, at_corners, certain_at
from monitor.labels.regime import LabelRegime
from monitor.metrics.corrected_scores import actual_classes
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.label_errors import ErrorRates
from monitor.report.advice import advice
from monitor.report.diagnosis_text import diagnosis_text
from monitor.state.encoding import decoded, encoded

DAY, BEFORE, AFTER, A_DAY = 86_400_000, 14, 7, 5_000
FLIPS = 0.01
RATES = {
    "known": {"false_positive": FLIPS, "false_negative": FLIPS},
    "ranges": {"false_positive": (0.008, 0.012), "false_negative": (0.0, 0.02)},
}
CUT, GAP = 1.6, 2.4
HIGHER, WORSE = (CUT + 0.4, GAP), (CUT + 0.3, GAP - 0.4)
"""Threshold, and distance of the classes: another threshold; a worse model behind one as well."""


def day_of(rng, day, cut, gap, *, scored=True):
    actual = rng.random(A_DAY) < 0.1
    normal = rng.normal(size=A_DAY) + gap * actual
    moment = day * DAY + np.sort(rng.integers(0, DAY, A_DAY))
    return EventBatch(
        outcomes=Outcomes(
            time=moment,
            label_time=moment,
            predicted_positive=normal >= cut,
            actual_positive=actual ^ (rng.random(A_DAY) < FLIPS),
            score=expit(normal - 1) if scored else np.full(A_DAY, np.nan),
            group=np.zeros(A_DAY, dtype=np.int64),
        ),
        groups=(Group("m"),),
        records=A_DAY,
    )


def configured(rates):
    settings = {"label_timeout": "1h", "label_errors": RATES[rates]}
    settings["reference"] = {"window": {"length": f"{BEFORE}d", "end": f"1970-01-{BEFORE + 1:02}"}}
    return Config(models={"m": settings}, windows=["7d"])


@cache
def monitored(rates, after, *, scored=True):
    monitor = Monitor(configured(rates))
    asked = ((0, BEFORE * DAY), (BEFORE * DAY, (BEFORE + AFTER) * DAY))
    counted = [monitor.count_range(*one, block_ms_of(*one)) for one in asked]
    rng = np.random.default_rng(3)
    for day in range(BEFORE + AFTER + 1):
        now = (CUT, GAP) if day < BEFORE else after
        monitor.apply(day_of(rng, day, *now, scored=scored))
    return monitor, counted, asked


def verdict_of(monitor):
    return monitor.snapshot().models[0].watched.verdicts["7d"]


@pytest.mark.parametrize(
    ("after", "wanted"),
    [(HIGHER, Verdict.THRESHOLD_MOVED), (WORSE, Verdict.MODEL_DEGRADED)],
    ids=["threshold", "worse"],
)
def test_scores_settle_a_moved_operating_point(after, wanted):
    for rates in ("known", "ranges"):
        monitor, *_ = monitored(rates, after)
        assert verdict_of(monitor).verdict is wanted
    alone, *_ = monitored("known", after, scored=False)
    assert verdict_of(alone).verdict is Verdict.OPERATING_POINT_MOVED


def test_a_restored_monitor_judges_by_the_same_curve():
    monitor, *_ = monitored("known", WORSE)
    data = bytearray().join(map(bytes, encoded(monitor.state(), 1)))
    _, state = decoded(data, Path("state"))
    other = Monitor(configured("known"), state)
    assert verdict_of(other).judgement == verdict_of(monitor).judgement
    assert verdict_of(other).judgement.below_reference_curve


def diagnosed(rates, after):
    errors = ErrorRates.within(**RATES[rates])
    monitor, counted, asked = monitored("known", after)
    periods = [
        replace(
            Period.counted(counts, "m", *one, regime=LabelRegime(errors=errors)),
            scores_as_labelled=monitor.scores_by_block("m", *one),
        )
        for counts, one in zip(counted, asked, strict=True)
    ]
    return periods, diagnose(*periods, model="m")


def true_parts(after):
    """What threshold and curve did, from many right labels."""
    rng, sides = np.random.default_rng(9), []
    for cut, gap in ((CUT, GAP), after):
        actual = rng.random(1_000_000) < 0.1
        normal = rng.normal(size=len(actual)) + gap * actual
        sides.append((actual, normal, normal >= cut))
    old, new = ((f[a].mean(), f[~a].mean()) for a, _, f in sides)
    actual, normal, _ = sides[0]
    reached = (normal[actual] >= np.quantile(normal[~actual], 1 - new[1])).mean()
    precision = [r / (r + 9 * f) for r, f in (old, (reached, new[1]), new)]
    return np.diff(precision)


@pytest.mark.parametrize("after", [HIGHER, WORSE], ids=["threshold", "worse"])
def test_parts_are_those_of_right_labels_and_wider_over_ranges(after):
    found = {rates: diagnosed(rates, after)[1] for rates in ("known", "ranges")}
    known, ranges = (one.scores.parts for one in found.values())
    widths = {}
    for part, wide, truth in zip(
        (known.threshold, known.curve),
        (ranges.threshold, ranges.curve),
        true_parts(after),
        strict=True,
    ):
        assert part.lower_points < truth < part.upper_points
        assert part.upper_points - part.lower_points < 0.05
        assert wide.lower_points <= part.lower_points
        assert part.upper_points <= wide.upper_points
        widths[part] = wide.upper_points - wide.lower_points
    assert any(width > one.upper_points - one.lower_points for one, width in widths.items())
    skill = found["known"].attribution["skill"].points
    assert known.threshold.points + known.curve.points == pytest.approx(skill, abs=0.01)
    text = " ".join(diagnosis_text(found["known"]).split())
    assert "movement along the ROC curve accounts for" in text


def test_intervals_of_parts_at_the_ends_of_ranges_are_between_days():
    """Hours of a day share its shift, so that intervals between hours are too narrow."""
    (before, after), found = diagnosed("ranges", HIGHER)
    corners = at_corners(before.labelled_blocks, after.labelled_blocks, before.scores_as_labelled)
    assert after.block_ms < DAY
    each = [
        curve_parts(one.scores, one.before, ConfusionCounts.from_cells(by_day(one.after)))
        for one in corners
    ]
    parts = found.scores.parts
    known = diagnosed("known", HIGHER)[1].scores.parts
    for name in ("threshold", "curve"):
        ends = [getattr(one, name) for one in (*each, known)]
        assert getattr(parts, name).lower_points == min(one.lower_points for one in ends)
        assert getattr(parts, name).upper_points == max(one.upper_points for one in ends)


def by_day(blocks):
    cells = blocks.cells
    return cells.reshape(AFTER, -1, cells.shape[-1]).sum(axis=1)


def test_no_advice_is_given_twice_where_rates_leave_the_cause_open():
    found, verdict = diagnosed("known", HIGHER)[1], Verdict.INSUFFICIENT_EVIDENCE
    assert found.operating_point_moved
    judgement = replace(found.judgement, verdict=verdict, on_reference_curve=False)
    given = advice(replace(found, verdict=verdict, judgement=judgement))
    assert len(given) == len(set(given)) > 2


def test_corners_have_the_curve_of_their_own_rates_and_the_verdict_is_that_of_all():
    periods, _ = diagnosed("ranges", HIGHER)
    before, after = periods
    scores = before.scores_as_labelled
    corners = at_corners(before.labelled_blocks, after.labelled_blocks, scores)
    wanted = [
        actual_classes(scores, ErrorRates(first, second)).positive.sum()
        for first in (0.008, 0.012)
        for second in (0.0, 0.02)
    ]
    found = sorted(one.scores.positive.sum() for one in corners)
    assert found == pytest.approx(sorted(wanted))
    judgement = diagnosed("known", HIGHER)[1].judgement
    assert judgement.verdict is Verdict.THRESHOLD_MOVED
    between = None
    assert certain_at(judgement, corners, between).verdict is Verdict.THRESHOLD_MOVED
    without = [one._replace(scores=None) for one in corners]
    certain = certain_at(judgement, without, between)
    assert certain.verdict is Verdict.OPERATING_POINT_MOVED
    assert not certain.on_reference_curve
    assert certain.below_reference_curve is False


def test_without_rates_there_is_no_curve():
    labelled = ScoreHistogram.from_scores(positive=[0.9, 0.8], negative=[0.1, 0.2])
    cells = np.array([[5, 1, 1, 9, 0, 0]])
    opens = np.zeros(1, dtype=np.int64)
    nan = float("nan")
    unknown = LabelledBlocks(LabelRegime(errors=ErrorRates(nan, nan)), cells, opens)
    assert unknown.corrected(labelled) is None
    known = LabelledBlocks(LabelRegime(errors=ErrorRates(0.01, 0.02)), cells, opens)
    assert known.corrected(None) is None
    assert known.corrected(labelled).positive.sum() == pytest.approx((0.99 * 2 - 0.01 * 2) / 0.97)
    assert curve_parts_at_all([None]) is None
    given = ConfusionCounts(tp=[5], fp=[1], fn=[1], tn=[9])
    ranged = LabelledBlocks(LabelRegime(errors=ErrorRates.within((0.0, 0.01), 0.0)), cells, opens)
    assert all(isinstance(one, Corner) and one.scores is None for one in at_corners(given, ranged))
