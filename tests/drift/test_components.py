import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift import Status, judge
from monitor.drift.component_changes import changes, jackknife_variance, leave_one_out
from monitor.drift.components import (
    Component,
    SmoothedRates,
    block_seconds,
    components,
    covariance_of_logs,
)
from monitor.drift.dispersion import Dispersion

cells = st.tuples(*[st.integers(0, 10_000)] * 4)


def counts_of(row: tuple[float, ...]) -> ConfusionCounts:
    return ConfusionCounts(tp=row[0], fp=row[1], fn=row[2], tn=row[3])


@given(cells)
def test_components_are_logs_of_counts_with_half_a_count_in_each_cell(row: tuple[int, ...]) -> None:
    tp, fp, fn, tn = (cell + 0.5 for cell in row)
    expected = [
        math.log((tp + fn) / (fp + tn)),
        math.log(tp / fn),
        math.log(fp / tn),
        math.log((tp / (tp + fn)) / (fp / (fp + tn))),
        math.log((fn / (tp + fn)) / (tn / (fp + tn))),
    ]
    np.testing.assert_allclose(components(counts_of(row)), expected, rtol=1e-12, atol=1e-12)


@given(cells, cells, st.floats(1, 50))
@example((0, 0, 0, 0), (0, 0, 0, 3), 2.0)
def test_dispersion_multiplies_variances(
    old: tuple[int, ...], new: tuple[int, ...], dispersion: float
) -> None:
    plain = changes(counts_of(old), counts_of(new)).standard_error
    wide = changes(counts_of(old), counts_of(new), dispersion).standard_error
    if all(tp + fn and fp + tn for tp, fp, fn, tn in (old, new)):
        np.testing.assert_allclose(wide, plain * math.sqrt(dispersion), rtol=1e-12)
    else:  # errors of a class without cases are wide anyway
        assert (wide >= plain).all()
        assert (wide <= plain * math.sqrt(dispersion) * (1 + 1e-12)).all()


def test_independent_errors_follow_the_delta_method() -> None:
    old = counts_of((80.0, 45.0, 20.0, 855.0))
    tp, fp, fn, tn = 80.5, 45.5, 20.5, 855.5
    p, n = tp + fn, fp + tn
    expected = [
        1 / p + 1 / n,
        1 / tp + 1 / fn,
        1 / fp + 1 / tn,
        1 / tp - 1 / p + 1 / fp - 1 / n,
        1 / fn - 1 / p + 1 / tn - 1 / n,
        1 / tp + 1 / fn + 1 / fp + 1 / tn,
        1 / p + 1 / n + 1 / fp - 1 / n,
        1 / p + 1 / n + 1 / tp - 1 / p,
    ]
    found = changes(old, old).standard_error ** 2 / 2
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_each_stream_has_its_own_dispersion() -> None:
    old = counts_of((80, 45, 20, 855))
    one, four = np.asarray(1.0), np.asarray(4.0)
    found = changes(old, old, Dispersion(class_ratio=one, recall=four, false_positive_rate=one))
    plain = changes(old, old)
    grown = found.standard_error / plain.standard_error
    np.testing.assert_allclose(grown[[0, 1, 2]], [1, 2, 1], rtol=1e-12)


def test_errors_between_blocks_are_the_jackknife_where_they_are_larger() -> None:
    rng = np.random.default_rng(0)
    weather = rng.normal(size=30)
    positive = rng.binomial(1000, 0.2, 30)
    tp = rng.binomial(positive, 1 / (1 + np.exp(-1 - weather)))
    fp = rng.binomial(1000 - positive, 1 / (1 + np.exp(2 - weather)))
    days = ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=1000 - positive - fp)
    values = [
        components(ConfusionCounts.from_cells(np.delete(days.cells, day, axis=0).sum(axis=0)))
        for day in range(30)
    ]
    jackknife = 29 / 30 * ((np.array(values) - np.mean(values, axis=0)) ** 2).sum(axis=0)
    independent = changes(days.sum(), days.sum()).standard_error[:5] ** 2 / 2
    found = changes(days, days).standard_error[:5] ** 2 / 2
    np.testing.assert_allclose(found, np.maximum(jackknife, independent), rtol=1e-9)
    ratio = Component.LOG_LIKELIHOOD_RATIO
    assert found[Component.RECALL] > 10 * independent[Component.RECALL]
    assert found[ratio] < found[Component.RECALL] / 2, "recall and false positives move together"


def test_empty_blocks_change_nothing() -> None:
    days = ConfusionCounts(tp=[8, 9, 5], fp=[5, 6, 9], fn=[2, 1, 3], tn=[90, 80, 95])
    gaps = ConfusionCounts.from_cells(np.insert(days.cells, [1, 3], 0, axis=0))
    np.testing.assert_allclose(
        changes(days, days).standard_error, changes(gaps, gaps).standard_error, rtol=1e-12
    )


def test_one_block_is_a_scalar_and_blocks_may_differ_in_number() -> None:
    window = counts_of((80, 45, 20, 855))
    days = ConfusionCounts(tp=[40, 40], fp=[20, 25], fn=[10, 10], tn=[425, 430])
    alone = changes(window, window[None])
    np.testing.assert_array_equal(alone.standard_error, changes(window, window).standard_error)
    assert changes(days, window).change == pytest.approx(np.zeros(8))


def test_empty_windows_are_finite_with_large_errors() -> None:
    nothing = ConfusionCounts.zeros()
    found = changes(nothing, nothing)
    assert (found.change == 0).all()
    assert (found.standard_error > 1).all()


def test_fractional_counts_are_counts() -> None:
    days = ConfusionCounts(tp=[0.1, 0.2, 0.7], fp=[1e-9, 0.3, 2.5], fn=[0, 0, 0.1], tn=[9, 1, 5.5])
    assert np.isfinite(changes(days, days).standard_error).all()
    assert leave_one_out(days).tp == pytest.approx([0.9, 0.8, 0.3])


def test_a_jackknife_of_fewer_than_two_blocks_is_undefined() -> None:
    one = jackknife_variance(np.array([1.0, 2.0]), np.array([True, False]))
    assert math.isnan(one)


def test_blocks_are_days_from_twenty_days_on() -> None:
    assert block_seconds(20 * 86_400) == 86_400
    assert block_seconds(20 * 86_400 - 1) == 3_600


def test_a_dispersion_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 1, got 0\.5"):
        changes(ConfusionCounts.zeros(), ConfusionCounts.zeros(), 0.5)


RATES = SmoothedRates.of(ConfusionCounts(tp=80, fp=50, fn=20, tn=850))


@given(st.lists(st.floats(0.0, 2.0), min_size=8, max_size=8))
def test_no_part_of_a_change_has_a_negative_variance_between_days(between: list[float]) -> None:
    found = covariance_of_logs(np.array(between), RATES)
    assert np.linalg.eigvalsh(found)[0] >= -1e-12
    assert found == pytest.approx(found.T, abs=1e-12)


def test_variances_that_go_together_give_back_the_covariance_that_they_come_from() -> None:
    root = np.array([[0.3, 0.0, 0.0], [0.1, 0.2, 0.0], [-0.05, 0.15, 0.25]])
    true = root @ root.T
    between = np.zeros(8)
    between[Component.CLASS_RATIO] = true[0, 0]
    between[Component.RECALL] = true[1, 1] / float(RATES.miss_rate) ** 2
    between[Component.FALSE_POSITIVE_RATE] = true[2, 2] / float(RATES.specificity) ** 2
    for component, weights in (
        (Component.ALL_BUT_FALSE_POSITIVES, [1, 1, 0]),
        (Component.ALL_BUT_RECALL, [1, 0, -1]),
        (Component.LOG_LIKELIHOOD_RATIO, [0, 1, -1]),
    ):
        between[component] = weights @ true @ weights
    assert covariance_of_logs(between, RATES) == pytest.approx(true)


@pytest.mark.parametrize("swapped", [False, True])
def test_a_rate_without_a_case_on_one_side_shows_no_change(swapped: bool) -> None:  # noqa: FBT001
    none = ConfusionCounts(tp=0, fp=3_530, fn=0, tn=22)
    some = ConfusionCounts(tp=1, fp=1, fn=11_650, tn=36_625)
    sides = (some, none) if swapped else (none, some)
    status = judge(*sides).status
    assert (status["recall"], status["log_likelihood_ratio"]) == (Status.UNKNOWN, Status.UNKNOWN)
    assert status["false_positive_rate"] is Status.CHANGED, "negatives are on both sides"
    flipped = [ConfusionCounts(tp=c.fp, fp=c.tp, fn=c.tn, tn=c.fn) for c in sides]
    assert judge(*flipped).status["false_positive_rate"] is Status.UNKNOWN
