"""Chooses the kernel: the compiled one if installed, unless the environment says Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

from monitor.errors import UsageError

Kernel = Literal["c", "python"]

VARIABLE = "PRECISION_MONITOR_KERNEL"
"""Environment variable that chooses the kernel."""


_FOLDER = Path(__file__).parent
"""Of the C sources: in a checkout, and in no wheel."""


@cache
def compiled_module() -> Any | None:
    """Return the module `monitor.kernel.compiled`; None where it was not built.

    A checkout whose C source has changed since it was installed has none until it is
    installed again.
    """
    try:
        found: Any = import_module("monitor.kernel.compiled")
    except ImportError:
        return None
    sources = sorted(_FOLDER.glob("*.[ch]"))
    digest = sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    if sources and digest != found.SOURCE_DIGEST:  # `hatch_build.py` computes the same
        return None
    return found


def kernel_in_use(environ: Mapping[str, str] | None = None) -> Kernel:
    """Return the kernel of this process.

    Args:
        environ: environment variables; by default those of this process.

    Raises:
        UsageError: the environment names no kernel, or one that is not installed.

    >>> kernel_in_use({"PRECISION_MONITOR_KERNEL": "python"})
    'python'
    """
    wanted = (os.environ if environ is None else environ).get(VARIABLE, "")
    if wanted and wanted not in get_args(Kernel):
        allowed = " or ".join(get_args(Kernel))
        raise UsageError(f"{VARIABLE}: must be {allowed}, got {wanted!r}")
    if wanted == "python":
        return "python"
    if compiled_module() is not None:
        return "c"
    if wanted == "c":
        raise UsageError(
            f"{VARIABLE}: this installation has no compiled kernel, got 'c'; "
            "install a C compiler, and then this program again"
        )
    return "python"
