"""A command of the command line, and options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from monitor.clock import DAY_SECONDS

PROGRAM = "precision-monitor"

DEFAULT_LISTEN = "127.0.0.1:9108"
"""Default address of the exporter and of the demo."""
DEFAULT_URL = f"http://{DEFAULT_LISTEN}"


class Command(NamedTuple):
    """A command and its help.

    Attributes:
        name: name on the command line.
        summary: one line, for the list of commands.
        about: description, in lines of at most 80 characters.
        examples: one command a line.
        arguments: adds the options to a parser.
    """

    name: str
    summary: str
    about: str
    examples: str
    arguments: Callable[[argparse.ArgumentParser], None]


def no_arguments(_: argparse.ArgumentParser) -> None:
    """Add no options."""


def add_config(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add `--config`.

    Args:
        parser: parser of the command.
        required: the command fails without it.
    """
    parser.add_argument(
        "-c",
        "--config",
        metavar="FILE",
        required=required,
        help="configuration file, YAML"
        + ("" if required else "; without it any model is accepted and labels are never late"),
    )


def add_mapping(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which columns of the files hold the fields of events.

    Args:
        parser: parser of the command.
    """
    group = parser.add_argument_group(
        "mapping", "for files whose columns are not named like the fields of events; repeatable"
    )
    for name, value, text in (
        ("field", "NAME=COLUMN", "column of a field, nested names with dots: ts=event.time"),
        ("constant", "NAME=VALUE", "a field with one value in every record: model=claims"),
        ("positive", "FIELD=VALUE", "value of the positive class: label=fraud"),
        ("negative", "FIELD=VALUE", "value of the negative class (default: all others)"),
        ("missing", "FIELD=VALUE", "value that stands for no label or no prediction"),
    ):
        group.add_argument(f"--{name}", action="append", default=[], metavar=value, help=text)
    group.add_argument("--zone", metavar="ZONE", help="time zone of times without one")
    group.add_argument("--unit", metavar="UNIT", help="unit of times: s, ms, us or ns (default: s)")
    group.add_argument(
        "--time-format",
        metavar="FORMAT",
        help="format of times that are no ISO 8601, of strptime: %%d.%%m.%%Y %%H:%%M",
    )


def add_reference(parser: argparse.ArgumentParser) -> None:
    """Add `--reference`.

    Args:
        parser: parser of the command.
    """
    parser.add_argument(
        "--reference",
        metavar="FILE",
        help="held-out test set whose outcomes are the reference of its models, or what "
        f"`{PROGRAM} reference FILE` prints, as .yaml",
    )


def add_threshold(parser: argparse.ArgumentParser) -> None:
    """Add `--threshold`.

    Args:
        parser: parser of the command.
    """
    parser.add_argument(
        "--threshold",
        type=ratio,
        metavar="T",
        help="scores at or above T are positive predictions, where records have no prediction; of "
        "all models, and in place of the configured one",
    )


def ratio(text: str) -> float:
    """Parse a number from 0 to 1.

    Raises:
        ArgumentTypeError: it is not one.
    """
    try:
        read = float(text)
    except ValueError:
        read = -1.0
    if not 0 <= read <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, got {text!r}")
    return read


def count(text: str) -> int:
    """Parse an integer of at least 1.

    Raises:
        ArgumentTypeError: it is not one.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1, got {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """Parse seconds between 0 and a day.

    Raises:
        ArgumentTypeError: it is not such a number.
    """
    try:
        read = float(text)
    except ValueError:
        read = -1.0
    if not 0 <= read <= DAY_SECONDS:
        raise argparse.ArgumentTypeError(f"must be seconds from 0 to {DAY_SECONDS}, got {text!r}")
    return read
