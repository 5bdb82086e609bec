"""Identifies the content of an unknown file: a known content in a new place, or a new one."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

from monitor.feeds.follow.content import Head, Plain, marks_of, matches_trailer, trailer_of
from monitor.feeds.follow.file_part import FilePart
from monitor.feeds.follow.mark import Mark
from monitor.feeds.follow.names import Listed

_COMPARED_BYTES = 256 * 1024
"""Bytes compared of two existing files, at the start and at the end of the shorter one."""


class ContentMatch(Enum):
    """How a file relates to a known content."""

    NEW = auto()
    """It holds another content."""
    COPY = auto()
    """It holds only bytes that are read from another file, or were read."""
    REST = auto()
    """The rest of the content is to be read from it."""
    UNKNOWN = auto()
    """It is too short to decide."""


class Answer(NamedTuple):
    """The content of a file.

    Attributes:
        kind: how the file relates to the content.
        part: the content; None if new; a possible one if unknown.
    """

    kind: ContentMatch
    part: FilePart | None = None


class UnknownFile:
    """A file of unknown inode, and the known contents that begin with the same bytes.

    A file holds a content if it begins with all bytes that were read of the content. If
    the content is still in another file, the two files are compared: the one that holds
    only the first bytes of the other is its copy.

    Args:
        one: the file.
        head: how it begins.
        alike: the contents that begin with the same bytes.
        is_there: returns True where a content is in an open or a listed file.
    """

    def __init__(
        self,
        one: Listed,
        head: Head,
        alike: Sequence[FilePart],
        is_there: Callable[[FilePart], bool],
    ) -> None:
        self.one = one
        self._head = head
        self._there = [part for part in alike if is_there(part)]
        self._gone = [part for part in alike if not is_there(part)]
        self._sizes = {id(part): _size_of(part) for part in self._there if not part.packed}

    @property
    def fingerprint(self) -> Hashable:
        """State of the file and the contents; the answer changes only if this changes."""
        known = [(id(part), part.done, True) for part in self._there]
        known += [(id(part), part.done, False) for part in self._gone]
        return self.one.stamp, *known

    @property
    def may_be_growing(self) -> bool:
        """Return True where a program may just be compressing another listed file into this one."""
        return self._head.packed and bool(self._there)

    def by_trailer(self) -> Answer | None:
        """Identify a gzip file by the checksum at its end; None if that matches no content.

        Raises:
            OSError: the file cannot be read.
        """
        if not self._head.packed:
            return None
        trailer = trailer_of(self.one.path)
        for part in (*self._there, *self._gone):
            if matches_trailer(trailer, part.given):
                complete = part.done or part in self._there
                return Answer(ContentMatch.COPY if complete else ContentMatch.REST, part)
        return None

    def answer(self) -> Answer:
        """Identify the file, by reading as much of it as necessary.

        Raises:
            OSError: the file cannot be read.
        """
        there = [Answer(self._beside(part), part) for part in self._there]
        for answer in there:
            if answer.kind is ContentMatch.COPY:
                return answer
        gone = sorted(self._gone, key=lambda part: part.offset, reverse=True)
        answers = [*(Answer(self._after(part), part) for part in gone), *there]
        for wanted in ({ContentMatch.COPY, ContentMatch.REST}, {ContentMatch.UNKNOWN}):
            for answer in answers:
                if answer.kind in wanted:
                    return answer
        return Answer(ContentMatch.NEW)

    def _after(self, part: FilePart) -> ContentMatch:
        """Compare with a content that is in no file, by its mark."""
        if self._length < part.offset:
            # A new file took the place of the content's, which was truncated or rotated.
            anew = part.left == self.one.inode or (part.done and self.one.current)
            return ContentMatch.NEW if anew or not self._begins_as(part) else ContentMatch.UNKNOWN
        if not self._holds(part.given):
            return ContentMatch.NEW
        return ContentMatch.COPY if part.done and self._length == part.offset else ContentMatch.REST

    def _begins_as(self, part: FilePart) -> bool:
        return self._marks[max(self._marks)].begins_as(part.given)

    def _holds(self, given: Mark) -> bool:
        if not self._head.packed:  # comparing the end first saves reading the whole file
            with closing(_plain(self.one.path, given.length)) as file:
                if not given.agrees(file.before):
                    return False
        return given.agrees(self._marks[given.length])

    def _beside(self, part: FilePart) -> ContentMatch:
        """Compare with a content that is in another file."""
        if part.packed and part.done:
            return self._after(part)
        if part.packed and self._head.packed:
            same = trailer_of(self.one.path) == trailer_of(part.path)
            return ContentMatch.COPY if same else ContentMatch.NEW
        if part.packed:
            return ContentMatch.UNKNOWN
        size = self._sizes[id(part)]
        with closing(_reopened(part)) as file:
            same = self._agrees_with(part, file, min(size, self._length))
        if not same:
            return ContentMatch.NEW
        return ContentMatch.COPY if self._length <= size else ContentMatch.REST

    def _agrees_with(self, part: FilePart, file: Plain, length: int) -> bool:
        """Return whether both files agree at the start and end of their first `length` bytes."""
        if self._head.packed:
            tail = self._marks[length].tail or b""
            return self._begins_as(part) and file.peek(len(tail), length - len(tail)) == tail
        size = min(length, _COMPARED_BYTES)
        with closing(_plain(self.one.path)) as own:
            return all(
                own.peek(size, place) == file.peek(size, place) for place in (0, length - size)
            )

    @cached_property
    def _length(self) -> int:
        return max(self._marks) if self._head.packed else self.one.status.st_size

    @cached_property
    def _marks(self) -> Mapping[int, Mark]:
        """Marks at all lengths that comparisons need, from one pass over the file."""
        offsets = (part.offset for part in (*self._there, *self._gone))
        return marks_of(self.one.path, (*offsets, *self._sizes.values()))


class UnknownFiles:
    """Files whose content is not identified yet.

    Args:
        settles: seconds without a change after which a file that may be growing is compared.
        enough: seconds without a change after which a file that cannot be identified is
            read as new.
        say: called with a message about each file that is read so.
    """

    def __init__(self, settles: float, enough: float, say: Callable[[str], None]) -> None:
        self._settles = settles
        self._enough = enough
        self._say = say
        self._waits: dict[str, _Wait] = {}

    def answer(self, file: UnknownFile, now: float) -> Answer:
        """Identify a file; `UNKNOWN` while more of it may still come.

        Args:
            file: listed now.
            now: seconds of the clock.

        Raises:
            OSError: the file cannot be read.
        """
        answer = self._found(file, now)
        if answer.kind is not ContentMatch.UNKNOWN:
            self._waits.pop(file.one.path, None)
        return answer

    def forget_all_but(self, paths: Container[str]) -> None:
        """Forget files that are no longer listed."""
        self._waits = {path: wait for path, wait in self._waits.items() if path in paths}

    def _found(self, file: UnknownFile, now: float) -> Answer:
        by_trailer = file.by_trailer()
        if by_trailer is not None:
            return by_trailer
        one = file.one
        wait = self._waits.get(one.path)
        if wait is None or wait.stamp != one.stamp:
            wait = self._waits[one.path] = _Wait(one.stamp, now)
        if file.may_be_growing and now - wait.since < self._settles:
            return wait.answer
        enough = now - wait.since >= self._enough
        if wait.asked != file.fingerprint or enough:
            wait.asked, wait.answer = file.fingerprint, file.answer()
        kind, part = wait.answer
        if part is None or kind is not ContentMatch.UNKNOWN or not enough or part.content:
            return wait.answer
        self._say(
            f"{one.path}: begins like {part.path}, of which more was read; it is read from its "
            "start, and records without an id that both files hold count twice"
        )
        return Answer(ContentMatch.NEW)


@dataclass(slots=True)
class _Wait:
    """How long a file has been unchanged.

    Attributes:
        stamp: of the file, see `Listed`.
        since: when the file first had it, seconds of the clock.
        asked: fingerprint at the last comparison.
        answer: of the last comparison.
    """

    stamp: object
    since: float
    asked: object = None
    answer: Answer = field(default_factory=lambda: Answer(ContentMatch.UNKNOWN))


def _plain(path: str, offset: int = 0) -> Plain:
    return Plain(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), offset)


def _reopened(part: FilePart) -> Plain:
    """Open the file of a content again, also if it has no name any more."""
    return part.content.again() if isinstance(part.content, Plain) else _plain(part.path)


def _size_of(part: FilePart) -> int:
    with closing(_reopened(part)) as file:
        return file.size
