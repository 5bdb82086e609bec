"""The families about scores: how well they separate the classes, and their calibration."""

from collections.abc import Iterator

import numpy as np

from monitor.events.columns import FloatArray
from monitor.prometheus.family import BOUNDS, Bound, Family, Line, Shape, line
from monitor.report.score_words import SCORE_WORDS, ScoreWords
from monitor.snapshot import Snapshot


def score_families() -> Iterator[Family]:
    """Yield the families about scores, in the order of the exposition."""
    for row in SCORE_WORDS.values():
        for bound in BOUNDS:
            yield _family(row, bound)


def _family(row: ScoreWords, bound: Bound) -> Family:
    def values(snapshot: Snapshot) -> FloatArray:
        if not (row.has_series or snapshot.score_metrics):
            return np.zeros(0)
        found = [
            getattr(row.of(model.scores[window.name]), bound.field)
            if window.name in model.scores
            else np.nan
            for window in snapshot.windows
            for model in snapshot.models
        ]
        return np.array(found, dtype=np.float64)

    def is_shown(shape: Shape) -> bool:
        return row.has_series or shape.score_metrics

    return Family(
        name=row.series(bound.infix),
        kind="gauge",
        meaning=row.help + bound.remark,
        labels=("model", "window"),
        lines=lambda shape: _lines(shape) if is_shown(shape) else [],
        values=values,
        is_shown=is_shown,
    )


def _lines(shape: Shape) -> list[Line]:
    return [line(model=m.name, window=w.name) for w in shape.windows for m in shape.models]
