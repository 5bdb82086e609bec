"""The streams of the benchmark of many classes count as they were made."""

from __future__ import annotations

import pytest

from tests.benchmarks.class_cost import HOUR, Kind, cost, kinds


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.title)
def test_each_kind_of_model_counts_all_cases_and_nine_of_ten_are_right(kind: Kind) -> None:
    _, monitor = cost(kind, list(kind.blocks(400, HOUR)))
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    if len(kind.names) > 2:
        matrix = model.classes["all"].matrix
        assert (matrix.sum(), len(matrix)) == (400, len(kind.names))
        assert 0.85 < matrix.trace() / 400 < 0.95
        assert monitor.classes.nbytes > 0
    else:
        tp, fp, fn, tn = snapshot.lifetime.counts[0].cells.tolist()
        assert tp + fp + fn + tn == 400
        assert 0.85 < (tp + tn) / 400 < 0.95
        assert monitor.classes.nbytes == 0
