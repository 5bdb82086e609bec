"""One file's content and how far it has been read."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from monitor.feeds.decode import MAX_RECORD_BYTES
from monitor.feeds.follow.content import HEAD_BYTES, Content
from monitor.feeds.follow.mark import Mark
from monitor.feeds.follow.read_pace import ReadPace
from monitor.feeds.merge import BEFORE_ALL


class Behind(NamedTuple):
    """The position before lines that are being decoded.

    Attributes:
        given: mark of the bytes before them.
        line: number of their first line, from 1 on.
    """

    given: Mark
    line: int


@dataclass(slots=True)
class FilePart:
    """A known content, in whatever file it is.

    Attributes:
        path: where it was last seen.
        inode: device and number of the file that holds it; None while no file does.
        head: its first bytes, as far as they are known.
        given: mark of its first bytes whose lines were decoded.
        got: mark of its first bytes that were read; beyond `given` is an unfinished line.
        line: number of the line at `offset`, from 1 on.
        unfinished: the line without an end yet, cut once it is too long for a record.
        done: True once it is read to its end.
        torn: True where it is done because its gzip file is damaged, perhaps still being written.
        left: the inode of the file from which it was truncated.
        packed: True in a gzip file, whose size does not show how much was read.
        reached: its latest event time, epoch milliseconds; before the first one is read, the
            earliest of its next few lines.
        pace: how much of it is read at a time, where others are read beside it.
        base: the path whose writer wrote it, before and after a rotation.
        changed: when its file was last written to, as it was found; epoch nanoseconds.
        waiting: True where it has more to read, and is closed until its turn comes.
        at_end: True where the last read gave no bytes.
        content: the open file; None while it is closed.
        current: True where its file matches the path or pattern, and is not rotated.
        active: when it last had new bytes, in seconds of the clock.
        listed: when it, or a copy of it, was last seen.
        behind: its position, where lines beyond it were read and their events did not come yet.
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
    pace: ReadPace = field(default_factory=ReadPace)
    base: str = ""
    changed: int = 0
    waiting: bool = False
    at_end: bool = False
    content: Content | None = field(default=None, repr=False)
    current: bool = True
    active: float = 0.0
    listed: float = 0.0
    behind: Behind | None = None

    @property
    def offset(self) -> int:
        """Bytes whose lines were decoded."""
        return self.given.length

    @property
    def read(self) -> int:
        """Bytes that were read."""
        return self.got.length

    def take(self, data: bytes) -> bytes:
        """Add the bytes read next; return the lines that they finish."""
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
        """Return the unfinished line, since no more bytes will come."""
        rest, self.unfinished, self.given = self.unfinished, b"", self.got
        return rest

    def learn_head(self, head: bytes) -> None:
        """Store the first bytes from its file, unless other bytes were read there."""
        if not self.read or (len(self.head) < len(head) and head.startswith(self.head)):
            self.head = head

    def _learn(self, data: bytes) -> None:
        """Store the first bytes as they were read, not as they are in the file by now."""
        if self.read <= len(self.head) and self.read < HEAD_BYTES:
            head = (self.head[: self.read] + data[:HEAD_BYTES])[:HEAD_BYTES]
            if not self.head.startswith(head):
                self.head = head

    def begin(self, content: Content) -> bool:
        """Read on from an open file, if it holds the bytes read before; return whether it does."""
        if not self.given.agrees(content.before):
            content.close()
            return False
        self.rewind()
        self.given = self.got = self.given.joined(content.before)
        self.content, self.packed = content, content.packed
        self.waiting = self.at_end = False
        return True

    def rewind(self) -> None:
        """Close it; an unfinished line will be read again from its start."""
        if self.content is not None:
            self.content.close()
        self.content, self.unfinished, self.got = None, b"", self.given

    def go_back(self) -> None:
        """Close it, and return to the position from which events did not come yet."""
        if self.behind is not None:
            (self.given, self.line), self.done = self.behind, False
        self.behind = None
        self.rewind()

    def position(self) -> dict[str, Any]:
        """Return how far its events have come, as JSON values."""
        given, line = self.behind or (self.given, self.line)
        return {
            "path": self.path,
            "inode": list(self.inode or ()),
            "head": b64encode(self.head).decode(),
            "offset": given.length,
            "crc": given.crc,
            "steps": list(given.steps),
            "tail": None if given.tail is None else b64encode(given.tail).decode(),
            "line": line,
            "done": self.done and not self.torn and self.behind is None,
            "packed": self.packed,
        }

    @classmethod
    def at(cls, position: Mapping[str, Any]) -> Self:
        """Restore a part from a position; positions of early versions have its head only."""
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
