"""A file's bytes from an offset on, plain or gzip, and its head."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, Protocol

from monitor.feeds.blocks import GZIP_MAGIC, TornError, inflated, pieces

HEAD_BYTES = 256
"""First bytes by which contents are told apart: an event's id and time are among them."""


class Content(Protocol):
    """An open file, read forward."""

    def read(self, size: int) -> bytes:
        """The next bytes, unpacked; none where there are none now.

        Raises:
            TornError: what is packed is damaged, or ends too early.
        """
        ...

    def head(self) -> bytes:
        """The first bytes that it holds now, unpacked, as far as they can be read.

        Of what is packed only before anything is read.
        """
        ...

    @property
    def packed(self) -> bool:
        """Whether it is unpacked as it is read; then it is whole, and never grows."""
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
        return _Plain(descriptor, offset)
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
    """How a file begins; with nothing, where it is gone or cannot be read."""
    try:
        content = opened(path)
    except OSError:
        return Head()
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


class _Plain:
    packed = False

    def __init__(self, descriptor: int, offset: int) -> None:
        self._descriptor = descriptor
        self._offset = offset

    def read(self, size: int) -> bytes:
        data = os.pread(self._descriptor, size, self._offset)
        self._offset += len(data)
        return data

    def head(self) -> bytes:
        return os.pread(self._descriptor, HEAD_BYTES, 0)

    def close(self) -> None:
        os.close(self._descriptor)


class _Packed:
    """Gzip members; what is in a file once is all that will be."""

    packed = True

    def __init__(self, file: BinaryIO, offset: int) -> None:
        self._file = file
        self._held = b""
        self._pieces: Iterator[bytes] = inflated(pieces(file))
        try:
            while offset and (data := self.read(offset)):
                offset -= len(data)
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
