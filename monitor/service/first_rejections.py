"""Rejected records of a running monitor: the first of each kind is reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from monitor.events.reject_reasons import Rejection
from monitor.report.printable import one_line

_MOST = 50
"""Lines for all kinds together, of however many files."""


class _Sink(Protocol):
    def write(self, rejections: Sequence[Rejection]) -> None: ...


class FirstRejections:
    """Passes on rejections, and reports the first of each reason and field of a feed.

    Args:
        sink: stores the rejections.
        path: of the file that has them.
        say: prints a line for the operator.

    >>> class Nowhere:
    ...     def write(self, rejections): pass
    >>> from monitor.events.reject_reasons import RejectReason
    >>> unlabelled = Rejection(RejectReason.MISSING_FIELD, "a.csv:7", "id: is missing", b"")
    >>> FirstRejections(Nowhere(), Path("dead.ndjson"), print).write([unlabelled, unlabelled])
    a.csv:7: missing_field: id: is missing; this record and further ones are in dead.ndjson
    """

    def __init__(self, sink: _Sink, path: Path, say: Callable[[str], None]) -> None:
        self._sink = sink
        self._path = path
        self._say = say
        self._known: set[tuple[str, str, str]] = set()

    def write(self, rejections: Sequence[Rejection]) -> None:
        """Store rejections."""
        self._sink.write(rejections)
        for one in rejections if len(self._known) < _MOST else ():
            kind = (feed_of(one), str(one.reason), one.field)
            if kind not in self._known and len(self._known) < _MOST:
                self._known.add(kind)
                self._say(
                    f"{one_line(f'{one.position}: {one.reason}: {one.detail}')}; this record and "
                    f"further ones are in {self._path}"
                )


def feed_of(one: Rejection) -> str:
    """Return the feed, or the file, that a rejected record comes from.

    Args:
        one: the rejection.

    >>> from monitor.events.reject_reasons import RejectReason
    >>> feed_of(Rejection(RejectReason.MALFORMED, "logs/a.ndjson:7", "record: is torn", b""))
    'logs/a.ndjson'
    """
    name, cursor, _ = one.position.partition("@")
    if cursor:
        return name
    name, colon, line = one.position.rpartition(":")
    return name if colon and line.isdecimal() else one.position
