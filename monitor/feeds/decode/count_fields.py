"""Fields that only records of type `counts` have, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from monitor.events.columns import BoolArray, Int64Array, KeyArray
from monitor.events.keys import keys_of
from monitor.feeds.decode.groups import name_fits
from monitor.feeds.decode.records import CountsRecord, RecordTypes
from monitor.feeds.scalars import plain_name


def batch_fits(row: CountsRecord) -> bool:
    """Tell whether a record has both source and batch, or neither, and both fit."""
    if row.source is None or row.batch is None:
        return row.source is row.batch
    return name_fits(row.source) and name_fits(row.batch)


def batch_keys(rows: Sequence[CountsRecord], seed: int) -> KeyArray:
    """Hash the pairs (source, batch) as JSON arrays, so that no two pairs have the same text.

    Args:
        rows: the records.
        seed: of the keys.
    """
    pairs = [msgspec.json.encode([row.source, row.batch]).decode() for row in rows]
    keys = keys_of(pairs, seed)
    keys[[row.batch is None for row in rows]] = 0
    return keys


def known_segments(rows: Sequence[CountsRecord], types: RecordTypes) -> tuple[list[Any], BoolArray]:
    """Return the configured part of each segment, and which records have one that can be used.

    Args:
        rows: the records.
        types: with the configured keys.
    """
    found, fit = [], np.ones(len(rows), dtype=np.bool_)
    for i, row in enumerate(rows):
        try:
            found.append(types.known_segment(row.segment))
        except msgspec.ValidationError:
            found.append(None)
            fit[i] = False
    return found, fit


def sent_keys(
    rows: Sequence[CountsRecord], time: Int64Array, label_time: Int64Array, seed: int
) -> KeyArray:
    """Hash what each record names, before any of it is left out or capped here.

    Args:
        rows: the records.
        time: of each, epoch milliseconds.
        label_time: of its labels, epoch milliseconds.
        seed: of the keys.

    Returns:
        Keys that tell the records of a batch apart; 0 for a record without a batch.
    """
    times = zip(time.tolist(), label_time.tolist(), strict=True)
    keys = keys_of(map(_named, rows, times), seed)
    keys[[row.batch is None for row in rows]] = 0
    return keys


def _named(row: CountsRecord, times: tuple[int, int]) -> str:
    """Return what a record names as text, in ASCII; a null in its segment is a missing key."""
    segment = row.segment or {}
    named = [(key, plain_name(value)) for key, value in segment.items()]
    values = sorted(pair for pair in named if isinstance(pair[1], str))
    return ascii((row.model, row.version or "", values, row.sampling_probability, times))


def population_of(row: CountsRecord) -> tuple[int, int]:
    """Return predictions of the positive and the negative class; labelled ones by default."""
    positive, negative = row.predicted_positive, row.predicted_negative
    return (
        row.tp + row.fp if positive is None else positive,
        row.fn + row.tn if negative is None else negative,
    )
