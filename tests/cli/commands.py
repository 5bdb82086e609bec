"""Runs commands inside the test's own process."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from monitor.cli import main


class Ran(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def ran(capsys: pytest.CaptureFixture[str], *words: object) -> Ran:
    """Run a command; a parser that exits counts like a command that returns."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as end:
        code = int(end.code or 0)
    return Ran(code, *capsys.readouterr())
