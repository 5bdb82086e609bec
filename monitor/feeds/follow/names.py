"""The files of a path or a pattern, and their names after rotation."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_ROTATED = re.compile(r"([.-]\d[\dTZ_.:+-]*|\.old|\.bak)?(\.gz)?")
_ROTATED_BEFORE_ENDING = re.compile(r"[.-]\d[\dTZ_.:+-]*(\.[A-Za-z]\w*?)(\.gz)?")
_PATTERN = re.compile(r"[*?[]")


class Listed(NamedTuple):
    """A file in a directory.

    Attributes:
        path: of the file.
        status: as `stat` returns it.
        current: True where the path or pattern matches its name; else the name is that of a
            rotated file.
        base: the path that the file had before its rotation; `path` if it is current.
    """

    path: str
    status: os.stat_result
    current: bool
    base: str

    @property
    def inode(self) -> tuple[int, int]:
        """Device and number of the inode."""
        return self.status.st_dev, self.status.st_ino

    @property
    def stamp(self) -> tuple[int, ...]:
        """Return the fields of `stat` that change with the file."""
        return (*self.inode, self.status.st_size, self.status.st_mtime_ns)


def is_pattern(path: str) -> bool:
    """Return whether a path is a pattern of many files.

    >>> is_pattern("logs/*.ndjson"), is_pattern("events.ndjson")
    (True, False)
    """
    return bool(_PATTERN.search(path)) and not Path(path).exists()


def matching(path: str) -> list[str]:
    """List the existing files of a path or a pattern, by name."""
    if not is_pattern(path):
        return [path]
    return sorted(glob.glob(path, recursive=True))  # noqa: PTH207  # Path.glob takes no absolute one


def listing(path: str, bases: Collection[str] = ()) -> list[Listed]:
    """List the files of a path or a pattern and their rotated ones, the oldest change first.

    Args:
        path: a path or a pattern.
        bases: further paths, of which rotated files are listed.

    Returns:
        Regular files whose status can be read; see `obstacle` for others.
    """
    given = matching(path)
    found = [_listed(one, one) for one in given]
    found += [
        _listed(one, base) for one, base in _rotated({*given, *bases}) if one not in set(given)
    ]
    return sorted(filter(None, found), key=lambda one: (one.status.st_mtime_ns, one.path))


def obstacle(path: str) -> str | None:
    """Return why a path is not listed though something is there, for the middle of a sentence.

    Args:
        path: of one file.

    Returns:
        None for a regular file, and where nothing is there.
    """
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        return reason(error)
    return None if stat.S_ISREG(status.st_mode) else "is no regular file"


def rotated_from(name: str, names: Iterable[str]) -> str | None:
    """Return which of `names` a name is after rotation; None if it is none of them.

    Args:
        name: of a file, without its folder.
        names: of followed files in the same folder.

    >>> {rotated_from(n, ["a.log"]) for n in ("a.log.1", "a.log-20261101.gz", "a-2026-11-01.log")}
    {'a.log'}
    >>> {rotated_from(n, ["a.log"]) for n in ("a.log.swp", "a-other.log", "b.log.1")}
    {None}
    """
    wanted = set(names)
    for place in (match.start() for match in re.finditer("[.-]", name)):
        base, rest = name[:place], name[place:]
        if base in wanted and _ROTATED.fullmatch(rest):
            return base
        ending = _ROTATED_BEFORE_ENDING.fullmatch(rest)
        if ending and base + ending[1] in wanted:
            return base + ending[1]
    return None


def _rotated(given: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the paths of rotated files, each with the path that it had before."""
    folders: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for path in given:
        folder, name = os.path.split(path)
        folders[folder][name] = path
    for folder, names in folders.items():
        try:
            entries = [entry.name for entry in os.scandir(folder or ".")]
        except OSError:
            continue
        for name in entries:
            if (base := rotated_from(name, names)) is not None:
                yield str(Path(folder, name)), names[base]


def _listed(path: str, base: str) -> Listed | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return Listed(path, status, path == base, base) if stat.S_ISREG(status.st_mode) else None


def reason(error: OSError) -> str:
    """Return the system's message, for the middle of a sentence."""
    return (error.strerror or "unreadable").lower()
