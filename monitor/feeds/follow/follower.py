"""The parts of a path or a pattern together: found, told apart, read, resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from monitor.clock import Clock
from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.feeds.blocks import TornError
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.lines import count_lines
from monitor.feeds.follow.content import Head, Plain, ReplacedError, head_of, opened, same_content
from monitor.feeds.follow.file_part import FilePart
from monitor.feeds.follow.known import has_more, is_in, is_lost, was_cut, whole
from monitor.feeds.follow.meeting import Answer, ContentMatch, Meeting, Waiting
from monitor.feeds.follow.names import Listed, is_pattern, listing, reason
from monitor.feeds.merge import reached_by

BATCH_BYTES = 1_500_000
"""Bytes read at a time: about ten thousand events."""
LOOK_EVERY_SECONDS = 0.5
"""How often files are looked for; the name of one that is at its end is looked at sooner."""
GRACE_SECONDS = 60.0
"""A rotated file is let go once nothing was written to it for so long."""

FAULTS = ("gone", "unclear", "torn")
"""What may have lost lines, or counted them twice: a file that was cut or removed before its end,
one of which is not known whether it was read, one that is damaged."""

_Inode = tuple[int, int]


class FollowedFiles:
    """The lines of a file that grows, or of many, through any rotation.

    A line counts once its newline is there. A file that has another name now is
    read on until nothing was written to it for a minute; one that came and went
    between two looks is found by its rotated name. Of a file that was copied and
    cut, the copy gives what was not yet read. A file that is not there is waited
    for. Of many, the one that has come least far in event time is read first.

    Args:
        path: of the file, NDJSON, or a pattern of many.
        decoder: of the lines.
        clock: measures how long nothing came.
        say: told what cannot be read, or may have been lost.

    Raises:
        FeedError: the path is a directory or no regular file.

    Attributes:
        faults: how often each of `FAULTS` was met since the start.
    """

    ended = False

    def __init__(
        self,
        path: str | os.PathLike[str],
        decoder: Decoder,
        clock: Clock,
        say: Callable[[str], None],
    ) -> None:
        self.name = os.fspath(path)
        self.identity = f"followed:{self.name}"
        self._decoder = decoder
        self._clock = clock
        self._say = say
        self._said: set[str] = set()
        self._many = is_pattern(self.name)
        self._parts: list[FilePart] = []
        self._inodes: dict[_Inode, FilePart] = {}
        self._seen: dict[str, tuple[object, FilePart]] = {}
        self._waiting = Waiting(LOOK_EVERY_SECONDS, GRACE_SECONDS, self._unclear)
        self.faults = dict.fromkeys(FAULTS, 0)
        self._begun = False
        self._looked = float("-inf")
        self._look()

    @property
    def attached(self) -> bool:
        """Whether there is a file that can be read; a pattern may stand for none."""
        return self._many or any(part.current and part.content for part in self._parts)

    def poll(self) -> EventBatch | None:
        """Events of the lines that were finished since the last call.

        Raises:
            FeedError: there is something else of its name now.
        """
        if self._clock.monotonic() - self._looked >= LOOK_EVERY_SECONDS:
            self._look()
        batches = list(self._read())
        if not batches and self._moved():
            self._look()
            batches = list(self._read())
        return concatenate(batches) if batches else None

    def position(self) -> Mapping[str, Any]:
        """How far each content was given, as JSON can hold it."""
        return {"files": [part.position() for part in self._parts if part.head]}

    def resume(self, position: Mapping[str, Any]) -> str:
        """Go on from a position; to be called before anything is read."""
        self.close()
        self._parts = [FilePart.at(one) for one in position["files"]]
        for part in self._parts:
            part.listed = part.active = self._clock.monotonic()
        self._seen.clear()
        self._look()
        return ""  # what is gone is told once it has not come back

    def commit(self, position: Mapping[str, Any]) -> None:
        """Files keep what they hold."""

    def close(self) -> None:
        """Close all files."""
        for part in self._parts:
            part.rewind()

    def _look(self) -> None:
        """See which files there are and which content each holds, and open what is to be read."""
        self._looked = self._clock.monotonic()
        found = listing(self.name)
        self._waiting.forget_all_but({one.path for one in found})
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
        for step in (self._recognized, self._meet):
            found = [one for one in found if not self._could(step, one, there)]
        for part in rotated:
            if not part.current:
                part.active = self._looked  # from now on it may be written to for a while
        self._begun = True
        if any_current:
            self._forget()

    def _could(
        self, step: Callable[[Listed, set[_Inode]], bool], one: Listed, there: set[_Inode]
    ) -> bool:
        """Whether a file needs no other step; one that cannot be read is tried again."""
        try:
            return step(one, there)
        except FileNotFoundError:
            return True
        except OSError as error:
            self._say_once(f"{one.path}: cannot be followed: {reason(error)}; tried again")
            return True

    def _recognized(self, one: Listed, there: set[_Inode]) -> bool:
        """Whether a file holds what it, or its inode, is known to hold."""
        stamp, more = one.stamp, False
        before, part = self._seen.get(one.path, (None, None))
        if part is not None and part.inode != one.inode and is_lost(part, there):
            return False  # the copy of what is nowhere else any more
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
            part.path, part.current = one.path, one.current
            if part.content is None and (more or self._is_wanted(part, one.status.st_size)):
                self._open(part)
        return True

    def _is_wanted(self, part: FilePart, size: int) -> bool:
        """Whether a part that is not open has something to give, or may have soon."""
        if part.packed or (not part.done and not (self._many and part.current)):
            return not part.done
        return size > part.read

    def _meet(self, one: Listed, there: set[_Inode]) -> bool:
        """A file of an inode that is not known: a known content in another place, or a new one."""
        head = head_of(one.path)
        if not head.first and (self._many or not one.current):
            return True
        alike = [part for part in self._parts if same_content(part.head, head.first)]
        if one.current and not self._many:
            alike = [part for part in alike if not is_in(part, there)]
        if not self._begun and not one.current:
            alike = []
        meeting = Meeting(one, head, alike, lambda part: is_in(part, there))
        self._follow(one, head, self._waiting.answer(meeting, self._looked))
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
            part.path, part.inode, part.current = one.path, one.inode, one.current
            part.done, part.torn = False, False
            self._open(part)

    def _begin(self, one: Listed, head: Head) -> None:
        part = FilePart(one.path, one.inode, head.first, current=one.current, listed=self._looked)
        part.packed = head.packed
        self._parts.append(part)
        if self._begun or one.current:
            self._open(part)
        else:  # rotated before anybody asked for it
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
            self._cut(part)
            self._looked = float("-inf")
            return
        part.done = part.torn = False
        part.active = self._looked

    def _cut(self, part: FilePart) -> None:
        """Its file holds something else now; a copy may hold the rest of it."""
        part.rewind()
        self._inodes.pop(part.inode or (0, 0), None)
        part.left, part.inode, part.listed = part.inode, None, self._looked
        self._seen.clear()

    def _read(self) -> Iterator[EventBatch]:
        """What the open parts have, up to a batch; first what is least far in event time."""
        room = BATCH_BYTES
        reading = (part for part in self._parts if part.content)
        for part in sorted(reading, key=lambda part: part.reached):
            if not room:
                return  # the others wait; nothing says that they are at their end
            data = self._taken(part, room)
            room -= len(data)
            lines = part.take(data) if data else self._retired(part)
            if lines:
                yield self._decoded(part, lines)

    def _decoded(self, part: FilePart, lines: bytes) -> EventBatch:
        batch = self._decoder.decode_lines(lines, source=part.path, first_line=part.line)
        part.line += count_lines(lines)
        part.reached = max(part.reached, reached_by(batch))
        return batch

    def _taken(self, part: FilePart, size: int) -> bytes:
        """The next bytes of a part; none where its file holds something else by now."""
        assert part.content is not None  # noqa: S101  # `_read` saw to it
        try:
            data = part.content.read(size)
        except TornError as error:
            self._torn(part, error)
            return b""
        except ReplacedError:
            self._cut(part)
            self._looked = float("-inf")
            return b""
        if data:
            part.active = self._clock.monotonic()
        return data

    def _retired(self, part: FilePart) -> bytes:
        """Let go of a file that nobody writes to any more; its last line needs no newline."""
        quiet = self._clock.monotonic() - part.active >= GRACE_SECONDS
        rest = b""
        if part.content is not None and (part.packed or (quiet and not part.current)):
            rest, part.done = part.give_up(), True
        if part.done or (quiet and self._many):
            part.rewind()
        return rest

    def _moved(self) -> bool:
        """Whether a file that is asked for is another one by now, was cut, or is still to come."""
        return not self.attached or any(
            _has_left(part) for part in self._parts if part.current and part.content
        )

    def _forget(self) -> None:
        """Drop what has not been there for a while, and say what of it was not read."""
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


def _has_left(part: FilePart) -> bool:
    try:
        status = Path(part.path).stat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) != part.inode or (
        not part.packed and status.st_size < part.read
    )
