"""Whether a model still tells the classes apart, against exact distributions and simulations."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import hypergeom, nchypergeom_fisher

from monitor.counts import ConfusionCounts
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import BetweenDays, changes
from monitor.drift.components import COMPONENTS
from monitor.drift.day_scatter import DayScatter
from monitor.drift.dispersion import Dispersion
from monitor.drift.flagged_by_chance import by_chance, log_chance_ratio
from monitor.drift.judgement_on_curve import flags_by_chance, judge_on_curve
from monitor.drift.no_skill import flags_one_way, is_dead, separates_nothing
from monitor.drift.verdict import DEGRADED
from monitor.drift.verdict_rule import judge

ROWS = Dispersion.of(1.0)
DRAWN = 400
cells = st.integers(0, 60)
tables = st.tuples(cells, cells, cells, cells)


def days_of(rows) -> ConfusionCounts:
    tp, fn, fp, tn = np.asarray(rows).T
    return ConfusionCounts(tp=tp, fn=fn, fp=fp, tn=tn)


def no_scatter(variance: float = 0.0) -> BetweenDays:
    return BetweenDays(np.zeros(COMPONENTS), np.full(COMPONENTS, variance), np.full(COMPONENTS, 9))


@given(st.lists(tables, min_size=1, max_size=5))
def test_by_chance_true_positives_are_hypergeometric(rows) -> None:
    mean, variance, tp = 0.0, 0.0, 0
    for a, b, c, d in rows:
        if a + b + c + d > 1:
            support = np.arange(a + b + 1)
            share = hypergeom.pmf(support, a + b + c + d, a + b, a + c)
            expected = float(share @ support)
            variance += float(share @ (support - expected) ** 2)
            mean, tp = mean + expected, tp + a
    found = by_chance(days_of(rows))
    assert found.excess == pytest.approx(tp - mean, abs=1e-7)
    assert found.variance == pytest.approx(variance, abs=1e-7)


@pytest.mark.parametrize("factor", [0.8, 1.0, 1.3])
def test_the_one_step_estimate_is_near_the_exact_conditional_one(factor: float) -> None:
    rows = [(round(30 * factor), 20, 60, 90), (round(18 * factor), 25, 30, 60)]
    assert by_chance(days_of(rows)).log_odds_ratio == pytest.approx(conditional(rows), abs=0.02)


def conditional(rows) -> float:
    """The conditional maximum likelihood estimate of the common log odds ratio."""

    def excess(log_odds_ratio: float) -> float:
        return sum(
            a - nchypergeom_fisher(a + b + c + d, a + b, a + c, math.exp(log_odds_ratio)).mean()
            for a, b, c, d in rows
        )

    return float(brentq(excess, -4, 4))


@pytest.mark.parametrize("after", [(30, 26, 148, 296), (25, 31, 153, 291), (21, 35, 165, 279)])
def test_where_days_do_not_scatter_the_ratio_is_that_of_the_exact_distributions(after) -> None:
    usual = days_of([(60_000, 40_000, 300_000, 600_000)])
    a, b, c, d = after
    exact = hypergeom(a + b + c + d, a + b, a + c).logpmf(a)
    exact -= nchypergeom_fisher(a + b + c + d, a + b, a + c, 3.0).logpmf(a)
    found = log_chance_ratio(usual.sum(), days_of([after]).sum(), ROWS, no_scatter())
    assert found == pytest.approx(exact, abs=0.35)


@given(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 40), st.integers(50, 400)),
    st.sampled_from((0.0, 0.1, 0.5)),
)
def test_where_few_cases_are_positive_a_day_shows_no_more_than_its_exact_distributions(
    row, variance: float
) -> None:
    usual = days_of([(48_000, 12_000, 12_000, 228_000)])
    found = log_chance_ratio(usual, days_of([row]), ROWS, no_scatter(variance))
    assume(found > 0)
    a, b, c, d = row

    def log_likelihood(odds_ratio: float) -> float:
        return float(nchypergeom_fisher(a + b + c + d, a + b, a + c, odds_ratio).logpmf(a))

    chance, inverted, as_it_was = map(log_likelihood, (1.0, 1 / 76, 76.0))
    assert found <= max(chance, inverted) - as_it_was + 1e-6


@given(tables, st.integers(1, 5))
def test_days_without_one_of_the_margins_show_nothing(table, days: int) -> None:
    usual = days_of([(80, 20, 90, 810)])
    for emptied in ((0, 1), (2, 3), (0, 2), (1, 3)):
        rows = [tuple(0 if i in emptied else n for i, n in enumerate(table))] * days
        assert log_chance_ratio(usual, days_of(rows), ROWS, no_scatter(0.1)) == 0


@given(st.lists(tables, min_size=1, max_size=5))
def test_a_reference_without_skill_has_none_to_lose(rows) -> None:
    for useless in ((30, 70, 270, 630), (20, 80, 270, 630)):
        assert log_chance_ratio(days_of([useless]), days_of(rows), ROWS, no_scatter(0.1)) == 0


@given(st.lists(tables, min_size=1, max_size=5), st.floats(0, 2))
def test_the_ratio_is_finite_and_the_same_with_both_classes_and_calls_swapped(
    rows, variance: float
) -> None:
    usual, between = days_of([(80, 20, 90, 810)]), no_scatter(variance)
    swapped = [(d, c, b, a) for a, b, c, d in rows]
    found = log_chance_ratio(usual, days_of(rows), ROWS, between)
    other = log_chance_ratio(days_of([(810, 90, 20, 80)]), days_of(swapped), ROWS, between)
    assert math.isfinite(found)
    assert found == pytest.approx(other, abs=1e-6)


def test_more_days_by_chance_are_more_certain_and_days_that_scatter_more_are_less() -> None:
    usual = days_of([(28, 12, 54, 96)] * 28)
    found = [
        log_chance_ratio(usual, days_of([(17, 23, 65, 85)] * k), ROWS, no_scatter(0.5 / k))
        for k in (1, 3, 7, 14)
    ]
    assert found == sorted(found)
    week = days_of([(17, 23, 65, 85)] * 7)
    wider = [log_chance_ratio(usual, week, ROWS, no_scatter(v)) for v in (0.05, 0.1, 0.3)]
    assert wider == sorted(wider, reverse=True)


def test_days_with_other_thresholds_and_prevalences_are_not_taken_for_chance() -> None:
    usual = days_of([(80, 20, 90, 810)] * 28)
    rare, often = (8, 2, 99, 891), (160, 240, 5, 595)
    mixed = days_of([often] * 3 + [(20, 0, 700, 280)] * 4)
    assert abs(by_chance(mixed.sum()[None]).log_odds_ratio) < 0.3
    assert log_chance_ratio(usual, mixed, ROWS, no_scatter(0.2)) < 0
    assert log_chance_ratio(usual, days_of([rare] * 7), ROWS, no_scatter(0.2)) < 0


def drawn(rng: np.random.Generator, skill: float, days: int, sd: float = 0.5) -> ConfusionCounts:
    """Days of 40 positives and 150 negatives whose log odds ratio scatters about `skill`."""
    level = np.array([[skill / 2], [-skill / 2]])
    level = level + rng.normal(0, sd / math.sqrt(2), (2, days)) * (skill != 0)
    recall, false = 1 / (1 + np.exp(-level))
    tp, fp = rng.binomial(40, recall), rng.binomial(150, false)
    return ConfusionCounts(tp=tp, fn=40 - tp, fp=fp, tn=150 - fp)


def test_a_week_by_chance_is_called_so_and_a_week_as_ever_hardly_ever() -> None:
    rng = np.random.default_rng(20261123)
    called = {0.0: 0, 1.8: 0}
    for _ in range(DRAWN):
        reference = drawn(rng, 1.8, 28)
        between = DayScatter.learn([reference]).between(28, 7)
        for skill in called:
            week = drawn(rng, skill, 7)
            called[skill] += flags_by_chance(ComparedOutcomes(reference, week), ROWS, between)
    assert called[1.8] <= 2
    assert called[0.0] >= 320


@pytest.mark.parametrize(("flagged", "expected"), [(0, 29), (0, 31), (1, 31)])
def test_a_model_flags_one_way_where_thirty_cases_would_be_flagged(flagged, expected) -> None:
    usual = ConfusionCounts(tp=500, fn=500, fp=0, tn=9_000)
    after = ConfusionCounts(tp=flagged, fn=2 * expected - flagged, fp=0, tn=900)
    other = ConfusionCounts(tp=2 * expected - flagged, fn=flagged, fp=900, tn=0)
    one_way = expected > 30 and not flagged
    assert bool(flags_one_way(usual, after)) is one_way
    opposite = ConfusionCounts(tp=500, fn=500, fp=9_000, tn=0)
    assert bool(flags_one_way(opposite, other)) is one_way


def test_a_week_at_random_is_dead_and_degraded() -> None:
    usual = days_of([(28, 12, 54, 96)] * 28)
    days = ComparedOutcomes(usual, days_of([(17, 23, 65, 85)] * 7))
    between = DayScatter.learn([usual]).between(28, 7)
    found, _ = judge_on_curve(days, ROWS, between=between, scores=None, days=days)
    assert found.dead
    assert found.verdict in DEGRADED
    assert not found.labels_may_explain


def test_a_worse_model_that_is_better_than_chance_is_not_dead() -> None:
    """Recall .8 to .23 of few cases: far from the model as it was, and from chance."""
    usual = ConfusionCounts(tp=[5] * 28, fn=[1] * 28, fp=[1] * 28, tn=[23] * 28)
    worse = ConfusionCounts(
        tp=[1, 1, 2, 1, 1, 1, 1], fn=[4] * 7, fp=[1, 2, 1, 1, 2, 1, 1], tn=[24] * 7
    )
    between = DayScatter.learn([usual]).between(28, 7)
    found = log_chance_ratio(usual, worse, Dispersion.of(1.0), between)
    assert found == 0
    at_random = ConfusionCounts(
        tp=[0, 0, 1, 0, 0, 0, 0], fn=[5] * 7, fp=[1, 2, 1, 1, 2, 1, 1], tn=[24] * 7
    )
    assert log_chance_ratio(usual, at_random, Dispersion.of(1.0), between) > 7


def test_outcomes_corrected_for_wrong_labels_show_a_dead_model_as_far_as_they_are_known() -> None:
    before = ConfusionCounts(tp=940, fn=1_060, fp=760, tn=37_240)
    after = ConfusionCounts(tp=2, fn=98, fp=38, tn=1_900)
    many = ConfusionCounts.from_cells(after.cells * 30)
    at_random = ConfusionCounts(tp=40, fn=1_960, fp=1_000, tn=48_000)
    corrected = Dispersion(class_ratio=5.0, recall=12.0, false_positive_rate=1.0)
    assert [judge(before, one, corrected).dead for one in (after, many)] == [False, True]
    for one, dead in ((after, [True, False]), (many, [True, True])):
        moved = changes(before, one)
        assert [bool(is_dead(before, one, moved, rows)) for rows in (ROWS, corrected)] == dead
    flags = [
        separates_nothing(one, rows) for one in (at_random, after) for rows in (ROWS, corrected)
    ]
    assert flags == [True, False, False, False]
