"""What moved the precision of a class: exact, and standardised over the actual class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.drift import class_attribution
from monitor.drift.class_attribution import attribute_classes
from monitor.drift.class_confusions import confusion_changes

CLASSES = 20
DAYS = 14


@st.composite
def periods(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    size = draw(st.integers(2, 6))
    cells = st.lists(st.integers(1, 300), min_size=size * size, max_size=size * size)
    before, after = (np.array(draw(cells)).reshape(size, size) for _ in range(2))
    return before, after


def precision(matrix: np.ndarray) -> np.ndarray:
    return np.diagonal(matrix) / matrix.sum(axis=1)


def rates(size: int) -> np.ndarray:
    """Shares of predictions by predicted and actual class: class 1 is mistaken for class 0."""
    found = np.full((size, size), 0.2 / (size - 1))
    np.fill_diagonal(found, 0.8)
    found[:, 1] *= 0.9
    found[0, 1] += 0.1
    return found


def drawn(rng: np.random.Generator, shares: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Two weeks of a thousand cases a day, (days, classes, classes)."""
    cells = (predicted * shares).ravel()
    return rng.multinomial(1000, cells, size=DAYS).reshape(DAYS, *predicted.shape)


@given(periods())
@settings(deadline=None, max_examples=60)
def test_the_parts_add_up_to_the_change_of_precision(pair: tuple[np.ndarray, np.ndarray]) -> None:
    before, after = pair
    found = attribute_classes(before, after)
    old, new = precision(before), precision(after)
    moved = np.log(new / (1 - new)) - np.log(old / (1 - old))
    logits = found.prevalence.logit + found.recall.logit + found.leaks.logit.sum(axis=1)
    points = found.prevalence.points + found.recall.points + found.leaks.points.sum(axis=1)
    np.testing.assert_allclose(logits, moved, atol=1e-12)
    np.testing.assert_allclose(found.change.logit, moved, atol=1e-12)
    np.testing.assert_allclose(points, new - old, atol=1e-12)
    assert (np.diagonal(found.leaks.logit) == 0).all()


@given(periods(), st.lists(st.integers(1, 9), min_size=6, max_size=6))
@settings(deadline=None, max_examples=60)
def test_with_the_same_rates_within_each_class_all_is_prevalence(
    pair: tuple[np.ndarray, np.ndarray], times: list[int]
) -> None:
    before = pair[0]
    after = before * np.array(times[: len(before)])
    found, changes = attribute_classes(before, after), confusion_changes(before, after)
    moved = precision(after) - precision(before)
    np.testing.assert_allclose(found.prevalence.points, moved, atol=1e-12)
    assert np.abs(found.recall.logit).max() < 1e-12
    assert np.abs(found.leaks.logit).max() < 1e-12
    assert not changes.rose.any()
    assert not changes.worse_classes.any()


@given(periods())
@settings(deadline=None, max_examples=60)
def test_two_classes_split_as_a_binary_model_does(pair: tuple[np.ndarray, np.ndarray]) -> None:
    before, after = (matrix[:2, :2] for matrix in pair)
    found = attribute_classes(before, after)
    ratios, recalls, false = (
        [share(matrix) for matrix in (before, after)]
        for share in (
            lambda m: m[:, 0].sum() / m[:, 1].sum(),
            lambda m: m[0, 0] / m[:, 0].sum(),
            lambda m: m[0, 1] / m[:, 1].sum(),
        )
    )
    assert found.recall.logit[0] == pytest.approx(np.log(recalls[1] / recalls[0]), abs=1e-12)
    rest = found.prevalence.logit[0] + found.leaks.logit[0, 1]
    binary = np.log(ratios[1] / ratios[0]) - np.log(false[1] / false[0])
    assert rest == pytest.approx(binary, abs=1e-12)


def test_a_class_that_doubles_makes_no_other_class_worse() -> None:
    rng = np.random.default_rng(5)
    even, predicted = np.full(CLASSES, 1 / CLASSES), rates(CLASSES)
    doubled = np.where(np.arange(CLASSES) == 1, 2, 1) * even
    doubled /= doubled.sum()
    worse, fell = 0, 0
    for _ in range(200):
        before, after = drawn(rng, even, predicted), drawn(rng, doubled, predicted)
        worse += confusion_changes(before, after).worse_classes.any()
        fell += precision(after.sum(axis=0))[0] < precision(before.sum(axis=0))[0]
    assert fell > 150  # what one class against the rest would call worse
    assert worse <= 6  # 1 in 100 is what Holm's procedure allows


def test_a_real_confusion_is_named_and_carries_the_fall() -> None:
    rng = np.random.default_rng(6)
    even, predicted = np.full(CLASSES, 1 / CLASSES), rates(CLASSES)
    confused = predicted.copy()
    confused[:, 3] *= 0.8
    confused[2, 3] += 0.2
    for _ in range(20):
        before, after = drawn(rng, even, predicted), drawn(rng, even, confused)
        changes = confusion_changes(before, after)
        assert changes.worse_classes[2]
        others = changes.rose.copy()
        assert others[2, 3]
        others[2, 3] = False
        assert not others.any()
        found = attribute_classes(before, after)
        assert found.leaks.points[2].argmin() == 3
        assert found.leaks.upper_points[2, 3] < 0


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(7)
    shares = np.array([0.5, 0.3, 0.2])
    before_rates = rates(3)
    after_rates = before_rates.copy()
    after_rates[:, 2] = [0.2, 0.1, 0.7]
    later = np.array([0.3, 0.5, 0.2])
    exact = [
        np.rint(r * s * 1e12).astype(np.int64)
        for r, s in ((before_rates, shares), (after_rates, later))
    ]
    truth = attribute_classes(*exact)
    covered = []
    for _ in range(300):
        pair = drawn(rng, shares, before_rates), drawn(rng, later, after_rates)
        found = attribute_classes(*(days.sum(axis=0) for days in pair))
        covered.append(
            [
                (one.lower_points <= true.points) & (true.points <= one.upper_points)
                for one, true in zip(found[:3], truth[:3], strict=True)
            ]
        )
    share = np.mean(covered, axis=0)
    assert share.min() > 0.9
    assert share.max() < 0.99


def test_a_class_without_cases_on_one_side_is_undefined_and_the_others_are_not() -> None:
    before = np.array([[90, 5, 0], [8, 75, 0], [2, 5, 0]])
    after = np.array([[90, 5, 3], [8, 75, 1], [2, 5, 40]])
    found = attribute_classes(before, after)
    assert np.isnan(found.change.logit[2])
    assert np.isfinite(found.change.logit[:2]).all()
    assert found.leaks.logit[0, 2] == 0  # all that came of it is prevalence
    assert (confusion_changes(before, after).p_values[:, 2] == 1).all()


@pytest.mark.parametrize("vanished", [True, False], ids=["vanished", "new"])
def test_a_class_without_cases_on_one_side_widens_no_limits_of_the_others(vanished: object) -> None:
    rng, with_it = np.random.default_rng(8), np.array([0.2, 0.3, 0.3, 0.2])
    without = np.array([0.3, 0.4, 0.0, 0.3])
    shares = (with_it, without) if vanished else (without, with_it)
    found = []
    for _ in range(200):
        sides = (
            rng.multinomial(5_000, (rates(4) * share).ravel()).reshape(4, 4) for share in shares
        )
        of = attribute_classes(*sides)
        found.append([[p.points, p.upper_points - p.points] for p in (of.prevalence, of.leaked)])
    points, half = np.moveaxis(np.array(found), 2, 0)
    others = [0, 1, 3]
    errors = half.mean(axis=0)[:, others] / 1.96
    np.testing.assert_allclose(errors, points.std(axis=0)[:, others], rtol=0.2)


@pytest.mark.parametrize("at_once", [1, 20, 100_000])
def test_days_that_scatter_widen_the_limits_as_leaving_each_out_says(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """The jackknife over days, a call for each; how many are worked on at once changes nothing."""
    monkeypatch.setattr(class_attribution, "_AT_ONCE", at_once)
    rng = np.random.default_rng(31)
    rates = rng.dirichlet([8, 2, 2], size=(2, 12, 3))  # of each day and actual class
    before, after = (np.stack([rng.multinomial(400, day).T for day in side]) for side in rates)
    found = attribute_classes(before, after).recall
    sums = before.sum(axis=0), after.sum(axis=0)
    left_out = [
        [attribute_classes(sums[0] - day, sums[1]).recall.points for day in before],
        [attribute_classes(sums[0], sums[1] - day).recall.points for day in after],
    ]
    variance = sum((len(one) - 1) * np.var(one, axis=0) for one in left_out)
    np.testing.assert_allclose(found.upper_points - found.points, 1.959964 * variance**0.5, 1e-6)
    alone = attribute_classes(*sums).recall
    assert (found.upper_points - found.points > alone.upper_points - alone.points).all()
