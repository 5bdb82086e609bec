"""What outcomes exclude: limits against SciPy's, and their coverage however often one looks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, t

from monitor.counts import ConfusionCounts
from monitor.drift import attribute, judge
from monitor.drift.all_looks import FALSE_CLAIMS, Looks
from monitor.drift.component_changes import BetweenDays
from monitor.drift.dispersion import Dispersion
from monitor.drift.recall_evidence import (
    UNKNOWN_RECALL,
    Because,
    false_positive_rate_above,
    fewest_outcomes,
    recall_evidence,
    visible_recall,
    why_open,
)

ALONE = Dispersion.of(1.0)


def outcomes(tp, fn, fp=50, tn=900):
    return ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn)


def evidence(tp, fn, days=7.0):
    return recall_evidence(outcomes(tp, fn), ALONE, None, Looks(days))


@given(st.integers(0, 400), st.integers(0, 400))
def test_one_look_has_the_exact_limits_of_a_binomial(tp, fn):
    found = evidence(tp, fn)
    if not tp + fn:
        assert all(map(math.isnan, found))
        return
    exact = binomtest(tp, tp + fn).proportion_ci(0.95, "exact")
    assert found.lower == pytest.approx(exact.low, abs=1e-9)
    assert found.upper == pytest.approx(exact.high, abs=1e-9)
    assert found.excluded <= found.lower


def test_without_positives_nothing_is_known():
    assert evidence(0, 0) is UNKNOWN_RECALL


def test_a_bound_for_all_looks_is_rarely_wrong_in_two_months():
    """Windows of seven days, 60 of them, of 300 models, with and without a bad tail."""
    rng = np.random.default_rng(4)
    wrong = 0
    for recall in (0.3, 0.8, 0.95):
        for _ in range(100):
            daily = rng.binomial(56, recall, size=66)
            sums = np.convolve(daily, np.ones(7, dtype=int), "valid")
            bounds = [evidence(int(tp), 7 * 56 - int(tp)).excluded for tp in sums]
            wrong += max(bounds) > recall
    assert wrong <= 300 * FALSE_CLAIMS + 6


@given(st.integers(0, 400), st.integers(0, 400))
def test_false_positives_are_excluded_by_the_rule_for_recall(hits, misses):
    """The share of hits is below `above` as that of misses is above 1 - `above`."""
    above = false_positive_rate_above(outcomes(1, 1, fp=hits, tn=misses), ALONE, None, Looks(7))
    if not hits + misses:
        assert math.isnan(above)
        return
    assert above == pytest.approx(1 - evidence(misses, hits).excluded, abs=1e-9)


def test_days_that_scatter_widen_the_limit_of_false_positives():
    scatter = BetweenDays(before=np.zeros(8), after=np.full(8, 0.01), freedom=np.full(8, 30.0))
    counts = outcomes(300, 100)
    wider = false_positive_rate_above(counts, ALONE, scatter, Looks(7))
    assert wider > false_positive_rate_above(counts, ALONE, None, Looks(7)) > 50 / 950


@given(st.floats(0.5, 60))
def test_more_looks_at_shorter_windows_cost_certainty(days):
    assert evidence(300, 80, days=days).excluded <= evidence(300, 80, days=2 * days).excluded


def test_days_that_scatter_widen_the_limits_as_fewer_positives_would():
    """Variance doubled by days, with so many of them that Student's t is the normal."""
    rows = 1 / 300.5 + 1 / 100.5
    scatter = BetweenDays(before=np.zeros(8), after=np.full(8, rows), freedom=np.full(8, 1e9))
    found = recall_evidence(outcomes(300, 100), ALONE, scatter, Looks(7))
    halved = recall_evidence(outcomes(150, 50), ALONE, None, Looks(7))
    assert found == pytest.approx(halved, abs=2e-3)
    few = recall_evidence(
        outcomes(300, 100), ALONE, scatter._replace(freedom=np.full(8, 4.0)), Looks(7)
    )
    assert few.excluded < found.excluded


def test_a_fall_is_seen_with_four_fifths_of_probability_at_the_visible_recall():
    """By drawing windows at that recall, and counting those whose odds ratio certainly fell."""
    before, cases = outcomes(8_000, 2_000, 4_500, 85_500), 400
    usual = outcomes(round(0.8 * cases), round(0.2 * cases), 200, 3_800)
    recall = visible_recall(before, usual, judge(before, usual))
    rng, seen = np.random.default_rng(5), 0
    for _ in range(300):
        tp, fp = int(rng.binomial(cases, recall)), int(rng.binomial(4_000, 0.05))
        found = judge(before, outcomes(tp, cases - tp, fp, 4_000 - fp))
        z = found.change["odds_ratio"] / found.standard_error["odds_ratio"]
        seen += z < -norm.isf(0.001)
    assert 0.72 <= seen / 300 <= 0.9


def test_the_visible_recall_is_unknown_without_positives_before():
    nothing = outcomes(0, 0)
    assert math.isnan(visible_recall(nothing, nothing, judge(nothing, nothing)))


@pytest.mark.parametrize(("missed", "known"), [(0, False), (4, False), (5, True)])
def test_where_hardly_a_positive_is_missed_the_error_of_a_fall_is_unknown(missed, known):
    """Without any, half a case missed makes it 1.4 in log-odds, of however many positives."""
    usual, few = outcomes(3_000, 200), outcomes(3_000, missed)
    for before, after in ((usual, few), (few, usual)):
        assert math.isfinite(visible_recall(before, after, judge(before, after))) is known


def reason(before, after):
    judgement = judge(before, after)
    excluded = recall_evidence(after, ALONE, None, Looks(7)).excluded
    usual = float(before.tp / before.actual_positive)
    fewest = fewest_outcomes(after, judgement)
    return why_open(judgement, attribute(before, after), usual, excluded, fewest=fewest)


def test_reasons_why_there_is_no_verdict():
    before = outcomes(8_000, 2_000, 4_500, 85_500)
    assert reason(before, outcomes(310, 80, 180, 3_600)) is Because.STEADY
    assert reason(before, outcomes(31, 8, 18, 360)) is Because.TOO_FEW
    assert reason(before, outcomes(150, 40, 180, 3_600)) is Because.MOVED


def test_a_change_of_precision_by_a_few_cases_is_not_certain():
    before = outcomes(8_000, 2_000, 4_500, 85_500)
    assert reason(before, outcomes(0, 2, 3, 60)) is Because.TOO_FEW


def test_a_dead_model_is_judged_by_its_cases_alone():
    before, after = outcomes(800, 200, 450, 8_550), outcomes(0, 200, 0, 1_800)
    assert fewest_outcomes(after, judge(before, after)) == 200
    assert fewest_outcomes(outcomes(8, 2, 5, 90), judge(before, outcomes(8, 2, 5, 90))) == 10


def test_students_t_is_used_where_days_are_few():
    """The quantile of one look, read back from the limits of very many positives."""
    scatter = BetweenDays(before=np.zeros(8), after=np.full(8, 4e-4), freedom=np.full(8, 6.0))
    found = recall_evidence(outcomes(10**9, 10**9), ALONE, scatter, Looks(7))
    half = -math.log(found.lower / (1 - found.lower))
    assert half == pytest.approx(t.isf(0.025, 6) * 0.02, rel=0.02)
