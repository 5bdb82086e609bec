"""Many records of any type as one batch of columns, and which records are unfit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from monitor.events.audit_marks import marked
from monitor.events.batches import in_row_order
from monitor.events.columns import (
    NO_TIME,
    RETRACTED,
    BoolArray,
    CountDeltas,
    EventBatch,
    FloatArray,
    Int64Array,
    Labels,
    Outcomes,
    Predictions,
    rows_where,
)
from monitor.events.sourced_labels import with_sources
from monitor.feeds.decode import count_fields
from monitor.feeds.decode.class_lists import actual, named_outcomes, predicted
from monitor.feeds.decode.field_columns import (
    LEFT_OUT,
    classes,
    ids_fit,
    optional_numbers,
    seconds_of,
    within_years,
)
from monitor.feeds.decode.groups import UNFIT, GroupCodes, GroupNames, name_fits
from monitor.feeds.decode.id_texts import noted_keys
from monitor.feeds.decode.records import (
    CountsRecord,
    LabelRecord,
    OutcomeRecord,
    Predicted,
    PredictionRecord,
    Record,
    RecordTypes,
)

C = TypeVar("C", Predictions, Labels, CountDeltas)

_EMPTY = EventBatch()
"""Its empty columns are shared by all batches: creating them anew is slow for small ones."""


class Assembled(NamedTuple):
    """A list of records, decoded.

    Attributes:
        batch: the fit records as columns; its `rejected` and `records` are not set.
        unfit: ascending indices of the other records.
    """

    batch: EventBatch
    unfit: list[int]


class Assembler:
    """Turns a list of records into columns, once.

    Args:
        records: of any types, in their order.
        types: the record types made for the settings.
        names: the groups of these settings, by the segments of these types.
        latest_ms: the latest accepted event time, epoch milliseconds; None for no bound.
        longest: upper bound of a record's size as text, bytes; None if unknown.
    """

    def __init__(
        self,
        records: Sequence[Record],
        types: RecordTypes,
        names: GroupNames,
        latest_ms: int | None,
        longest: int | None = None,
    ) -> None:
        self._named = names.labels
        self._records = records
        self._types = types
        self._latest_ms = latest_ms
        self._longest = longest
        self._codes = GroupCodes(names)
        self._seed = names.id_seed
        self._keys = partial(noted_keys, seed=names.id_seed, texts=names.id_texts)
        self._unfit: list[int] = []
        self._class_names: dict[str, None] = {}

    def assemble(self) -> Assembled:
        """Return the fit records as columns, each kind in the order of the records."""
        types = self._types
        rows = _by_kind(self._records, types)
        parts: dict[str, Any] = {}
        if predictions := rows[types.prediction]:
            parts["predictions"] = self._predictions(*predictions)
        if labels := rows[types.label]:
            parts["labels"] = self._labels(*labels)
        if outcomes := rows[types.outcome]:
            parts |= self._outcomes(*outcomes, parts)
        if counts := rows[types.counts]:
            parts["counts"] = self._counts(*counts)
        parts |= {"groups": tuple(self._codes.groups), "class_names": tuple(self._class_names)}
        batch = replace(_EMPTY, **parts)
        return Assembled(in_row_order(batch) if outcomes else batch, sorted(self._unfit))

    def _mark_unfit(self, place: Int64Array, fit: BoolArray) -> None:
        if not fit.all():
            self._unfit += place[~fit].tolist()

    def _predictions(self, rows: Sequence[PredictionRecord], place: Int64Array) -> Predictions:
        ids = [row.id for row in rows]
        decided, fit = self._decisions(rows)
        fit &= ids_fit(ids, self._longest)
        self._mark_unfit(place, fit)
        return _fit_rows(Predictions(key=self._keys(ids), row=place, **decided), fit)

    def _decisions(self, rows: Sequence[Predicted]) -> tuple[dict[str, Any], BoolArray]:
        time, fit = self._times([row.ts for row in rows])
        score = optional_numbers([row.score for row in rows])
        group = self._codes.of(rows)
        columns: dict[str, Any] = {"time": time, "score": score, "group": group}
        if self._named is None:
            given = classes([row.prediction for row in rows])
        else:
            found = predicted(rows, self._codes.classes(group))
            given, columns["predicted_class"], fit = found.given, found.number, fit & found.fit
            self._class_names |= dict.fromkeys(found.names)
        positive, decided = decided_by(given, score, partial(self._codes.thresholds, group))
        columns["predicted_positive"] = positive
        return columns, fit & decided & (group != UNFIT)

    def _label_values(self, rows: Sequence[LabelRecord | OutcomeRecord]) -> _Values:
        """Return the values of labels, and which of them fit."""
        labels = [row.label for row in rows]
        if self._named is None:
            return _label_values(labels), True
        return self._named.values(labels)

    def _labels(self, rows: Sequence[LabelRecord], place: Int64Array) -> Labels:
        ids = [row.id for row in rows]
        time, fit = self._times([row.ts for row in rows])
        value, known = self._label_values(rows)
        audits, sources, known_source = _marks(rows)
        fit &= known & ids_fit(ids, self._longest) & known_source
        self._mark_unfit(place, fit)
        made = Labels(
            key=self._keys(ids),
            time=time,
            value=marked(value, np.array(audits)) if any(audits) else value,
            sampling_probability=optional_numbers([row.sampling_probability for row in rows]),
            row=place,
        )
        return _fit_rows(with_sources(made, sources), fit)

    def _outcomes(
        self, rows: Sequence[OutcomeRecord], place: Int64Array, parts: dict[str, Any]
    ) -> dict[str, Any]:
        ids = [row.id or "" for row in rows]
        decided, fit = self._decisions(rows)
        times = [row.ts if row.label_ts is None else row.label_ts for row in rows]
        time, inside = self._times(times)
        value, known = self._label_values(rows)
        if self._named is not None:
            decided["actual_class"], own = actual(rows, self._codes.classes(decided["group"]))
            known &= own
        labels = Labels(
            key=self._keys(ids),
            time=time,
            value=value,
            sampling_probability=optional_numbers([row.sampling_probability for row in rows]),
            prediction_time=decided["time"],
            row=place,
        )
        audits, sources, known_source = _marks(rows)
        has_id = np.fromiter(map(bool, ids), np.bool_, len(ids))
        fit &= inside & known & ids_fit(ids, self._longest) & known_source & ~np.array(audits)
        made = divided(decided, with_sources(labels, sources), has_id, fit)
        self._mark_unfit(place, made.fit)
        predictions, alone = parts.get("predictions", Predictions()), parts.get("labels", Labels())
        return {
            "predictions": Predictions.concatenate([predictions, made.predictions]),
            "labels": Labels.concatenate([alone, made.labels]),
            "outcomes": made.outcomes,
        }

    def _counts(self, rows: Sequence[CountsRecord], place: Int64Array) -> CountDeltas:
        time, fit = self._times([row.ts for row in rows])
        segments, known = count_fields.known_segments(rows, self._types)
        group = self._codes.of(rows, segments)
        # Labels were counted by their delay already; their time moves nothing here.
        label_time, labelled = _optional_times([row.label_ts for row in rows], time, None)
        watermark, timed = _optional_times(
            [row.watermark for row in rows], NO_TIME, self._latest_ms
        )
        fit &= known & (group != UNFIT) & ~np.asarray(self._codes.many(group)) & labelled & timed
        fit &= np.array([count_fields.batch_fits(row) for row in rows])
        self._mark_unfit(place, fit)
        made = CountDeltas(
            time=time,
            group=group,
            cells=np.array([(row.tp, row.fp, row.fn, row.tn) for row in rows], np.int64),
            population=np.array([count_fields.population_of(row) for row in rows], np.int64),
            batch_key=count_fields.batch_keys(rows, self._seed),
            sent=count_fields.sent_keys(rows, time, label_time, self._seed),
            label_time=label_time,
            sampling_probability=optional_numbers([row.sampling_probability for row in rows]),
            source=np.array([row.source or "" for row in rows], np.str_),
            watermark=watermark,
            late=np.array([row.late or 0 for row in rows], np.int64),
            row=place,
        )
        return _fit_rows(made, fit)

    def _times(self, values: Sequence[Any]) -> tuple[Int64Array, BoolArray]:
        return within_years(seconds_of(values), self._latest_ms)


_Values = tuple[Int64Array, BoolArray | bool]

_OfKind = tuple[list[Any], Int64Array]
"""Records of one kind, and their indices among all records."""


def _optional_times(
    values: Sequence[Any], missing: Int64Array | int, latest_ms: int | None
) -> tuple[Int64Array, BoolArray]:
    """Return times, `missing` where a row has none, and which rows fit."""
    given = np.array([value is not None for value in values], np.bool_)
    seconds = seconds_of([0.0 if value is None else value for value in values])
    time, fit = within_years(seconds, latest_ms)
    return np.where(given, time, missing), fit | ~given


def _by_kind(records: Sequence[Record], types: RecordTypes) -> dict[type[Any], _OfKind | None]:
    """Return the records of each kind, in their order; None for a kind without records."""
    code = {kind: number for number, kind in enumerate(types.by_name.values())}
    codes = np.frombuffer(bytes(map(code.__getitem__, map(type, records))), np.uint8)
    rows: dict[type[Any], _OfKind | None] = dict.fromkeys(code)
    for kind, number in code.items():
        chosen = codes == number
        place = chosen.nonzero()[0]
        if len(place) == len(records):
            return rows | {kind: (list(records), place)}
        if len(place):
            rows[kind] = (list(compress(records, chosen.tobytes())), place)
    return rows


def _marks(
    rows: Sequence[LabelRecord | OutcomeRecord],
) -> tuple[list[bool], list[str | None], BoolArray | bool]:
    """Return which labels are audits, the source of each, and which sources fit."""
    audits, sources = [bool(row.audit) for row in rows], [row.source for row in rows]
    if not any(sources):
        return audits, sources, True
    fit = [
        source is None or (name_fits(source) and not audit)
        for source, audit in zip(sources, audits, strict=True)
    ]
    return audits, sources, np.array(fit)


class Divided(NamedTuple):
    """Outcome records, divided into events.

    Attributes:
        predictions: of the records with an id.
        labels: of the records with an id whose label is not null.
        outcomes: the records without an id.
        fit: which records can be used.
    """

    predictions: Predictions
    labels: Labels
    outcomes: Outcomes
    fit: BoolArray


def divided(decided: dict[str, Any], labels: Labels, has_id: BoolArray, fit: BoolArray) -> Divided:
    """Divide outcome records into a prediction and a label (with an id) or an outcome (without).

    A row without an id is unfit if its label is null, since no later label can find it,
    or if its label was sampled, since outcomes do not store that. The source of its label says
    nothing, as no other label is of the same case.

    Args:
        decided: columns that predictions and outcomes have in common.
        labels: keys, labels and indices of all rows; null is a missing label here, not a
            retraction.
        has_id: which rows have an id.
        fit: which rows are fit so far.
    """
    labelled = labels.value != RETRACTED
    actual_class = decided.pop("actual_class", None)
    fit = fit & (has_id | labelled & ~(labels.sampling_probability < 1))
    columns = decided | {"row": labels.row}
    positive = labels.value == 1
    own = Outcomes(label_time=labels.time, actual_positive=positive, **columns)
    if actual_class is not None:
        own = named_outcomes(own, actual_class)
    return Divided(
        predictions=Predictions(key=labels.key, **columns).take(rows_where(fit & has_id)),
        labels=labels.take(rows_where(fit & has_id & labelled)),
        outcomes=own.take(rows_where(fit & ~has_id)),
        fit=fit,
    )


def _fit_rows(columns: C, fit: BoolArray) -> C:
    return columns if fit.all() else columns.take(fit)


def decided_by(
    given: Int64Array, score: FloatArray, thresholds: Callable[[], FloatArray]
) -> tuple[BoolArray, BoolArray]:
    """Return the predicted class of each row, and which rows have one.

    Args:
        given: the predicted class of the record, `LEFT_OUT` if it has none.
        score: the score of the record, NaN if it has none.
        thresholds: returns the threshold of each record's model, NaN if it has none.

    Returns:
        Whether positive, by the class or else by score and threshold; and which rows
        have enough of these. Where the second is false, the first means nothing.
    """
    missing = given == LEFT_OUT
    if not np.count_nonzero(missing):
        return given == 1, ~missing
    threshold = thresholds()
    by_score = score >= threshold
    return np.where(missing, by_score, given == 1), ~(missing & np.isnan(score + threshold))


def _label_values(values: list[int | None]) -> Int64Array:
    found = classes(values)
    found[found == LEFT_OUT] = RETRACTED
    return found
