"""Fields that only records of type `counts` have, as columns."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from monitor.events.columns import KeyArray
from monitor.events.keys import keys_of
from monitor.feeds.decode.groups import name_fits
from monitor.feeds.decode.records import CountsRecord


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


def population_of(row: CountsRecord) -> tuple[int, int]:
    """Return predictions of the positive and the negative class; labelled ones by default."""
    positive, negative = row.predicted_positive, row.predicted_negative
    return (
        row.tp + row.fp if positive is None else positive,
        row.fn + row.tn if negative is None else negative,
    )
