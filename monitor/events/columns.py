"""Events as columns: the types that all stages share.

A micro-batch of events is a few arrays, without an object per event. `feeds.decode`
creates them, `join` joins labels to predictions by `key`, `windows` counts them. Times
are epoch milliseconds (UTC) in int64: precise enough to order labels, and two of them
and a key fit into 24 bytes per prediction.

This module does not depend on the format of events outside the monitor (`feeds`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from monitor.events.reject_reasons import Rejection

Int64Array = NDArray[np.int64]
KeyArray = NDArray[np.uint64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Rows = NDArray[Any] | slice
"""Selects rows: indices, a mask, or a slice."""

EARLIEST_MS = -2_208_988_800_000
"""1900-01-01T00:00:00Z: an event time before it is `timestamp_out_of_range`."""
LATEST_MS = 7_258_118_400_000
"""2200-01-01T00:00:00Z: an event time from it on is `timestamp_out_of_range`."""
MAX_ID_BYTES = 256
"""A longer id, in UTF-8, is `too_large`."""

NO_TIME = -(1 << 62)
"""A time that is not given."""

RETRACTED = 2
"""Label value of a retraction (a null label); 0 and 1 are the classes."""

NO_CLASS = -1
"""Number of a class that is not given, or of a model that is binary."""

KINDS = ("predictions", "labels", "outcomes", "counts")
"""Names of a batch's columns, in the order of records with the same `row`."""


C = TypeVar("C", bound="Columns")


class Group(NamedTuple):
    """The model, model version and segment values of a prediction.

    Attributes:
        model: the model's name.
        version: the model's version, "" where events carry none.
        values: one value for each segment key of that model, in the configured
            order; `MISSING_VALUE` where the prediction has none.
    """

    model: str
    version: str = ""
    values: tuple[str, ...] = ()


class Series(NamedTuple):
    """One row of every array of a snapshot: a model, or one segment value of it.

    Attributes:
        model: the model's name.
        segment: the segment key; None for the model's totals.
        value: the segment value; None for the model's totals.
    """

    model: str
    segment: str | None = None
    value: str | None = None


MISSING_VALUE = "__missing__"
"""Segment value of a prediction that does not carry the key."""
VERSION_KEY = "version"
"""Segment key whose value is a prediction's `version`, where its segment does not hold the key."""
OTHER_VALUE = "__other__"
"""Segment value that stands for all values above the limit on values."""
MOST_VERSION_NAMES = 4096
"""Versions of a model that can be compared by name; later ones count as `OTHER_VALUE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Base class: arrays of the same length."""

    def __len__(self) -> int:
        return len(getattr(self, self.names()[0]))

    def take(self, index: Rows) -> Self:
        """Return the selected rows, in the order of the selection."""
        return type(self)(**{name: getattr(self, name)[index] for name in self.names()})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the columns; faster than `dataclasses.fields`."""
        return cls.__slots__

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of all parts, in order; no rows for no parts.

        Where a part has more columns than this type, so has what is returned: rows of the
        others have the defaults there.
        """
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls()
        kind = type(max(parts, key=lambda part: len(part.names())))
        alike = [part if type(part) is kind else part.widened(kind) for part in parts]
        columns = {name: [getattr(part, name) for part in alike] for name in kind.names()}
        return kind(**{name: np.concatenate(arrays) for name, arrays in columns.items()})

    def widened(self, kind: type[C]) -> C:
        """Return the rows as a type with more columns, which have their defaults."""
        return kind(**{name: getattr(self, name) for name in self.names()})


def rows_where(flags: BoolArray) -> Rows:
    """Return the flagged rows: indices, or a slice, which copies nothing, where all are flagged.

    >>> rows_where(np.array([True, False, True])).tolist(), rows_where(np.array([True]))
    ([0, 2], slice(None, None, None))
    """
    all_of_them = np.count_nonzero(flags) == len(flags)  # a tenth of the time of `all`
    return slice(None) if all_of_them else flags.nonzero()[0]


def _empty(dtype: Any) -> Callable[[], NDArray[Any]]:
    return lambda: np.empty(0, dtype=dtype)


def _no_classes(rows: int) -> Int64Array:
    return np.full(rows, NO_CLASS, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions(Columns):
    """Predictions of a micro-batch, one row each, in the order of their records.

    Attributes:
        key: 64-bit key of the id, see `keys_of`.
        time: event time, epoch milliseconds.
        predicted_positive: the predicted class.
        score: in [0, 1]; NaN if not given.
        group: index into the batch's `groups`.
        predicted_class: number of the predicted class of a model of many classes, or of its
            name where the model learns them; `NO_CLASS` of a binary one; default: `NO_CLASS`.
        row: position of the record in its batch; default: its event time.
    """

    key: KeyArray = field(default_factory=_empty(np.uint64))
    time: Int64Array = field(default_factory=_empty(np.int64))
    predicted_positive: BoolArray = field(default_factory=_empty(np.bool_))
    score: FloatArray = field(default_factory=_empty(np.float64))
    group: Int64Array = field(default_factory=_empty(np.int64))
    predicted_class: Int64Array = field(default_factory=_empty(np.int64))
    row: Int64Array = field(default_factory=_empty(np.int64))

    def __post_init__(self) -> None:
        if len(self.row) != len(self.time):
            object.__setattr__(self, "row", self.time)
        if len(self.predicted_class) != len(self.time):
            object.__setattr__(self, "predicted_class", _no_classes(len(self.time)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels(Columns):
    """Labels of a micro-batch, one row each, in the order of their records.

    Attributes:
        key: 64-bit key of the prediction's id.
        time: event time of the label, epoch milliseconds.
        value: 0, 1, `RETRACTED`, or the number of a class's name, see
            `monitor.events.class_names`; below 0 for an audit, see `monitor.events.audit_marks`.
        sampling_probability: in (0, 1]; NaN if not given.
        prediction_time: event time of the prediction in the same record, epoch
            milliseconds; `NO_TIME` if the record has no prediction; default: none has.
        row: position of the record in its batch; default: its event time.
    """

    key: KeyArray = field(default_factory=_empty(np.uint64))
    time: Int64Array = field(default_factory=_empty(np.int64))
    value: Int64Array = field(default_factory=_empty(np.int64))
    sampling_probability: FloatArray = field(default_factory=_empty(np.float64))
    prediction_time: Int64Array = field(default_factory=_empty(np.int64))
    row: Int64Array = field(default_factory=_empty(np.int64))

    def __post_init__(self) -> None:
        if len(self.prediction_time) != len(self.time):
            alone = np.full(len(self.time), NO_TIME, dtype=np.int64)
            object.__setattr__(self, "prediction_time", alone)
        if len(self.row) != len(self.time):
            own = np.where(self.alone, self.time, self.prediction_time)
            object.__setattr__(self, "row", own)

    @property
    def alone(self) -> BoolArray:
        """True for labels whose record has no prediction."""
        return np.asarray(self.prediction_time == NO_TIME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes(Columns):
    """Outcomes without an id: a prediction and its label, which no later event revises.

    An outcome with an id becomes a prediction and a label instead.

    Attributes:
        time: event time of the prediction, epoch milliseconds.
        label_time: event time of the label, epoch milliseconds.
        predicted_positive: the predicted class.
        actual_positive: the actual class.
        score: in [0, 1]; NaN if not given.
        group: index into the batch's `groups`.
        predicted_class: as in `Predictions`.
        actual_class: number of the actual class likewise.
        row: position of the record in its batch; default: its event time.
    """

    time: Int64Array = field(default_factory=_empty(np.int64))
    label_time: Int64Array = field(default_factory=_empty(np.int64))
    predicted_positive: BoolArray = field(default_factory=_empty(np.bool_))
    actual_positive: BoolArray = field(default_factory=_empty(np.bool_))
    score: FloatArray = field(default_factory=_empty(np.float64))
    group: Int64Array = field(default_factory=_empty(np.int64))
    predicted_class: Int64Array = field(default_factory=_empty(np.int64))
    actual_class: Int64Array = field(default_factory=_empty(np.int64))
    row: Int64Array = field(default_factory=_empty(np.int64))

    def __post_init__(self) -> None:
        if len(self.row) != len(self.time):
            object.__setattr__(self, "row", self.time)
        for name in ("predicted_class", "actual_class"):
            if len(getattr(self, name)) != len(self.time):
                object.__setattr__(self, name, _no_classes(len(self.time)))


@dataclass(frozen=True, slots=True, kw_only=True)
class CountDeltas(Columns):
    """Outcomes counted by another system, one row per record.

    Attributes:
        time: event time inside their pane, epoch milliseconds.
        group: index into the batch's `groups`.
        cells: int64 of shape (rows, 4): tp, fp, fn, tn, negative for corrections.
        population: int64 of shape (rows, 2): predictions of the positive and the
            negative class; the labelled ones if the record gives none.
        batch_key: 64-bit key of (source, batch): rows that carry the same pair as an
            earlier delivery replace it. 0 if the record has no batch: always added.
        sent: 64-bit key of what the record names: model, version, segment, times and sampling
            probability; rows of a batch with the same one are the same row. 0 if unknown: then
            those at the same place are; default: 0.
        label_time: event time of the labels, epoch milliseconds; default: that of the row.
        sampling_probability: of the labels, in (0, 1]; NaN if not given; default: NaN.
        source: name of the system that counted; "" if not given; default: "".
        watermark: event time that the source has reached, epoch milliseconds; `NO_TIME`
            if not given; default: `NO_TIME`.
        reached: event time that all sources of the model have reached, which is as far as the
            row carries the time of its model; default: the watermark.
        late: labels that reached the source too late to count; default: 0.
        row: position of the record in its batch; default: its event time.
    """

    time: Int64Array = field(default_factory=_empty(np.int64))
    group: Int64Array = field(default_factory=_empty(np.int64))
    cells: Int64Array = field(default_factory=lambda: np.empty((0, 4), dtype=np.int64))
    population: Int64Array = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    batch_key: KeyArray = field(default_factory=_empty(np.uint64))
    sent: KeyArray = field(default_factory=_empty(np.uint64))
    label_time: Int64Array = field(default_factory=_empty(np.int64))
    sampling_probability: FloatArray = field(default_factory=_empty(np.float64))
    source: NDArray[np.str_] = field(default_factory=_empty(np.str_))
    watermark: Int64Array = field(default_factory=_empty(np.int64))
    reached: Int64Array = field(default_factory=_empty(np.int64))
    late: Int64Array = field(default_factory=_empty(np.int64))
    row: Int64Array = field(default_factory=_empty(np.int64))

    def __post_init__(self) -> None:
        rows = len(self.time)
        left_out = {
            "sent": np.zeros(rows, dtype=np.uint64),
            "label_time": self.time,
            "sampling_probability": np.full(rows, np.nan),
            "source": np.full(rows, ""),
            "watermark": np.full(rows, NO_TIME, dtype=np.int64),
            "late": np.zeros(rows, dtype=np.int64),
            "row": self.time,
        }
        for name, column in left_out.items():
            if len(getattr(self, name)) != rows:
                object.__setattr__(self, name, column)
        if len(self.reached) != rows:
            object.__setattr__(self, "reached", self.watermark)

    @property
    def carried(self) -> Int64Array:
        """Time up to which each row carries the time of its model, epoch milliseconds."""
        return np.where(self.reached == NO_TIME, self.time, np.minimum(self.time, self.reached))


_NO_PREDICTIONS, _NO_LABELS = Predictions(), Labels()
_NO_OUTCOMES, _NO_COUNTS = Outcomes(), CountDeltas()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBatch:
    """A micro-batch of events: the output of decoding and the input of the engine.

    Its records form one sequence by `row`; at the same `row` predictions come first, then
    labels, outcomes and counts.

    Attributes:
        groups: the distinct groups of this batch, which `group` columns index.
        rejected: the rejected records.
        records: number of records read, rejected ones included; blank lines do not count.
        arrivals: pairs of a `row` and the time at which the records from there on arrived,
            epoch milliseconds, in the order of rows; none for recorded events.
        class_names: names of classes for which `predicted_class` has a number of the name, see
            `monitor.events.class_names`; others may be among them.
    """

    predictions: Predictions = _NO_PREDICTIONS
    labels: Labels = _NO_LABELS
    outcomes: Outcomes = _NO_OUTCOMES
    counts: CountDeltas = _NO_COUNTS
    groups: tuple[Group, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    records: int = 0
    arrivals: tuple[tuple[int, int], ...] = ()
    class_names: tuple[str, ...] = ()

    def arrived(self, arrivals: Iterable[tuple[int, int]]) -> EventBatch:
        """Return the batch with arrival times.

        Args:
            arrivals: pairs of a `row` and the time at which the records from there on
                arrived, epoch milliseconds, in the order of rows.
        """
        return replace(self, arrivals=tuple(arrivals))
