"""Reads the parts of followed files in the order of their events."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from monitor.clock import Clock
from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.feeds.blocks import TornError
from monitor.feeds.decode import MAX_RECORD_BYTES
from monitor.feeds.follow.content import Plain, ReplacedError
from monitor.feeds.follow.file_part import Behind, FilePart
from monitor.feeds.follow.lines_ahead import LinesAhead
from monitor.feeds.merge import BEFORE_ALL, by_time, reached_by

GRACE_SECONDS = 60.0
"""A rotated file is closed once nothing was written to it for so long."""
MOST_OPEN = 100
"""Files that are open at most. Others with more to read are closed until their turn comes."""
_MOST_READS = 500
"""Reads at a time at most: they are short where files with few events are merged."""

_Chain = list[FilePart]


class PartReader:
    """Reads what the files of a path, or of a pattern, have by now.

    What one writer wrote is read in the order in which it was written: rotated files, the
    oldest first and each to its end, and then the file at the path. Of several writers, the
    file that is least far in event time is read first, and not far beyond the next one. What
    is read of them at a time comes in the order of `merge.merged`.

    Args:
        many: True for a pattern; its files have several writers.
        ahead: decodes the lines.
        clock: measures how long a file has been idle.
        open_file: opens the file of a part, if it is there.
        cut: called with a part whose file holds another content by now.
        torn: called with a part whose gzip file is damaged.
    """

    def __init__(
        self,
        ahead: LinesAhead,
        clock: Clock,
        *,
        many: bool,
        open_file: Callable[[FilePart], None],
        cut: Callable[[FilePart], None],
        torn: Callable[[FilePart, TornError], None],
    ) -> None:
        self._ahead = ahead
        self._clock = clock
        self._many = many
        self._open_file = open_file
        self._cut = cut
        self._torn = torn
        self._open: list[FilePart] = []
        self._turn = 0

    def read(self, parts: Iterable[FilePart], size: int) -> Iterator[EventBatch]:
        """Read up to `size` bytes, and yield the events of the lines that they finish.

        A single writer's files may be read and decoded ahead.

        Args:
            parts: the oldest of each writer first.
            size: most bytes.
        """
        chains = self._chains(parts)
        alone = len(chains) == 1
        if alone and (self._ahead or self._ahead.has_room):
            self._read_ahead(chains[0], size)
        due = len(self._ahead) if len(chains) > 1 else min(1, len(self._ahead))
        for _ in range(due):
            yield self._ahead.next()
        if not (alone and (due or self._ahead.has_room)):
            yield from self._merged(chains, size)

    def look_at(self, parts: Iterable[FilePart]) -> None:
        """Find the first event time of open parts that are not begun, or had no line so far.

        A file of which nothing was read may hold other lines than those that were looked at.
        """
        for part in parts:
            if part.content and not part.read:
                part.reached = BEFORE_ALL
            if part.content and part.reached == BEFORE_ALL:
                self._ahead.look_at(part)

    def opened(self, part: FilePart) -> None:
        """Note an open part; close another one where too many are open."""
        self.look_at([part])
        self._open = [one for one in self._open if one.content and one is not part]
        while len(self._open) >= MOST_OPEN and self._close_another():
            self._open = [one for one in self._open if one.content]
        self._open.append(part)

    def _close_another(self) -> bool:
        """Close a file that is read to its end, else that which is read last; False if none."""
        others = [part for part in self._open if self._many or not part.current]
        ends = [part for part in others if _is_at_end(part)]
        if ends:
            part = min(ends, key=lambda part: part.active)
            part.done = not part.current  # it is opened again if it grows
        elif others:
            part = max(others, key=_passed) if self._many else others[-1]
            part.waiting = True
        else:
            return False
        part.rewind()
        return True

    def _chains(self, parts: Iterable[FilePart]) -> list[_Chain]:
        """Return the parts with more to read of each writer, in the order of writing."""
        chains: defaultdict[str, _Chain] = defaultdict(list)
        for part in parts:
            if part.content or part.waiting:
                chains[part.base if self._many else ""].append(part)
        return [sorted(chain, key=lambda part: part.current) for chain in chains.values()]

    def _read_ahead(self, chain: _Chain, size: int) -> None:
        """Read the files of the only writer, as far as there is room."""
        for part in chain:
            data = lines = b"."
            while data and lines:
                if not self._ahead.has_room:
                    return
                behind = Behind(part.given, part.line)
                data = self._taken(part, size)
                lines = part.take(data) if data else self._retired(part)
                if lines:
                    self._ahead.begin(part, lines, behind)
            if data or not _is_over(part):
                return

    def _merged(self, chains: list[_Chain], size: int) -> Iterator[EventBatch]:
        """Read the writers' files by event time, and yield their events in this order."""
        found = [(concatenate(one), since) for one, since in self._in_turns(chains, size)]
        if len(found) > 1:
            batch = by_time(found)
            latest = max((arrived for _, arrived in batch.arrivals), default=0)
            yield batch.arrived([(0, latest)] if batch.arrivals else [])
        else:
            yield from (batch for batch, _ in found)

    def _in_turns(self, chains: list[_Chain], room: int) -> Iterable[tuple[list[EventBatch], int]]:
        """Read the writers' files, the one that is least far in event time first.

        Returns:
            The batches of each writer, and the event time that it had reached before.
        """
        turns = [_turn(chain, number) for number, chain in enumerate(chains)]
        heapq.heapify(turns)
        found: dict[int, tuple[list[EventBatch], int]] = {}
        reads = 0
        while turns and room and reads < _MOST_READS:
            reads += 1
            _, _, number = heapq.heappop(turns)
            chain = chains[number]
            part, until = chain[0], turns[0][0] if turns else None
            before, size = part.reached, part.pace.size(_passed(part), until)
            data = self._taken(part, room if size is None else min(room, size))
            lines = part.take(data) if data else self._retired(part)
            batch = self._ahead.decoded(part, lines) if lines else EventBatch()
            if lines:
                found.setdefault(number, ([], before))[0].append(batch)
            if data:
                room -= len(data)
                self._turn += 1
                part.pace.turn = self._turn
                part.pace.has_read(len(data), before, part.reached, until)
                within_line = not lines and len(part.unfinished) <= MAX_RECORD_BYTES
                timed = within_line or reached_by(batch) > BEFORE_ALL
                heads = [] if timed else [chains[other][0] for _, _, other in turns]
                known = (head.reached for head in heads if head.reached > head.pace.assumed)
                part.pace.assumed = min(known, default=BEFORE_ALL)
            elif _is_over(part):
                del chain[0]
            else:
                continue  # its file may be elsewhere, and comes before the next
            if chain:
                heapq.heappush(turns, _turn(chain, number))
        return found.values()

    def _taken(self, part: FilePart, size: int) -> bytes:
        """Read the next bytes of a part; none if its file holds another content by now."""
        if part.content is None:
            part.waiting = False
            self._open_file(part)
        if part.content is None:
            return b""
        try:
            data = part.content.read(size)
        except TornError as error:
            self._torn(part, error)
            return b""
        except ReplacedError:
            self._cut(part)
            return b""
        part.at_end = not data
        if data:
            part.active = self._clock.monotonic()
        return data

    def _retired(self, part: FilePart) -> bytes:
        """Close a file that will not grow; return its last line, also without a newline."""
        quiet = self._clock.monotonic() - part.active >= GRACE_SECONDS
        rest = b""
        if part.content is not None and (part.packed or (quiet and not part.current)):
            rest, part.done = part.give_up(), True
        if part.done or (quiet and self._many):
            part.rewind()
        return rest


def _is_at_end(part: FilePart) -> bool:
    """Return True where all lines of an open part were read, and each has its end."""
    content = part.content
    return isinstance(content, Plain) and part.at_end and content.size == part.offset


def _passed(part: FilePart) -> int:
    """Return the event time that a part has reached, or counts as having reached."""
    return max(part.reached, part.pace.assumed)


def _turn(chain: _Chain, number: int) -> tuple[int, int, int]:
    """Return when a chain is read: by event time, and then the one that waits for longest."""
    return _passed(chain[0]), chain[0].pace.turn, number


def _is_over(part: FilePart) -> bool:
    """Return True where a part has nothing more for now, and its file is known."""
    return part.content is not None or part.done
