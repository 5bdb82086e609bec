"""The families about models: counters since the start, label delays, states of predictions.

States are a partition: every prediction received is in exactly one, so that
`sum by (model) (precision_monitor_predictions)` is all of them. States are gauges, since a
label can still move a prediction to another; numbers that only grow are counters.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from monitor.events.columns import FloatArray
from monitor.prometheus.family import Family, Labels, Line, SeriesKind, Shape, line, number_text
from monitor.snapshot import CELL_NAMES, ModelState, Snapshot

_PREDICTED = ("positive", "negative")
_LABELS = ("positive", "negative", "retracted")
_DELAY_CLASSES = ("negative", "positive")
"""In the order of the rows of `ModelState.delay_counts`."""

_STATES: dict[str, Callable[[ModelState], int]] = {
    "matched": lambda model: model.matched,
    "pending": lambda model: model.pending,
    "expired": lambda model: model.expired,
    "evicted": lambda model: model.evicted,
    "duplicate": lambda model: model.duplicates,
}
_MOVES = [(i, j) for i in range(len(CELL_NAMES)) for j in range(len(CELL_NAMES)) if i != j]


def model_families() -> Iterator[Family]:
    """Yield the families about the classifier, in the order of the exposition."""
    yield _by_model(
        "classifier_predictions_total",
        "counter",
        "Distinct predictions received, by what was predicted.",
        lambda model: [model.counters.predicted_positive, model.counters.predicted_negative],
        [{"predicted": value} for value in _PREDICTED],
    )
    yield _by_model(
        "classifier_labels_total",
        "counter",
        "Times that a label came into force, by value; a revision counts again.",
        lambda model: [model.labels.get(value, 0) for value in _LABELS],
        [{"label": value} for value in _LABELS],
    )
    yield _by_model(
        "classifier_labelled_predictions_total",
        "counter",
        "Predictions for which a label came in time, later retracted or not.",
        lambda model: [model.counters.labelled],
    )
    yield _by_model(
        "classifier_label_transitions_total",
        "counter",
        "Moves of outcomes between the cells of the confusion matrix as labels come and change; "
        "of models of two classes.",
        lambda model: [np.nan if model.classes else model.transitions[move] for move in _MOVES],
        [{"from": CELL_NAMES[i], "to": CELL_NAMES[j]} for i, j in _MOVES],
    )
    yield _delays()
    yield _by_model(
        "classifier_label_maturity_seconds",
        "gauge",
        "Age at which enough labels have come: windows end this long before now.",
        lambda model: [np.nan if model.maturity_ms is None else model.maturity_ms / 1000],
    )
    yield _versions()


def prediction_state_families() -> Iterator[Family]:
    """Yield the families about states of predictions, in the order of the exposition."""
    yield _by_model(
        "precision_monitor_predictions",
        "gauge",
        "Predictions received, by state; the states add up to all of them.",
        lambda model: [count(model) for count in _STATES.values()],
        [{"state": state} for state in _STATES],
    )
    yield Family(
        name="precision_monitor_shadow_predictions",
        kind="gauge",
        meaning="Predictions received from shadow versions, by state; the states add up to all of "
        "them. Matched: the id has a label, and both predictions are compared.",
        labels=("model", "state"),
        lines=lambda shape: [
            line(model=m.name, state=state)
            for m in shape.models
            if m.has_shadows
            for state in _STATES
        ],
        values=lambda snapshot: np.array(
            [
                model.versions_now.shadows.predictions[state]
                for model in snapshot.models
                if model.versions_now is not None and model.versions_now.shadows is not None
                for state in _STATES
            ],
            dtype=np.float64,
        ),
    )
    yield _by_model(
        "precision_monitor_taken_back_predictions",
        "gauge",
        "Predictions in classifier_predictions_total that no longer count, because counts were "
        "corrected or an earlier prediction of the same id came; the counter stands still until "
        "as many new ones come.",
        lambda model: [model.taken_back],
    )
    yield _by_model(
        "precision_monitor_pending_predictions",
        "gauge",
        "Predictions that wait for a label.",
        lambda model: [model.pending],
    )
    yield _by_model(
        "precision_monitor_model_watermark_timestamp_seconds",
        "gauge",
        "Third-highest time of the events of the model, without those that are set aside.",
        lambda model: [np.nan if model.watermark_ms is None else model.watermark_ms / 1000],
    )
    yield _by_model(
        "precision_monitor_events_set_aside",
        "gauge",
        "Events set aside now, because their time is far ahead of the clock or of the other events "
        "of the model: they count, but move no window. Without those over a day ahead of the "
        "clock, which never will.",
        lambda model: [model.aside[0]],
    )
    yield _by_model(
        "precision_monitor_counts_below_zero",
        "gauge",
        "Windows, and the totals since the start, of which nothing is known because corrections "
        "leave a count below 0.",
        lambda model: [len(model.below_zero)],
    )
    yield _by_model(
        "precision_monitor_events_ahead_total",
        "counter",
        "Events that were set aside because they lie far ahead of the others or of the clock.",
        lambda model: [model.aside[1]],
    )
    yield _by_model(
        "precision_monitor_time_jumps_total",
        "counter",
        "Times that the time of the model went far ahead at once, because enough events agreed.",
        lambda model: [model.jumps.believed],
    )
    yield _by_model(
        "precision_monitor_predictions_came_expired_total",
        "counter",
        "Predictions that came so far behind the time of their model that their horizon had ended.",
        lambda model: [model.came_expired.events],
    )


def _by_model(
    name: str,
    kind: SeriesKind,
    meaning: str,
    read: Callable[[ModelState], Sequence[float]],
    more: Sequence[Labels] = ({},),
) -> Family:
    """Numbers of each model, one for each label set of `more`."""
    return Family(
        name=name,
        kind=kind,
        meaning=meaning,
        labels=("model", *more[0]),
        lines=lambda shape: [line(model=m.name, **labels) for m in shape.models for labels in more],
        values=lambda snapshot: np.array(
            [read(model) for model in snapshot.models], dtype=np.float64
        ).ravel(),
    )


def _delays() -> Family:
    def lines(shape: Shape) -> list[Line]:
        edges = [number_text(edge) for edge in shape.delay_edges]
        classes = [(model.name, actual) for model in shape.models for actual in _DELAY_CLASSES]
        return [bucket for name, actual in classes for bucket in _histogram_of(name, actual, edges)]

    return Family(
        name="classifier_label_delay_seconds",
        kind="histogram",
        meaning="Event time from a prediction to its label in force, by actual class.",
        labels=("model", "label"),
        lines=lines,
        values=lambda snapshot: np.concatenate([np.empty(0), *map(_delays_of, snapshot.models)]),
    )


def _histogram_of(model: str, actual: str, edges: Sequence[str]) -> Iterator[Line]:
    yield from (line("_bucket", model=model, label=actual, le=edge) for edge in edges)
    yield line("_count", model=model, label=actual)
    yield line("_sum", model=model, label=actual)


def _delays_of(model: ModelState) -> FloatArray:
    cumulative = np.cumsum(np.maximum(model.delay_counts, 0), axis=1)  # counts may be corrections
    columns = [cumulative, cumulative[:, -1:], model.delay_sum[:, np.newaxis]]
    return np.concatenate(columns, axis=1).ravel()


def _versions() -> Family:
    def values(snapshot: Snapshot) -> FloatArray:
        return np.ones(len(snapshot.models))

    return Family(
        name="classifier_model_info",
        kind="info",
        meaning="Version of the latest prediction of each model.",
        labels=("model", "version"),
        lines=lambda shape: [line(model=m.name, version=m.version) for m in shape.models],
        values=values,
    )
