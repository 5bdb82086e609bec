"""What records lack besides what rejects them, found by mending it and reading them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from monitor.cli.given_config import with_threshold
from monitor.cli.rejected_records import RejectedRecords
from monitor.cli.rejected_values import lacks_zone
from monitor.cli.rejection_hints import hint
from monitor.config import Config
from monitor.config.mapping import ClassField, ClassValues, MappedRecords
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import RejectReason
from monitor.feeds import files, table_fields
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.time_units import unit_to_give
from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.mapping.proposed_formats import proposed_formats, time_settings

_HEAD_BYTES = 100_000
"""Bytes of lines to read again."""
_MOST = 3
"""Faults to mend, one after the other."""
_OF_TIMES = (RejectReason.BAD_VALUE, RejectReason.TIMESTAMP_OUT_OF_RANGE)
_ANY_ZONE, _ANY_THRESHOLD = "UTC", 0.5
"""Values that make records readable, whatever a person gives in their place."""


class _Read(NamedTuple):
    """How records are read.

    Attributes:
        config: has the thresholds.
        mapping: of the file; None without one.
    """

    config: Config
    mapping: MappedRecords | None


def further_hints(
    path: str, config: Config, mapping: MappedRecords | None, rejected: RejectedRecords
) -> Iterator[str]:
    """Yield the advice for each further fault that all first records of a file have.

    Args:
        path: of a file that can be read again.
        config: by which it was read.
        mapping: likewise; None without one.
        rejected: its records, all of them.
    """
    read, faults = _Read(config, mapping), rejected
    for _ in range(_MOST):
        reason = faults.most_frequent
        mended = None if reason is None else _mended(read, reason, faults)
        if mended is None:
            return
        read, faults = mended, rejected.without_records()
        try:
            batch = _first(path, read)
        except FeedError:  # whoever reads the whole file reports it
            return
        faults.add(batch.rejected)
        reason = faults.most_frequent
        if reason is None or len(batch.rejected) < batch.records:
            return
        yield hint(reason, faults)


def _first(path: str, read: _Read) -> EventBatch:
    """Return the first records of a file; what is guessed about its columns is known already."""
    mappings = {} if read.mapping is None else {path: read.mapping}
    batches = files.read(
        [path],
        Decoder(DecodeSettings.from_config(read.config)),
        chunk_bytes=_HEAD_BYTES,
        mappings=mappings,
        say=lambda _: None,
        threads=DecoderThreads(1),
    )
    return next(batches, EventBatch())


def _mended(read: _Read, reason: RejectReason, faults: RejectedRecords) -> _Read | None:
    """Return how to read the records without their most frequent fault; None where none is known.

    A value that only a person knows is taken as any.
    """
    field = faults.field(reason)
    values = faults.values(reason, field)
    mapping = read.mapping or MappedRecords()
    if reason is RejectReason.MISSING_FIELD and field == "prediction":
        return read._replace(config=with_threshold(read.config, _ANY_THRESHOLD))
    if reason is RejectReason.BAD_VALUE and field in list(ClassField) and values:
        classes = ClassValues(positive=values[:1], missing=["", *map(str, values[2:])])
        listed = {**mapping.values, ClassField(field): classes}
        return read._replace(mapping=mapping.model_copy(update={"values": listed}))
    settings = _time_settings(reason, field, values, mapping)
    time = mapping.time.model_copy(update=settings)
    return read._replace(mapping=mapping.model_copy(update={"time": time})) if settings else None


def _time_settings(
    reason: RejectReason, field: str, values: Sequence[str | float], mapping: MappedRecords
) -> dict[str, str]:
    """Return settings by which times can be read; none where no such settings are known."""
    if not values:
        return {}
    if reason is RejectReason.TIMESTAMP_IN_MILLISECONDS:
        unit = unit_to_give(float(values[0]), mapping.time.unit)
        return {} if unit is None else {"unit": unit}
    if reason not in _OF_TIMES or field not in table_fields.TIMES:
        return {}
    if lacks_zone(values[0]):
        return {"zone": _ANY_ZONE}
    formats = proposed_formats(values)
    return time_settings(formats[0]) if formats else {}
