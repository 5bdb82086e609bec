"""The next command to run on the files of `replay`, as a person writes it."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from os.path import commonprefix
from pathlib import Path

from monitor.cli.mapped_files import MAPPING_OPTIONS
from monitor.cli.parser.command import PROGRAM
from monitor.feeds.files import is_read_once

PIPED = "FILE"
"""What stands for standard input in a command, which cannot read it again."""
_READ_ALL = ("audit", "compare", "diagnose")
"""Commands that read all files, and the configuration."""
_INIT = "init"
"""A command that makes a feed of each file, of which few are named."""
_LISTED = 3
"""Files that a command lists; of more it has the pattern, or the first one and a number."""


def next_command(name: str, args: Namespace, more: Sequence[str] = ()) -> str:
    """Return a command on the same files with the same mapping.

    Args:
        name: of the command.
        args: of `replay`, as parsed.
        more: options of the command.
    """
    files = [PIPED if is_read_once(path) else path for path in args.files]
    reads_all = name in _READ_ALL
    words = ["-c", args.config] if args.config and reads_all else []
    words += mapping_as_given(args)
    every = reads_all or (name == _INIT and len(files) <= _LISTED)
    shown = files_text(files if every else files[:1])
    return " ".join(filter(None, [PROGRAM, name, shown, shlex.join([*words, *more])]))


def mapping_as_given(args: Namespace, *others: str) -> list[str]:
    """Return the mapping and the threshold as words of a command, as they were given.

    Args:
        args: of a command, as parsed.
        others: names of options, without their dashes, that come before them.
    """
    words = []
    for option in (*others, *MAPPING_OPTIONS):
        given = getattr(args, option.replace("-", "_")) or ()
        values = [given] if isinstance(given, str) else given
        words += [word for value in values for word in (f"--{option}", value)]
    return words if args.threshold is None else [*words, "--threshold", str(args.threshold)]


def files_text(files: Sequence[str]) -> str:
    """Return files as words of a command: many as their pattern, where it matches no other file.

    Args:
        files: paths.

    >>> files_text(["a b.csv", "c.csv"]), files_text(["a1", "b2", "c3", "d4"])
    ("'a b.csv' c.csv", "a1 '[and 3 more]'")
    """
    if len(files) <= _LISTED:
        return shlex.join(files)
    before = commonprefix(files)  # noqa: RUF071  # a pattern cuts names where letters differ
    after = commonprefix([one[len(before) :][::-1] for one in files])[::-1]  # noqa: RUF071
    if {*files} == {*_matching(before, after)}:
        return "*".join(shlex.quote(part) if part else "" for part in (before, after))
    return shlex.join([files[0], f"[and {len(files) - 1:,} more]"])


def _matching(before: str, after: str) -> Iterator[str]:
    """Yield what a shell makes of a text, `*` and another text, within one folder."""
    folder, sign, beginning = before.rpartition("/")
    try:
        names = [path.name for path in Path(f"{folder}{sign}" or ".").iterdir()]
    except OSError:  # a file of another folder, or none
        return
    for name in names:
        rest = name.removeprefix(beginning)
        whole = name.startswith(beginning) and rest.endswith(after)
        if whole and not (name.startswith(".") and not beginning):
            yield f"{folder}{sign}{name}"
