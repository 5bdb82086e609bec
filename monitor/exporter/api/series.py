"""One model over time: precision, balanced precision, the class ratio, detections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from monitor.config import Labelling
from monitor.config.quantities import DAY_MS, HOUR_MS, format_time
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.label_free import nowcast
from monitor.events.columns import FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.labels.estimates import measure
from monitor.labels.evidence import KIND_OF, Evidence, Kind
from monitor.report.replay_json import METRICS, defined
from monitor.windows.history import History
from monitor.windows.recalled import busy

STEPS_MS = (HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS, 28 * DAY_MS, 364 * DAY_MS)
"""Steps of time that a series can be cut into."""
MOST_STEPS = 400
"""More are not given at once: the step grows."""


class Mark(NamedTuple):
    """Something that was noticed at a moment, epoch milliseconds."""

    at: int
    kind: str


class Background(NamedTuple):
    """What is known of a model besides its counts.

    Attributes:
        model: its name.
        labelling: how its labels come.
        mature_until: up to this moment, epoch milliseconds, outcomes are mature;
            None where it is not known.
        reference: outcomes that predictions alone are held against; None without one.
        detections: what was noticed, and when.
    """

    model: str
    labelling: Labelling
    mature_until: int | None
    reference: ConfusionCounts | None
    detections: Sequence[Mark] = ()


def series_object(
    history: History,
    about: Background,
    *,
    step: int | None = None,
    last: int | None = None,
    most: int = MOST_STEPS,
) -> dict[str, Any]:
    """One model's metrics by steps of time; null wherever nothing is known.

    Args:
        history: hours or days of its totals, consecutive; silence counted in.
        about: the model.
        step: milliseconds, one of `STEPS_MS`; the finest that stays within `most`
            steps if left out.
        last: leave out all but so many steps.
        most: steps.
    """
    opens, cells, step = _steps(history, step, most)
    if last is not None:
        opens, cells = opens[-last:], cells[-last:]
    values = _measured(opens + step, cells, about)
    estimated = _estimated(cells, about.reference)
    return {
        "model": about.model,
        "step_seconds": step // 1000,
        "mature_until": None if about.mature_until is None else format_time(about.mature_until),
        "open": [format_time(moment) for moment in opens.tolist()],
        "predictions": cells[:, PREDICTED_POSITIVE:].sum(axis=1).tolist(),
        "outcomes": {c.name.lower(): cells[:, c].tolist() for c in Outcome},
        "metrics": {
            name: {
                end: [defined(number) for number in column.tolist()]
                for end, column in zip(("estimate", "lower", "upper"), values[name], strict=True)
            }
            for name in METRICS
        },
        "class_ratio_from_predictions": [defined(number) for number in estimated.tolist()],
        "detections": [{"at": format_time(d.at), "kind": d.kind} for d in about.detections],
    }


def trend(history: History, about: Background, *, step: int, last: int) -> list[float | None]:
    """Precision alone, by steps of time; the same numbers as `series_object` gives.

    Args:
        history: as there.
        about: the model.
        step: milliseconds.
        last: leave out all but so many steps.
    """
    opens, cells, step = _steps(history, step, MOST_STEPS)
    opens, cells = opens[-last:], cells[-last:]
    points = _measured(opens + step, cells, about, ("precision",))["precision"][0]
    return [defined(number) for number in points.tolist()]


def _steps(history: History, step: int | None, most: int) -> tuple[Int64Array, Int64Array, int]:
    """First moments and counts of the steps from the first to the last prediction."""
    seen = busy(history.cells)
    finest = int(np.diff(history.open).min()) if len(history.open) > 1 else HOUR_MS
    if not len(seen):
        return np.zeros(0, np.int64), history.cells[:0], step or finest
    opens, cells = history.open[seen[0] : seen[-1] + 1], history.cells[seen[0] : seen[-1] + 1]
    if step is None or step < finest:
        span = int(opens[-1] - opens[0])
        step = next((s for s in STEPS_MS if s >= finest and span / s <= most), STEPS_MS[-1])
    numbers = opens // step
    firsts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1))
    return numbers[firsts] * step, np.add.reduceat(cells, firsts, axis=0), step


def _measured(
    closes: Int64Array, cells: Int64Array, about: Background, names: Sequence[str] = METRICS
) -> dict[str, FloatArray]:
    """Estimate and limits of each metric, (3, steps); NaN while labels are to come, or astray."""
    kind = KIND_OF[about.labelling]
    known = np.zeros(len(closes), dtype=np.bool_)
    if about.mature_until is not None and kind is not Kind.WEIGHTED:
        known = closes <= about.mature_until
    evidence = Evidence.of(np.full(len(cells), kind, dtype=np.int64), cells)
    if about.labelling is Labelling.COMPLETE:
        evidence.distrust_sides(np.arange(len(cells)))
    found = {}
    for name in names:
        with np.errstate(all="ignore"):
            found[name] = np.where(known, measure(evidence, name), np.nan)
    return found


def _estimated(cells: Int64Array, reference: ConfusionCounts | None) -> FloatArray:
    """Class ratio of each step from its predictions alone, if the model is unchanged."""
    if reference is None:
        return np.full(len(cells), np.nan)
    with np.errstate(all="ignore"):
        shares = np.array(
            [
                nowcast(
                    predicted_positive=row[PREDICTED_POSITIVE],
                    total=row[PREDICTED_POSITIVE] + row[PREDICTED_NEGATIVE],
                    reference=reference,
                ).prevalence
                for row in cells.tolist()
            ]
        )
        ratios = shares / (1 - shares)
    return np.where(np.isfinite(ratios), ratios, np.nan)
