"""The families about scores: how well they separate the classes, and their calibration."""

from collections.abc import Callable, Iterator

import numpy as np

from monitor.events.columns import FloatArray
from monitor.metrics.score_skill import ScoreSkill
from monitor.prometheus.family import BOUNDS, Bound, Family, Line, Shape, line
from monitor.report.score_words import SCORE_WORDS, ScoreWords
from monitor.snapshot import Snapshot


def score_families() -> Iterator[Family]:
    """Yield the families about scores, in the order of the exposition."""
    for row in SCORE_WORDS.values():
        for bound in BOUNDS:
            yield _family(
                row.series(bound.infix),
                row.help + bound.remark,
                _reader(row, bound),
                always=row.has_series,
            )
    yield _family(
        "classifier_score_tied_pairs_ratio",
        "Share of pairs of a positive and a negative whose scores lie in one bin of .001; if they "
        "differ, the area under the ROC curve is up to half of it lower or higher. Only with "
        "exporter.score_metrics.",
        lambda found: found.tied_pairs,
        always=False,
    )


def _reader(row: ScoreWords, bound: Bound) -> Callable[[ScoreSkill], float]:
    return lambda found: getattr(row.of(found), bound.field)


def _family(
    name: str, meaning: str, read: Callable[[ScoreSkill], float], *, always: bool
) -> Family:
    def values(snapshot: Snapshot) -> FloatArray:
        if not (always or snapshot.score_metrics):
            return np.zeros(0)
        found = [
            read(model.scores[window.name]) if window.name in model.scores else np.nan
            for window in snapshot.windows
            for model in snapshot.models
        ]
        return np.array(found, dtype=np.float64)

    def is_shown(shape: Shape) -> bool:
        return always or shape.score_metrics

    return Family(
        name=name,
        kind="gauge",
        meaning=meaning,
        labels=("model", "window"),
        lines=lambda shape: _lines(shape) if is_shown(shape) else [],
        values=values,
        is_shown=is_shown,
    )


def _lines(shape: Shape) -> list[Line]:
    return [line(model=m.name, window=w.name) for w in shape.windows for m in shape.models]
