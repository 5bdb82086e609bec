"""What happened in the world, as columns: the one vocabulary of every stage.

A micro-batch of events is a handful of arrays, never an object an event.
`feeds.decode` makes them, `join` meets predictions with labels by `key`,
`windows` counts them. Times are epoch milliseconds (UTC) in int64: fine enough
to order labels, and two of them and a key fit into 24 bytes a prediction.

Owns the columns, the reasons for which a record cannot be used, and the rule
that turns an id into a key. Must not know how events look outside (`feeds`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import repeat
from typing import Any, NamedTuple, Self

import numpy as np
import xxhash
from numpy.typing import ArrayLike, NDArray

Int64Array = NDArray[np.int64]
KeyArray = NDArray[np.uint64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Rows = NDArray[Any] | slice
"""Which rows: indices, a mask, or a slice."""

EARLIEST_MS = -2_208_988_800_000
"""1900-01-01T00:00:00Z: an event time before it is `timestamp_out_of_range`."""
LATEST_MS = 7_258_118_400_000
"""2200-01-01T00:00:00Z: an event time from it on is `timestamp_out_of_range`."""
MAX_ID_BYTES = 256
"""A longer id, in UTF-8, is `too_large`."""

NO_TIME = -(1 << 62)
"""A time that was not told."""

RETRACTED = 2
"""Label value of a retraction (a null label); 0 and 1 are the classes."""

_KEY_SEED = 0x9E3779B97F4A7C15


SCORE_BINS = 1000
"""Bins of a score: thresholds a thousandth apart are told apart."""
NO_SCORE = 1023
"""Bin of a prediction that came without a score."""


KINDS = ("predictions", "labels", "outcomes", "counts")
"""The columns of a batch by what they hold, in the order of records of one row."""


class RejectReason(StrEnum):
    """Why a record could not be used. A closed set: each has a counter from the start."""

    MALFORMED = "malformed"
    """No JSON object, no valid UTF-8, a row that does not fit the header, a torn line."""
    MISSING_FIELD = "missing_field"
    """A field that this type of event needs is not there."""
    BAD_VALUE = "bad_value"
    """A field is there and not what it may be: wrong type, out of range, NaN."""
    UNKNOWN_TYPE = "unknown_type"
    """The type is none of prediction, label, outcome, counts."""
    UNKNOWN_MODEL = "unknown_model"
    """The configuration names its models and this is none of them."""
    TOO_LARGE = "too_large"
    """An id or a whole record is longer than allowed."""
    TIMESTAMP_OUT_OF_RANGE = "timestamp_out_of_range"
    """Outside 1900 to 2200, or far ahead of the clock on a feed that is pushed."""
    TIMESTAMP_IN_MILLISECONDS = "timestamp_in_milliseconds"
    """Read as seconds it lies out of range, read as milliseconds (or finer) it fits."""


class Group(NamedTuple):
    """What a prediction belongs to: its model, the model's version, its segment values.

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
OTHER_VALUE = "__other__"
"""Segment value that takes what comes after the cap on values."""


class Rejection(NamedTuple):
    """One record that could not be used.

    Attributes:
        reason: out of the closed set.
        position: where it stood, as `source:line` (line or row from 1 on).
        detail: what was wrong, for a person.
        record: the start of the record as it came, at most 1 KiB.
    """

    reason: RejectReason
    position: str
    detail: str
    record: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Arrays of one length; what is common to all kinds of columns."""

    def __len__(self) -> int:
        return len(getattr(self, self.names()[0]))

    def take(self, index: Rows) -> Self:
        """The rows that an index array, a mask or a slice names, in that order."""
        return type(self)(**{name: getattr(self, name)[index] for name in self.names()})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of the columns: what `dataclasses.fields` would say, at no cost."""
        return cls.__slots__

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """All rows of all parts, in order; no rows where there are no parts."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls()
        columns = {name: [getattr(part, name) for part in parts] for name in cls.names()}
        return cls(**{name: np.concatenate(arrays) for name, arrays in columns.items()})


def rows_where(flags: BoolArray) -> Rows:
    """The rows that are flagged: indices, or where it is all of them a slice, which copies nothing.

    >>> rows_where(np.array([True, False, True])).tolist(), rows_where(np.array([True]))
    ([0, 2], slice(None, None, None))
    """
    return slice(None) if flags.all() else flags.nonzero()[0]


def _empty(dtype: Any) -> Callable[[], NDArray[Any]]:
    return lambda: np.empty(0, dtype=dtype)


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions(Columns):
    """Predictions of a micro-batch, one row each, in the order of their records.

    Attributes:
        key: 64-bit key of the id, see `keys_of`.
        time: event time, epoch milliseconds.
        predicted_positive: what the classifier decided.
        score: in [0, 1]; NaN where none came.
        group: index into the batch's `groups`.
        row: place of the record among all of its batch; left out: its event time.
    """

    key: KeyArray = field(default_factory=_empty(np.uint64))
    time: Int64Array = field(default_factory=_empty(np.int64))
    predicted_positive: BoolArray = field(default_factory=_empty(np.bool_))
    score: FloatArray = field(default_factory=_empty(np.float64))
    group: Int64Array = field(default_factory=_empty(np.int64))
    row: Int64Array = field(default_factory=_empty(np.int64))

    def __post_init__(self) -> None:
        if len(self.row) != len(self.time):
            object.__setattr__(self, "row", self.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels(Columns):
    """Labels of a micro-batch, one row each, in the order of their records.

    Attributes:
        key: 64-bit key of the id of the prediction that it is about.
        time: event time of the label, epoch milliseconds.
        value: 0, 1, or `RETRACTED`.
        sampling_probability: in (0, 1]; NaN where none came.
        prediction_time: event time of the prediction that came in the same record, epoch
            milliseconds; `NO_TIME` where the label came alone; left out: all did.
        row: place of the record among all of its batch; left out: its event time.
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
        """Which came in a record of their own, and not in that of their prediction."""
        return np.asarray(self.prediction_time == NO_TIME)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes(Columns):
    """Outcomes that came without an id: prediction and label in one, never to be revised.

    An outcome with an id is a prediction and a label, and comes as these.

    Attributes:
        time: event time of the prediction, epoch milliseconds.
        label_time: event time of the label, epoch milliseconds.
        predicted_positive: what the classifier decided.
        actual_positive: what turned out.
        score: in [0, 1]; NaN where none came.
        group: index into the batch's `groups`.
        row: place of the record among all of its batch; left out: its event time.
    """

    time: Int64Array = field(default_factory=_empty(np.int64))
    label_time: Int64Array = field(default_factory=_empty(np.int64))
    predicted_positive: BoolArray = field(default_factory=_empty(np.bool_))
    actual_positive: BoolArray = field(default_factory=_empty(np.bool_))
    score: FloatArray = field(default_factory=_empty(np.float64))
    group: Int64Array = field(default_factory=_empty(np.int64))
    row: Int64Array = field(default_factory=_empty(np.int64))

    def __post_init__(self) -> None:
        if len(self.row) != len(self.time):
            object.__setattr__(self, "row", self.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountDeltas(Columns):
    """Outcomes that another system has counted already, one row a record.

    Attributes:
        time: event time inside the pane that they belong to, epoch milliseconds.
        group: index into the batch's `groups`.
        cells: int64 of shape (rows, 4): tp, fp, fn, tn, negative where outcomes moved.
        population: int64 of shape (rows, 2): predictions called positive and negative;
            the labelled ones where the record names none.
        batch_key: 64-bit key of (source, batch): rows that carry the same pair as an
            earlier delivery replace it. 0 where the record names no batch: always added.
        label_time: event time of the labels, epoch milliseconds; left out: that of the row.
        sampling_probability: of the labels, in (0, 1]; NaN where none came; left out: none.
        source: who counted them; "" where nobody says; left out: nobody.
        watermark: event time that the source has come to, epoch milliseconds; `NO_TIME`
            where it does not say; left out: it does not.
        late: labels that came too late to the source to count; left out: none.
        row: place of the record among all of its batch; left out: its event time.
    """

    time: Int64Array = field(default_factory=_empty(np.int64))
    group: Int64Array = field(default_factory=_empty(np.int64))
    cells: Int64Array = field(default_factory=lambda: np.empty((0, 4), dtype=np.int64))
    population: Int64Array = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    batch_key: KeyArray = field(default_factory=_empty(np.uint64))
    label_time: Int64Array = field(default_factory=_empty(np.int64))
    sampling_probability: FloatArray = field(default_factory=_empty(np.float64))
    source: NDArray[np.str_] = field(default_factory=_empty(np.str_))
    watermark: Int64Array = field(default_factory=_empty(np.int64))
    late: Int64Array = field(default_factory=_empty(np.int64))
    row: Int64Array = field(default_factory=_empty(np.int64))

    def __post_init__(self) -> None:
        rows = len(self.time)
        left_out = {
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBatch:
    """A micro-batch: what decode gives, and what the engine takes.

    Its records are one sequence: of two with the same `row` a prediction comes before a
    label, then outcomes, then counts.

    Attributes:
        groups: the distinct groups of this batch, which `group` columns index.
        rejected: every record that could not be used.
        records: records read, used or not (blank lines are none).
    """

    predictions: Predictions = field(default_factory=Predictions)
    labels: Labels = field(default_factory=Labels)
    outcomes: Outcomes = field(default_factory=Outcomes)
    counts: CountDeltas = field(default_factory=CountDeltas)
    groups: tuple[Group, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    records: int = 0


def keys_of(ids: Iterable[str]) -> KeyArray:
    """Stable 64-bit keys of ids: seeded xxh3 of their UTF-8.

    Two ids share a key with a chance of pending / 2**64 a look-up: at ten
    thousand events a second for a year, about .2 false joins are expected.

    >>> [hex(int(key)) for key in keys_of(["a", "b"])] == [hex(int(k)) for k in keys_of("ab")]
    True
    """
    return keys_of_bytes(map(str.encode, ids))


def keys_of_bytes(ids: Iterable[bytes]) -> KeyArray:
    """The keys of ids that are UTF-8 already, see `keys_of`."""
    digests = b"".join(map(xxhash.xxh3_64_digest, ids, repeat(_KEY_SEED)))
    return np.frombuffer(digests, ">u8").astype(np.uint64)


def bin_of(scores: ArrayLike, bins: int = SCORE_BINS) -> Int64Array:
    """Bin that each score falls into: the last one whose lower edge it reaches.

    Exact at the edges: `bin_of(score) >= k` wherever `score >= k / bins`.

    Args:
        scores: in [0, 1], any shape.
        bins: how many of equal width.

    Returns:
        Index in [0, bins), same shape; the score 1 belongs to the last bin.

    Raises:
        ValueError: a score lies outside [0, 1] or is NaN.

    >>> bin_of([0.0, 0.29, 0.2999, 1.0], bins=100).tolist()
    [0, 29, 29, 99]
    """
    values = np.asarray(scores, dtype=np.float64)
    if not (values.min(initial=0) >= 0 and values.max(initial=1) <= 1):  # NaN is neither
        raise ValueError(f"bin_of: scores must lie in [0, 1], got {scores!r}")
    index = (values * bins).astype(np.int64)
    index = index - (values < index / bins) + (values >= (index + 1) / bins)
    return np.minimum(index, bins - 1)


def score_bins(score: FloatArray) -> Int64Array:
    """Bin of each prediction's score; `NO_SCORE` where it is NaN.

    >>> score_bins(np.array([0.0, 0.29, 0.2999, 1.0, np.nan])).tolist()
    [0, 290, 299, 999, 1023]
    """
    missing = np.isnan(score)
    if not missing.any():
        return bin_of(score)
    return np.where(missing, NO_SCORE, bin_of(np.where(missing, 0.0, score)))


def concatenate(batches: Sequence[EventBatch], *, interleaved: bool = False) -> EventBatch:
    """One batch with the rows of all, groups renumbered; those that hold nothing make no work.

    Args:
        batches: the records of each come after those of the one before.
        interleaved: their rows are places in one batch already, and stay what they are.
    """
    batches = [
        batch
        for batch in batches
        if batch.groups or len(batch.labels) or batch.records or batch.rejected
    ]
    if len(batches) == 1:
        return batches[0]
    if not batches:
        return EventBatch()
    codes: dict[Group, int] = {}
    for batch in batches:
        for group in batch.groups:
            codes.setdefault(group, len(codes))
    moved = [0] * len(batches) if interleaved else _moved(batches)

    def merged(name: str) -> Any:
        parts = [
            _regrouped(getattr(batch, name), batch.groups, codes, by)
            for batch, by in zip(batches, moved, strict=True)
        ]
        return type(parts[0]).concatenate(parts)

    found = EventBatch(
        **{name: merged(name) for name in KINDS},
        groups=tuple(codes),
        rejected=tuple(r for batch in batches for r in batch.rejected),
        records=sum(batch.records for batch in batches),
    )
    return in_row_order(found) if interleaved else found


def in_row_order(batch: EventBatch) -> EventBatch:
    """The batch with the rows of each kind in the order of their records."""
    unordered = {}
    for name in KINDS:
        columns = getattr(batch, name)
        if (columns.row[1:] < columns.row[:-1]).any():
            unordered[name] = columns.take(np.argsort(columns.row, kind="stable"))
    return replace(batch, **unordered) if unordered else batch


def in_sequence(batch: EventBatch) -> Int64Array:
    """All rows of a batch, counted kind by kind, in the order of their records."""
    rows = np.concatenate([getattr(batch, name).row for name in KINDS])
    return np.argsort(rows, kind="stable")


def at_rows(batch: EventBatch, rows: Int64Array) -> EventBatch:
    """The batch whose records have these places in another one; its row n stands at `rows[n]`."""
    moved = {}
    for name in KINDS:
        columns = getattr(batch, name)
        moved[name] = replace(columns, row=rows[columns.row])
    return replace(batch, **moved)


def in_parts(batch: EventBatch, place: dict[str, Int64Array]) -> Iterator[EventBatch]:
    """A batch cut in its sequence.

    Args:
        batch: to be cut.
        place: number of the part of each row, by kind; never falls along a kind.

    Yields:
        The parts that hold anything, in order; records and rejections go with the first.
    """
    rest: dict[str, Any] = {"rejected": batch.rejected, "records": batch.records}
    for part in np.unique(np.concatenate([*place.values()])).tolist():
        columns: dict[str, Any] = {}
        for name, places in place.items():
            first, end = np.searchsorted(places, [part, part + 1]).tolist()
            columns[name] = getattr(batch, name).take(slice(first, end))
        yield EventBatch(**columns, groups=batch.groups, **rest)
        rest = {}


def _moved(batches: Sequence[EventBatch]) -> list[int]:
    """What to add to the rows of each batch, so that they come after those before."""
    moved, end = [], 0
    for batch in batches:
        rows = [row for name in KINDS if len(row := getattr(batch, name).row)]
        if not rows:
            moved.append(0)
            continue
        moved.append(end - min(int(row.min()) for row in rows))
        end = moved[-1] + max(int(row.max()) for row in rows) + 1
    return moved


def with_groups_in_use(batch: EventBatch) -> EventBatch:
    """The batch without groups that none of its events belongs to."""
    columns = {name: getattr(batch, name) for name in ("predictions", "outcomes", "counts")}
    named = np.zeros(len(batch.groups), dtype=np.bool_)
    for column in columns.values():
        named[column.group] = True
    if named.all():
        return batch
    used = np.flatnonzero(named)
    place = np.zeros(len(batch.groups), dtype=np.int64)
    place[used] = np.arange(len(used))
    renumbered = {name: replace(c, group=place[c.group]) for name, c in columns.items() if len(c)}
    return replace(batch, groups=tuple(batch.groups[i] for i in used.tolist()), **renumbered)


def _regrouped(columns: Any, groups: tuple[Group, ...], codes: dict[Group, int], by: int) -> Any:
    """Columns with the groups' codes in another batch, and rows moved by so many."""
    if not len(columns):
        return columns
    changed = {"row": columns.row + by}
    if "group" in columns.names():
        changed["group"] = np.array([codes[group] for group in groups], np.int64)[columns.group]
    return replace(columns, **changed)
