"""Versions to compare, and the time to compare, as they are asked for in text."""

from __future__ import annotations

import re

from monitor.clock import HOUR_MS
from monitor.config.asked_duration import asked_duration
from monitor.errors import UsageError

_NAME = r"((?:\\[,\\]|[^,\\]|\\(?![,\\]))+)"
_NAMES = re.compile(f"{_NAME},{_NAME}", re.DOTALL)
_SEPARATING = re.compile(r"[,\\]")
_ESCAPED = re.compile(r"\\([,\\])")


def parse_versions(option: str, text: str | None) -> tuple[str, str] | None:
    r"""Return the names of A and of B; None where they are left out.

    Args:
        option: where they were written, for the error.
        text: what was written, A,B; `\,` is a comma of a name, and `\\` a backslash.

    Raises:
        UsageError: not two different names.

    >>> parse_versions("--versions", "6,7"), parse_versions("--versions", r"a\,1,a\\2")
    (('6', '7'), ('a,1', 'a\\2'))
    """
    if text is None:
        return None
    found = _NAMES.fullmatch(text)
    a, b = ("", "") if found is None else (_ESCAPED.sub(r"\1", name) for name in found.groups())
    if a == b:
        raise UsageError(
            f"{option}: must be two different versions, got {text!r}; write A,B, and \\, for a "
            "comma of a name"
        )
    return a, b


def versions_text_of(a: str, b: str) -> str:
    r"""Return two names as `parse_versions` reads them.

    Args:
        a: name of A.
        b: name of B.

    >>> parse_versions("--versions", versions_text_of("a,1", "a\\2"))
    ('a,1', 'a\\2')
    """
    return ",".join(_SEPARATING.sub(r"\\\g<0>", name) for name in (a, b))


def parse_last(option: str, text: str | None) -> int | None:
    """Return a length of time, milliseconds; None where it is left out.

    Args:
        option: where it was written, for the error.
        text: what was written, such as 7d.

    Raises:
        UsageError: no length of time, or one below an hour.

    >>> parse_last("--last", "90m")
    5400000
    >>> parse_last("--last", "1s")
    Traceback (most recent call last):
        ...
    monitor.errors.UsageError: --last: must be at least 1h, got '1s'; write it like 7d
    """
    if text is None:
        return None
    length = asked_duration(option, text, "7d")
    if length < HOUR_MS:
        raise UsageError(f"{option}: must be at least 1h, got {text!r}; write it like 7d")
    return length
