"""Counting of deltas into several rings of panes by one call of the compiled kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import attrgetter
from typing import Any

import numpy as np

from monitor.events.columns import Int64Array
from monitor.join import Deltas
from monitor.kernel import compiled_module, kernel_in_use
from monitor.windows.panes import PaneRing

_MEMORY = attrgetter("memory")
_contiguous = partial(np.ascontiguousarray, dtype=np.int64)


@cache
def _columns(second: str) -> Callable[[Deltas], tuple[Int64Array, ...]]:
    return attrgetter("time", second, "group", "cell", "count")


def compiled_tallies() -> Any | None:
    """Return the module `monitor.kernel.compiled`; None where this process counts in Python."""
    return compiled_module() if kernel_in_use() == "c" else None


def tallied(
    count: Callable[..., tuple[bytes | None, ...] | None],
    deltas: Deltas,
    second: str,
    models: Int64Array,
    *rest: Any,
    rings: Sequence[PaneRing],
    windows: tuple[Any, ...] | None = None,
) -> bool:
    """Count deltas with a function of the kernel; return False if it leaves them to Python.

    Args:
        count: `count_delays`, `count_scores`, `count_value_scores` or `count_windows`.
        deltas: the changes to be counted.
        second: name of the column that the function takes beside time, group, cell and count.
        models: model number of each group.
        rest: what else the function takes before the rings.
        rings: in its order.
        windows: in their order, of a function that takes them.
    """
    columns = tuple(map(_contiguous, _columns(second)(deltas)))
    behind = () if windows is None else (windows,)
    ahead = count(columns, models, *rest, tuple(map(_MEMORY, rings)), *behind)
    if ahead is None:
        return False
    for ring, changes in zip(rings, ahead, strict=True):
        if changes is not None:
            ring.ahead.add(*np.frombuffer(changes, np.int64).reshape(-1, 4).T)
    return True
