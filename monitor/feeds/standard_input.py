"""Reads standard input without blocking."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping
from typing import Any

from monitor.events.columns import EventBatch
from monitor.feeds.decode import LineDecoder
from monitor.feeds.decode.lines import count_lines
from monitor.feeds.follow.file_part import FilePart

_BATCH_BYTES = 1_500_000


class StandardInput:
    """A source of NDJSON lines from standard input; it cannot be resumed.

    Args:
        decoder: decodes the lines.
        descriptor: file descriptor to read; that of standard input by default.

    Attributes:
        ended: True once the end of the input was reached.
    """

    name = identity = "stdin"

    def __init__(self, decoder: LineDecoder, descriptor: int | None = None) -> None:
        self.ended = False
        self._decoder = decoder
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._part = FilePart(self.name, None, b"")

    @property
    def attached(self) -> bool:
        """Always true."""
        return True

    def poll(self) -> EventBatch | None:
        """Return the events of the lines completed since the last call; None if there are none.

        The end of the input completes the last line.
        """
        while not self.ended and select.select([self._descriptor], [], [], 0)[0]:
            data = os.read(self._descriptor, _BATCH_BYTES)
            self.ended = not data
            lines = self._part.take(data) if data else self._part.give_up()
            if lines:
                batch = self._decoder.decode_lines(
                    lines, source=self.name, first_line=self._part.line
                )
                self._part.line += count_lines(lines)
                return batch
        return None

    def position(self) -> Mapping[str, Any]:
        """Return no position: input that was read cannot be read again."""
        return {}

    def resume(self, position: Mapping[str, Any]) -> str:  # noqa: ARG002  # as in every source
        """Do nothing: reading continues with the next input."""
        return ""

    def commit(self, position: Mapping[str, Any]) -> None:
        """Do nothing: standard input stores nothing to release."""

    def close(self) -> None:
        """Do nothing: standard input stays open."""
