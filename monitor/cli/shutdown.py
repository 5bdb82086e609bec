"""Ends a process that has served, or that has something to clean up."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

SIGNALLED = 128
INTERRUPTED, READER_GONE, TERMINATED = 130, 141, 143
"""Exit codes: 128 and the number of the signal, as a shell reports it."""


def leave(code: int = 0) -> NoReturn:
    """End the process at once, after everything is closed.

    Server threads that still drop stuck clients would abort the interpreter at its
    regular exit (SIGABRT instead of the exit code).

    Args:
        code: the exit code.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def hold_hangups() -> None:
    """Hold SIGHUP back: until the service can reload, it would end the process."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})


def release_hangups() -> None:
    """Deliver the SIGHUP that was held back, and those to come."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})


def hold_interrupts() -> None:
    """Hold Ctrl-C back: a library whose import it cuts short may raise another exception instead.

    Windows has no such mask: Ctrl-C is not held back there.
    """
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def release_interrupts() -> None:
    """Deliver the Ctrl-C that was held back, and those to come."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def cleared_by_sigterm() -> Iterator[None]:
    """Let SIGTERM unwind the context, as Ctrl-C does; a second one ends the process at once."""
    before = signal.getsignal(signal.SIGTERM)

    def unwind(number: int, _: object) -> None:
        signal.signal(number, before)
        sys.exit(TERMINATED)

    signal.signal(signal.SIGTERM, unwind)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
