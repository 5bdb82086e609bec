"""Follows the files of a path or a pattern: finds, identifies, reads and resumes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from monitor.clock import Clock
from monitor.errors import FeedError
from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.feeds.blocks import TornError
from monitor.feeds.decode import LineDecoder
from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.follow.content import Head, Plain, head_of, opened, same_content
from monitor.feeds.follow.file_part import FilePart
from monitor.feeds.follow.identification import Answer, ContentMatch, UnknownFile, UnknownFiles
from monitor.feeds.follow.known import has_left, has_more, is_in, is_lost, was_cut, whole
from monitor.feeds.follow.lines_ahead import LinesAhead
from monitor.feeds.follow.names import Listed, is_pattern, listing, obstacle, reason
from monitor.feeds.follow.part_reader import GRACE_SECONDS, PartReader

BATCH_BYTES = 1_500_000
"""Bytes read at a time: about ten thousand events."""
LOOK_EVERY_SECONDS = 0.5
"""How often the directory is listed; the file at a name is checked sooner once read to its end."""

FAULTS = ("gone", "unclear", "torn")
"""Faults that may lose lines or count them twice: a file was truncated or removed before it was
read to its end, a file could not be identified, a gzip file is damaged."""

_Inode = tuple[int, int]


class FollowedFiles:
    """The lines of one or many growing files, through any rotation.

    A line counts once its newline is there. A renamed file is read on until nothing was
    written to it for a minute. A file that was created and rotated between two listings is
    found by its rotated name. If a file was copied and truncated, the rest is read from the
    copy. A missing file is waited for, and so is one that cannot be looked at for a while, or in
    whose place is something else. `PartReader` has the order in which they are read.

    Args:
        path: of an NDJSON file, or a pattern of many.
        decoder: decodes the lines.
        clock: measures how long a file has been idle.
        say: prints a one-line message for the operator.
        threads: decode a single file ahead; None for none.

    Raises:
        FeedError: the path is a directory or no regular file, or cannot be looked at.

    Attributes:
        faults: how often each of `FAULTS` has occurred since the start.
    """

    ended = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        decoder: LineDecoder,
        clock: Clock,
        say: Callable[[str], None],
        threads: DecoderThreads | None = None,
    ) -> None:
        self.name = os.fspath(path)
        self.identity = f"followed:{self.name}"
        self._clock = clock
        self._say = say
        self._said: set[str] = set()
        self._many = is_pattern(self.name)
        self._parts: list[FilePart] = []
        self._inodes: dict[_Inode, FilePart] = {}
        self._seen: dict[str, tuple[object, FilePart]] = {}
        self._ahead = LinesAhead(decoder, clock, threads or DecoderThreads(1))
        self._reader = PartReader(
            self._ahead,
            clock,
            many=self._many,
            open_file=self._open,
            cut=self._replaced,
            torn=self._torn,
        )
        self._unknown = UnknownFiles(LOOK_EVERY_SECONDS, GRACE_SECONDS, self._unclear)
        self.faults = dict.fromkeys(FAULTS, 0)
        self._begun = False
        self._looked, self._look_again = clock.monotonic(), False
        self._look()

    @property
    def attached(self) -> bool:
        """True while there is a file to read; always for a pattern, which may match none."""
        return self._many or any(
            part.current and (part.content or part.waiting) for part in self._parts
        )

    def poll(self) -> EventBatch | None:
        """Return the events of the lines finished since the last call; None without any."""
        due = self._clock.monotonic() - self._looked >= LOOK_EVERY_SECONDS
        if self._look_again or due or (not self._many and self._moved()):
            self._look()
        batches = list(self._reader.read(self._parts, BATCH_BYTES))
        if not batches and self._moved():
            self._look()
            batches = list(self._reader.read(self._parts, BATCH_BYTES))
        return concatenate(batches) if batches else None

    def position(self) -> Mapping[str, Any]:
        """Return how far the events of each content have come, as JSON values."""
        return {"files": [part.position() for part in self._parts if part.head]}

    def resume(self, position: Mapping[str, Any]) -> str:
        """Continue from a position; call it before the first `poll`."""
        self.close()
        self._parts = [FilePart.at(one) for one in position["files"]]
        for part in self._parts:
            part.listed = part.active = self._clock.monotonic()
        self._seen.clear()
        self._look()
        return ""  # `_forget` reports a missing file once it stays away

    def commit(self, position: Mapping[str, Any]) -> None:
        """Do nothing: a file does not need to know what was read."""

    def close(self) -> None:
        """Close all files."""
        self._ahead.drop()
        for part in self._parts:
            part.rewind()

    def _look(self) -> None:
        """List the files, identify the content of each, and open those with more to read."""
        self._looked, self._look_again = self._clock.monotonic(), False
        found = listing(self.name, {part.base for part in self._parts if part.waiting})
        self._unknown.forget_all_but({one.path for one in found})
        any_current = any(one.current for one in found)
        rotated = [part for part in self._parts if part.current]
        for part in self._parts:
            part.current = False
            if isinstance(part.content, Plain) and not part.content.holds_what_was_read:
                self._cut(part)
            elif isinstance(part.content, Plain):
                part.learn_head(part.content.head())
        self._inodes = {
            part.inode: part for part in self._parts if part.inode and (part.head or part.content)
        }
        there = {one.inode for one in found}
        for step in (self._is_recognized, self._is_identified):
            found = [one for one in found if not self._is_done_by(step, one, there)]
        self._reader.look_at(self._parts)
        self._parts.sort(key=_age)
        for part in rotated:
            if not part.current:
                part.active = self._looked  # its writer may still have it open for a while
        if any_current:
            self._forget()
        elif not self._many and (why := obstacle(self.name)) is not None:
            self._wait(why)
        self._begun = True

    def _wait(self, why: str) -> None:
        """Say why the file is not followed now; raise at the start, where the path may be wrong."""
        if not self._begun:
            raise FeedError(f"{self.name}: cannot be followed: {why}")
        self._say_once(f"{self.name}: cannot be followed: {why}; tried again")

    def _is_done_by(
        self, step: Callable[[Listed, set[_Inode]], bool], one: Listed, there: set[_Inode]
    ) -> bool:
        """Run a step; return whether the file needs no further one, read or not."""
        try:
            return step(one, there)
        except FileNotFoundError:
            return True
        except OSError as error:
            self._say_once(f"{one.path}: cannot be followed: {reason(error)}; tried again")
            return True

    def _is_recognized(self, one: Listed, there: set[_Inode]) -> bool:
        """Return whether a file still holds the content known for its path or inode."""
        stamp, more = one.stamp, False
        before, part = self._seen.get(one.path, (None, None))
        if part is not None and part.inode != one.inode and is_lost(part, there):
            return False  # it is the only copy of its content now
        if part is None or before != stamp:
            part = self._inodes.get(one.inode)
            if part is None:
                return False
            part.listed = self._looked
            if was_cut(part, one.path):
                self._cut(part)
                return False
            more = part.content is None and has_more(part, one.path)
            self._seen[one.path] = (stamp, part)
        part.listed = self._looked
        if part.inode == one.inode:
            part.path, part.current, part.base = one.path, one.current, one.base
            part.changed = one.status.st_mtime_ns
            if part.content is None and (more or self._is_wanted(part, one.status.st_size)):
                self._open(part)
        return True

    def _is_wanted(self, part: FilePart, size: int) -> bool:
        """Return whether a closed part has more to read, or may have soon."""
        if part.waiting:
            return False
        if part.packed or (not part.done and not (self._many and part.current)):
            return not part.done
        return size > part.read

    def _is_identified(self, one: Listed, there: set[_Inode]) -> bool:
        """Identify a file of unknown inode: a known content in a new place, or a new content."""
        head = head_of(one.path)
        if not head.first and (self._many or not one.current):
            return True
        alike = [part for part in self._parts if same_content(part.head, head.first)]
        if one.current and not self._many:
            alike = [part for part in alike if not is_in(part, there)]
        if not self._begun and not one.current:
            alike = []
        file = UnknownFile(one, head, alike, lambda part: is_in(part, there))
        self._follow(one, head, self._unknown.answer(file, self._looked))
        return True

    def _follow(self, one: Listed, head: Head, answer: Answer) -> None:
        kind, part = answer
        if part is not None:
            part.listed = self._looked
        if kind is ContentMatch.UNKNOWN:
            return
        if part is None or (kind is ContentMatch.REST and part.current and not self._many):
            self._begin(one, head)
            return
        self._seen[one.path] = (one.stamp, part)
        if kind is ContentMatch.REST:
            part.rewind()
            self._inodes.pop(part.inode or (0, 0), None)
            part.path, part.inode = one.path, one.inode
            part.current, part.base = one.current, one.base
            part.done, part.torn = False, False
            self._open(part)

    def _begin(self, one: Listed, head: Head) -> None:
        part = FilePart(one.path, one.inode, head.first, current=one.current, listed=self._looked)
        part.packed, part.base, part.changed = head.packed, one.base, one.status.st_mtime_ns
        self._parts.append(part)
        if self._begun or one.current:
            self._open(part)
        else:  # rotated before the start
            part.given = part.got = whole(one, packed=head.packed)
            part.done = True

    def _open(self, part: FilePart) -> None:
        try:
            content = opened(part.path, part.read)
        except FileNotFoundError:
            return
        except TornError as error:
            self._torn(part, error)
            return
        except OSError as error:
            self._say_once(f"{part.path}: cannot be followed: {reason(error)}; tried again")
            return
        if not part.begin(content):
            self._replaced(part)
            return
        part.done = part.torn = False
        part.active = self._looked
        self._reader.opened(part)

    def _replaced(self, part: FilePart) -> None:
        self._cut(part)
        self._look_again = True  # a copy may hold its rest

    def _cut(self, part: FilePart) -> None:
        """Detach a content from its file, which holds another now; a copy may hold the rest."""
        part.rewind()
        self._inodes.pop(part.inode or (0, 0), None)
        part.left, part.inode, part.listed = part.inode, None, self._looked
        part.waiting = False
        self._seen.clear()

    def _moved(self) -> bool:
        """Return True where a followed file was replaced or truncated, or does not exist yet."""
        return not self.attached or any(
            has_left(part) for part in self._parts if part.current and part.content
        )

    def _forget(self) -> None:
        """Drop contents missing for `GRACE_SECONDS`, and report those not read to the end."""
        gone = [
            part
            for part in self._parts
            if part.content is None and self._looked - part.listed >= GRACE_SECONDS
        ]
        for part in gone:
            self._parts.remove(part)
            if part.head and not part.done:
                self.faults["gone"] += 1
                self._say(
                    f"{part.path}: was cut or removed; if more was written to it after line "
                    f"{part.line - 1}, it is not counted"
                )

    def _torn(self, part: FilePart, error: TornError) -> None:
        self.faults["torn"] += 1
        self._say_once(f"{part.path}: {error}; all whole lines before it were read")
        part.rewind()
        part.done = part.torn = True

    def _unclear(self, text: str) -> None:
        self.faults["unclear"] += 1
        self._say(text)

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)


def _age(part: FilePart) -> tuple[bool, bool, int, int]:
    """Return what sorts parts from the oldest on; those that were begun stay in their order.

    Of files that changed at the same time, names do not tell which one is older.
    """
    if part.read:
        return False, False, 0, 0
    return True, part.current, part.changed, part.reached
