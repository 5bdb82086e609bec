"""The ids of an Arrow record batch as keys.

The compiled kernel hashes them where they lie in memory. Without it each id becomes an object
of Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import Int64Array, KeyArray, Rows
from monitor.events.keys import keys_of_bytes
from monitor.feeds.arrow.reading import decoded, null_in
from monitor.feeds.decode.id_texts import IdTexts

pa: Any = import_module("pyarrow")

_CHUNK = 2_000
"""Ids that are Python objects at a time. So few reuse the same memory, which halves the time
of hashing."""


class Ids(NamedTuple):
    """A column of ids.

    Attributes:
        key: hash of each; meaningless for null and for no byte.
        size: bytes of each; -1 for null.
    """

    key: KeyArray
    size: Int64Array

    def of(self, rows: Rows) -> Ids:
        """Return the ids of some rows."""
        return Ids(self.key[rows], self.size[rows])


class IdColumns:
    """Hashes the ids of record batches of plain columns.

    Args:
        seed: of the keys.
        compiled: the module `monitor.kernel.compiled`; None to hash in Python.
        texts: notes the texts of some ids, in Python alone; None to note none.
    """

    def __init__(self, seed: int, compiled: Any | None, texts: IdTexts | None) -> None:
        self._seed = seed
        self._compiled = compiled if texts is None else None
        self._texts = texts

    def of(self, batch: Any) -> Ids:
        """Return the ids of a record batch.

        Args:
            batch: the record batch; without a column of ids all are null.
        """
        index = batch.schema.get_field_index("id")
        if index < 0 or pa.types.is_null(batch.column(index).type):
            return Ids(np.zeros(batch.num_rows, np.uint64), np.full(batch.num_rows, -1))
        column = decoded(batch.column(index))
        if pa.types.is_integer(column.type):
            column = column.cast(pa.string())
        column = column.cast(pa.large_binary())
        filled = column.fill_null(b"") if column.null_count else column
        bounds = _bounds(filled)
        size = np.where(null_in(column), -1, np.diff(bounds))
        return Ids(self._keys(filled) if self._compiled is None else self._hashed(filled), size)

    def _keys(self, column: Any) -> KeyArray:
        keys = []
        for chunk in _chunks(column):
            keys.append(keys_of_bytes(chunk, self._seed))
            if self._texts is not None:
                self._texts.note(chunk, keys[-1])
        return np.concatenate(keys)

    def _hashed(self, column: Any) -> KeyArray:
        """Return the keys by the kernel; those of the ids that it leaves by Python."""
        assert self._compiled is not None  # noqa: S101  # asked by the caller
        texts, keys = column.buffers()[2], np.zeros(len(column), np.uint64)
        if texts is None:  # no id has a byte
            return keys
        left = self._compiled.keys_of(texts, _bounds(column), self._seed, keys)
        if left:
            keys[left] = keys_of_bytes([column[row].as_py() for row in left], self._seed)
        return keys


def _bounds(column: Any) -> Int64Array:
    """First byte of each text, and of what follows the last one."""
    if not len(column):
        return np.zeros(1, np.int64)
    bounds = np.frombuffer(column.buffers()[1], np.int64)
    return bounds[column.offset : column.offset + len(column) + 1]


def _chunks(column: Any) -> Iterator[list[bytes]]:
    """Yield the strings of a column in chunks; one empty chunk for an empty column."""
    for start in range(0, max(len(column), 1), _CHUNK):
        yield column.slice(start, _CHUNK).to_numpy(zero_copy_only=False).tolist()
