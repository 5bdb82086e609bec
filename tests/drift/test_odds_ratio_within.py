import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import StratifiedTable

from monitor.counts import ConfusionCounts
from monitor.drift import Dispersion
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.day_scatter import DayScatter
from monitor.drift.judgement_on_curve import judge_on_curve
from monitor.drift.odds_ratio_within import log_odds_ratio_within
from monitor.drift.verdict import DEGRADED

day = st.tuples(*[st.integers(0, 2_000)] * 4)


@settings(max_examples=60)
@given(st.lists(day, min_size=1, max_size=20).filter(lambda days: np.sum(days, axis=1).all()))
def test_it_is_the_pooled_odds_ratio_of_stratified_tables(days):
    tables = np.array([[[tp, fn], [fp, tn]] for tp, fp, fn, tn in days], dtype=float)
    found = float(log_odds_ratio_within(ConfusionCounts.from_cells(np.array(days))))
    right = sum(tp * tn / (tp + fp + fn + tn) for tp, fp, fn, tn in days)
    wrong = sum(fp * fn / (tp + fp + fn + tn) for tp, fp, fn, tn in days)
    if right and wrong:
        expected = StratifiedTable(np.moveaxis(tables, 0, -1)).logodds_pooled
        assert found == pytest.approx(expected)
    else:
        assert np.isnan(found)


def test_days_before_and_after_a_change_of_the_threshold_have_the_odds_ratio_of_each():
    usual, strict = [80, 50, 20, 850], [50, 900 / 69, 50, 900 * 68 / 69]  # both 68
    days = ConfusionCounts.from_cells(np.array([usual] * 9 + [strict] * 5))
    one = float(log_odds_ratio_within(ConfusionCounts.from_cells(np.array([usual]))))
    assert float(log_odds_ratio_within(days)) == pytest.approx(one, abs=1e-4)
    assert float(log_odds_ratio_within(days.sum()[None])) < one - 0.2


def test_days_without_one_of_the_classes_count_for_nothing():
    days = ConfusionCounts.from_cells(np.array([[80, 50, 20, 850], [0, 30, 0, 900], [0, 0, 0, 0]]))
    assert float(log_odds_ratio_within(days)) == pytest.approx(np.log(80 * 850 / (20 * 50)))
    assert np.isnan(log_odds_ratio_within(ConfusionCounts.zeros((5,))))


def judged(after, *, known=True):
    before = ConfusionCounts.from_cells(np.array([[800, 500, 200, 8_500]] * 28))
    whole = ComparedOutcomes(before, after)
    between = DayScatter.learn([before]).between(28, after.shape[-1])
    found, _ = judge_on_curve(
        whole, Dispersion.of(1.0), between=between, scores=None, days=whole if known else None
    )
    return found


def test_days_that_another_threshold_begins_with_are_no_worse_model():
    usual, strict = [800, 500, 200, 8_500], [350, 9_000 * 7 / 891, 650, 9_000 * 884 / 891]
    days = ConfusionCounts.from_cells(np.array([usual] * 22 + [strict] * 6))
    assert judged(days).change["odds_ratio"] == pytest.approx(0, abs=0.01)
    assert judged(days).verdict not in DEGRADED
    assert judged(days, known=False).change["odds_ratio"] < -0.3


def test_a_worse_model_is_one_within_days_as_well():
    usual, worse = [800, 500, 200, 8_500], [400, 500, 600, 8_500]
    days = ConfusionCounts.from_cells(np.array([usual] * 10 + [worse] * 18))
    assert judged(days).verdict in DEGRADED
    assert judged(days).verdict == judged(days, known=False).verdict


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.integers(1, 500)] * 4), min_size=1, max_size=10))
def test_within_days_a_fall_is_never_larger_and_a_rise_the_same(days):
    after = ConfusionCounts.from_cells(np.array(days))
    within, whole = judged(after), judged(after, known=False)
    assert within.change["odds_ratio"] >= whole.change["odds_ratio"]
    if whole.change["odds_ratio"] >= 0:
        assert within == whole
