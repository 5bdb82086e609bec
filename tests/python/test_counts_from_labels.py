"""Counts of predictions and labels in arrays, from anything array-like."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from monitor import ConfusionCounts

PAIRS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(1, 9)), min_size=1)
KINDS = {
    "list": list,
    "bool": lambda values: np.array(values, dtype=bool),
    "float": lambda values: np.array(values, dtype=float),
    "series": pd.Series,
    "nullable": lambda values: pd.array(values, dtype="Int64"),
}


@given(PAIRS)
def test_it_counts_as_scikit_learn_does(rows):
    actual, predicted, weight = zip(*rows, strict=True)
    for weights in (None, weight):
        matrix = confusion_matrix(actual, predicted, labels=[0, 1], sample_weight=weights)
        tn, fp, fn, tp = matrix.ravel().tolist()
        found = ConfusionCounts.from_labels(actual, predicted, weights)
        assert found == ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_any_array_counts_alike(kind):
    found = ConfusionCounts.from_labels(kind([1, 0, 1]), kind([1, 1, 0]))
    assert repr(found) == "ConfusionCounts(tp=1, fp=1, fn=1, tn=0)"


def test_nothing_counts_as_nothing():
    assert ConfusionCounts.from_labels([], []) == ConfusionCounts.zeros()


@pytest.mark.parametrize(
    ("y_true", "y_pred", "weight", "message"),
    [
        ([1, None], [1, 0], None, "y_true: must be 0 or 1, got None at position 1; leave cases"),
        ([1, 0], [1, 0.5], None, "y_pred: must be 0 or 1, got 0.5 at position 1; give decisions"),
        (pd.Series([1, None]), [1, 0], None, "y_true: must be 0 or 1, got nan at position 1; leav"),
        (["1", "0"], [1, 0], None, "y_true: must be 0 or 1, got '1' at position 0; .* y_true == '"),
        ([[1]], [1], None, "y_true: must be one-dimensional"),
        ([1, 0], [1], None, "y_pred: must be as long as y_true"),
        ([1, 0], [1, 0], [1], "sample_weight: must be as long as y_true"),
        ([1, 0], [1, 0], [1, -1], "sample_weight: must be finite and at least 0"),
    ],
)
def test_what_does_not_fit_is_named(y_true, y_pred, weight, message):
    with pytest.raises(ValueError, match=message):
        ConfusionCounts.from_labels(y_true, y_pred, weight)
