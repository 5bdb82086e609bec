"""What was posted before the start: read again from the journal, decoded as when it came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from monitor.events.columns import EventBatch, Rejection, RejectReason, concatenate
from monitor.feeds.decode import Decoder
from monitor.feeds.http.app import AHEAD_MS
from monitor.state import START, Body, Journal, Place

_RUN_BYTES = 1_500_000
_RUN_MS = AHEAD_MS // 2
_REPLAYED = "journal:"


class Replayed(Iterator[EventBatch]):
    """The journal as batches, decoded as they were when they came.

    Args:
        journal: to be read.
        decoder: of its records.
        since: where to begin.

    Attributes:
        records: how many came out of it so far.
        place: behind the last of them.
    """

    def __init__(self, journal: Journal, decoder: Decoder, since: Place = START) -> None:
        self.records = 0
        self.place = since
        self._decoder = decoder
        self._batches = self._read(journal)

    def __next__(self) -> EventBatch:
        batch = next(self._batches)
        self.records += batch.records
        return batch

    def _read(self, journal: Journal) -> Iterator[EventBatch]:
        for number, run in enumerate(runs_of(journal.read(self.place)), start=1):
            self.place = run[-1][1]
            yield self._decoded([body for body, _ in run], f"{_REPLAYED}{number}")

    def _decoded(self, run: Sequence[Body], source: str) -> EventBatch:
        """All at once, with the earliest bound; one by one, if that was in anybody's way."""
        lines = b"".join(body.lines for body in run)
        earliest = min(body.arrival_ms for body in run) + AHEAD_MS
        batch = self._decoder.decode_lines(lines, source=source, latest_ms=earliest)
        if all(r.reason is not RejectReason.TIMESTAMP_OUT_OF_RANGE for r in batch.rejected):
            return batch
        return concatenate(
            [
                self._decoder.decode_lines(
                    body.lines, source=source, latest_ms=body.arrival_ms + AHEAD_MS
                )
                for body in run
            ]
        )


def runs_of(bodies: Iterator[tuple[Body, Place]]) -> Iterator[list[tuple[Body, Place]]]:
    """Neighbours that came within half an hour, of so many bytes that decoding is fastest."""
    run: list[tuple[Body, Place]] = []
    size = first = 0
    for body, place in bodies:
        if run and (size >= _RUN_BYTES or abs(body.arrival_ms - first) > _RUN_MS):
            yield run
            run, size = [], 0
        if not run:
            first = body.arrival_ms
        run.append((body, place))
        size += len(body.lines)
    if run:
        yield run


class _Sink(Protocol):
    def write(self, rejections: Sequence[Rejection]) -> None: ...


class NewRejections:
    """Passes on what could not be used, but for what comes out of the journal again.

    Args:
        sink: keeps the others.
    """

    def __init__(self, sink: _Sink) -> None:
        self._sink = sink

    def write(self, rejections: Sequence[Rejection]) -> None:
        """Keep those that are new."""
        self._sink.write([r for r in rejections if not r.position.startswith(_REPLAYED)])
