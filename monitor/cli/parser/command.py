"""What a command of the command line is, and what several of them take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

PROGRAM = "precision-monitor"

DEFAULT_LISTEN = "127.0.0.1:9108"
"""Where the demo serves, and the exporter where nothing else is configured."""
DEFAULT_URL = f"http://{DEFAULT_LISTEN}"

_DAY_SECONDS = 86_400


class Command(NamedTuple):
    """A command and its help.

    Attributes:
        name: as it is typed.
        summary: one line, for the list of commands.
        about: what it does, in lines of at most 80 characters.
        examples: a line each, that can be typed.
        arguments: adds what the command takes.
    """

    name: str
    summary: str
    about: str
    examples: str
    arguments: Callable[[argparse.ArgumentParser], None]


def no_arguments(_: argparse.ArgumentParser) -> None:
    """Of a command that takes none."""


def add_config(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """`--config`, the same wherever a command takes it."""
    parser.add_argument(
        "-c",
        "--config",
        metavar="FILE",
        required=required,
        help="the configuration, YAML"
        + ("" if required else "; without one any model is taken and labels never come too late"),
    )


def count(text: str) -> int:
    """An integer from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer from 1 on, got {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """Seconds, up to those of a day."""
    try:
        read = float(text)
    except ValueError:
        read = -1.0
    if not 0 <= read <= _DAY_SECONDS:
        raise argparse.ArgumentTypeError(f"must be seconds from 0 to {_DAY_SECONDS}, got {text!r}")
    return read
