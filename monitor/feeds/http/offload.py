"""Runs work on a body: inline if it is short, otherwise in a thread beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

INLINE_BYTES = 32 * 1024
"""Bodies up to this size are processed inline."""
THREADS = 2
"""Larger bodies that are processed at a time: each takes the interpreter from the service loop."""

_POOL = ThreadPoolExecutor(THREADS, thread_name_prefix="bodies")

_Result = TypeVar("_Result")


async def offload(size: int, work: Callable[[], _Result]) -> _Result:
    """Run a function, in a thread if its input is large, and return its result.

    Args:
        size: bytes that the function processes.
        work: the function; its run time is proportional to the size.
    """
    return work() if size <= INLINE_BYTES else await in_thread(work)


async def in_thread(work: Callable[[], _Result]) -> _Result:
    """Run a function in one of a few threads that all feeds share, and return its result."""
    return await asyncio.get_running_loop().run_in_executor(_POOL, work)
