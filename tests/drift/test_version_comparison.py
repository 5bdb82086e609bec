"""Two versions compared: against statsmodels, against plain counting, and by laws."""

import math

import numpy as np
import pytest
from daily import daily
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.stats.contingency_tables import StratifiedTable, mcnemar

from monitor.drift import version_comparison as versions
from monitor.drift.equal_mix import Blocks, blocks, equal_mix_rate
from monitor.drift.rates_of_two import Change, RatesOfTwo
from monitor.drift.version_comparison import compare_two
from monitor.drift.version_outcomes import VersionOutcomes
from monitor.drift.version_verdict import NotShown, VersionVerdict, sequential_verdict

TP, FP, FN, TN = range(4)
CELLS = arrays(np.int64, (2, 3, 2, 4), elements=st.integers(0, 40))
FILLED = arrays(np.int64, (2, 3, 2, 4), elements=st.integers(3, 40))


def table(a, b):
    """One day and one segment."""
    return np.array([a, b], dtype=float)[:, None, None]


def rate_of(hits, cases):
    """A rate of two versions, from tables of (versions, days, segments)."""
    rows = daily(cases[..., None])
    return equal_mix_rate(hits.reshape(2, -1), cases.reshape(2, -1), rows, Blocks(1, 1))


def rates_at(recall_a, recall_b, false_a, false_b, *, positive=1e4, negative=1e5):
    cells = [
        (r * positive, f * negative, (1 - r) * positive, (1 - f) * negative)
        for r, f in ((recall_a, false_a), (recall_b, false_b))
    ]
    return RatesOfTwo.at_equal_mix(daily(table(*cells)))


@pytest.mark.parametrize(
    ("operating_points", "verdict", "because"),
    [
        ((0.8, 0.7, 0.1, 0.1), "worse", None),
        ((0.8, 0.8, 0.1, 0.15), "worse", None),
        ((0.7, 0.8, 0.1, 0.1), "better", None),
        ((0.8, 0.802, 0.1, 0.1), "equal", None),
        # Along one ROC curve, whose odds ratio rises by 40 % on the way.
        ((0.9, 0.7, 0.179, 0.047), "not_shown", NotShown.ANOTHER_OPERATING_POINT),
        ((0.7, 0.9, 0.047, 0.179), "not_shown", NotShown.ANOTHER_OPERATING_POINT),
        # Both fell, to below the chord to the origin; both rose, to below that to (1, 1).
        ((0.8, 0.3, 0.1, 0.05), "worse", None),
        ((0.8, 0.85, 0.1, 0.5), "worse", None),
        # B flags nothing, everything, or at random.
        ((0.8, 0.0, 0.1, 0.0), "worse", None),
        ((0.8, 1.0, 0.1, 1.0), "worse", None),
        ((0.8, 0.1, 0.1, 0.1), "worse", None),
        # B, or A, is wrong about none.
        ((0.8, 1.0, 0.1, 0.0), "better", None),
        ((1.0, 0.7, 0.0, 0.1), "worse", None),
        # Both fell, and fewer positives are missed among what is not flagged.
        ((0.8, 0.78, 0.5, 0.1), "better", None),
    ],
)
def test_the_verdict_follows_from_the_two_operating_points(operating_points, verdict, because):
    found = sequential_verdict(rates_at(*operating_points))
    assert (found.verdict, found.because) == (verdict, because)


def test_a_version_without_a_single_miss_is_found_better_by_the_likelihood_ratio():
    """Of 100 positives A misses 20 and B none: the deviance is that of statsmodels."""
    rates = rates_at(0.8, 1.0, 0.1, 0.1, positive=100, negative=1_000)
    change, error = rates.changes()
    flagged = np.array([[80, 20], [100, 0]])
    version = np.array([[1.0, 0.0], [1.0, 1.0]])
    null = GLM(flagged, version[:, :1], family=Binomial()).fit()
    assert (change[Change.RECALL] / error[Change.RECALL]) ** 2 == pytest.approx(null.deviance)
    assert sequential_verdict(rates).verdict is VersionVerdict.BETTER


@given(arrays(np.int64, (2, 3, 2, 4), elements=st.sampled_from([0, 0, 1, 7, 90])))
@settings(max_examples=200, deadline=None)
def test_no_change_is_known_without_error(cells):
    rates = RatesOfTwo.at_equal_mix(daily(cells))
    _, error = rates.changes()
    assert (error > 0).all()
    assert np.isfinite(error).all() == rates.is_known


def test_few_outcomes_show_nothing_and_say_how_many_more_would():
    few = sequential_verdict(rates_at(0.8, 0.7, 0.1, 0.1, positive=60, negative=600))
    assert (few.verdict, few.because) == (VersionVerdict.NOT_SHOWN, NotShown.TOO_FEW_OUTCOMES)
    times = few.times_the_outcomes
    assert 1 < times < 20

    def at(factor):
        rates = rates_at(0.8, 0.7, 0.1, 0.1, positive=60 * factor, negative=600 * factor)
        return sequential_verdict(rates).verdict

    assert at(1.05 * times) is VersionVerdict.WORSE
    assert at(0.95 * times) is VersionVerdict.NOT_SHOWN


def test_no_number_of_outcomes_settles_a_moved_threshold():
    found = sequential_verdict(rates_at(0.9, 0.7, 0.179, 0.047))
    assert found.times_the_outcomes == math.inf


def test_with_under_ten_cases_of_a_class_nothing_is_projected():
    # recall and false positives fell, which at these rates no number of outcomes would settle
    few = sequential_verdict(rates_at(0.8, 0.4, 0.25, 0.1, positive=5, negative=40))
    assert (few.verdict, few.because) == (VersionVerdict.NOT_SHOWN, NotShown.TOO_FEW_OUTCOMES)
    assert not few.is_projected
    assert few.times_the_outcomes == 2
    enough = sequential_verdict(rates_at(0.8, 0.4, 0.25, 0.1, positive=10, negative=80))
    assert enough.is_projected


@pytest.mark.parametrize("missing", [(TP, FN), (FP, TN)])
def test_a_version_without_a_class_is_not_judged(missing):
    cells = table((80, 10, 20, 90), (80, 10, 20, 90))
    cells[1, ..., missing] = 0
    found = compare_two(daily(cells)).strata
    assert found.found.because is NotShown.MISSING_CLASS
    assert not found.rates.is_known
    rate = "recall" if missing == (TP, FN) else "false_positive_rate"
    assert math.isnan(found.differences[rate].estimate)
    assert math.isnan(found.parts["model"].points)


@given(FILLED)
@settings(max_examples=60, deadline=None)
def test_the_difference_is_that_of_mantel_and_haenszel(cells):
    """Weights nm/(n + m) are those of the common risk difference; plain loops as the oracle."""
    hits, cases = cells[..., TP], cells[..., TP] + cells[..., FN]
    found = rate_of(hits, cases)
    above = below = 0.0
    for day in range(cells.shape[1]):
        for segment in range(cells.shape[2]):
            n, m = cases[:, day, segment].tolist()
            x, y = hits[:, day, segment].tolist()
            above += (y * n - x * m) / (n + m)
            below += n * m / (n + m)
    assert found.rate[1] - found.rate[0] == pytest.approx(above / below)


def test_the_log_odds_ratio_agrees_with_the_common_one_of_statsmodels():
    """Of versions by flagged among positives, over segments with one odds ratio."""
    rng = np.random.default_rng(1)
    odds, tables, cells = [0.5, 2.0, 6.0], [], np.zeros((2, 1, 3, 4))
    for segment, odd in enumerate(odds):
        for version, factor in enumerate((1.0, 0.6)):
            n = 20_000 if version == 0 else 6_000 * (segment + 1)
            hits = rng.binomial(n, odd * factor / (1 + odd * factor))
            cells[version, 0, segment, [TP, FN]] = hits, n - hits
            cells[version, 0, segment, [FP, TN]] = 100, 900
        tables.append(cells[::-1, 0, segment][:, [TP, FN]])
    common = StratifiedTable([one.astype(float) for one in tables])
    rates = RatesOfTwo.at_equal_mix(daily(cells))
    change, error = rates.changes()
    assert change[Change.RECALL] < -0.3
    # That of the standardised rates is closer to 0 than that within segments: not collapsible.
    assert common.logodds_pooled < change[Change.RECALL] < 0.75 * common.logodds_pooled
    z = change[Change.RECALL] / error[Change.RECALL]
    assert z == pytest.approx(common.logodds_pooled / common.logodds_pooled_se, rel=0.05)


@pytest.mark.parametrize(("b", "c"), [(10, 2), (0, 7), (31, 30), (0, 0), (250, 180)])
def test_mcnemar_is_that_of_statsmodels(b, c):
    expected = mcnemar(np.array([[50, b], [c, 20]]), exact=True).pvalue if b + c else 1.0
    assert versions.mcnemar(b, c) == pytest.approx(expected)


@given(CELLS)
@settings(max_examples=100, deadline=None)
def test_the_parts_add_up_to_the_difference_of_precision(cells):
    found = compare_two(daily(cells))
    sums = cells.sum(axis=(1, 2)).tolist()
    for compared in (found.strata, found.decided_by):
        parts = compared.parts.values()
        if not all(math.isfinite(part.logit) for part in parts):
            continue
        precision = [one[TP] / (one[TP] + one[FP]) for one in sums]
        logit = [math.log(one[TP] / one[FP]) for one in sums]
        assert sum(part.points for part in parts) == pytest.approx(precision[1] - precision[0])
        assert sum(part.logit for part in parts) == pytest.approx(logit[1] - logit[0], abs=1e-9)


@given(CELLS, arrays(np.int64, (2, 3, 4), elements=st.integers(0, 30)))
@settings(max_examples=60, deadline=None)
def test_the_other_way_round_every_sign_flips(cells, joint):
    swapped = joint[..., [0, 2, 1, 3]]
    forth = compare_two(daily(cells), *joint.astype(float))
    back = compare_two(daily(cells[::-1]), *swapped.astype(float))
    opposite = {"better": "worse", "worse": "better"}
    sides = [(forth.strata, back.strata)]
    if forth.pairs is not None:
        sides.append((forth.pairs.compared, back.pairs.compared))
        assert forth.pairs.p_values == back.pairs.p_values
    for one, other in sides:
        verdict = str(one.found.verdict)
        assert str(other.found.verdict) == opposite.get(verdict, verdict)
        assert one.found.because == other.found.because
        same(one.found.change, -other.found.change)
        same(one.found.lower, -other.found.upper)
        same(one.found.times_the_outcomes, other.found.times_the_outcomes)
        for name, range_ in one.differences.items():
            same(range_.estimate, -other.differences[name].estimate)
            same(range_.lower, -other.differences[name].upper)
        for name, part in one.parts.items():
            same(part.points, -other.parts[name].points)
            same(part.logit, -other.parts[name].logit)


def same(a, b):
    assert a == pytest.approx(b, nan_ok=True, abs=1e-9, rel=1e-6)


def test_other_traffic_alone_is_no_difference_of_the_model():
    """Versions of the same rates, of which B gets the hard segment and fewer positives."""
    recall, false = np.array([0.9, 0.5]), np.array([0.05, 0.2])
    positive = np.array([[8_000, 2_000], [400, 1_600]])
    negative = np.array([[32_000, 8_000], [3_600, 14_400]])
    cells = np.stack(
        [positive * recall, negative * false, positive * (1 - recall), negative * (1 - false)],
        axis=-1,
    )[:, None]
    found = compare_two(daily(cells)).strata
    assert found.found.verdict is VersionVerdict.EQUAL
    assert found.differences["recall"].estimate == pytest.approx(0)
    assert found.differences["precision"].estimate == pytest.approx(0)
    assert found.parts["model"].points == pytest.approx(0)
    assert found.parts["prevalence"].points < -0.1
    assert found.parts["mix"].points < -0.1


def hourly(cases, recall, false, prevalence=0.2):
    """Expected outcomes of (versions, days, hours) cases, at rates by hour, the same for both."""
    days, hours = cases.shape[1:]
    positive, negative = cases * prevalence, cases * (1 - prevalence)
    cells = np.stack(
        [positive * recall, negative * false, positive * (1 - recall), negative * (1 - false)],
        axis=-1,
    )
    hour = np.add.outer(np.arange(days) * 24, np.arange(hours)).ravel()
    return VersionOutcomes(hour, np.zeros_like(hour), cells.reshape(2, len(hour), 4))


NIGHT = np.arange(24) < 6
RECALL = np.where(NIGHT, 0.85, 0.6)


def test_other_hours_alone_are_no_difference_of_the_model():
    """Versions of the same rates, of which B gets most of the days, whose cases are harder."""
    cases = np.full((2, 14, 24), 100.0)
    cases[1] *= np.where(NIGHT, 0.05, 0.9)
    found = compare_two(hourly(cases, RECALL, 0.1)).strata
    assert found.found.verdict is VersionVerdict.EQUAL
    assert found.differences["recall"].estimate == pytest.approx(0)
    assert found.parts["mix"].points < -0.01


@pytest.mark.parametrize("a_day", [400, 4_000])
def test_few_cases_leave_hours_that_no_block_of_six_divides_no_difference(a_day):
    """Nights from 21 to 5, which B gets and which are harder, in blocks of days or of hours."""
    night = (np.arange(24) >= 21) | (np.arange(24) < 5)
    share = np.where(night, 0.8, 0.02)
    cases = np.stack([1 - share, share])[:, None].repeat(14, axis=1) * a_day / 24
    rates = RatesOfTwo.at_equal_mix(hourly(cases, np.where(night, 0.6, 0.8), 0.1))
    assert rates.rates[1] - rates.rates[0] == pytest.approx(0, abs=1e-9)
    blunt = (np.where(night, 0.6, 0.8) * share).sum() / share.sum()
    assert blunt < 0.65


def test_a_growing_share_leaves_days_no_difference_where_cases_are_few():
    """B gets most of the late days, on which both recognise fewer: blocks of days would mix."""
    day = np.linspace(0.9, 0.6, 16)
    share = np.linspace(0.05, 0.8, 16)[:, None].repeat(24, axis=1)
    cases = np.stack([1 - share, share]) * 30
    rows = hourly(cases, 0.8, 0.1)
    positive = rows.cells[..., [TP, FN]].sum(axis=-1)
    recall = np.repeat(day, 24)
    rows.cells[..., TP], rows.cells[..., FN] = positive * recall, positive * (1 - recall)
    rates = RatesOfTwo.at_equal_mix(rows)
    assert rates.rates[1] - rates.rates[0] == pytest.approx(0, abs=1e-9)


def test_a_version_that_gets_the_days_alone_is_compared_in_them():
    cases = np.full((2, 14, 24), 60.0)
    cases[1, :, NIGHT] = 0
    found = compare_two(hourly(cases, RECALL, 0.1)).strata
    assert found.rates.rates[:2].tolist() == pytest.approx([0.6, 0.6])
    assert found.rates.left_out.tolist() == pytest.approx([6 / 42, 6 / 42])


@pytest.mark.parametrize(
    ("turn", "cases", "known"),
    [(1, 120, True), (6, 60, False), (12, 60, False), (24, 60, False), (24, 2, False)],
)
def test_versions_that_take_turns_are_judged_within_hours_alone(turn, cases, known):
    made, hour = np.zeros((2, 14, 24)), np.arange(14 * 24)
    for version in (0, 1):
        made[version] = np.where(hour // turn % 2 == version, float(cases), 0.0).reshape(14, 24)
    found = compare_two(hourly(made, np.full(24, 0.7), 0.1)).strata.found
    assert (found.because is NotShown.OTHER_TIMES) != known
    assert (found.verdict is VersionVerdict.EQUAL) == known


def test_too_few_outcomes_come_before_other_times():
    made = np.zeros((2, 14, 24))
    made[0, ::2], made[1, 1, :4] = 60, 4
    found = compare_two(hourly(made, np.full(24, 0.7), 0.1)).strata.found
    assert found.because is NotShown.TOO_FEW_OUTCOMES
    assert 1 < found.times_the_outcomes < math.inf


def test_a_version_of_the_weekends_is_not_compared_with_one_of_the_week():
    made, weekend = np.zeros((2, 28, 24)), np.arange(28) % 7 > 4
    made[0, ~weekend], made[1, weekend] = 40, 40
    found = compare_two(hourly(made, np.full(24, 0.7), 0.1)).strata.found
    assert (found.verdict, found.because) == (VersionVerdict.NOT_SHOWN, NotShown.OTHER_TIMES)


def test_what_a_day_does_to_both_versions_cancels_out():
    """Days on which both flag less say nothing of B; days on which B alone does, do."""
    rng = np.random.default_rng(3)
    swing = np.where(np.arange(20) % 2, 0.25, -0.25)[:, None]

    def errors(of_b):
        cells = np.zeros((2, 20, 1, 4))
        for version, effect in enumerate((swing, of_b)):
            hits = rng.binomial(200, np.clip(0.6 + effect, 0, 1))
            cells[version, :, :, TP], cells[version, :, :, FN] = hits, 200 - hits
            cells[version, :, :, FP], cells[version, :, :, TN] = 50, 450
        return RatesOfTwo.at_equal_mix(daily(cells)).changes()[1][Change.RECALL]

    shared, own = errors(swing), errors(-swing)
    assert own > 4 * shared
    rows = math.sqrt(2 / (0.24 * 4_000))
    assert shared == pytest.approx(rows, rel=0.5)


def test_blocks_are_as_short_as_ten_cases_on_average_allow():
    rows = daily(np.zeros((2, 8, 1, 4)))

    def days(a, b):
        cases = np.stack([np.full(8, float(a)), np.full(8, float(b))])
        return [tuple(one) for one in blocks(cases, rows)]

    assert days(9, 1) == [(1, 1), (1, 2), (1, 3), (1, 6)]
    assert days(9, 0) == [(2, 1), (2, 2), (2, 3), (2, 6)]
    assert days(1, 1) == [(8, 1), (8, 2), (8, 3), (8, 6)]
    assert days(0, 1) == [(8, 6)]


def test_without_cases_of_one_version_nothing_is_known():
    cases = np.zeros((2, 8, 1))
    cases[0] = 10
    alone = rate_of(cases / 2, cases)
    assert (alone.left_out, np.isnan(alone.rate).all()) == (1.0, True)


def test_a_stratum_without_one_version_is_left_out_and_counted():
    cells = table((80, 10, 20, 90), (70, 10, 30, 90)).repeat(2, axis=2)
    cells[1, :, 1] = 0
    rates = compare_two(daily(cells)).strata.rates
    assert rates.rates.tolist() == pytest.approx([0.8, 0.7, 0.1, 0.1])
    assert rates.left_out.tolist() == pytest.approx([1 / 3, 1 / 3])


def test_pairs_know_the_difference_better_than_strata_do():
    """Versions that agree but for some cases that B alone misses."""
    positive = np.array([[700.0, 100.0, 20.0, 180.0]])
    negative = np.array([[450.0, 30.0, 30.0, 4_490.0]])
    flagged = [positive[0, [0, 1]].sum(), positive[0, [0, 2]].sum()]
    cells = table((flagged[0], 480, 1_000 - flagged[0], 4_520), (flagged[1], 480, 280, 4_520))
    found = compare_two(daily(cells), positive, negative)
    pairs, strata = found.pairs.compared, found.strata
    assert found.by_pairs
    assert pairs.rates.rates.tolist() == pytest.approx(strata.rates.rates.tolist())
    assert pairs.found.standard_error < 0.6 * strata.found.standard_error
    assert pairs.found.verdict is VersionVerdict.WORSE
    widths = [one.differences["recall"] for one in (pairs, strata)]
    assert widths[0].upper - widths[0].lower < 0.65 * (widths[1].upper - widths[1].lower)
    wald = 1.96 * math.sqrt(100 + 20 - 80**2 / 1_000) / 1_000
    assert widths[0].upper - widths[0].lower == pytest.approx(2 * wald, rel=0.05)
    assert found.pairs.p_values["recall"] < 1e-10
    assert found.pairs.p_values["false_positive_rate"] == 1.0
