"""What identifies the first bytes of a content."""

from __future__ import annotations

import zlib
from itertools import accumulate
from typing import NamedTuple, Self

TAIL_BYTES = 512
"""Last bytes stored of what was read: a file with other bytes there has another content."""
_STEPS = tuple(accumulate(range(200), lambda at, _: at + max(256, at // 4), initial=256))
"""Lengths whose checksum is stored: every 256 bytes at first, then each a quarter longer."""


class Mark(NamedTuple):
    """Identifies the first bytes of a content.

    Attributes:
        length: how many bytes.
        crc: CRC-32 of all of them; None if unknown.
        tail: the last of them, up to `TAIL_BYTES`; None if unknown.
        steps: CRC-32 at each length of `_STEPS`, as far as known; distinguishes files
            that are shorter than `length`.
    """

    length: int = 0
    crc: int | None = 0
    tail: bytes | None = b""
    steps: tuple[int, ...] = ()

    def after(self, data: bytes) -> Self:
        """Return the mark after further bytes.

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
        """Return whether the stored checksums of both agree, as far as both have them."""
        return all(one == two for one, two in zip(self.steps, other.steps, strict=False))

    def agrees(self, other: Mark) -> bool:
        """Return whether both may be of the same bytes, by all that is known of both."""
        return (
            self.length == other.length
            and self.begins_as(other)
            and (None in {self.crc, other.crc} or self.crc == other.crc)
            and (self.tail is None or other.tail is None or _end_alike(self.tail, other.tail))
        )

    def joined(self, other: Mark) -> Self:
        """Combine what two marks know of the same bytes."""
        return self._replace(
            crc=other.crc if self.crc is None else self.crc,
            tail=max(self.tail, other.tail, key=lambda tail: len(tail or b"")),
            steps=max(self.steps, other.steps, key=len),
        )


def _end_alike(one: bytes, other: bytes) -> bool:
    """Return whether two tails, one perhaps shorter, end in the same bytes."""
    return one.endswith(other) or other.endswith(one)
