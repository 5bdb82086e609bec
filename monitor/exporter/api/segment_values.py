"""The segment values of a model in one window, from a snapshot."""

from __future__ import annotations

from monitor.exporter.api.segments_answer import SegmentNow, SegmentsAnswer
from monitor.report.answer_parts import metric_intervals, outcome_counts
from monitor.report.replay_json import window_bounds
from monitor.report.without_labels import predicted_positive_rate
from monitor.snapshot import ModelState, Snapshot, Window


def segments_answer(snapshot: Snapshot, model: ModelState, window: Window) -> SegmentsAnswer:
    """Return every segment value with a prediction in the window, by key, the largest first.

    Args:
        snapshot: the state.
        model: one of its models.
        window: one of its windows.
    """
    opens, closes = window_bounds(snapshot, window, model.row)
    found = [
        SegmentNow(
            segment=series.segment,
            value=series.value or "",
            predictions=int(window.predicted_positive[row] + window.predicted_negative[row]),
            predicted_positive_rate=predicted_positive_rate(window, row),
            outcomes=outcome_counts(window, row),
            metrics=metric_intervals(window, row),
        )
        for row, series in enumerate(snapshot.series)
        if series.model == model.name
        and series.segment is not None
        and window.predicted_positive[row] + window.predicted_negative[row] > 0
    ]
    found.sort(key=lambda one: (one.segment, -one.predictions, one.value))
    return SegmentsAnswer(
        model=model.name, window=window.name, open=opens, close=closes, segments=tuple(found)
    )
