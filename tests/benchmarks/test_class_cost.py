"""The streams of the benchmark of many classes count as they were made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks.class_cost import DAY, HOUR, Kind, cost, kinds, memory, named, write


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


def test_the_memory_of_a_window_is_that_of_the_cells_that_occur_in_its_hours(
    tmp_path: Path,
) -> None:
    blocks = list(named(5).blocks(300, 3 * DAY))
    write(blocks, tmp_path)
    found = memory(5, tmp_path)
    events = [json.loads(line) for block in blocks for line in block.splitlines()]
    predicted = {e["id"]: (e["ts"] // HOUR, e["prediction"]) for e in events if "prediction" in e}
    labelled = {(*predicted[e["id"]], e["label"]) for e in events if "label" in e}
    watermark = sorted(event["ts"] for event in events)[-3]
    closes = (watermark - 2 * HOUR) // HOUR
    mature = [cell for cell in {*predicted.values(), *labelled} if cell[0] < closes]
    assert found.windows["28d"] == 16 * len(mature)
    assert 0 < found.windows["1d"] < found.windows["7d"] == found.windows["28d"]
    assert found.everything > found.windows["28d"]
