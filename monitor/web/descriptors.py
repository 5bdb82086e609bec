"""Divides the file descriptors of the process between connections and everything else."""

from __future__ import annotations

import resource

RESERVED = 96
"""Descriptors for files, feeds and the program itself, which connections never get."""
_LEAST = 8


def connections_each(listeners: int) -> int:
    """Raise the soft limit of open files to the hard one, and divide it between listeners.

    Args:
        listeners: number of listeners.

    Returns:
        Connections that each listener may serve at a time without running out of descriptors.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return divided(hard, listeners)


def divided(descriptors: int, listeners: int) -> int:
    """Return the connections for each listener.

    Args:
        descriptors: limit of open files.
        listeners: number of listeners.

    >>> divided(1024, 2), divided(256, 2), divided(64, 2)
    (464, 80, 8)
    """
    if descriptors == resource.RLIM_INFINITY:
        return 1 << 20
    return max(_LEAST, (descriptors - RESERVED) // max(listeners, 1))
