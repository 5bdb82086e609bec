"""The end of a process that has served."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

INTERRUPTED, READER_GONE = 130, 141
"""Exit codes: 128 and the number of the signal, as a shell reports it."""


def leave(code: int = 0) -> NoReturn:
    """End the process here, everything being closed.

    Threads of the server that still drop stuck clients would abort the
    interpreter on its own way out (SIGABRT instead of the exit code).

    Args:
        code: the exit code.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
