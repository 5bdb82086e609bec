"""A metric's row says the same three times: as a formula, as log-odds, and by their gradient."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor import ConfusionCounts, metrics
from monitor.metrics.intervals import METRICS
from monitor.metrics.log_odds import LogOdds

SCALES = [
    pytest.param(name, row.scale, id=name) for name, row in METRICS.items() if row.scale is not None
]
AT_BALANCE = {"precision_at": {"class_ratio": 1}}
"""The scale of `precision_at` is that of its value at as many positives as negatives."""

cells = st.lists(st.floats(0.5, 1e6), min_size=4, max_size=4).map(np.array)


@pytest.mark.parametrize(("name", "scale"), SCALES)
@settings(max_examples=50, deadline=None, derandomize=True)
@given(some=cells)
def test_the_log_odds_taken_back_are_the_metric(
    name: str, scale: LogOdds, some: np.ndarray[Any, Any]
) -> None:
    counts = ConfusionCounts.from_cells(some)
    expected = getattr(metrics, name)(counts, **AT_BALANCE.get(name, {}))
    np.testing.assert_allclose(scale.back(scale.value(some)), expected, rtol=1e-9, atol=1e-12)
    assert METRICS[name].value is getattr(metrics, name)


@pytest.mark.parametrize(("name", "scale"), SCALES)
@settings(max_examples=50, deadline=None, derandomize=True)
@given(some=cells)
def test_the_gradient_is_the_slope_by_the_log_of_each_cell(
    name: str, scale: LogOdds, some: np.ndarray[Any, Any]
) -> None:
    del name
    step = 1e-5 * np.eye(4)
    rise = scale.value(np.exp(np.log(some) + step).T) - scale.value(np.exp(np.log(some) - step).T)
    np.testing.assert_allclose(scale.gradient(some), rise / 2e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_a_metric_of_one_predicted_class_ignores_the_cells_of_the_other(
    name: str, scale: LogOdds
) -> None:
    given_ratio = AT_BALANCE.get(name, {})
    usual = ConfusionCounts(tp=80, fp=20, fn=3, tn=97)
    others = [usual, ConfusionCounts(tp=80, fp=20, fn=9, tn=11)]
    others += [usual, ConfusionCounts(tp=8, fp=200, fn=3, tn=97)]
    values = [float(METRICS[name].value(counts, **given_ratio)) for counts in others]
    alone = values[0] == values[1] or values[2] == values[3]
    assert scale.of_one_predicted_class == alone
