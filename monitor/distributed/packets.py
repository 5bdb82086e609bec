"""Decoded events as columns, divided among tasks: what travels between machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from monitor.config import Config
from monitor.distributed.group_codes import GroupName, TaskGroups, catalogue_of
from monitor.distributed.layout import Layout
from monitor.distributed.model_clocks import Reached
from monitor.distributed.tallies import Tally, packed, tally_of
from monitor.events.audit_marks import are_audits
from monitor.events.columns import (
    NO_TIME,
    EventBatch,
    KeyArray,
    Labels,
    Outcomes,
    Predictions,
)
from monitor.events.reject_reasons import RejectReason
from monitor.join import Join
from monitor.labels.forwarding import Forwarding

_SAMPLES = 5
_ALONE = -1


class Packet(Struct, array_like=True):
    """Events of one task, in the order of their records, by column as bytes.

    Attributes:
        groups: groups that predictions refer to.
        key: uint64, of the predictions.
        time: int64, epoch milliseconds.
        group: uint32, index into `groups`.
        positive: bool, the predicted class.
        score: float64, NaN if not given; empty if no prediction has one.
        label_key: uint64, of the labels.
        label_time: int64, epoch milliseconds.
        value: uint8, 0, 1 or `RETRACTED`.
        probability: float64, of sampling, NaN if not given; empty if no label has one.
        own: int64, index of the prediction in the same record, -1 for none; empty if all
            are -1.
        tally: what needs no state: outcomes without an id, and the counts of reading.
        reached: event time that the reader has reached, epoch milliseconds; None if unknown.
        reached_by_model: that of each model.
    """

    groups: list[GroupName]
    key: bytes = b""
    time: bytes = b""
    group: bytes = b""
    positive: bytes = b""
    score: bytes = b""
    label_key: bytes = b""
    label_time: bytes = b""
    value: bytes = b""
    probability: bytes = b""
    own: bytes = b""
    tally: bytes = b""
    reached: int | None = None
    reached_by_model: dict[str, int] = msgspec.field(default_factory=dict)


class TaskPacket(NamedTuple):
    """An encoded packet and its task.

    Attributes:
        task: number of the task.
        data: the encoded `Packet`.
    """

    task: int
    data: bytes


def opened(data: bytes) -> Packet:
    """Return an encoded packet."""
    return _decoder.decode(data)


_decoder = msgspec.msgpack.Decoder(Packet)


def events_in(packets: Sequence[Packet], codes: TaskGroups) -> tuple[Predictions, Labels]:
    """Return the events of packets in the order of their keys.

    Of each id, predictions and the labels in their records come first, then the other
    labels, all in the order of the packets and their records.

    Args:
        packets: of one task.
        codes: codes of the groups of the predictions.
    """
    predictions, labels, rows = [Predictions()], [Labels()], 0
    for packet in packets:
        some = _predictions(packet, codes, rows)
        predictions.append(some)
        labels.append(_labels(packet, some))
        rows += len(some)
    first = Predictions.concatenate(predictions)
    then = Labels.concatenate(labels)
    alone = np.flatnonzero(then.alone)
    then.row[alone] = rows + alone
    order = np.argsort(first.key, kind="stable")
    if len(alone) < len(then):
        return first.take(order), then.take(np.lexsort((then.row, then.key)))
    return first.take(order), then.take(np.argsort(then.key, kind="stable"))


def _predictions(packet: Packet, codes: TaskGroups, row: int) -> Predictions:
    key = np.frombuffer(packet.key, np.uint64)
    return Predictions(
        key=key,
        time=np.frombuffer(packet.time, np.int64),
        predicted_positive=np.frombuffer(packet.positive, np.bool_),
        score=_floats(packet.score, len(key)),
        group=codes.of(packet.groups)[np.frombuffer(packet.group, np.uint32)],
        row=np.arange(row, row + len(key)),
    )


def _labels(packet: Packet, predictions: Predictions) -> Labels:
    """Return the labels of a packet; the `row` of those without a prediction says nothing yet."""
    key = np.frombuffer(packet.label_key, np.uint64)
    row = np.zeros(len(key), dtype=np.int64)
    beside = np.full(len(key), NO_TIME, dtype=np.int64)
    if packet.own:
        own = np.frombuffer(packet.own, np.int64)
        some = np.flatnonzero(own != _ALONE)
        row[some], beside[some] = predictions.row[own[some]], predictions.time[own[some]]
    return Labels(
        key=key,
        time=np.frombuffer(packet.label_time, np.int64),
        value=np.frombuffer(packet.value, np.uint8).astype(np.int64),
        sampling_probability=_floats(packet.probability, len(key)),
        prediction_time=beside,
        row=row,
    )


def packets_of(
    batch: EventBatch, config: Config, layout: Layout, reached: Reached
) -> Iterator[TaskPacket]:
    """Yield the packets of a decoded batch, at most one for each task.

    Audits are left out, and so is who labelled.

    Args:
        batch: the decoded batch.
        config: settings of the models.
        layout: of the job.
        reached: event time that the reader has reached.
    """
    groups: list[GroupName] = [(group.model, group.values) for group in batch.groups]
    tally = packed(_without_state(batch, config, groups, reached.time))
    predictions, labels = batch.predictions, batch.labels.take(~are_audits(batch.labels))
    rows = _by_task(predictions.key, layout), _by_task(labels.key, layout)
    for task in range(layout.tasks):
        mine, theirs = (rows_of[task] for rows_of in rows)
        if len(mine) or len(theirs):
            packet = _packet(predictions.take(mine), labels.take(theirs), groups)
            packet.tally, tally = tally, b""
            packet.reached, packet.reached_by_model = reached.time, dict(reached.models)
            yield TaskPacket(task, msgspec.msgpack.encode(packet))
    if tally:
        yield TaskPacket(0, msgspec.msgpack.encode(Packet([], tally=tally)))


def _by_task(keys: KeyArray, layout: Layout) -> Sequence[NDArray[np.int64]]:
    """Return the rows of each task, in their order."""
    task = layout.tasks_of(keys).astype(np.uint16)
    order = np.argsort(task, kind="stable")
    return np.split(order, np.searchsorted(task[order], np.arange(1, layout.tasks)))


def _packet(predictions: Predictions, labels: Labels, groups: Sequence[GroupName]) -> Packet:
    used, group = np.unique(predictions.group, return_inverse=True)
    return Packet(
        [groups[number] for number in used.tolist()],
        _storable(predictions.key).tobytes(),
        predictions.time.tobytes(),
        group.astype(np.uint32).tobytes(),
        predictions.predicted_positive.tobytes(),
        _where_given(predictions.score),
        _storable(labels.key).tobytes(),
        labels.time.tobytes(),
        labels.value.astype(np.uint8).tobytes(),
        _where_given(labels.sampling_probability),
        _beside(predictions, labels),
    )


def _beside(predictions: Predictions, labels: Labels) -> bytes:
    """Return the index of the prediction of the same record for each label, -1 for none."""
    alone = labels.alone
    if alone.all():
        return b""
    return np.where(alone, _ALONE, np.searchsorted(predictions.row, labels.row)).tobytes()


def _where_given(values: NDArray[np.float64]) -> bytes:
    return b"" if np.isnan(values).all() else values.tobytes()


def _floats(data: bytes, rows: int) -> NDArray[np.float64]:
    return np.frombuffer(data, np.float64) if data else np.full(rows, np.nan)


def _storable(key: KeyArray) -> KeyArray:
    return np.maximum(key, np.uint64(1))


def _without_state(
    batch: EventBatch, config: Config, groups: list[GroupName], watermark: int | None
) -> Tally:
    """Return the tally of what needs no state."""
    rejected = {
        str(reason): sum(rejection.reason is reason for rejection in batch.rejected)
        for reason in {rejection.reason for rejection in batch.rejected}
    }
    samples = [(r.position, str(r.reason), r.detail) for r in batch.rejected[:_SAMPLES]]
    if len(batch.counts):
        name = str(RejectReason.UNKNOWN_TYPE)
        rejected[name] = rejected.get(name, 0) + len(batch.counts)
        samples.append(("input", name, "type: send counts to the monitor itself, not to a job"))
    books: dict[str, Any] = {"rejected": rejected, "samples": samples, "records": batch.records}
    outcomes = batch.outcomes
    if not len(outcomes):
        return Tally(watermark=watermark, **books)
    return _counted(outcomes, config, groups, watermark=watermark, **books)


def _counted(
    outcomes: Outcomes, config: Config, groups: Sequence[GroupName], **books: Any
) -> Tally:
    used, group = np.unique(outcomes.group, return_inverse=True)
    catalogue, numbers = catalogue_of(config, [groups[number] for number in used.tolist()])
    join = Join(catalogue, config.max_pending)
    forwarding = Forwarding(catalogue, join, config.pane)
    forwarding.switch(on=True)
    columns = {name: getattr(outcomes, name) for name in outcomes.names()}
    forwarding.add(join.count(Outcomes(**columns | {"group": numbers[group]})))
    return tally_of(forwarding.take({}), **books)
