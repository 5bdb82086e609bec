"""Blocks of lines to columns by the compiled kernel, and the lines that it leaves.

Lines are objects of JSON, or rows of cells. The kernel takes predictions, labels and outcomes,
with their fields in any order. It leaves counts, audits, labels with a `source`, `scores` of
classes with names, names of classes that are new where models learn them, lines of an unusual form
(a key twice, no `type`, an id of over 240 bytes, a number of over 19 digits, a cell in quotes), and
every line that may be unfit.
`Decoder` decodes these by the code that decodes whole blocks where there is no kernel, so that the
kernel has no rule for rejections.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import (
    LATEST_MS,
    BoolArray,
    EventBatch,
    Int64Array,
    Labels,
    Outcomes,
    Predictions,
)
from monitor.feeds.decode.assemble import decided_by
from monitor.feeds.decode.class_lists import named_outcomes
from monitor.feeds.decode.groups import UNFIT, GroupCodes, GroupNames
from monitor.feeds.decode.settings import MAX_RECORD_BYTES, DecodeSettings
from monitor.feeds.decode.written_classes import WrittenClasses

_PREDICTIONS = ("key", "time", "score", "group", "given", "row", "actual")
_LABELS = ("key", "time", "value", "sampling_probability", "prediction_time", "row")
_OUTCOMES = ("time", "label_time", "given", "actual", "score", "group", "row")
"""The columns that the kernel writes, in its order."""
_KINDS = (_PREDICTIONS, _LABELS, _OUTCOMES)
_TYPES = {"key": np.uint64, "score": np.float64, "sampling_probability": np.float64}

_NO_ROWS: Int64Array = np.empty(0, dtype=np.int64)
_NO_FLAGS: BoolArray = np.empty(0, dtype=np.bool_)

_Columns = dict[str, Any]
_MOST_NAMES = 1024
"""Most names of classes that are read here where models learn them."""
_LEAST_NAMES = 2
_MORE = 64
_SLACK = 1.1
"""Room for lines is that for as many a byte as the last block had, times this, and `_MORE`."""
_DENSEST = 1 / 16
"""Most lines a byte for which there is room before they are counted."""
_MOST_KEYS = 200
"""Segment keys that the kernel reads of rows: a column is a byte there."""


class RowLayout(NamedTuple):
    """Which field each cell of a row of text holds.

    Attributes:
        columns: for each cell a field, `segment.KEY`, or "" for none.
        separator: between cells, an ASCII character.
        type: of a row that names none.
        labelled: True if rows have a label, which is null where its cell is empty.
    """

    columns: tuple[str, ...]
    separator: str
    type: str
    labelled: bool


class Scanned(NamedTuple):
    """A scanned block.

    Attributes:
        batch: the records of the lines that the kernel took.
        left: the other lines that are not blank, with their newlines.
        rows: number of each of these lines in the block, from 0 on.
    """

    batch: EventBatch
    left: bytes
    rows: Int64Array


class Scanner:
    """Scans blocks with the compiled kernel. Safe to use from any thread.

    Args:
        compiled: the module `monitor.kernel.compiled`.
        settings: the accepted models, their thresholds and their segments.
    """

    def __init__(self, compiled: Any, settings: DecodeSettings) -> None:
        self._compiled = compiled
        self._settings = settings
        self._names = GroupNames(settings)
        self._keys = tuple(key.encode() for key in settings.segment_keys)
        self._learns, self._class_names = settings.learns_classes, settings.class_names
        self._classes = self._written()
        self._lines_a_byte = 0.0  # more than those of the last block
        fields = compiled.FIELDS.split()
        self._no_field = len(fields)
        names = [*fields, "", *(f"segment.{key}" for key in settings.segment_keys)]
        self._number_of = {name: number for number, name in enumerate(names)}

    def learn(self, names: Sequence[str]) -> None:
        """Take classes with these names from now on, where models learn them.

        Args:
            names: of classes that were decoded.
        """
        known = dict.fromkeys([*self._class_names, *names])
        if len(self._class_names) < len(known) <= _MOST_NAMES:
            self._class_names = tuple(known)
            self._classes = self._written()

    def _written(self) -> WrittenClasses | None:
        names = self._class_names
        if len(names) < _LEAST_NAMES:
            return None
        return WrittenClasses(names, two=self._settings.has_two_classes)

    def scan(
        self, data: bytes, latest_ms: int | None, layout: RowLayout | None = None
    ) -> Scanned | None:
        """Scan a block of whole lines; None if the kernel leaves them all.

        Args:
            data: the block; its last line may lack its newline.
            latest_ms: the latest accepted event time, epoch milliseconds; None for no bound.
            layout: of rows; None for lines of JSON.
        """
        classes = self._classes  # another thread may learn some meanwhile
        if (layout and len(self._keys) > _MOST_KEYS) or (self._learns and classes is None):
            return None
        rest = (
            LATEST_MS if latest_ms is None else latest_ms,
            layout and self._packed(layout),
            classes and classes.given,
        )
        written = self._written_columns(data, int(len(data) * self._lines_a_byte) + _MORE, *rest)
        if written is None:
            written = self._written_columns(data, self._compiled.count_lines(data) + 1, *rest)
        columns, names, starts, left, taken = written
        if not taken:
            return None
        self._lines_a_byte = min(_SLACK * (taken + len(left)) / len(data), _DENSEST)
        batch, unfit = self._fit(classes, columns, names, taken)
        rows = np.union1d(left, unfit) if len(unfit) else left
        return Scanned(
            batch,
            b"".join(data[starts[row] : starts[row + 1]] for row in rows.tolist()),
            rows,
        )

    def _written_columns(
        self, data: bytes, room: int, latest_ms: int, layout: Any, classes: Any
    ) -> Any:
        """Return what the kernel writes of a block; None if the block has more lines than room.

        Args:
            data: the block.
            room: lines that there is memory for.
            latest_ms: the latest accepted event time, epoch milliseconds.
            layout: of rows, as the kernel takes it; None for lines of JSON.
            classes: names of classes, as the kernel takes them; None where there are none.

        Returns:
            The columns by kind, names of groups, the start of each line, numbers of the lines that
            are left, and how many are taken.
        """
        columns = _empty(room)
        starts, left = np.empty(room + 1, np.int64), np.empty(room, np.int64)
        found = self._compiled.scan(
            data,
            self._settings.id_seed,
            MAX_RECORD_BYTES if layout else self._settings.max_record_bytes,
            latest_ms,
            self._keys,
            *(tuple(arrays.values()) for arrays in columns),
            starts,
            left,
            layout,
            classes,
        )
        if found is None:
            return None
        *written, remaining, taken, names = found
        cut = [
            {name: column[:rows] for name, column in arrays.items()}
            for arrays, rows in zip(columns, written, strict=True)
        ]
        return cut, names, starts, left[:remaining], taken

    def _packed(self, layout: RowLayout) -> tuple[bytes, int, bytes, bool]:
        """Return a layout as the kernel takes it."""
        numbers = bytes(self._number_of.get(name, self._no_field) for name in layout.columns)
        return numbers, ord(layout.separator), layout.type.encode(), layout.labelled

    def _fit(
        self,
        classes: WrittenClasses | None,
        columns: Sequence[_Columns],
        names: Sequence[Any],
        taken: int,
    ) -> tuple[EventBatch, Int64Array]:
        """Return the records whose group and class are known, and the rows of the others."""
        predicted, labelled, nameless = columns
        codes = GroupCodes(self._names)
        found = codes.of_names(names)
        numbers = found if len(codes.groups) < len(names) else None  # it is nearly always None
        _, known = self._decided(classes, predicted, numbers, codes)
        predictions, labels = Predictions(**predicted), Labels(**labelled)
        outcomes, their_known = EventBatch().outcomes, _NO_FLAGS
        if len(nameless["row"]):
            actual, their_known = self._decided(classes, nameless, numbers, codes)
            outcomes = Outcomes(**nameless, actual_positive=actual == 1)
            if classes is not None:
                outcomes = named_outcomes(outcomes, actual)
        unfit = _NO_ROWS
        if np.count_nonzero(known) + np.count_nonzero(their_known) < len(known) + len(their_known):
            unfit = np.concatenate([predictions.row[~known], outcomes.row[~their_known]])
            predictions, outcomes = predictions.take(known), outcomes.take(their_known)
            labels = labels.take(~np.isin(labels.row, unfit))
        batch = EventBatch(
            predictions=predictions,
            labels=labels,
            outcomes=outcomes,
            groups=tuple(codes.groups),
            records=taken - len(unfit),
            class_names=classes.names if classes is not None and self._learns else (),
        )
        return batch, unfit

    def _decided(
        self,
        classes: WrittenClasses | None,
        columns: _Columns,
        numbers: Int64Array | None,
        codes: GroupCodes,
    ) -> tuple[Int64Array, BoolArray]:
        """Replace groups by their codes and given classes by predicted ones.

        Args:
            classes: names of classes; None where there are only 0 and 1.
            columns: as the kernel wrote them; changed.
            numbers: code of each group of the kernel; None where it is its number.
            codes: of groups.

        Returns:
            Numbers of the actual classes of outcomes; and which records fit.
        """
        if numbers is not None:
            columns["group"] = numbers[columns["group"]]
        group = columns["group"]
        given, actual = columns.pop("given"), columns.pop("actual")
        fit: BoolArray = group != UNFIT
        if classes is not None and len(group):
            lists = codes.class_lists
            found = classes.predicted(given, group, lists)
            actual, named = classes.actual(actual, group, lists)
            given, columns["predicted_class"] = found.given, found.number
            fit = fit & found.fit & named
        positive, decided = decided_by(given, columns["score"], partial(codes.thresholds, group))
        columns["predicted_positive"] = positive
        return actual, fit & decided


def _empty(rows: int) -> list[_Columns]:
    """Return columns of each kind with so many rows, out of one piece of memory."""
    memory = iter(np.empty((sum(map(len, _KINDS)), rows), dtype=np.int64))
    columns: list[_Columns] = [dict(zip(names, memory, strict=False)) for names in _KINDS]
    for each in columns:
        for name in _TYPES.keys() & each:
            each[name] = each[name].view(_TYPES[name])
    return columns
