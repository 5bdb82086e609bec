"""What to give in place of a path that is no file."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from itertools import islice
from pathlib import PurePath

_LOOKED_AT = 10_000
"""Files of a directory to look at."""
_HIDDEN = ("_", ".")
"""First character of files that programs write beside those with rows, as `_SUCCESS`."""


def files_to_give(directory: str) -> str:
    """Return how to give the files within a directory, as Spark writes them.

    Args:
        directory: its path.
    """
    names = (name for _, _, files in os.walk(directory) for name in files)
    visible = (name for name in islice(names, _LOOKED_AT) if not name.startswith(_HIDDEN))
    endings = Counter(filter(None, (PurePath(name).suffix for name in visible)))
    if not endings:
        return "give a file"
    ((ending, _),) = endings.most_common(1)
    return f"give its files: $(find {shlex.quote(directory)} -name {shlex.quote(f'*{ending}')})"


def path_to_check(path: str) -> str:
    """Return what to check where there is no file of a path.

    Args:
        path: as given.

    >>> path_to_check("a.csv"), path_to_check("logs/*.csv")
    ('check the path', 'patterns are of feeds with follow: true; give the files')
    """
    is_pattern = any(wildcard in path for wildcard in "*?[")
    return (
        "patterns are of feeds with follow: true; give the files"
        if is_pattern
        else "check the path"
    )
