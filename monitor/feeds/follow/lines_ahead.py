"""Lines of followed files: decoded when they are read, or ahead in other threads."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from typing import NamedTuple

from monitor.clock import SECOND_MS, Clock
from monitor.events.columns import EventBatch
from monitor.feeds.blocks import Block
from monitor.feeds.decode import MAX_RECORD_BYTES, Decoder, LineDecoder
from monitor.feeds.decode.lines import count_lines
from monitor.feeds.decoder_threads import Decoded, DecoderThreads, current_batch
from monitor.feeds.follow.file_part import Behind, FilePart
from monitor.feeds.merge import BEFORE_ALL, begins_at, reached_by

_FIRST_BYTES = (4_096, 2 * MAX_RECORD_BYTES)
"""Bytes in which the first time of a part is looked for: few, and more if they have none."""
_FIRST_LINES = 8


class _Ahead(NamedTuple):
    part: FilePart
    source: str
    behind: Behind
    decoding: Future[Decoded]


class LinesAhead:
    """Decodes the lines of file parts.

    While lines are decoded ahead, the position of their part is before them.

    Args:
        decoder: of the lines.
        clock: gives the time of arrival.
        threads: decode ahead; where they have no room, nothing is.
    """

    def __init__(self, decoder: LineDecoder, clock: Clock, threads: DecoderThreads) -> None:
        self._decoder = decoder
        self._clock = clock
        self._threads = threads
        self._ahead: deque[_Ahead] = deque()

    def __len__(self) -> int:
        """Return how many blocks of lines are ahead."""
        return len(self._ahead)

    @property
    def has_room(self) -> bool:
        """True where a further block may be decoded ahead."""
        return isinstance(self._decoder, Decoder) and self._threads.room > 0

    def look_at(self, part: FilePart) -> None:
        """Find the earliest event time of a part's next few lines, without reading them.

        Args:
            part: open; gets the time as `reached`, where one of the lines has a time.
        """
        assert part.content is not None  # noqa: S101  # by contract
        for size in _FIRST_BYTES:
            whole, _, _ = part.content.ahead(size).rpartition(b"\n")
            for lines in (whole.split(b"\n", _FIRST_LINES)[:_FIRST_LINES], [whole]):
                if part.reached == BEFORE_ALL and (few := b"\n".join(lines)):
                    found = self._decoder.decode_lines(few, source=part.path, first_line=part.line)
                    part.reached = begins_at(found)
                    part.pace.expect(len(few), reached_by(found) - part.reached)

    def decoded(self, part: FilePart, lines: bytes) -> EventBatch:
        """Return the events of the next lines of a part.

        Args:
            part: none of its lines are ahead.
            lines: whole.
        """
        batch = self._decoder.decode_lines(lines, source=part.path, first_line=part.line)
        part.line += count_lines(lines)
        return self._arrived(part, batch)

    def begin(self, part: FilePart, lines: bytes, behind: Behind) -> None:
        """Start to decode the next lines of a part; `next` returns their events.

        Args:
            part: its lines come after all that are ahead.
            lines: whole.
            behind: the part's position before them.
        """
        decoder = self._decoder
        assert isinstance(decoder, Decoder)  # noqa: S101  # `has_room`
        block, source, settings = Block(lines, part.line), part.path, decoder.settings
        part.line += count_lines(lines)

        def decode() -> Decoded:
            batch = decoder.decode_lines(lines, source=source, first_line=block.first_line)
            return Decoded(block, settings, batch)

        self._ahead.append(_Ahead(part, source, behind, self._threads.begin(decode)))
        part.behind = part.behind or behind

    def next(self) -> EventBatch:
        """Return the events of the block that is ahead for the longest time."""
        part, source, _, decoding = self._ahead.popleft()
        part.behind = next((one.behind for one in self._ahead if one.part is part), None)
        assert isinstance(self._decoder, Decoder)  # noqa: S101  # as in `begin`
        decoded = self._threads.end(decoding)
        return self._arrived(part, current_batch(decoded, self._decoder, source))

    def drop(self) -> None:
        """Forget what is ahead; their parts go back to their positions."""
        for part, _, _, decoding in self._ahead:
            self._threads.end(decoding)
            part.go_back()
        self._ahead.clear()

    def _arrived(self, part: FilePart, batch: EventBatch) -> EventBatch:
        part.reached = max(part.reached, reached_by(batch))
        return batch.arrived([(0, round(self._clock.now() * SECOND_MS))])
