"""When longer first days replace a provisional reference that they are known beside.

By stretches of time alone: what is cut, what is judged, and what a state holds.
"""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Reference, ReferenceCounts
from monitor.counts import ConfusionCounts
from monitor.drift import judge
from monitor.drift.level_change import LevelChange
from monitor.events.renumbering import Numbers
from monitor.labels.regime import LabelRegime
from monitor.watch.longer_first_days import LongerFirstDays
from monitor.watch.model_faults import ModelFaults
from monitor.watch.reference import MatureReference
from monitor.watch.small_reference import hold_ends, is_worse
from monitor.watch.young_reference import likely_fall

KNOWN, HELD_UNTIL = 35 * DAY_MS, 63 * DAY_MS
LEFT = Numbers(*[np.arange(1)] * 3)
BEFORE = ConfusionCounts(tp=40, fp=20, fn=10, tn=600)


def first_days(days, **more):
    given = MatureReference.given(ReferenceCounts(tp=40, fp=20, fn=10, tn=600))
    return replace(given, source="first", opens=0, closes=days * DAY_MS, **more)


PROVISIONAL = first_days(7)


class Cuts:
    """Cuts stretches, which hold a change of level on a day or none, and lists them."""

    def __init__(self, change=None):
        self.change, self.days = change, []

    def __call__(self, _, stretch):
        days = (stretch.closes - stretch.opens) // DAY_MS
        self.days.append(days)
        if self.change is None or days <= self.change:
            return first_days(days)
        change = LevelChange(self.change, (0.8, 0.5), (0.05, 0.05), -1.4, 0.001)
        return first_days(days, level_change=change)


def longer_first_days(cut, *, first_pane=0):
    return LongerFirstDays(
        SimpleNamespace(
            settings=[SimpleNamespace(has_many_classes=False, reference=Reference(first="28d"))]
        ),
        SimpleNamespace(step_ms=HOUR_MS, first_pane=lambda _: first_pane),
        SimpleNamespace(of=lambda _: LabelRegime()),
        cut,
    )


def after(longer, mature, *, worse):
    return longer.after(0, PROVISIONAL, mature, None, lambda _, __: worse)


def test_they_are_held_back_until_the_last_moment_and_say_so_from_then_on():
    longer = longer_first_days(Cuts())
    assert hold_ends(0, 28 * DAY_MS) == HELD_UNTIL
    assert after(longer, HELD_UNTIL - 1, worse=True) is None
    found = after(longer, HELD_UNTIL, worse=True)
    assert (found.closes, found.worse_since) == (28 * DAY_MS, PROVISIONAL.closes)
    assert found.version == PROVISIONAL.version + 1
    assert after(longer, KNOWN, worse=False).worse_since is None


def test_days_that_end_at_a_change_are_not_held_back():
    found = after(longer_first_days(Cuts(change=10)), KNOWN, worse=True)
    assert (found.closes, found.cut_short) == (10 * DAY_MS, 10 * DAY_MS)


def test_they_are_cut_once_and_restored_when_their_panes_are_stored_no_longer():
    cut, no_more = Cuts(), Cuts()
    longer = longer_first_days(cut)
    assert [after(longer, KNOWN + day * DAY_MS, worse=True) for day in range(3)] == [None] * 3
    assert cut.days == [28]
    again = longer_first_days(no_more, first_pane=24)
    again.restore(0, longer.state(0), LEFT)
    found = after(again, HELD_UNTIL, worse=True)
    assert (found.opens, found.closes) == (0, 28 * DAY_MS)
    assert no_more.days == []
    longer.forget(0)
    assert longer.state(0) == {}


def test_days_that_are_stored_no_longer_are_not_cut_short_of_their_beginning():
    cut = Cuts()
    longer = longer_first_days(cut, first_pane=24)
    assert after(longer, HELD_UNTIL, worse=False) is None
    assert cut.days == []


def test_what_a_reference_says_of_worse_days_is_restored():
    found = first_days(28, worse_since=7 * DAY_MS)
    assert MatureReference.restored(found.state(), LEFT).worse_since == 7 * DAY_MS


@pytest.mark.parametrize(
    ("recall", "first", "further"), [(0.5, True, True), (0.72, False, True), (0.8, False, False)]
)
def test_a_fall_that_held_days_back_does_so_until_it_is_not_even_likely(recall, first, further):
    cells = ConfusionCounts(tp=100 * recall, fp=40, fn=100 - 100 * recall, tn=1_200)
    found = judge(BEFORE, cells)
    assert is_worse(found, already=False) is first
    assert is_worse(found, already=True) is further


def days_of(first, then, *, rest):
    """Days of ten positives each: `first` of the first seven are found, then on as many as given.

    Args:
        first: found positives of each of the first seven days.
        then: of the days after them until the rest.
        rest: those of the last 14 of 35 days.
    """
    found = [*first, *[then] * 14, *[rest] * 14]
    return ConfusionCounts(tp=found, fp=4, fn=[10 - one for one in found], tn=120)


GOOD_BY_CHANCE = (9, 9, 9, 9, 9, 8, 10)
AS_EVER = (8, 9, 8, 7, 8, 9, 7)


def test_first_days_that_were_better_by_chance_hold_nothing_back_and_a_later_fall_does():
    healthy = days_of(GOOD_BY_CHANCE, 8, rest=8)
    first, later = (healthy[np.arange(*ends)].sum() for ends in ((0, 7), (7, 35)))
    assert judge(first, later).interval("recall", level=0.9)[1] < 0
    assert not is_worse(judge(first, later), already=False)
    assert not likely_fall(healthy)
    assert likely_fall(days_of(AS_EVER, 8, rest=5))
    assert likely_fall(days_of(AS_EVER, 5, rest=5))
    assert not likely_fall(days_of(AS_EVER, 8, rest=10))


def judged(recalls, before=BEFORE):
    """A model too small to page, and the days up to which it is judged."""
    ends, found = [], iter(recalls)

    def judged_until(_, __, ___, end):
        ends.append(end)
        recall = next(found)
        return judge(
            before, ConfusionCounts(tp=100 * recall, fp=40, fn=100 - 100 * recall, tn=1_200)
        )

    reference = SimpleNamespace(counts=before)
    watch = SimpleNamespace(
        hold_ends=HELD_UNTIL, held=False, day=35, judge=SimpleNamespace(reference=reference)
    )
    faults = ModelFaults(
        {0: watch},
        None,
        None,
        SimpleNamespace(judged_until=judged_until),
        SimpleNamespace(of=lambda _: None),
    )
    return faults, watch, ends


def test_it_is_judged_by_the_days_that_are_mature_once_a_day():
    faults, watch, ends = judged([0.72, 0.72, 0.8])
    fallen = partial(days_of, AS_EVER, 8, rest=5)
    assert faults.looks_worse(KNOWN, 0, fallen)
    assert faults.looks_worse(KNOWN + DAY_MS - 1, 0, fallen)
    assert ends == [35]
    assert faults.looks_worse(KNOWN + DAY_MS, 0, fallen)
    watch.day = 36
    assert faults.looks_worse(KNOWN + DAY_MS + HOUR_MS, 0, fallen)
    assert ends == [35, 36]
    assert not faults.looks_worse(KNOWN + 2 * DAY_MS, 0, fallen)
    assert (watch.held, ends) == (False, [35, 36, 37])


@pytest.mark.parametrize("days", [lambda: None, partial(days_of, AS_EVER, 8, rest=8)])
def test_a_model_without_a_likely_fall_holds_no_days_back(days):
    faults, watch, ends = judged([0.72])
    assert not faults.looks_worse(KNOWN, 0, days)
    assert (watch.held, ends) == (False, [35])


@pytest.mark.parametrize(("times", "worse"), [(1, True), (10, False)])
def test_against_a_week_of_many_outcomes_only_a_change_among_all_days_holds_days_back(times, worse):
    many = ConfusionCounts.from_cells(times * BEFORE.cells)
    faults, watch, _ = judged([0.5], many)
    assert faults.looks_worse(KNOWN, 0, partial(days_of, AS_EVER, 8, rest=8)) is worse
    assert watch.held is worse


def test_all_days_so_far_are_the_longer_first_ones_and_those_since():
    seen, longer = [], longer_first_days(Days())
    after_days = partial(longer.after, 0, PROVISIONAL, KNOWN + 3 * HOUR_MS, None)
    assert after_days(lambda _, days: seen.append(days()) or True) is None
    assert [one.total.tolist() for one in seen] == [[*range(28), *range(28, 35)]]


class Days:
    """Cuts stretches whose days hold as many outcomes as their number."""

    def __call__(self, _, stretch):
        numbers = np.arange(stretch.opens // DAY_MS, stretch.closes // DAY_MS)
        cells = np.zeros((len(numbers), 4), dtype=np.int64)
        cells[:, 3] = numbers
        closes = stretch.closes // DAY_MS
        found = first_days(closes, block_ms=DAY_MS, blocks=ConfusionCounts.from_cells(cells))
        return replace(found, opens=stretch.opens)


def test_a_model_that_pages_is_not_judged_for_it():
    faults, watch, ends = judged([])
    watch.hold_ends = None
    assert not faults.looks_worse(KNOWN, 0, lambda: None)
    assert (faults.looks_worse(KNOWN, 1, lambda: None), ends) == (False, [])
