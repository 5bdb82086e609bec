"""When the level that pages rest on is replaced."""

import dataclasses

import numpy as np
import pytest

from monitor.clock import DAY_MS
from monitor.config import Reference, ReferenceCounts
from monitor.counts import ConfusionCounts
from monitor.drift import judge
from monitor.drift.day_scatter import DayScatter
from monitor.drift.verdict import Verdict
from monitor.watch.level import longer_level, renewal_days, renewed_level
from monitor.watch.reference import MatureReference

CLOSES = 28
BEFORE = ConfusionCounts(tp=600 * 28, fp=450 * 28, fn=400 * 28, tn=8_550 * 28)
QUIET = DayScatter.learn([BEFORE[None][np.zeros(28, dtype=int)]])


def level(source="first", opens=0, closes=CLOSES):
    given = MatureReference.given(ReferenceCounts(tp=1, fp=1, fn=1, tn=1))
    values = {name: getattr(given, name) for name in MatureReference.__slots__}
    return MatureReference(
        **values | {"source": source, "opens": opens * DAY_MS, "closes": closes * DAY_MS}
    )


def judging(recall_of_day):
    """Judges days of 1,000 positives whose recall is given."""

    def judged(first, end):
        recall = np.mean([recall_of_day(day) for day in range(first, end)])
        days, tp = end - first, round(1_000 * recall) * (end - first)
        now = ConfusionCounts(tp=tp, fp=450 * days, fn=1_000 * days - tp, tn=8_550 * days)
        return judge(BEFORE, now, between=QUIET.between(28, days))

    return judged


@pytest.mark.parametrize(
    ("reference", "days"),
    [
        ({"first": "7d"}, 28),
        ({"first": "30d"}, 35),
        ({"trailing": "7d"}, 28),
        ({"trailing": "60d"}, 63),
        ({"counts": {"tp": 1, "fp": 1, "fn": 1, "tn": 1}}, None),
        ({"window": {"length": "7d", "end": "2026-11-01T00:00:00Z"}}, None),
    ],
)
def test_a_better_level_lasts_as_long_as_the_reference_and_four_weeks(reference, days):
    assert renewal_days(Reference.model_validate(reference)) == days


def test_the_level_is_renewed_once_all_of_the_days_are_better():
    judged = judging(lambda day: 0.6 if day < 40 else 0.8)
    looks = [end for end in range(42, 100) if renewed_level(level(), 28, end, judged)]
    assert looks[0] in range(65, 69), "but for a few days of the first week"
    found = renewed_level(level(), 28, looks[0], judged)
    assert (found.opens, found.closes) == ((looks[0] - 28) * DAY_MS, looks[0] * DAY_MS)


@pytest.mark.parametrize("recall", [0.6, 0.605, 0.4], ids=["the same", "hardly better", "worse"])
def test_days_that_are_not_certainly_better_renew_nothing(recall):
    assert renewed_level(level(), 28, 100, judging(lambda _: recall)) is None


def test_a_week_as_before_among_better_ones_renews_nothing():
    judged = judging(lambda day: 0.6 if 86 <= day < 93 else 0.8)
    assert renewed_level(level(), 28, 86, judged) is not None
    assert all(renewed_level(level(), 28, end, judged) is None for end in range(93, 110, 7))


def at_rates(recall, fpr, *, scored=False):
    """Judges days of 1,000 positives at given rates; with scores, on their ROC curve."""

    def judged(first, end):
        days = end - first
        tp, fp = round(1_000 * recall(first)) * days, round(9_000 * fpr(first)) * days
        now = ConfusionCounts(tp=tp, fp=fp, fn=1_000 * days - tp, tn=9_000 * days - fp)
        found = judge(BEFORE, now, between=QUIET.between(28, days), on_reference_curve=scored)
        return dataclasses.replace(found, curve_z=0.5) if scored else found

    return judged


def test_a_threshold_that_was_set_anew_renews_the_level():
    judged = at_rates(lambda _: 0.487, lambda _: 0.0324)
    assert judged(72, 100).verdict is Verdict.OPERATING_POINT_MOVED
    found = renewed_level(level(), 28, 100, judged)
    assert found[:3] == ("renewed", 72 * DAY_MS, 100 * DAY_MS)
    assert found.lost == min(0.0, judged(72, 100).change["odds_ratio"])


def test_many_thresholds_in_a_row_do_not_add_up_to_a_worse_model():
    judged = at_rates(lambda _: 0.487, lambda _: 0.0337)
    change = judged(72, 100).change["odds_ratio"]
    assert -0.1 < change < -0.03
    first = renewed_level(level(), 28, 100, judged)
    assert first.lost == pytest.approx(change)
    lost, renewals = 0.0, 0
    for _ in range(10):
        if (found := renewed_level(level(), 28, 100, judged, lost)) is not None:
            lost, renewals = found.lost, renewals + 1
    assert lost > -0.1
    assert 1 <= renewals <= 3
    better = judging(lambda _: 0.8)
    assert renewed_level(level(), 28, 100, better, -0.09).lost == 0


@pytest.mark.parametrize(
    ("judged", "verdict"),
    [
        (at_rates(lambda _: 0.487, lambda _: 0.037), Verdict.OPERATING_POINT_MOVED),
        (at_rates(lambda _: 0.487, lambda _: 0.0324, scored=True), Verdict.THRESHOLD_MOVED),
        (at_rates(lambda _: 0.602, lambda _: 0.0502), Verdict.NO_CHANGE),
    ],
    ids=["a worse odds ratio", "on the curve of the scores", "the same point"],
)
def test_another_point_is_no_level_where_skill_may_have_fallen_or_scores_know(judged, verdict):
    assert judged(72, 100).verdict is verdict
    assert renewed_level(level(), 28, 100, judged) is None


def test_scores_that_leave_the_point_open_renew_nothing():
    judged = at_rates(lambda _: 0.487, lambda _: 0.0324)

    def scored(first, end):
        return dataclasses.replace(judged(first, end), curve_z=-1.0)

    assert scored(72, 100).verdict is Verdict.OPERATING_POINT_MOVED
    assert renewed_level(level(), 28, 100, scored) is None


@pytest.mark.parametrize("rate", ["recall", "fpr"])
def test_a_week_at_the_old_rate_among_those_of_another_point_renews_nothing(rate):
    def now(name, old, new):
        return lambda first: old if rate == name and first == 86 else new

    judged = at_rates(now("recall", 0.6, 0.487), now("fpr", 0.05, 0.0324))
    assert renewed_level(level(), 28, 100, judged) is None


def test_days_of_the_level_itself_renew_nothing():
    judged = judging(lambda _: 0.8)
    assert renewed_level(level(), 28, CLOSES + 27, judged) is None
    assert renewed_level(level(), 28, CLOSES + 28, judged) is not None


def test_days_that_cannot_be_judged_renew_nothing():
    assert renewed_level(level(), 28, 100, lambda *_: None) is None
    judged = judging(lambda _: 0.8)

    def all_but_one_week(first, end):
        return None if (first, end) == (86, 93) else judged(first, end)

    assert renewed_level(level(), 28, 100, all_but_one_week) is None


def test_a_short_trailing_reference_is_replaced_by_the_first_four_weeks_as_the_level():
    first = level("trailing", 3, 10)
    assert longer_level(first, 37) is None
    found = longer_level(first, 38)
    assert (found.opens, found.closes) == (3 * DAY_MS, 31 * DAY_MS)
    assert longer_level(level("trailing", 3, 31), 100) is None
    assert longer_level(level("first", 3, 10), 100) is None
    assert longer_level(MatureReference.given(ReferenceCounts(tp=1, fp=1, fn=1, tn=1)), 100) is None
