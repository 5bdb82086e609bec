"""One file's content and how far it has been read."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from monitor.feeds.decode import MAX_RECORD_BYTES
from monitor.feeds.follow.content import HEAD_BYTES, Content, Mark
from monitor.feeds.merge import BEFORE_ALL


@dataclass(slots=True)
class FilePart:
    """A content that is known, wherever it lies.

    Attributes:
        path: where it was seen last.
        inode: device and number of the file it is in; None while it is in none.
        head: its first bytes, as far as they are known.
        given: its first bytes whose lines were given.
        got: its first bytes that were read; beyond `given` is an unfinished line.
        line: number of the line at `offset`, from 1 on.
        unfinished: of the line that has no end yet, as much as shows that it is too long.
        done: no more is expected of it.
        torn: it is done because its gzip file was; that may be written still.
        left: the inode that it was cut from.
        packed: whether it lies in a gzip file, whose size says nothing.
        reached: latest event time that it gave, epoch milliseconds.
        content: where it is read from; None while nothing is open.
        current: whether it lies where it is asked for.
        active: when it last gave something, in seconds of the clock.
        listed: when it, or a copy of it, was last seen.
    """

    path: str
    inode: tuple[int, int] | None
    head: bytes
    given: Mark = field(default_factory=Mark)
    got: Mark = field(default_factory=Mark)
    line: int = 1
    unfinished: bytes = b""
    done: bool = False
    torn: bool = False
    left: tuple[int, int] | None = None
    packed: bool = False
    reached: int = BEFORE_ALL
    content: Content | None = field(default=None, repr=False)
    current: bool = True
    active: float = 0.0
    listed: float = 0.0

    @property
    def offset(self) -> int:
        """Bytes of it whose lines were given."""
        return self.given.length

    @property
    def read(self) -> int:
        """Bytes of it that were read."""
        return self.got.length

    def take(self, data: bytes) -> bytes:
        """Note bytes that were read next; gives the lines that they finish."""
        self._learn(data)
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            self.given = self.got = self.got.after(whole + newline)
            whole = self.unfinished + whole + newline
            self.unfinished = b""
        self.got = self.got.after(rest)
        self.unfinished = (self.unfinished + rest)[: MAX_RECORD_BYTES + 1]
        return whole

    def give_up(self) -> bytes:
        """The unfinished line: nothing will end it any more."""
        rest, self.unfinished, self.given = self.unfinished, b"", self.got
        return rest

    def learn_head(self, head: bytes) -> None:
        """Note the first bytes as they are in its file; what was read of them stays."""
        if not self.read or (len(self.head) < len(head) and head.startswith(self.head)):
            self.head = head

    def _learn(self, data: bytes) -> None:
        """Note the first bytes as they were read, not as they are in the file by now."""
        if self.read <= len(self.head) and self.read < HEAD_BYTES:
            head = (self.head[: self.read] + data[:HEAD_BYTES])[:HEAD_BYTES]
            if not self.head.startswith(head):
                self.head = head

    def begin(self, content: Content) -> bool:
        """Read it from an open file, if that holds what was given; whether it does."""
        if not self.given.agrees(content.before):
            content.close()
            return False
        self.rewind()
        self.given = self.got = self.given.joined(content.before)
        self.content, self.packed = content, content.packed
        return True

    def rewind(self) -> None:
        """Close it; an unfinished line will be read again from its start."""
        if self.content is not None:
            self.content.close()
        self.content, self.unfinished, self.got = None, b"", self.given

    def position(self) -> dict[str, Any]:
        """How far it was given, as JSON can hold it."""
        return {
            "path": self.path,
            "inode": list(self.inode or ()),
            "head": b64encode(self.head).decode(),
            "offset": self.offset,
            "crc": self.given.crc,
            "steps": list(self.given.steps),
            "tail": None if self.given.tail is None else b64encode(self.given.tail).decode(),
            "line": self.line,
            "done": self.done and not self.torn,
            "packed": self.packed,
        }

    @classmethod
    def at(cls, position: Mapping[str, Any]) -> Self:
        """A part as far as a position tells; older ones know its head only."""
        device, number = position["inode"] or (0, 0)
        offset, tail = int(position["offset"]), position.get("tail")
        given = Mark(
            offset,
            position.get("crc"),
            None if tail is None else b64decode(tail, validate=True),
            tuple(position.get("steps", ())),
        )
        return cls(
            path=str(position["path"]),
            inode=(device, number) if number else None,
            head=b64decode(position["head"], validate=True),
            given=given if offset else Mark(),
            got=given if offset else Mark(),
            line=int(position["line"]),
            done=bool(position["done"]),
            packed=bool(position["packed"]),
        )
