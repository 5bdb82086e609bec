"""How ids are divided among tasks and pages: by ranges of their keys.

A page is a range of keys, and a task has a range of pages. So rows in the order of their
keys are in the order of tasks and pages, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.events.columns import Int64Array, KeyArray

_HALF = np.uint64(32)


class Layout(NamedTuple):
    """The numbers of tasks and pages.

    Attributes:
        tasks: number of stateful tasks.
        pages: number of pages of all tasks; a multiple of `tasks`.

    >>> layout = Layout.of(pages=5, tasks=2)
    >>> layout.pages, layout.pages_of_task(1)
    (6, range(3, 6))
    >>> keys = np.array([0, 2**63, 2**64 - 1], np.uint64)
    >>> layout.tasks_of(keys).tolist(), layout.pages_of(keys).tolist()
    ([0, 1, 1], [0, 3, 5])
    """

    tasks: int
    pages: int

    @classmethod
    def of(cls, *, pages: int, tasks: int) -> Layout:
        """Return a layout with at least so many pages.

        Args:
            pages: at least 1.
            tasks: at least 1.
        """
        return cls(tasks, -(-pages // tasks) * tasks)

    def tasks_of(self, keys: KeyArray) -> Int64Array:
        """Return the number of the task of each key."""
        return _range_of(keys, self.tasks)

    def pages_of(self, keys: KeyArray) -> Int64Array:
        """Return the number of the page of each key."""
        return _range_of(keys, self.pages)

    def pages_of_task(self, task: int) -> range:
        """Return the numbers of the pages of a task."""
        each = self.pages // self.tasks
        return range(task * each, (task + 1) * each)


def _range_of(keys: KeyArray, ranges: int) -> Int64Array:
    """Return the index of the range of each key, of so many ranges of the same width."""
    return (((keys >> _HALF) * np.uint64(ranges)) >> _HALF).astype(np.int64)
