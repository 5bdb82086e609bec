"""A recorded stream, as outcomes and scores by blocks of time."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift.components import block_seconds
from monitor.metrics.histogram import ScoreHistogram


class Stream:
    """Outcomes of a recorded stream, ready to be counted by blocks of time."""

    def __init__(self, path: Path) -> None:
        predictions, labels = {}, {}
        with gzip.open(path, "rt") as lines:
            for event in map(json.loads, lines):
                if event["type"] == "prediction":
                    predictions[event["id"]] = event
                else:
                    labels[event["id"]] = event["label"]
        rows = [
            (event["ts"], event["prediction"], label, event["score"])
            for key, event in predictions.items()
            if (label := labels.get(key)) is not None
        ]
        self.time, predicted, label, self.score = np.array(rows, dtype=np.float64).T
        self.positive = label == 1
        # tp, fp, fn, tn
        self.cell = np.where(predicted == 1, 1 - label, 3 - label).astype(np.int64)

    def blocks(self, start: str, end: str) -> ConfusionCounts:
        """Counts of [start, end) by blocks of days, or of hours where it has under 20 days."""
        opens, closes = (_seconds(day) for day in (start, end))
        length = block_seconds(closes - opens)
        inside = (self.time >= opens) & (self.time < closes)
        cells = np.zeros((int(-(-(closes - opens) // length)), 4), dtype=np.int64)
        block = ((self.time[inside] - opens) // length).astype(np.int64)
        np.add.at(cells, (block, self.cell[inside]), 1)
        return ConfusionCounts.from_cells(cells)

    def scores(self, start: str, end: str) -> ScoreHistogram:
        """Labelled scores of [start, end) by the same blocks."""
        opens, closes = (_seconds(day) for day in (start, end))
        length = block_seconds(closes - opens)
        edges = np.arange(opens, closes, length)
        blocks = [(self.time >= edge) & (self.time < min(edge + length, closes)) for edge in edges]
        histograms = [
            ScoreHistogram.from_scores(
                positive=self.score[block & self.positive],
                negative=self.score[block & ~self.positive],
            )
            for block in blocks
        ]
        positive = np.stack([histogram.positive for histogram in histograms])
        negative = np.stack([histogram.negative for histogram in histograms])
        return ScoreHistogram(
            positive=positive, negative=negative, unlabelled=np.zeros_like(positive)
        )


def _seconds(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
