"""Threads that decode blocks of lines while the events of earlier blocks are counted."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Condition
from typing import Generic, NamedTuple, TypeVar

from monitor.events.columns import EventBatch
from monitor.feeds.blocks import Block
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.kernel import kernel_in_use

MOST_BY_DEFAULT = 4
"""Threads by default at most: the thread that counts is the limit before these are."""

T = TypeVar("T")


def default_threads() -> int:
    """Return how many threads decode by default: one for each core that this process may use.

    One without the compiled kernel: decoders in Python wait for each other.
    """
    if kernel_in_use() == "python":
        return 1
    affinity = getattr(os, "sched_getaffinity", None)  # not on every platform
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min(MOST_BY_DEFAULT, cores)


class Decoded(NamedTuple):
    """A block, decoded by the settings of one moment.

    Attributes:
        block: its lines.
        settings: those in force when its decoding was asked for.
        batch: its events.
    """

    block: Block
    settings: DecodeSettings
    batch: EventBatch


class DecoderThreads:
    """A few threads that decode blocks, shared by the files of a feed or of a command.

    The events are the same as those of one thread, and so is their order. All methods are
    called by the thread that counts. A thread starts with the first block for it.

    Args:
        count: threads; 1 for none besides the one that counts. None for one a core.

    Attributes:
        count: likewise.
        room: blocks that may still be taken ahead, of all files together. It bounds memory.
    """

    def __init__(self, count: int | None = None) -> None:
        self.count = default_threads() if count is None else count
        self.room = 2 * self.count if self.count > 1 else 0
        self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="decoder")

    def batches(
        self, blocks: Iterator[Block], decoder: Decoder, source: str
    ) -> Iterator[EventBatch]:
        """Read and decode blocks, some of them ahead; yield the events of each, in order.

        Args:
            blocks: of one file. They are read in these threads, one at a time.
            decoder: its settings may change between two batches. What was decoded by
                earlier ones is decoded again.
            source: name of the file, for positions.

        Raises:
            Exception: `blocks` raised it; the events of all blocks before were yielded.
        """
        turns = _Turns(blocks)

        def decoded(turn: int, settings: DecodeSettings) -> Decoded | None:
            block = turns.take(turn)
            return block and Decoded(block, settings, _decode(block, decoder, source))

        ahead: deque[Future[Decoded | None]] = deque()
        turn = 0
        try:
            while True:
                while self.room and not (ahead and turns.ended):
                    ahead.append(self.begin(decoded, turn, decoder.settings))
                    turn += 1
                if ahead:
                    found = self.end(ahead.popleft())
                else:
                    found = decoded(turn, decoder.settings)
                    turn += 1
                if found is None:
                    return
                yield current_batch(found, decoder, source)
        finally:
            turns.stop()
            self.room += len(ahead)

    def begin(self, work: Callable[..., T], *arguments: object) -> Future[T]:
        """Start work in a thread; it takes one of `room`.

        Args:
            work: what to call.
            arguments: its arguments.
        """
        self.room -= 1
        return self._pool.submit(work, *arguments)

    def end(self, future: Future[T]) -> T:
        """Wait for work, and return its result.

        Raises:
            Exception: the work raised it.
        """
        self.room += 1
        return future.result()


class _Turns(Generic[T]):
    """Items of an iterator, each taken by the thread whose turn it is.

    Attributes:
        ended: True once the iterator has ended or raised.

    Args:
        items: the iterator.
    """

    def __init__(self, items: Iterator[T]) -> None:
        self.ended = False
        self._items = items
        self._next = 0
        self._stopped = False
        self._changed = Condition()

    def take(self, turn: int) -> T | None:
        """Return the item of a turn, once those before it are taken; None behind the last one.

        Raises:
            Exception: the iterator raised it; in later turns there is no item.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._next == turn)
            if self._stopped:
                return None
            item = None
            try:
                item = next(self._items, None)
            finally:
                self.ended = item is None
                self._next += 1
                self._changed.notify_all()
            return item

    def stop(self) -> None:
        """Take no more items: later turns get None, and those that wait for theirs."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


def _decode(block: Block, decoder: Decoder, source: str) -> EventBatch:
    return decoder.decode_lines(block.data, source=source, first_line=block.first_line)


def current_batch(decoded: Decoded, decoder: Decoder, source: str) -> EventBatch:
    """Return the events of a block, decoded again if the settings have changed since.

    Args:
        decoded: the block.
        decoder: of the feed.
        source: name of the feed, for positions.
    """
    if decoded.settings is decoder.settings:
        return decoded.batch
    return _decode(decoded.block, decoder, source)
