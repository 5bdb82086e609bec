"""A file's bytes from an offset on, plain or gzip, and by what its content is known again."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import BinaryIO, NamedTuple, Protocol, Self

from monitor.feeds.blocks import GZIP_MAGIC, TornError, inflated, pieces

HEAD_BYTES = 1024
"""First bytes that are remembered of a content: others are told from it by them at once."""
TAIL_BYTES = 512
"""Last bytes that are remembered of what was read: a file that holds others there is another."""
_TRAILER_BYTES = 8
_STEPS = tuple(accumulate(range(200), lambda at, _: at + max(256, at // 4), initial=256))
"""Lengths at which more is remembered: every 256 bytes at first, and then a quarter longer each."""
_GZIP_LENGTHS = 1 << 32
"""A gzip file ends with its content's length by this modulus."""


class ReplacedError(Exception):
    """A file does not hold any more what was read of it."""


class Mark(NamedTuple):
    """What is known of a content's first bytes, however many: by it they are known again.

    Attributes:
        length: how many bytes.
        crc: CRC-32 of all of them; None where it is not known.
        tail: the last of them, up to `TAIL_BYTES`; None where they are not known.
        steps: CRC-32 of the first of them at the lengths of `_STEPS`, as far as they are
            known: by these, shorter files are told apart.
    """

    length: int = 0
    crc: int | None = 0
    tail: bytes | None = b""
    steps: tuple[int, ...] = ()

    def after(self, data: bytes) -> Self:
        """The mark behind the bytes that come next.

        >>> Mark().after(b"ab").after(b"c") == Mark().after(b"abc")
        True
        """
        if not data:
            return self
        end, crc, steps = self.length + len(data), self.crc, self.steps
        if crc is not None:
            begin, view = self.length, memoryview(data)
            while _STEPS[len(steps)] <= end:
                step = _STEPS[len(steps)]
                crc = zlib.crc32(view[begin - self.length : step - self.length], crc)
                begin, steps = step, (*steps, crc)
            crc = zlib.crc32(view[begin - self.length :], crc)
        tail = ((self.tail or b"") + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        return self._replace(length=end, crc=crc, tail=tail, steps=steps)

    def begins_as(self, other: Mark) -> bool:
        """Whether the first of its bytes may be those of another, where both know of them."""
        return all(one == two for one, two in zip(self.steps, other.steps, strict=False))

    def agrees(self, other: Mark) -> bool:
        """Whether both may be of the same bytes, by all that is known of both."""
        return (
            self.length == other.length
            and self.begins_as(other)
            and (None in {self.crc, other.crc} or self.crc == other.crc)
            and (self.tail is None or other.tail is None or _end_alike(self.tail, other.tail))
        )

    def joined(self, other: Mark) -> Self:
        """What is known of the same bytes by either."""
        return self._replace(
            crc=other.crc if self.crc is None else self.crc,
            tail=max(self.tail, other.tail, key=lambda tail: len(tail or b"")),
            steps=max(self.steps, other.steps, key=len),
        )


class Content(Protocol):
    """An open file, read forward.

    Attributes:
        before: what lies before the offset from which it was opened.
        packed: whether it is unpacked as it is read; then it is whole, and never grows.
    """

    before: Mark
    packed: bool

    def read(self, size: int) -> bytes:
        """The next bytes, unpacked; none where there are none now.

        Raises:
            TornError: what is packed is damaged, or ends too early.
            ReplacedError: what was read is not there any more.
        """
        ...

    def head(self) -> bytes:
        """The first bytes that it holds now, unpacked, as far as they can be read.

        Of what is packed only before anything is read.
        """
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


def opened(path: str, offset: int = 0) -> Content:
    """A file from an offset on; of what is gzip, by its first bytes, the offset unpacked.

    Raises:
        OSError: it cannot be opened.
        TornError: what is packed is damaged before the offset.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if os.pread(descriptor, len(GZIP_MAGIC), 0) != GZIP_MAGIC:
        return Plain(descriptor, offset)
    return _Packed(os.fdopen(descriptor, "rb"), offset)


class Head(NamedTuple):
    """How a file begins.

    Attributes:
        first: its first bytes, unpacked.
        packed: whether it is gzip.
    """

    first: bytes = b""
    packed: bool = False


def head_of(path: str) -> Head:
    """How a file begins.

    Raises:
        OSError: it is gone or cannot be read.
    """
    content = opened(path)
    try:
        return Head(content.head(), content.packed)
    finally:
        content.close()


def same_content(one: bytes, other: bytes) -> bool:
    r"""Whether two heads may be of one content, of which one of them has seen less.

    >>> same_content(b"a\nb", b"a\n"), same_content(b"a", b"b"), same_content(b"", b"b")
    (True, False, False)
    """
    shorter = min(len(one), len(other))
    return shorter > 0 and one[:shorter] == other[:shorter]


def marks_of(path: str, lengths: Iterable[int]) -> dict[int, Mark]:
    """The marks of a file's first bytes, so many and as many as can be read; unpacked if gzip.

    Args:
        path: of the file.
        lengths: of the marks wanted; of what is packed, all that can be read has one too.

    Raises:
        OSError: it cannot be read.
    """
    wanted, mark, found = sorted(set(lengths)), Mark(), {}
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # a path as it was listed
            packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            file.seek(0)
            for piece in inflated(pieces(file)) if packed else pieces(file):
                begin = mark.length
                for length in wanted:
                    if begin <= length <= begin + len(piece):
                        found[length] = mark.after(piece[: length - begin])
                mark = mark.after(piece)
                if not packed and mark.length >= wanted[-1]:
                    break
    except TornError:
        pass  # what could be read is what it holds
    found[mark.length] = mark
    return found


def trailer_of(path: str) -> Mark:
    """What a gzip file says at its end of its content: the length, which it cuts, and the CRC."""
    with open(path, "rb") as file:  # noqa: PTH123  # a path as it was listed
        end = file.seek(0, os.SEEK_END)
        trailer = os.pread(file.fileno(), _TRAILER_BYTES, max(0, end - _TRAILER_BYTES))
    return Mark(int.from_bytes(trailer[4:], "little"), int.from_bytes(trailer[:4], "little"), None)


def is_told_by(trailer: Mark, mark: Mark) -> bool:
    """Whether a gzip file holds what a mark is of, and nothing else, by its trailer."""
    return (trailer.length, trailer.crc) == (mark.length % _GZIP_LENGTHS, mark.crc)


def _end_alike(one: bytes, other: bytes) -> bool:
    """Whether of two tails, of which one may know less, the last bytes are the same."""
    return one.endswith(other) or other.endswith(one)


class Plain:
    """What is not packed, and may grow.

    Args:
        descriptor: of the open file.
        offset: from which it is read.
    """

    packed = False

    def __init__(self, descriptor: int, offset: int = 0) -> None:
        self._descriptor = descriptor
        self._offset = offset
        begin = max(0, offset - TAIL_BYTES)
        self._tail = self.peek(offset - begin, begin)
        self.before = Mark(begin + len(self._tail), None, self._tail)

    @property
    def size(self) -> int:
        """Bytes that it has now."""
        return os.fstat(self._descriptor).st_size

    @property
    def holds_what_was_read(self) -> bool:
        """Whether the last bytes that were read are where they were."""
        known = len(self._tail)
        return self.peek(known, self._offset - known) == self._tail

    def read(self, size: int) -> bytes:
        """The next bytes, where those before them are what was read."""
        known = len(self._tail)
        found = self.peek(known + size, self._offset - known)
        if not found.startswith(self._tail):
            raise ReplacedError
        data = found[known:]
        self._offset += len(data)
        self._tail = found[-TAIL_BYTES:]
        return data

    def peek(self, size: int, offset: int) -> bytes:
        """Bytes from somewhere; where it is read from stays."""
        return os.pread(self._descriptor, size, offset)

    def again(self) -> Plain:
        """The same file, to be looked at from elsewhere."""
        return Plain(os.dup(self._descriptor))

    def head(self) -> bytes:
        """The first bytes that it holds now."""
        return self.peek(HEAD_BYTES, 0)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


class _Packed:
    """Gzip members; what is in a file once is all that will be."""

    packed = True

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self._file = file
        self._held = b""
        self._pieces: Iterator[bytes] = inflated(pieces(file))
        self.before = Mark()
        try:
            while (rest := offset - self.before.length) and (data := self.read(rest)):
                self.before = self.before.after(data)
        except TornError:
            self.close()
            raise

    def read(self, size: int) -> bytes:
        if not self._held:
            self._held = next(self._pieces, b"")
        data, self._held = self._held[:size], self._held[size:]
        return data

    def head(self) -> bytes:
        self._file.seek(0)
        found = b""
        try:
            for piece in inflated(pieces(self._file), HEAD_BYTES):
                found += piece
                if len(found) >= HEAD_BYTES:
                    break
        except TornError:
            pass  # what could be read is the head
        return found[:HEAD_BYTES]

    def close(self) -> None:
        self._file.close()
