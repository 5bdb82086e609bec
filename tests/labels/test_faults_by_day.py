"""Label faults of a few days, whose scatter is hardly known."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.labels.checks import OF_A_WINDOW, label_fault

STRICT = OF_A_WINDOW._replace(shift=0.02)
"""As where a small shift is to be explained."""


def counted(days: int, came: float, rng: np.random.Generator) -> np.ndarray:
    """Counts of days in which labels came to a share of the predictions at random, (days, 6)."""
    flagged, others = rng.poisson(100, days), rng.poisson(400, days)
    labelled, unflagged = rng.binomial(flagged, came), rng.binomial(others, came)
    tp, fn = rng.binomial(labelled, 0.8), rng.binomial(unflagged, 0.05)
    return np.stack([tp, labelled - tp, fn, unflagged - fn, flagged, others], axis=1)


def test_a_week_that_misses_labels_at_random_has_no_fault() -> None:
    rng = np.random.default_rng(5)
    found = {True: 0, False: 0}
    for _ in range(500):
        before, after = counted(28, 1.0, rng), counted(7, 0.9, rng)
        for by_days in found:
            found[by_days] += label_fault(before, after, STRICT, by_days=by_days) is not None
    assert found[True] <= 4
    assert found[False] > found[True], "errors between seven days are not normal"


@pytest.mark.parametrize("days", [1, 2, 7])
def test_days_that_lose_half_of_one_side_have_a_fault(days: int) -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        before, after = counted(28, 1.0, rng), counted(days, 1.0, rng)
        after[:, :2] //= 2
        assert label_fault(before, after, STRICT, by_days=True) is not None
        assert days > 2 or label_fault(before, after, STRICT) is None
