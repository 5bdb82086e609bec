"""Arrow record batches to columns of events, whole columns at a time.

Rows that do not fit, tables whose columns have unusual types, and those of models whose
classes have names are decoded row by row, as fields. So the reasons of rejected records are the
same in every format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.config.mapping import SEGMENT, MappedRecords
from monitor.events.audit_marks import marked
from monitor.events.batches import at_rows, concatenate, in_row_order
from monitor.events.columns import (
    MAX_ID_BYTES,
    RETRACTED,
    BoolArray,
    EventBatch,
    Int64Array,
    Labels,
    Outcomes,
    Predictions,
    Rows,
    rows_where,
)
from monitor.events.sourced_labels import have_sources, with_sources
from monitor.feeds import table_fields
from monitor.feeds.arrow.canonical import CanonicalBatches
from monitor.feeds.arrow.id_columns import IdColumns, Ids
from monitor.feeds.arrow.reading import ArrowColumns, Texts, is_plain
from monitor.feeds.arrow.rows import RowReader
from monitor.feeds.arrow.soundness import is_utf8
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.assemble import decided_by, divided
from monitor.feeds.decode.field_columns import LEFT_OUT, within_years
from monitor.feeds.decode.groups import UNFIT, GroupCodes, GroupNames, name_fits
from monitor.feeds.mapping.class_texts import ClassTexts
from monitor.feeds.mapping.field_sources import sources_of_table
from monitor.feeds.mapping.record_reader import RecordReader
from monitor.feeds.mapping.values import mapped_readers, readers_of_types

pa: Any = import_module("pyarrow")

Made = Predictions | Labels | Outcomes

_DENSE = 1 << 16
"""Most possible combinations of names whose distinct ones are found without sorting."""


class ArrowDecoder:
    """Decodes the record batches of one table.

    Args:
        name: of the table, for positions.
        schema: its Arrow schema.
        decoder: has the settings, and decodes single rows.
        mapping: which columns hold the fields; None where they are named like these.

    Raises:
        FeedError: the columns cannot hold events.
    """

    def __init__(
        self, name: str, schema: Any, decoder: Decoder, mapping: MappedRecords | None = None
    ) -> None:
        self._name = name
        self._settings = decoder.settings
        self._names = GroupNames(self._settings)
        self._ids = IdColumns(self._settings.id_seed, decoder.compiled, self._settings.id_texts)
        sources = sources_of_table(name, schema.names, mapping, self._settings.segment_keys)
        self._canonical: CanonicalBatches | None = None
        self._segments = sources.segments
        if mapping is not None:
            self._canonical = CanonicalBatches(sources, mapping, decoder.class_tally)
            self._segments = {key: f"{SEGMENT}{key}" for key in self._settings.segment_keys}
        self._type = table_fields.type_of_rows(sources.fields)
        labelled = ["label", "outcome"] if "label" in sources.fields else []
        self._whole = ["prediction", *labelled]
        readers = (
            readers_of_types() if mapping is None else mapped_readers(mapping, decoder.class_tally)
        )
        reader = RecordReader(
            sources,
            readers,
            self._type,
            class_texts=None if mapping is None else ClassTexts(self._settings, mapping),
            mapped=mapping is not None,
        )
        self._rows = RowReader(name, decoder, reader)

    def decode(self, table_batch: Any, first_row: int) -> EventBatch:
        """Decode one record batch.

        Args:
            table_batch: of the table's schema.
            first_row: number of its first row in the table, for positions.

        Raises:
            FeedError: the batch is damaged.
        """
        if not is_utf8(table_batch, self._name) or self._settings.has_class_names:
            return self._rows.decode(table_batch, np.arange(table_batch.num_rows), first_row)
        batch = table_batch if self._canonical is None else self._canonical.of(table_batch)
        if not is_plain(batch.schema, self._segments):
            return self._rows.decode(table_batch, np.arange(batch.num_rows), first_row)
        ids = self._ids.of(batch)
        groups = GroupCodes(self._names)
        made: list[Made] = []
        fit = np.zeros(batch.num_rows, np.bool_)
        for kind, rows in self._kinds(batch):
            columns = ArrowColumns(batch, self._segments, rows)
            place = np.arange(batch.num_rows)[rows]
            part = _Part(self._settings, groups, columns, ids.of(rows), place)
            parts, fit[rows] = part.decode(kind)
            made += parts
        alone = np.flatnonzero(~fit)
        found = _batch(made, groups, batch.num_rows - len(alone))
        if not len(alone):
            return found
        odd = self._rows.decode(table_batch, alone, first_row)
        return concatenate([found, at_rows(odd, alone)], interleaved=True)

    def _kinds(self, batch: Any) -> Iterator[tuple[str, Rows]]:
        """Yield the rows of each type of event that is decoded by whole columns."""
        codes, values = ArrowColumns(batch, {}, slice(None)).texts("type")
        # A null has code -1, which indexes the last of the kinds.
        kinds = [self._type if value is None else value for value in [*values, None]]
        number = {kind: index for index, kind in enumerate(self._whole)}
        numbers = np.array([number.get(kind, -1) for kind in kinds])[codes]
        for kind, index in number.items():
            found = numbers == index
            if found.any():
                yield kind, rows_where(found)


class _Part:
    """Rows of one type of event.

    Args:
        settings: the accepted models, their thresholds and their segments.
        groups: of the whole batch.
        columns: of these rows.
        ids: of these rows.
        place: indices of these rows in the record batch.
    """

    def __init__(
        self,
        settings: DecodeSettings,
        groups: GroupCodes,
        columns: ArrowColumns,
        ids: Ids,
        place: Int64Array,
    ) -> None:
        self._settings = settings
        self._groups = groups
        self._columns = columns
        self._ids = ids
        self._place = place

    def decode(self, kind: str) -> tuple[list[Made], BoolArray]:
        """Return the events of the rows that fit, and which rows fit."""
        return {
            "prediction": self._predictions,
            "label": self._labels,
            "outcome": self._outcomes,
        }[kind]()

    def _predictions(self) -> tuple[list[Made], BoolArray]:
        decided, fit = self._decisions()
        key, size = self._ids
        fit &= _sized(size)
        return [Predictions(key=key, row=self._place, **decided).take(rows_where(fit))], fit

    def _labels(self) -> tuple[list[Made], BoolArray]:
        labels, fit, size = self._label_columns("ts")
        audit, audit_fit = self._columns.classes("audit")
        if (audit == 1).any():
            labels = replace(labels, value=marked(labels.value, audit == 1))
        fit &= _sized(size) & audit_fit & ~(have_sources(labels) & (audit == 1))
        return [labels.take(rows_where(fit))], fit

    def _outcomes(self) -> tuple[list[Made], BoolArray]:
        decided, fit = self._decisions()
        labels, label_fit, size = self._label_columns("label_ts", "ts")
        audit, audit_fit = self._columns.classes("audit")
        fit &= label_fit & ((size < 0) | _sized(size)) & audit_fit & (audit != 1)
        labels = replace(labels, prediction_time=decided["time"])
        made = divided(decided, labels, size >= 0, fit)
        return [made.predictions, made.labels, made.outcomes], made.fit

    def _decisions(self) -> tuple[dict[str, Any], BoolArray]:
        time, fit = self._times("ts")
        score, score_fit = self._columns.numbers("score")
        score_fit = score_fit & ~((score < 0) | (score > 1))
        given, given_fit = self._columns.classes("prediction")
        group = self._group_codes()
        positive, decided = decided_by(given, score, partial(self._groups.thresholds, group))
        fit &= score_fit & given_fit & decided & (group != UNFIT)
        columns = {"time": time, "score": score, "group": group, "predicted_positive": positive}
        return columns, fit

    def _label_columns(self, *times: str) -> tuple[Labels, BoolArray, Int64Array]:
        time, fit = self._times(*times)
        given, given_fit = self._columns.classes("label")
        weight, weight_fit = self._columns.numbers("sampling_probability")
        weight_fit = weight_fit & ~((weight <= 0) | (weight > 1))
        key, size = self._ids
        value = np.where(given == LEFT_OUT, RETRACTED, given)
        labels = Labels(
            key=key, time=time, value=value, sampling_probability=weight, row=self._place
        )
        sources = self._columns.texts("source")
        if (sources.codes < 0).all():
            return labels, fit & given_fit & weight_fit, size
        names = np.array(["", *(name or "" for name in sources.values)], np.str_)
        fits = np.array([True, *(n is None or (bool(n) and name_fits(n)) for n in sources.values)])
        labels = with_sources(labels, names[sources.codes + 1])
        return labels, fit & given_fit & weight_fit & fits[sources.codes + 1], size

    def _times(self, *names: str) -> tuple[Int64Array, BoolArray]:
        """Return, for each row, the milliseconds of the first of these columns with a value."""
        seconds, fit = self._columns.times(names[0])
        for name in names[1:]:
            other = self._columns.times(name)
            seconds, fit = np.where(np.isnan(seconds), other.values, seconds), fit & other.fit
        time, inside = within_years(seconds, self._settings.latest_ms)
        return time, fit & inside

    def _group_codes(self) -> Int64Array:
        keys = self._settings.segment_keys
        named = [self._columns.texts("model"), self._columns.texts("version")]
        named += [self._columns.segment(key) for key in keys]
        one_of_each, inverse = _distinct(named, len(self._columns))
        codes = [self._group_code([_text(column, row) for column in named]) for row in one_of_each]
        return np.array(codes, np.int64)[inverse]

    def _group_code(self, names: list[str | None]) -> int:
        return self._groups.resolve(names[0], names[1], tuple(names[2:]))


def _batch(made: list[Made], groups: GroupCodes, records: int) -> EventBatch:
    """Put events of all types into one batch."""
    found = EventBatch(
        predictions=Predictions.concatenate([m for m in made if isinstance(m, Predictions)]),
        labels=Labels.concatenate([m for m in made if isinstance(m, Labels)]),
        outcomes=Outcomes.concatenate([m for m in made if isinstance(m, Outcomes)]),
        groups=tuple(groups.groups),
        records=records,
    )
    return in_row_order(found)


def _distinct(columns: list[Texts], rows: int) -> tuple[list[int], NDArray[np.int64]]:
    """Find distinct combinations: the first row of each, in order, and that of each row."""
    code, size = np.zeros(rows, np.int64), 1
    for column in columns:
        choices = len(column.values) + 1
        if choices == 1:
            continue
        if size * choices > _DENSE:
            _, code = np.unique(code, return_inverse=True)
            size = rows
        code, size = code * choices + column.codes + 1, size * choices
    if size > _DENSE:
        _, code = np.unique(code, return_inverse=True)
    first = np.full(size if size <= _DENSE else rows, rows)
    first[code[::-1]] = np.arange(rows)[::-1]
    there = np.flatnonzero(first < rows)
    there = there[np.argsort(first[there])]
    place = np.empty(len(first), np.int64)
    place[there] = np.arange(len(there))
    return first[there].tolist(), place[code]


def _text(column: Texts, row: int) -> str | None:
    code = column.codes[row]
    return None if code < 0 else column.values[code]


def _sized(size: Int64Array) -> BoolArray:
    return (size > 0) & (size <= MAX_ID_BYTES)
