"""Typed records, which msgspec decodes lines into.

msgspec checks types and ranges. Checks that need more than one field, the configuration
or the clock come later, on columns. Only the segment keys of the configuration become
Python objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct

from monitor.errors import ConfigError
from monitor.events.columns import MAX_ID_BYTES
from monitor.feeds.decode.settings import MAX_NAME_BYTES
from monitor.feeds.scalars import plain_segment

MAX_COUNT = 2**31
"""Largest absolute count in a `counts` record."""

Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_BYTES)]
Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME_BYTES)]
Version = Annotated[str, Meta(max_length=MAX_NAME_BYTES)]
Time = float | Annotated[datetime, Meta(tz=True)]
Class = bool | Annotated[int, Meta(ge=0, le=1)]
AnyClass = bool | int | float | str
"""A class where some model has names for its classes."""
Score = Annotated[float, Meta(ge=0, le=1)]
Probability = Annotated[float, Meta(gt=0, le=1)]
Late = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Count = Annotated[int, Meta(ge=-MAX_COUNT, le=MAX_COUNT)]


class PredictionRecord(Struct, tag_field="type", tag="prediction", gc=False):
    """A prediction; the attributes of `segment` are in the order of the configured keys."""

    id: Id
    ts: Time
    prediction: Class | None = None
    score: Score | None = None
    model: Name | None = None
    version: Version | None = None
    segment: Any = None


class LabelRecord(Struct, tag_field="type", tag="label", gc=False):
    """A label; None retracts the earlier one."""

    id: Id
    ts: Time
    label: Class | None
    sampling_probability: Probability | None = None
    audit: Class | None = None
    source: Name | None = None


class OutcomeRecord(Struct, tag_field="type", tag="outcome", gc=False):
    """A prediction with its label; without an id, no later event can revise it."""

    ts: Time
    label: Class | None
    id: Id | None = None
    label_ts: Time | None = None
    sampling_probability: Probability | None = None
    audit: Class | None = None
    source: Name | None = None
    prediction: Class | None = None
    score: Score | None = None
    model: Name | None = None
    version: Version | None = None
    segment: Any = None


class CountsRecord(Struct, tag_field="type", tag="counts", gc=False):
    """Outcomes that another system counted; `segment` is whole, as it identifies the record."""

    ts: Time
    tp: Count
    fp: Count
    fn: Count
    tn: Count
    predicted_positive: Count | None = None
    predicted_negative: Count | None = None
    label_ts: Time | None = None
    sampling_probability: Probability | None = None
    source: Name | None = None
    batch: Name | None = None
    watermark: Time | None = None
    late: Late | None = None
    model: Name | None = None
    version: Version | None = None
    segment: dict[str, Any] | None = None


Record = PredictionRecord | LabelRecord | OutcomeRecord | CountsRecord
Predicted = PredictionRecord | OutcomeRecord
Grouped = PredictionRecord | OutcomeRecord | CountsRecord


class RecordTypes:
    """The record types for a set of segment keys.

    Attributes:
        prediction: `PredictionRecord` whose segment has these keys.
        label: `LabelRecord`.
        outcome: `OutcomeRecord`, likewise.
        counts: `CountsRecord`.
        any: the union of these, distinguished by `type`.
        by_name: each of the four by its `type`.

    Args:
        keys: the configured segment keys; `segment_values` gives values in this order.
        named: some model has names for its classes, so that records may have any class, and
            predictions and outcomes `scores`.

    Raises:
        ConfigError: a key contains a quote or a backslash, which msgspec does not support.
    """

    def __init__(self, keys: Sequence[str], *, named: bool = False) -> None:
        for key in keys:
            if {'"', "\\"} & set(key):
                fault = f"segments: a key holds no quote and no backslash, got {key!r}; rename it"
                raise ConfigError((fault,))
        names = {f"s{i}": key for i, key in enumerate(keys)}
        values = [(name, Name | None, None) for name in names]
        segment = msgspec.defstruct("segment", values, rename=names, frozen=True, gc=False)
        self._attributes = tuple(names)
        self._segment: Any = segment
        given = [("prediction", AnyClass | None, None), ("scores", Any, None)] if named else []
        label = [("label", AnyClass | None)] if named else []
        self.prediction = cast(
            "type[PredictionRecord]", _extended(PredictionRecord, given, segment)
        )
        self.label = cast("type[LabelRecord]", _extended(LabelRecord, label))
        self.outcome = cast(
            "type[OutcomeRecord]", _extended(OutcomeRecord, [*label, *given], segment)
        )
        self.counts = CountsRecord
        self.any: Any = self.prediction | self.label | self.outcome | self.counts
        self.by_name: dict[str, Any] = {
            "prediction": self.prediction,
            "label": self.label,
            "outcome": self.outcome,
            "counts": self.counts,
        }

    def of(self, fields: Mapping[str, Any]) -> Any:
        """Return the type that a record names: converting to a union takes three times as long.

        Args:
            fields: of the record.
        """
        name = fields.get("type")
        named = self.by_name.get(name) if isinstance(name, str) else None
        return named or self.any

    def known_segment(self, segment: Mapping[str, Any] | None) -> Any:
        """Return the part of a segment that has the configured keys; None without a segment.

        Args:
            segment: of a record of counts.

        Raises:
            msgspec.ValidationError: a value of these keys is no name and no integer.
        """
        try:
            return None if segment is None else msgspec.convert(segment, self._segment)
        except msgspec.ValidationError:
            return msgspec.convert(plain_segment(segment), self._segment)

    def segment_values(self, segment: Any) -> list[str | None]:
        """Return the values of the segment keys, in their order; None for a missing one."""
        if segment is None:
            return [None] * len(self._attributes)
        return [getattr(segment, name) for name in self._attributes]


def _extended(
    record: type[Struct], fields: Sequence[Any], segment: type[Struct] | None = None
) -> type[Struct]:
    """Return a record type with other types of some fields, and with the type of its segment."""
    own = [] if segment is None else [("segment", cast("Any", segment) | None, None)]
    if not fields and not own:
        return record
    return msgspec.defstruct(
        record.__name__, [*fields, *own], bases=(record,), kw_only=True, gc=False
    )
