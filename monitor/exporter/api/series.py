"""One model over time as an answer: its metrics and outcomes by steps of time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Labelling
from monitor.config.quantities import format_time
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.label_free import nowcast
from monitor.events.columns import FloatArray, Int64Array
from monitor.exporter.api.series_answer import (
    IntervalSeries,
    MetricSeries,
    Numbers,
    OutcomeSeries,
    SeriesAnswer,
)
from monitor.exporter.api.status_answer import DetectionMark, VersionAppeared
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.labels.estimates import measure
from monitor.labels.evidence import KIND_OF, Evidence, Kind
from monitor.labels.regime import LabelRegime
from monitor.report.answer_parts import defined, time_text
from monitor.report.vocabulary import JSON_METRICS
from monitor.verdicts import Detected
from monitor.windows.history import History
from monitor.windows.recalled import busy

STEPS_MS = (HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS, 28 * DAY_MS, 364 * DAY_MS)
"""The steps of time that can be asked for."""
MOST_STEPS = 400
"""Steps in one answer; a finer step is made longer."""


class SeriesContext(NamedTuple):
    """Settings of a model that its series needs besides the counts.

    Attributes:
        model: its name.
        regime: how its labels come, and how often they are wrong.
        mature_until: up to this moment, epoch milliseconds, outcomes are mature;
            None where it is not known.
        reference: outcomes with which predictions alone are compared; None without one, or
            where label shift has no good record.
        detections: all there were, in their order.
        versions: each with the time of its first prediction, epoch milliseconds.
        changed: when its recall or false-positive rate changed, ISO 8601 in UTC; None where
            nothing says that they did.
        refused: metrics that its configuration refuses.
    """

    model: str
    regime: LabelRegime
    mature_until: int | None
    reference: ConfusionCounts | None
    detections: Sequence[Detected] = ()
    versions: Sequence[tuple[str, int]] = ()
    changed: str | None = None
    refused: Collection[str] = ()


def series_answer(
    history: History,
    context: SeriesContext,
    *,
    step: int | None = None,
    last: int | None = None,
    most: int = MOST_STEPS,
) -> SeriesAnswer:
    """Return one model's metrics by steps of time.

    Args:
        history: hours or days of its totals, consecutive, empty ones included.
        context: the model.
        step: milliseconds, one of `STEPS_MS`; the finest that stays within `most`
            steps if left out.
        last: leave out all but this many steps.
        most: steps.
    """
    opens, cells, step = _steps(history, step, most)
    if last is not None:
        opens, cells = opens[-last:], cells[-last:]
    metrics = _measured(opens + step, cells, context)
    tp, fp, fn, tn = (tuple(cells[:, outcome].tolist()) for outcome in Outcome)
    return SeriesAnswer(
        model=context.model,
        step_seconds=step // 1000,
        mature_until=time_text(context.mature_until),
        open=tuple(format_time(moment) for moment in opens.tolist()),
        predictions=tuple(cells[:, PREDICTED_POSITIVE:].sum(axis=1).tolist()),
        predicted_positive=tuple(cells[:, PREDICTED_POSITIVE].tolist()),
        outcomes=OutcomeSeries(tp=tp, fp=fp, fn=fn, tn=tn),
        metrics=MetricSeries(**{name: _intervals(metrics[name]) for name in JSON_METRICS}),
        class_ratio_from_predictions=numbers(_estimated(cells, context.reference)),
        detections=tuple(map(DetectionMark.of, context.detections)),
        versions=tuple(
            VersionAppeared(version=name, first_prediction=format_time(first))
            for name, first in context.versions
        ),
        changed=context.changed,
    )


def trend(history: History, context: SeriesContext, *, step: int, last: int) -> Numbers:
    """Return precision alone by steps of time, with the same numbers as `series_answer`.

    Args:
        history: hours or days of the model's totals.
        context: the model.
        step: milliseconds.
        last: leave out all but this many steps.
    """
    opens, cells, step = _steps(history, step, MOST_STEPS)
    opens, cells = opens[-last:], cells[-last:]
    return numbers(_measured(opens + step, cells, context, ("precision",))["precision"][0])


def numbers(values: FloatArray) -> Numbers:
    """Return an array as it stands in an answer; None where a number is undefined."""
    return tuple(defined(number) for number in values.tolist())


def _intervals(values: FloatArray) -> IntervalSeries:
    estimate, lower, upper = values
    return IntervalSeries(estimate=numbers(estimate), lower=numbers(lower), upper=numbers(upper))


def _steps(history: History, step: int | None, most: int) -> tuple[Int64Array, Int64Array, int]:
    """Return first moments, counts and length of the steps from first to last prediction."""
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
    closes: Int64Array,
    cells: Int64Array,
    context: SeriesContext,
    names: Sequence[str] = JSON_METRICS,
) -> dict[str, FloatArray]:
    """Return each metric with its limits, (3, steps); NaN where labels do not allow it."""
    kind = KIND_OF[context.regime.labelling]
    known = np.zeros(len(closes), dtype=np.bool_)
    if context.mature_until is not None and kind != Kind.WEIGHTED:
        known = closes <= context.mature_until
    evidence = Evidence.of(np.full(len(cells), kind, dtype=np.int64), cells)
    rates = np.array(context.regime.rates)
    evidence.errors[:] = rates[context.regime.stretches(closes - 1)]
    if context.regime.labelling is Labelling.COMPLETE:
        evidence.distrust_sides(np.arange(len(cells)))
    found = {}
    for name in names:
        with np.errstate(all="ignore"):
            stated = known & (name not in context.refused)
            found[name] = np.where(stated, measure(evidence, name), np.nan)
    return found


def _estimated(cells: Int64Array, reference: ConfusionCounts | None) -> FloatArray:
    """Return the class ratio of each step from its predictions alone, if the model is unchanged."""
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
