"""Decoded events, grouped by the bucket of their id: what travels between machines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from monitor.config import Config
from monitor.counts import Outcome
from monitor.distributed.tallies import Counting, Group, Tally, packed
from monitor.events.columns import EventBatch, KeyArray
from monitor.events.reject_reasons import RejectReason
from monitor.events.score_bins import score_bins
from monitor.join.sampling import NO_STRATUM, strata

PREDICTION, LABEL, OWN_LABEL = range(3)
"""Kinds of events; an own label came in one record with the prediction before it."""

EVENT = np.dtype(
    [
        ("key", "<u8"),
        ("time", "<i8"),
        ("group", "<u4"),
        ("score_bin", "<u2"),
        ("value", "u1"),
        ("stratum", "u1"),
        ("kind", "u1"),
    ]
)
"""One event, 25 bytes; `value` is the prediction or the label."""

_SAMPLES = 5


class Packet(Struct, array_like=True):
    """Events of one bucket, in the order of their records.

    Attributes:
        groups: groups that predictions refer to.
        events: rows of `EVENT`, as bytes.
        tally: what needs no state: outcomes without an id, and the counts of reading.
    """

    groups: list[Group]
    events: bytes
    tally: bytes = b""

    def rows(self) -> NDArray[np.void]:
        """Return the events as an array of `EVENT`."""
        return np.frombuffer(self.events, dtype=EVENT)


class BucketPacket(NamedTuple):
    """An encoded packet and its bucket.

    Attributes:
        bucket: number of the bucket.
        data: the encoded `Packet`.
    """

    bucket: int
    data: bytes


def packets_of(
    batch: EventBatch, config: Config, buckets: int, watermark: int | None
) -> Iterator[BucketPacket]:
    """Yield the packets of a decoded batch, at most one per bucket.

    Args:
        batch: the decoded batch.
        config: settings of the models.
        buckets: number of buckets.
        watermark: event time that the reader has reached, epoch milliseconds.
    """
    rows = _rows(batch)
    bucket = rows["key"] % np.uint64(buckets)
    order = np.argsort(bucket, kind="stable")
    rows, bucket = rows[order], bucket[order]
    starts = np.flatnonzero(np.diff(bucket, prepend=np.uint64(buckets)))
    groups: list[Group] = [(group.model, group.values) for group in batch.groups]
    tally = packed(_without_state(batch, config, groups, watermark))
    for start, end in pairwise([*starts.tolist(), len(rows)]):
        part = rows[start:end]
        used = part["group"][part["kind"] == PREDICTION]
        own, index = np.unique(used, return_inverse=True)
        part["group"][part["kind"] == PREDICTION] = index
        packet = Packet([groups[g] for g in own.tolist()], part.tobytes(), tally)
        yield BucketPacket(int(bucket[start]), msgspec.msgpack.encode(packet))
        tally = b""
    if tally:
        yield BucketPacket(0, msgspec.msgpack.encode(Packet([], b"", tally)))


def _rows(batch: EventBatch) -> NDArray[np.void]:
    predictions, labels = batch.predictions, batch.labels
    rows = np.zeros(len(predictions) + len(labels), dtype=EVENT)
    first, last = rows[: len(predictions)], rows[len(predictions) :]
    first["key"], first["time"] = _storable(predictions.key), predictions.time
    first["group"], first["value"] = predictions.group, predictions.predicted_positive
    first["score_bin"] = score_bins(predictions.score)
    last["key"], last["time"], last["value"] = _storable(labels.key), labels.time, labels.value
    last["stratum"] = strata(labels.sampling_probability, labels.key)
    last["kind"] = np.where(labels.alone, LABEL, OWN_LABEL)
    ordered: NDArray[np.void] = rows[
        np.argsort(np.concatenate([predictions.row, labels.row]), kind="stable")
    ]
    return ordered


def _storable(key: KeyArray) -> KeyArray:
    return np.maximum(key, np.uint64(1))


def _without_state(
    batch: EventBatch, config: Config, groups: list[Group], watermark: int | None
) -> Tally:
    """Return the tally of what needs no state."""
    counting, outcomes = Counting(config), batch.outcomes
    columns = (outcomes.time, outcomes.group, outcomes.predicted_positive)
    rows = zip(
        *(column.tolist() for column in columns),
        outcomes.actual_positive.tolist(),
        outcomes.label_time.tolist(),
        strict=True,
    )
    for time, group, predicted, actual, label_time in rows:
        counting.population(1, time, groups[group], positive=predicted)
        if predicted:
            cell = Outcome.TP if actual else Outcome.FP
        else:
            cell = Outcome.FN if actual else Outcome.TN
        counting.outcome(1, time, groups[group], cell, label=(label_time, NO_STRATUM))
    rejected = {
        str(reason): sum(rejection.reason is reason for rejection in batch.rejected)
        for reason in {rejection.reason for rejection in batch.rejected}
    }
    samples = [(r.position, str(r.reason), r.detail) for r in batch.rejected[:_SAMPLES]]
    if len(batch.counts):
        name = str(RejectReason.UNKNOWN_TYPE)
        rejected[name] = rejected.get(name, 0) + len(batch.counts)
        samples.append(("input", name, "type: send counts to the monitor itself, not to a job"))
    return counting.tally(
        watermark=watermark, records=batch.records, rejected=rejected, samples=samples
    )
