"""Bytes below 128 for bytes of any value, an eighth to a seventh more of them.

Spark hands stored bytes to Python as a text: where one is 128 or more, each of them is
encoded, which takes a megabyte 7.5 ms of CPU in Python, and more in the JVM. Of bytes below 128
it takes 0.6 ms. So the top bit of each byte is stored apart: those of eight bytes make one, whose
top bit is stored in the same way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WORD = 8
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONES = np.uint64(0x0101010101010101)
_GATHER = np.uint64(0x0102040810204080)
"""Times a word of bytes that are 0 or 1: they become the bits of its top byte, the last first."""
_TOP, _SEVEN = np.uint64(56), np.uint64(7)
_MOST_PARTS = 12
"""Parts of 2**36 bytes, and one more."""
_SPREAD = np.array(
    [sum(((byte >> bit) & 1) << (8 * bit + 7) for bit in range(_WORD)) for byte in range(256)],
    dtype=np.uint64,
)
"""Of each byte: a word with its bits as the top bits of the bytes."""


def encoded(data: bytes) -> bytes:
    """Return bytes below 128 for bytes of any value.

    Args:
        data: a multiple of 8 bytes.

    >>> encoded(bytes([255, 0, 0, 0, 0, 0, 0, 128])).hex()
    '7f000000000000000108'
    """
    parts = []
    words = np.frombuffer(data, np.uint64)
    while len(words):
        parts.append((words & _LOW).tobytes())
        top = ((((words >> _SEVEN) & _ONES) * _GATHER) >> _TOP).astype(np.uint8)
        if len(top) == 1:
            parts.append(bytes([top[0] & 15, top[0] >> 4]))
            break
        words = np.frombuffer(_padded(top), np.uint64)
    return b"".join(parts)


def decoded(data: bytes) -> bytes:
    """Return the bytes that were encoded.

    Args:
        data: from `encoded`.
    """
    if not data:
        return b""
    top = np.array([data[-2] | data[-1] << 4], dtype=np.uint8)
    end = len(data) - 2
    words: NDArray[np.uint64] = np.zeros(0, np.uint64)
    for length in reversed(_lengths(end)):
        words = np.frombuffer(data, np.uint64, length, end - _WORD * length)
        words = words | _SPREAD[top[:length]]
        top = words.view(np.uint8)
        end -= _WORD * length
    return words.tobytes()


def _padded(top: NDArray[np.uint8]) -> bytes:
    return top.tobytes() + bytes(-len(top) % _WORD)


def _lengths(total: int) -> list[int]:
    """Return the numbers of words of each part, from the number of bytes of all."""
    words = total // _WORD
    first = max((words - _MOST_PARTS) * 7 // 8, 1)  # rounded up, each part adds less than a word
    while sum(found := _parts(first)) < words:
        first += 1
    return found


def _parts(words: int) -> list[int]:
    found = [words]
    while found[-1] > 1:
        found.append(-(-found[-1] // _WORD))
    return found
