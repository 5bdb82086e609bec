"""Whether two states, or two snapshots, are the same to the last bit; and if not, where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from monitor.events.renumbering import State
from monitor.snapshot import Snapshot
from monitor.state.encoding import decoded, encoded


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:  # noqa: C901  # a case a type
    """Where they differ; NaN is the same as NaN."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        one, other = np.asarray(one), np.asarray(other)
        same = one.shape == other.shape and one.dtype == other.dtype
        if not (same and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")):
            yield f"{at}: {one!r} != {other!r}"
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        if list(one) != list(other):
            yield f"{at}: keys {list(one)} != {list(other)}"
        for key in one:
            yield from differences(one[key], other.get(key), f"{at}.{key}")
    elif is_dataclass(one) and type(one) is type(other):
        for field in fields(one):
            mine, theirs = getattr(one, field.name), getattr(other, field.name)
            yield from differences(mine, theirs, f"{at}.{field.name}")
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            yield f"{at}: {len(one)} != {len(other)} elements"
        for i, (mine, theirs) in enumerate(zip(one, other, strict=False)):
            yield from differences(mine, theirs, f"{at}[{i}]")
    elif one != other and not (one != one and other != other):  # noqa: PLR0124  # NaN
        yield f"{at}: {one!r} != {other!r}"


def without_memory(snapshot: Snapshot) -> Snapshot:
    """The snapshot without the memory that tables take: how roomy they are is no state."""
    return replace(snapshot, pending_bytes=0)


def through_disk(state: State) -> State:
    """What is read of a state that was written."""
    return decoded(bytearray(b"".join(encoded(state, 1))), Path("1"))[1]
