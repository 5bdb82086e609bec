"""Confusions and shares of classes that certainly moved, beyond how days scatter."""

from __future__ import annotations

import numpy as np

from monitor.drift.class_confusions import confusion_changes
from monitor.drift.class_moves import class_moves
from monitor.drift.share_tests import share_tests

USUAL = np.array([[900, 60, 30], [60, 480, 20], [40, 60, 450]])
BEFORE = np.stack([USUAL] * 7)


def moved_by(change: list[list[int]]) -> np.ndarray:
    return BEFORE + np.array(change)


def test_a_confusion_that_rose_makes_the_predicted_class_worse() -> None:
    found = class_moves(BEFORE, moved_by([[-60, 0, 0], [0, 0, 0], [60, 0, 0]]), certain=0.01)
    assert np.argwhere(found.rose).tolist() == [[2, 0]]
    assert found.worse.tolist() == [False, False, True]


def test_a_threshold_that_slides_between_two_classes_makes_neither_worse() -> None:
    slid = moved_by([[-200, -55, 0], [200, 55, 0], [0, 0, 0]])
    found = class_moves(BEFORE, slid, certain=0.01)
    assert found.rose[1, :2].all()
    assert not found.worse.any()


def test_shares_that_move_are_no_confusion() -> None:
    found = class_moves(BEFORE, BEFORE * [2, 1, 1], certain=0.01)
    assert found.shares[0]
    assert not found.rose.any()
    assert not found.fell.any()


def test_what_days_may_scatter_by_is_no_move() -> None:
    """The days of each side are alike, so that the exact test takes them for independent cases."""
    slight = BEFORE * 100 + [[-1500, 0, 0], [1500, 0, 0], [0, 0, 0]]
    exact, _ = share_tests(BEFORE * 100, slight)
    assert (exact < 1e-6).any()
    assert not confusion_changes(BEFORE * 100, slight).cells
    assert not class_moves(BEFORE * 100, slight, certain=0.01)


def test_a_class_that_is_new_is_not_predicted_worse_than_before() -> None:
    """A class that was renamed took its confusions along, and was called worse."""
    gone = np.pad(BEFORE, ((0, 0), (0, 1), (0, 1)))
    renamed = gone.copy()
    renamed[:, 3], renamed[:, 2] = gone[:, 2], 0
    renamed[..., 3], renamed[..., 2] = renamed[..., 2], 0
    found = class_moves(gone, renamed, certain=0.01)
    assert np.argwhere(found.rose).tolist() == [[3, 0], [3, 1]]
    assert not found.worse.any()


def test_a_class_that_loses_cases_to_a_new_one_is_predicted_worse() -> None:
    before = np.pad(BEFORE, ((0, 0), (0, 1), (0, 1)))
    after = before.copy()
    after[:, 0, 0] -= 90
    after[:, 3, 0] += 90
    found = class_moves(before, after, certain=0.01)
    assert found.worse.tolist() == [True, False, False, False]
