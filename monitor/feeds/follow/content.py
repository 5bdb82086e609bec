"""A file's bytes from an offset on, plain or gzip."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple, Protocol

from monitor.feeds.blocks import GZIP_MAGIC, TornError, inflated, pieces
from monitor.feeds.follow.mark import TAIL_BYTES, Mark

HEAD_BYTES = 1024
"""First bytes stored of a content: most other contents differ in them."""
_TRAILER_BYTES = 8
_GZIP_LENGTHS = 1 << 32
"""A gzip file ends with the length of its content modulo this."""


class ReplacedError(Exception):
    """A file no longer holds the bytes that were read from it."""


class Content(Protocol):
    """An open file, read forward.

    Attributes:
        before: mark of the bytes before the offset from which it was opened.
        packed: True for gzip; then it is complete, and never grows.
    """

    before: Mark
    packed: bool

    def read(self, size: int) -> bytes:
        """Read the next bytes, decompressed; none if there are none now.

        Raises:
            TornError: the gzip is damaged, or ends too early.
            ReplacedError: the file no longer holds the bytes read before.
        """
        ...

    def ahead(self, size: int) -> bytes:
        """Return the bytes that `read` would return next, without reading them.

        Args:
            size: most bytes.
        """
        ...

    def head(self) -> bytes:
        """Return its first bytes now, decompressed, as far as they can be read.

        For gzip, call it only before `read`.
        """
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def opened(path: str, offset: int = 0) -> Content:
    """Open a file at an offset; gzip is detected by its first bytes.

    Args:
        path: of the file.
        offset: bytes to skip, of the decompressed content.

    Raises:
        OSError: the file cannot be opened.
        TornError: the gzip is damaged before the offset.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if os.pread(descriptor, len(GZIP_MAGIC), 0) != GZIP_MAGIC:
        return Plain(descriptor, offset)
    return _Packed(os.fdopen(descriptor, "rb"), offset)


class Head(NamedTuple):
    """How a file begins.

    Attributes:
        first: its first bytes, decompressed.
        packed: True for gzip.
    """

    first: bytes = b""
    packed: bool = False


def head_of(path: str) -> Head:
    """Read how a file begins.

    Raises:
        OSError: the file is gone or cannot be read.
    """
    content = opened(path)
    try:
        return Head(content.head(), content.packed)
    finally:
        content.close()


def same_content(one: bytes, other: bytes) -> bool:
    r"""Return whether two heads may be of one content, one of them read earlier.

    Args:
        one: first bytes.
        other: first bytes.

    Returns:
        Whether the shorter begins the longer; false if one is empty.

    >>> same_content(b"a\nb", b"a\n"), same_content(b"a", b"b"), same_content(b"", b"b")
    (True, False, False)
    """
    shorter = min(len(one), len(other))
    return shorter > 0 and one[:shorter] == other[:shorter]


def marks_of(path: str, lengths: Iterable[int]) -> dict[int, Mark]:
    """Compute marks of a file's first bytes, decompressed if gzip.

    Args:
        path: of the file.
        lengths: lengths of the wanted marks.

    Returns:
        Marks by length, of those lengths that can be read; for gzip also of all that can
        be read.

    Raises:
        OSError: the file cannot be read.
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
        pass  # what could be read is its content
    found[mark.length] = mark
    return found


def trailer_of(path: str) -> Mark:
    """Read the trailer of a gzip file: length of the content modulo 2**32, and its CRC."""
    with open(path, "rb") as file:  # noqa: PTH123  # a path as it was listed
        end = file.seek(0, os.SEEK_END)
        trailer = os.pread(file.fileno(), _TRAILER_BYTES, max(0, end - _TRAILER_BYTES))
    return Mark(int.from_bytes(trailer[4:], "little"), int.from_bytes(trailer[:4], "little"), None)


def matches_trailer(trailer: Mark, mark: Mark) -> bool:
    """Return whether a gzip file holds exactly the bytes of a mark, by its trailer.

    Args:
        trailer: see `trailer_of`.
        mark: of the bytes.
    """
    return (trailer.length, trailer.crc) == (mark.length % _GZIP_LENGTHS, mark.crc)


class Plain:
    """A file that is not compressed, and may grow.

    Args:
        descriptor: of the open file.
        offset: where reading begins.
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
        """Its size now, bytes."""
        return os.fstat(self._descriptor).st_size

    @property
    def holds_what_was_read(self) -> bool:
        """Return True where the file still holds the last bytes read."""
        known = len(self._tail)
        return self.peek(known, self._offset - known) == self._tail

    def read(self, size: int) -> bytes:
        """As `Content.read`.

        Raises:
            ReplacedError: the file no longer holds the bytes read before.
        """
        known = len(self._tail)
        found = self.peek(known + size, self._offset - known)
        if not found.startswith(self._tail):
            raise ReplacedError
        data = found[known:]
        self._offset += len(data)
        self._tail = found[-TAIL_BYTES:]
        return data

    def peek(self, size: int, offset: int) -> bytes:
        """Read bytes without moving the position of `read`.

        Args:
            size: most bytes.
            offset: of the first one.
        """
        return os.pread(self._descriptor, size, offset)

    def ahead(self, size: int) -> bytes:
        """As `Content.ahead`."""
        return self.peek(size, self._offset)

    def again(self) -> Plain:
        """Open the same file a second time, also if it has no name any more."""
        return Plain(os.dup(self._descriptor))

    def head(self) -> bytes:
        """As `Content.head`."""
        return self.peek(HEAD_BYTES, 0)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class _Packed:
    """A gzip file, which does not grow."""

    packed = True

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self._file = file
        self._held = b""
        self._torn: TornError | None = None
        self._pieces: Iterator[bytes] = inflated(pieces(file))
        self.before = Mark()
        try:
            while (rest := offset - self.before.length) and (data := self.read(rest)):
                self.before = self.before.after(data)
        except TornError:
            self.close()
            raise

    def read(self, size: int) -> bytes:
        if not self.ahead(1) and self._torn:
            raise self._torn
        data, self._held = self._held[:size], self._held[size:]
        return data

    def ahead(self, size: int) -> bytes:
        try:
            while len(self._held) < size and (piece := next(self._pieces, b"")):
                self._held += piece
        except TornError as error:
            self._torn = error  # `read` raises it after the bytes before it
        return self._held[:size]

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
