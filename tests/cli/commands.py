"""Runs commands inside the test's own process, on a few events."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest

from monitor.cli import main


class Ran(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def lines_of(*events: dict) -> str:
    """Return events as NDJSON."""
    return "".join(f"{json.dumps(event)}\n" for event in events)


def prediction(number: int, *, positive: int = 1, **fields: object) -> dict:
    """Return a prediction with an id of its number."""
    event = {"type": "prediction", "id": f"p{number}", "ts": 1000 + number}
    return {**event, "prediction": positive, **fields}


def label(number: int, *, positive: int = 1, **fields: object) -> dict:
    """Return the label of the prediction of that number."""
    event = {"type": "label", "id": f"p{number}", "ts": 2000 + number}
    return {**event, "label": positive, **fields}


def ran(capsys: pytest.CaptureFixture[str], *words: object) -> Ran:
    """Run a command; a parser that exits counts like a command that returns."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as end:
        code = int(end.code or 0)
    return Ran(code, *capsys.readouterr())
