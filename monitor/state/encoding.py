"""State as bytes and back: scalars and texts as MessagePack, arrays as raw memory.

    header  = magic, schema version, number, length of the tree, length of the whole, checksum
    tree    = MessagePack; an array is its type, its shape and its offset
    arrays  = raw, little-endian, each at a multiple of eight bytes
    trailer = xxh3 checksum of all before, seeded by the number

Reading never executes anything: array types come from a closed set.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from monitor.events.renumbering import State
from monitor.state.disk import Data
from monitor.state.state_errors import StateError

SCHEMA_VERSION = 22
"""Version of the layout and of the content that are written."""
_READ_VERSIONS = (*range(3, SCHEMA_VERSION), SCHEMA_VERSION)
"""Versions that can be read. What older ones lack:

- 3 has no steps of detectors by days: these detectors start anew.
- Up to 4 have no record of estimates, which starts anew, and nothing on predictions alone, which
  is learned from the hours. Trends are sought again at the end of the week. Keys of ids use the
  public seed, and continue to.
- Up to 5 have one time for all models, from which each continues.
- Up to 6 lack the first prediction of each version; it stays unknown.
- Up to 7 lack scores older than two months: the weeks start empty.
- Up to 8 lack when each model last spoke; the silence of each begins with the start.
- Up to 10 lack whether a model that pages was found dead, and how many predictions of forgotten
  models came again: not found, and none.
- Up to 11 lack who labelled: sources are unknown of the labels so far.
- Up to 12 lack how many ids a model shares with another: none so far.
- Up to 13 have a smoothed class ratio, which the counts give now.
- Up to 14 lack how far the odds ratio of levels fell, the age at which days close, and how close
  together scores usually lie: nothing, midnight until the first panes are judged, and learned
  for a week.
- Up to 15 lack the maturity by which each model closes its days today: it is looked up anew.
- Up to 16 lack whether longer first days are held back: they are judged anew when a day closes.
- Up to 17 lack the outcomes of these days: they are counted from what is stored, or, where their
  first hours are not any more, never become the reference.
- Up to 18 lack how many audits found no prediction: those that wait for theirs are counted.
- Up to 19 lack what rows of counts were sent as: the first row of a batch that is delivered again
  to the same place replaces what was counted there.
- Up to 20 lack which models hold labels back: all that are settled, until they are quiet.
- Up to 21 lack how far the times of models went ahead at once, and how many predictions came
  behind their horizon: none so far. Events that are set aside then agree with no jump.
- Up to 21 lack when models were judged last, and the labels that lie ahead of all: they are judged
  again as the next day begins or closes, and no labels lie ahead.
"""

_READ = ", ".join(map(str, _READ_VERSIONS))
_MAGIC = b"PMonStat"
_HEADER = struct.Struct("<8sIQQQ")
_CHECK = struct.Struct("<Q")
HEADER_BYTES = _HEADER.size + _CHECK.size + 4
_TYPES = ("<i8", "<i4", "<u8", "<u4", "<f8", "|b1", "|u1", "|i1")
_PLACE = struct.Struct("<BQ")
_ARRAY = 1
_ALIGNED = 8
_SMALL = 1 << 16


class DamagedError(Exception):
    """The bytes differ from those that were written."""


def encoded(state: State, number: int) -> Iterator[Data]:
    """Yield the file of a state in parts; arrays are not copied.

    Args:
        state: the state.
        number: number of the checkpoint.

    Raises:
        TypeError: the state holds a value of another type.
    """
    arrays: list[NDArray[Any]] = []
    end = 0

    def place(value: Any) -> msgspec.msgpack.Ext:
        nonlocal end
        if isinstance(value, np.generic):
            value = np.asarray(value)
        if not isinstance(value, np.ndarray):
            raise TypeError(f"state: holds a {type(value).__name__}")
        array = np.ascontiguousarray(value).reshape(value.shape)
        kind = _TYPES.index(array.dtype.str)
        shape = struct.pack(f"<{array.ndim}Q", *array.shape)
        found = msgspec.msgpack.Ext(_ARRAY, _PLACE.pack(kind, end) + shape)
        arrays.append(array)
        end += _padded(array.nbytes)
        return found

    tree = msgspec.msgpack.encode(state, enc_hook=place)
    padding = bytes(_padded(len(tree)) - len(tree))
    size = HEADER_BYTES + _padded(len(tree)) + end + _CHECK.size
    head = _HEADER.pack(_MAGIC, SCHEMA_VERSION, number, len(tree), size)
    head += _CHECK.pack(xxhash.xxh3_64_intdigest(head)) + bytes(4)
    digest = xxhash.xxh3_64(seed=number)
    for part in _gathered([head, tree, padding], arrays):
        digest.update(part)
        yield part
    yield _CHECK.pack(digest.intdigest())


def decoded(data: bytearray, path: Path) -> tuple[int, State]:
    """Return the number and the state of a file; arrays are views of the data.

    Args:
        data: content of the file.
        path: the file, for error messages.

    Raises:
        DamagedError: the content is damaged.
        StateError: it has another schema version.
    """
    if len(data) < HEADER_BYTES + _CHECK.size:
        raise DamagedError
    magic, version, number, tree_size, size = _HEADER.unpack_from(data)
    (check,) = _CHECK.unpack_from(data, _HEADER.size)
    if magic != _MAGIC or check != xxhash.xxh3_64_intdigest(bytes(data[: _HEADER.size])):
        raise DamagedError
    if version not in _READ_VERSIONS:
        raise StateError(
            f"{path}: has schema version {version}, this program reads {_READ}; use the "
            "program that wrote it, or move the whole state directory away to start over"
        )
    content = memoryview(data)[: -_CHECK.size]
    (check,) = _CHECK.unpack_from(data, len(content))
    if len(data) != size or check != xxhash.xxh3_64_intdigest(content, number):
        raise DamagedError
    arrays = content[HEADER_BYTES + _padded(tree_size) :]

    def array(code: int, found: memoryview) -> NDArray[Any]:
        if code != _ARRAY:
            raise DamagedError
        kind, start = _PLACE.unpack_from(found)
        shape = struct.unpack_from(f"<{(len(found) - _PLACE.size) // 8}Q", found, _PLACE.size)
        flat = np.frombuffer(arrays, _TYPES[kind], int(np.prod(shape)), start)
        return flat.reshape(shape)

    tree = content[HEADER_BYTES : HEADER_BYTES + tree_size]
    return number, msgspec.msgpack.Decoder(ext_hook=array).decode(tree)


def _gathered(head: list[bytes], arrays: list[NDArray[Any]]) -> Iterator[Data]:
    """Join small parts; yield large arrays as they are."""
    small = list(head)
    for array in arrays:
        padding = bytes(_padded(array.nbytes) - array.nbytes)
        if array.nbytes < _SMALL:
            small += [array.tobytes(), padding]
            continue
        yield b"".join(small)
        yield array.reshape(-1).view(np.uint8).data
        small = [padding]
    yield b"".join(small)


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
