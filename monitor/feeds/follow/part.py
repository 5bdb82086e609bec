"""One file's content and how far it has been read."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from monitor.feeds.decode import MAX_RECORD_BYTES
from monitor.feeds.follow.content import Content
from monitor.feeds.merge import BEFORE_ALL


@dataclass(slots=True)
class Part:
    """A content that is known, wherever it lies.

    Attributes:
        path: where it was seen last.
        inode: device and number of the file it is in; None while it is in none.
        head: its first bytes, as far as they are known.
        offset: bytes of it whose lines were given.
        read: bytes of it that were read; beyond `offset` is an unfinished line.
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
    offset: int = 0
    read: int = 0
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

    def take(self, data: bytes) -> bytes:
        """Note bytes that were read next; gives the lines that they finish."""
        self.read += len(data)
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            whole = self.unfinished + whole + newline
            self.unfinished = b""
            self.offset = self.read - len(rest)
        self.unfinished = (self.unfinished + rest)[: MAX_RECORD_BYTES + 1]
        return whole

    def give_up(self) -> bytes:
        """The unfinished line: nothing will end it any more."""
        rest, self.unfinished, self.offset = self.unfinished, b"", self.read
        return rest

    def learn_head(self, head: bytes) -> None:
        """Note the first bytes, if more of them are there now."""
        if len(self.head) < len(head) and head.startswith(self.head):
            self.head = head

    def rewind(self) -> None:
        """Close it; an unfinished line will be read again from its start."""
        if self.content is not None:
            self.content.close()
        self.content, self.unfinished, self.read = None, b"", self.offset

    def position(self) -> dict[str, Any]:
        """How far it was given, as JSON can hold it."""
        return {
            "path": self.path,
            "inode": list(self.inode or ()),
            "head": b64encode(self.head).decode(),
            "offset": self.offset,
            "line": self.line,
            "done": self.done and not self.torn,
            "packed": self.packed,
        }

    @classmethod
    def at(cls, position: Mapping[str, Any]) -> Self:
        """A part as far as a position tells."""
        device, number = position["inode"] or (0, 0)
        return cls(
            path=str(position["path"]),
            inode=(device, number) if number else None,
            head=b64decode(position["head"], validate=True),
            offset=int(position["offset"]),
            read=int(position["offset"]),
            line=int(position["line"]),
            done=bool(position["done"]),
            packed=bool(position["packed"]),
        )
