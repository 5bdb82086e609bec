"""Which confusions changed: oracles, rare confusions, days that scatter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from monitor.drift.class_confusions import confusion_changes


def two_classes(before: tuple[int, int], after: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Cases of the first class by prediction; the second class is always recognised."""
    first, second = (np.array([[one[1], 0], [one[0], 1000]]) for one in (before, after))
    return first, second


@given(st.integers(0, 12), st.integers(200, 5000), st.integers(0, 12), st.integers(200, 5000))
@settings(deadline=None, max_examples=200)
def test_a_rare_confusion_is_as_certain_as_fishers_exact_test_says(
    old: int, old_rest: int, new: int, new_rest: int
) -> None:
    found = confusion_changes(*two_classes((old, old_rest), (new, new_rest)))
    exact = [
        stats.fisher_exact([[new, new_rest], [old, old_rest]], alternative=way).pvalue
        for way in ("greater", "less")
    ]
    expected = min(1.0, 4 * 2 * min(exact))  # two-sided, and by Holm the least of four cells
    assert found.p_values[1, 0] == pytest.approx(expected, rel=0.25, abs=1e-12)


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.integers(0, 300))
@settings(deadline=None, max_examples=100)
def test_both_sides_exchanged_give_the_opposite(a: int, b: int, c: int, d: int) -> None:
    before, after = two_classes((a, b), (c, d))
    one, other = confusion_changes(before, after), confusion_changes(after, before)
    np.testing.assert_array_equal(one.rose, other.fell)
    np.testing.assert_allclose(one.p_values, other.p_values, rtol=1e-9)
    np.testing.assert_array_equal(one.rose[0, 0], one.fell[1, 0])  # of two, one of them


def test_a_confusion_that_never_occurred_is_named_once_it_occurs() -> None:
    rng = np.random.default_rng(11)
    named = 0
    for _ in range(100):
        before = np.diag(np.full(20, 1400))
        after = np.diag(np.full(20, 700))
        leaked = rng.binomial(700, 0.03)
        after[3, 3] -= leaked
        after[8, 3] += leaked
        changes = confusion_changes(before, after)
        named += changes.rose[8, 3]
        assert changes.rose.sum() == changes.rose[8, 3]
    assert named >= 98


def test_days_that_scatter_are_less_certain_than_days_that_agree() -> None:
    day = np.array([[60, 3], [20, 77]])
    worse = np.array([[60, 6], [20, 74]])
    agree = confusion_changes(np.stack([day] * 14), np.stack([worse] * 14))
    shifts = np.array([[-1, 0], [1, 0]]) * np.array([18, -18] * 7)[:, None, None]
    scatter = confusion_changes(day + shifts, worse + shifts)
    assert agree.rose[0, 1]
    assert scatter.p_values[0, 1] == pytest.approx(agree.p_values[0, 1], rel=1)
    other = np.array([[48, 3], [32, 77]])
    assert confusion_changes(np.stack([day] * 14), np.stack([other] * 14)).rose[1, 0]
    assert not confusion_changes(day + 1.2 * shifts, other + 1.2 * shifts).rose[1, 0]
