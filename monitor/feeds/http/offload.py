"""Work on a body: at once where that is short, else in a thread beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

INLINE_BYTES = 32 * 1024
"""A body up to this size is worked on at once."""

_Made = TypeVar("_Made")


async def beside(size: int, work: Callable[[], _Made]) -> _Made:
    """What the work makes.

    Args:
        size: bytes that it is about.
        work: takes time in proportion.
    """
    return work() if size <= INLINE_BYTES else await asyncio.to_thread(work)
