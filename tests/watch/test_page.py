"""When a page starts, that it lasts, and when it ends."""

from dataclasses import replace

import pytest

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, judge
from monitor.drift.day_scatter import DayScatter
from monitor.drift.label_quality import LabelChange
from monitor.watch.page import ALARM_MS, ModelPage, certain_fall

BEFORE = ConfusionCounts(tp=22_400, fp=12_600, fn=5_600, tn=239_400)
A_DAY = BEFORE.cells / 28
QUIET = DayScatter.learn([ConfusionCounts.from_cells([A_DAY] * 28)])
A_TREND = 0.001


def judged(recall, days=7):
    positives, negatives = 1_000 * days, 9_000 * days
    tp, fp = int(positives * recall), int(negatives * 0.05)
    now = ConfusionCounts(tp=tp, fp=fp, fn=positives - tp, tn=negatives - fp)
    return judge(BEFORE, now, between=QUIET.between(28, days))


def paging(fall=-1.0):
    page = ModelPage()
    page.fire(0)
    page.start(0, fall)
    return page


def test_a_page_needs_an_alarm_of_the_last_28_days():
    page = ModelPage()
    assert not page.awaits_judgement(0)
    page.fire(0)
    assert page.awaits_judgement(ALARM_MS)
    assert not page.awaits_judgement(ALARM_MS + 1)
    page.start(5, -1.0)
    assert page.active
    assert not page.awaits_judgement(6)


@pytest.mark.parametrize(("recall", "sudden"), [(0.75, False), (0.3, True), (0.0, True)])
def test_only_a_large_fall_starts_a_page_within_the_day(recall, sudden):
    assert ModelPage().is_sudden(judged(recall, days=1)) == sudden


@pytest.mark.parametrize(
    ("z", "sudden", "starts"),
    [(-2.7, False, False), (-3.5, False, True), (-4.5, True, True), (float("nan"), True, True)],
)
def test_where_scores_come_a_page_needs_a_point_certainly_below_their_curve(z, sudden, starts):
    found = replace(judged(0.3, days=1), curve_z=z)
    assert ModelPage().is_sudden(found) == sudden
    assert (certain_fall([found]) is found) == starts
    certain = replace(judged(0.3, days=7), curve_z=-9.0)
    assert certain_fall([found, certain], sudden=True) is (found if sudden else certain)


def test_a_dead_model_pages_wherever_its_point_lies():
    found = replace(judged(0.0, days=1), curve_z=-1.0)
    assert found.dead
    assert ModelPage().is_sudden(found)


@pytest.mark.parametrize("verdict", [Verdict.THRESHOLD_MOVED, Verdict.PREVALENCE_SHIFT])
@pytest.mark.parametrize(("days", "active"), [(7, True), (28, False)])
def test_a_month_on_the_curve_of_the_scores_ends_a_page(days, active, verdict):
    page = paging()
    slid = replace(judged(0.6, days=days), verdict=verdict, on_reference_curve=True)
    page.judge_return(days, slid)
    assert page.active == active


@pytest.mark.parametrize(("days", "active"), [(7, True), (28, False)])
def test_a_month_that_other_labels_explain_ends_a_page(days, active):
    page = paging()
    found = replace(
        judged(0.6, days=days), verdict=Verdict.INSUFFICIENT_EVIDENCE, labels_may_explain=True
    )
    page.judge_return(days, found)
    assert page.active == active


def test_a_trend_is_confirmed_below_the_curve_alone_where_scores_come():
    month, week = judged(0.784, days=28), judged(0.764)
    assert not ModelPage().confirms_trend(A_TREND, week, replace(month, curve_z=-1.0))
    assert ModelPage().confirms_trend(A_TREND, week, replace(month, curve_z=-2.5))


@pytest.mark.parametrize(
    ("recall", "errors", "confirms"), [(0.789, 1.6, False), (0.784, 2.3, True)]
)
def test_a_trend_is_confirmed_by_a_month_that_is_lower_at_p_025(recall, errors, confirms):
    month, week = judged(recall, days=28), judged(recall - 0.02)
    z = -month.change["odds_ratio"] / month.standard_error["odds_ratio"]
    assert z == pytest.approx(errors, abs=0.15)
    assert ModelPage().confirms_trend(A_TREND, week, month) == confirms


@pytest.mark.parametrize(("recall", "falls"), [(0.76, True), (0.8, False)])
def test_a_fall_that_a_range_of_wrong_labels_leaves_open_pages_nobody(recall, falls):
    month, week = judged(0.7, days=28), judged(0.7)
    at_rates = (judged(0.68, days=28), judged(recall, days=28))
    month = replace(month, at_rates=at_rates)
    assert ModelPage().confirms_trend(A_TREND, week, month) is falls
    assert ModelPage().is_sudden(replace(judged(0.7), at_rates=at_rates)) is falls


def test_the_return_is_judged_on_days_since_the_page_alone():
    page = paging()
    assert page.days_to_judge(6 * DAY_MS) == ()
    assert page.days_to_judge(7 * DAY_MS) == (7,)
    assert page.days_to_judge(28 * DAY_MS) == (7, 28)


def test_a_page_lasts_while_the_fault_does_and_ends_when_the_model_is_back():
    page = paging()
    for _ in range(100):
        page.judge_return(7, judged(0.6))
    assert page.active
    page.judge_return(7, judged(0.8))
    assert not page.active
    assert not page.awaits_judgement(0), "another page needs another alarm"


def test_a_page_does_not_end_where_it_is_not_certain_that_the_model_is_back():
    page = paging(fall=-0.3)
    page.judge_return(7, judged(0.78))
    assert page.active


def test_a_dead_model_never_counts_as_back():
    page = paging(fall=0.2)
    page.judge_return(28, judged(0.0, days=28))
    assert page.active


def test_the_state_is_restored():
    page = paging()
    again = ModelPage().restored(page.state())
    assert again.state() == page.state()
    assert again.active


def test_a_model_stays_dead_until_its_page_ends():
    page = paging()
    assert not page.dead
    page.find_dead()
    assert page.dead
    assert ModelPage().restored(page.state()).dead
    older = {name: value for name, value in page.state().items() if name != "dead"}
    assert not ModelPage().restored(older).dead
    page.judge_return(7, judged(0.8))
    assert not page.active
    assert not page.dead


def of_labels(change, error, **more):
    """Judgement of a stretch whose fall labels explain as well as the model."""
    one = judged(0.6)
    return replace(
        one,
        verdict=Verdict.INSUFFICIENT_EVIDENCE,
        labels_may_explain=True,
        label_change=LabelChange.FALSE_POSITIVES,
        change=one.change | {"odds_ratio": change},
        standard_error=one.standard_error | {"odds_ratio": error},
        **more,
    )


@pytest.mark.parametrize(
    ("share", "errors", "starts"), [(0.4, 1.0, False), (0.4, 0.02, True), (0.6, 0.02, False)]
)
def test_no_page_starts_while_labels_may_explain_half_of_the_fall(share, errors, starts):
    """A week begins before the fault: its fall is less than the day's, and known to some errors."""
    day = replace(judged(0.3, days=1), curve_z=-9.0)
    fall = day.change["odds_ratio"]
    week = of_labels(share * fall, -errors * fall / 4)
    assert (certain_fall([day, week], sudden=True) is day) == starts


@pytest.mark.parametrize(("sudden", "starts"), [(False, True), (True, False)])
def test_a_longer_stretch_without_a_verdict_holds_back_what_is_sudden_alone(sudden, starts):
    """A month that began before the fault has less of it, and labels explain that by chance."""
    week = replace(judged(0.3), curve_z=-9.0)
    month = of_labels(0.6 * week.change["odds_ratio"], 0.1)
    found = certain_fall([week, replace(month, labels_may_explain=False)], sudden=sudden)
    assert (found is week) == starts


@pytest.mark.parametrize(("further", "starts"), [(1.0, True), (1.1, True), (1.5, False)])
def test_a_shorter_stretch_holds_a_page_back_where_it_fell_further(further, starts):
    """Labels leave the day open; the week began before the fault, or has all of it."""
    week = judged(0.6)
    fall = week.change["odds_ratio"]
    day = of_labels(further * fall, -0.2 * fall)
    assert (certain_fall([day, week]) is week) == starts


@pytest.mark.parametrize(("p_value", "confirms"), [(0.0049, True), (0.005, False)])
def test_a_trend_of_which_chance_is_more_likely_than_p_005_pages_nobody(p_value, confirms):
    month, week = judged(0.7, days=28), judged(0.7)
    assert ModelPage().confirms_trend(p_value, week, month) == confirms


def test_a_trend_is_not_confirmed_where_labels_explain_the_month_and_leave_the_week_open():
    month, week = judged(0.784, days=28), judged(0.764)
    of_month = replace(month, label_change=LabelChange.FALSE_POSITIVES)
    week, open_week = (replace(week, labels_may_explain=is_open) for is_open in (False, True))
    assert ModelPage().confirms_trend(A_TREND, week, of_month)
    assert ModelPage().confirms_trend(
        A_TREND, open_week, replace(month, label_change=LabelChange.NONE)
    )
    assert not ModelPage().confirms_trend(A_TREND, open_week, of_month)


@pytest.mark.parametrize(
    ("further", "ratio", "confirms"), [(1.9, 0.3, True), (2.2, 0.3, False), (2.2, 0.1, True)]
)
def test_a_trend_is_not_confirmed_where_labels_explain_a_week_that_fell_twice_as_far(
    further, ratio, confirms
):
    """Labels got worse within the month, and explain the week, not the sum of both stretches."""
    month = judged(0.7, days=28)
    week = of_labels(further * month.change["odds_ratio"], 0.1)
    week = replace(
        week,
        change=week.change | {"class_ratio": ratio},
        standard_error=week.standard_error | {"class_ratio": 0.1},
    )
    assert ModelPage().confirms_trend(A_TREND, week, month) == confirms


@pytest.mark.parametrize(("error", "starts"), [(0.2, True), (0.38, False)])
def test_of_days_with_worse_labels_the_worst_pages_nobody(error, starts):
    """Labels leave the week open; the day's fall has to be certainly further than the week's."""
    day = replace(judged(0.3, days=1), curve_z=-9.0)
    day = replace(
        day,
        change=day.change | {"odds_ratio": -1.5},
        standard_error=day.standard_error | {"odds_ratio": error},
    )
    week = of_labels(-0.46, 0.1)
    assert (certain_fall([day, week], sudden=True) is day) == starts
