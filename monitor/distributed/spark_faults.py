"""What went wrong, in one line, of what Spark raises with the stacks of JVM and Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monitor.errors import MonitorError

_OWN = f"{MonitorError.__module__}.{MonitorError.__qualname__}: "
_JAVA_ERROR, _CAUSE = ": ", "Caused by: "
_TRACEBACK = "Traceback (most recent call last):"
_NOISE = (
    re.compile(r"^(?:: |Caused by: )?(?:[\w$]+\.)*(?=[\w$]+(?::|$))"),  # the package of a class
    re.compile(r"^\[STREAM_FAILED\] Query \[.*?\] terminated with exception: "),
    re.compile(r" *SQLSTATE: \w+"),
)


def reason_of(text: str) -> str:
    r"""Return the message of a `MonitorError` in the text, or what Spark says without its stacks.

    Of a Java error with causes, the first cause is named, too.

    Args:
        text: what Spark raised.

    >>> reason_of(": java.io.IOException: no\n\tat a.b(c)\nCaused by: java.io.EOFException\n\tat d")
    'IOException: no; caused by EOFException'
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    raised = next((at for at, line in enumerate(lines) if line.startswith(_JAVA_ERROR)), 0)
    causes = [at for at, line in enumerate(lines) if line.startswith(_CAUSE)]
    named = (_first_error(lines[at:]) for at in (raised, *causes[:1]) if lines)
    return own_error(text) or "; caused by ".join(named) or "failed"


def own_error(text: str) -> str | None:
    """Return the message of a `MonitorError` in the text; None without one.

    Args:
        text: what Spark raised.
    """
    lines = (line.strip() for line in text.splitlines())
    return next((line.removeprefix(_OWN) for line in lines if line.startswith(_OWN)), None)


def _first_error(lines: Sequence[str]) -> str:
    """Return the error that begins here; of a traceback, its last line."""
    first = lines[0]
    if first.endswith(_TRACEBACK):
        first = next((line for line in lines[1:] if not line[0].isspace()), first)
    for noise in _NOISE:
        first = noise.sub("", first)
    return first.strip(" .")
