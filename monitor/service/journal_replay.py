"""Replays requests from the journal, decoded as when they arrived."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.feeds.decode import Decoder, LineDecoder, LiveDecoder
from monitor.feeds.http.app import AHEAD_MS
from monitor.state import START, Body, Journal, JournalPosition

_RUN_BYTES = 1_500_000
_RUN_MS = AHEAD_MS // 2
_REPLAYED = "journal:"


class AcknowledgedDecoder:
    """Decodes by the latest settings, but for the length of records that were acknowledged.

    Args:
        decoder: decoder of the latest settings.
        record_bytes: length up to which records were acknowledged.
    """

    def __init__(self, decoder: LiveDecoder, record_bytes: int) -> None:
        self._decoder, self._least = decoder, record_bytes
        self._current = self._own = decoder.current

    @property
    def record_bytes(self) -> int:
        """Length up to which a record is accepted now."""
        return max(self._least, self._decoder.settings.max_record_bytes)

    def decode_lines(
        self, data: bytes, *, source: str, first_line: int = 1, latest_ms: int | None = None
    ) -> EventBatch:
        """As `Decoder.decode_lines`."""
        if self._current is not self._decoder.current or self._own is self._current:
            self._current = self._decoder.current
            settings = replace(self._current.settings, max_record_bytes=self.record_bytes)
            self._own = Decoder(settings)
        return self._own.decode_lines(
            data, source=source, first_line=first_line, latest_ms=latest_ms
        )


class ReplayedJournal(Iterator[EventBatch]):
    """The journal as batches, decoded as when they arrived.

    Args:
        journal: the journal.
        decoder: decoder of its records.
        since: position to start from.

    Attributes:
        records: number of records read so far.
        position: position behind the last of them.
    """

    def __init__(
        self, journal: Journal, decoder: LineDecoder, since: JournalPosition = START
    ) -> None:
        self.records = 0
        self.position = since
        self._decoder = decoder
        self._batches = self._read(journal)

    def __next__(self) -> EventBatch:
        batch = next(self._batches)
        self.records += batch.records
        return batch

    def _read(self, journal: Journal) -> Iterator[EventBatch]:
        for number, run in enumerate(runs_of(journal.read(self.position)), start=1):
            self.position = run[-1][1]
            yield self._decoded([body for body, _ in run], f"{_REPLAYED}{number}")

    def _decoded(self, run: Sequence[Body], source: str) -> EventBatch:
        """Decode a run at once by its earliest time limit; one by one if that rejects an event."""
        lines = b"".join(body.lines for body in run)
        earliest = min(body.arrival_ms for body in run) + AHEAD_MS
        batch = self._decoder.decode_lines(lines, source=source, latest_ms=earliest)
        if all(r.reason is not RejectReason.TIMESTAMP_OUT_OF_RANGE for r in batch.rejected):
            first, arrivals = 0, []
            for body in run:
                arrivals.append((first, body.arrival_ms))
                first += body.lines.count(b"\n")
            return batch.arrived(arrivals)
        return concatenate(
            [
                self._decoder.decode_lines(
                    body.lines, source=source, latest_ms=body.arrival_ms + AHEAD_MS
                ).arrived([(0, body.arrival_ms)])
                for body in run
            ]
        )


def runs_of(
    bodies: Iterator[tuple[Body, JournalPosition]],
) -> Iterator[list[tuple[Body, JournalPosition]]]:
    """Group neighbours that arrived within half an hour, up to the size that decodes fastest.

    Args:
        bodies: bodies, each with the position behind it.
    """
    run: list[tuple[Body, JournalPosition]] = []
    size = first = 0
    for body, position in bodies:
        if run and (size >= _RUN_BYTES or abs(body.arrival_ms - first) > _RUN_MS):
            yield run
            run, size = [], 0
        if not run:
            first = body.arrival_ms
        run.append((body, position))
        size += len(body.lines)
    if run:
        yield run


class _Sink(Protocol):
    def write(self, rejections: Sequence[Rejection]) -> None: ...


class NewRejections:
    """Passes on rejections, except those of replayed requests, which were stored before.

    Args:
        sink: stores the rejections.
    """

    def __init__(self, sink: _Sink) -> None:
        self._sink = sink

    def write(self, rejections: Sequence[Rejection]) -> None:
        """Store the new ones."""
        self._sink.write([r for r in rejections if not r.position.startswith(_REPLAYED)])
