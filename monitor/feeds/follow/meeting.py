"""Whose content a file holds of which nothing is known but what is in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import NamedTuple

from monitor.feeds.follow.content import Head, Mark, Plain, is_told_by, marks_of, trailer_of
from monitor.feeds.follow.file_part import FilePart
from monitor.feeds.follow.names import Listed

_COMPARED_BYTES = 256 * 1024
"""Of two files that are there, so much of the start and of the end of the shorter is compared."""


class ContentMatch(Enum):
    """What a file is to a content that is known."""

    NEW = auto()
    COPY = auto()
    """It holds what is read elsewhere, or nothing that was not given."""
    REST = auto()
    """It is where the content is to be read on."""
    UNKNOWN = auto()
    """Too little of it is there to tell."""


class Answer(NamedTuple):
    """Whose content a file holds.

    Attributes:
        kind: what it is to the content.
        part: the content; of what is not known, one that it may be.
    """

    kind: ContentMatch
    part: FilePart | None = None


class Meeting:
    """A file of an inode that is not known, and the contents that begin as it does.

    A file holds a content if the first bytes of it are those that were read of the
    content, all of them. Where the content is still in a file, the two files are
    compared: the one that has only the first bytes of the other is its copy.

    Args:
        one: the file.
        head: how it begins.
        alike: the contents that begin so.
        is_there: whether a content is in a file that is known.
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
    def question(self) -> Hashable:
        """What differs when the answer may."""
        known = [(id(part), part.done, True) for part in self._there]
        known += [(id(part), part.done, False) for part in self._gone]
        return self.one.stamp, *known

    @property
    def in_the_making(self) -> bool:
        """Whether it may be what a program packs just now of what lies beside it."""
        return self._head.packed and bool(self._there)

    def told_at_once(self) -> Answer | None:
        """Whose it is, where the end of a gzip file says so.

        Raises:
            OSError: it cannot be read.
        """
        if not self._head.packed:
            return None
        trailer = trailer_of(self.one.path)
        for part in (*self._there, *self._gone):
            if is_told_by(trailer, part.given):
                complete = part.done or part in self._there
                return Answer(ContentMatch.COPY if complete else ContentMatch.REST, part)
        return None

    def answer(self) -> Answer:
        """Whose it is, after a look at as much of the file as that takes.

        Raises:
            OSError: it cannot be read.
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
        """What it is to a content of which there is only what is remembered."""
        if self._length < part.offset:
            # It was written anew in its place, or is the one that follows what was rotated.
            anew = part.left == self.one.inode or (part.done and self.one.current)
            return ContentMatch.NEW if anew or not self._begins_as(part) else ContentMatch.UNKNOWN
        if not self._holds(part.given):
            return ContentMatch.NEW
        return ContentMatch.COPY if part.done and self._length == part.offset else ContentMatch.REST

    def _begins_as(self, part: FilePart) -> bool:
        return self._marks[max(self._marks)].begins_as(part.given)

    def _holds(self, given: Mark) -> bool:
        if not self._head.packed:  # its end is looked at before all of it is
            with closing(_plain(self.one.path, given.length)) as file:
                if not given.agrees(file.before):
                    return False
        return given.agrees(self._marks[given.length])

    def _beside(self, part: FilePart) -> ContentMatch:
        """What it is to a content that is in another file."""
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
        """Whether another file's first bytes are its own, by their start and their end."""
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
        """The marks that may be asked for, from one reading of the file."""
        offsets = (part.offset for part in (*self._there, *self._gone))
        return marks_of(self.one.path, (*offsets, *self._sizes.values()))


class Waiting:
    """Files of which is not told yet whose content they hold.

    Args:
        settles: a file that may be in the making is looked into once it stood still for so
            many seconds.
        enough: what cannot be told after so many seconds is read.
        say: told of what is read so.
    """

    def __init__(self, settles: float, enough: float, say: Callable[[str], None]) -> None:
        self._settles = settles
        self._enough = enough
        self._say = say
        self._waits: dict[str, _Wait] = {}

    def answer(self, meeting: Meeting, now: float) -> Answer:
        """Whose content a file holds; `UNKNOWN` while that may still show.

        Raises:
            OSError: it cannot be read.
        """
        answer = self._found(meeting, now)
        if answer.kind is not ContentMatch.UNKNOWN:
            self._waits.pop(meeting.one.path, None)
        return answer

    def forget_all_but(self, paths: Container[str]) -> None:
        """Files that are not there are not waited for."""
        self._waits = {path: wait for path, wait in self._waits.items() if path in paths}

    def _found(self, meeting: Meeting, now: float) -> Answer:
        told = meeting.told_at_once()
        if told is not None:
            return told
        one = meeting.one
        wait = self._waits.get(one.path)
        if wait is None or wait.stamp != one.stamp:
            wait = self._waits[one.path] = _Wait(one.stamp, now)
        if meeting.in_the_making and now - wait.since < self._settles:
            return wait.answer
        enough = now - wait.since >= self._enough
        if wait.asked != meeting.question or enough:
            wait.asked, wait.answer = meeting.question, meeting.answer()
        kind, part = wait.answer
        if part is None or kind is not ContentMatch.UNKNOWN or not enough or part.content:
            return wait.answer
        self._say(
            f"{one.path}: begins as {part.path} did, of which more was read; is read from its "
            "start, and what both hold counts again where it has no id"
        )
        return Answer(ContentMatch.NEW)


@dataclass(slots=True)
class _Wait:
    """How long a file has been as it is.

    Attributes:
        stamp: of the file.
        since: when it was first so.
        asked: what was looked at for the answer.
        answer: the last one.
    """

    stamp: object
    since: float
    asked: object = None
    answer: Answer = field(default_factory=lambda: Answer(ContentMatch.UNKNOWN))


def _plain(path: str, offset: int = 0) -> Plain:
    return Plain(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), offset)


def _reopened(part: FilePart) -> Plain:
    """The file of a content, which may have no name any more while it is open."""
    return part.content.again() if isinstance(part.content, Plain) else _plain(part.path)


def _size_of(part: FilePart) -> int:
    with closing(_reopened(part)) as file:
        return file.size
