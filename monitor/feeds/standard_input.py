"""Standard input, read without waiting for it."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping
from typing import Any

from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.lines import count_lines
from monitor.feeds.follow.part import Part

_BATCH_BYTES = 1_500_000


class StandardInput:
    """The lines of NDJSON that come on standard input; it has no position to go back to.

    Args:
        decoder: of the lines.
        descriptor: the file to read; standard input where None.
    """

    name = identity = "stdin"

    def __init__(self, decoder: Decoder, descriptor: int | None = None) -> None:
        self.ended = False
        self._decoder = decoder
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._part = Part(self.name, None, b"")

    @property
    def attached(self) -> bool:
        """It always is."""
        return True

    def poll(self) -> EventBatch | None:
        """Events of the lines that were finished since the last call; at the end the last line."""
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
        """There is none: what has been read cannot be read again."""
        return {}

    def resume(self, position: Mapping[str, Any]) -> str:  # noqa: ARG002  # as every feed
        """Read what comes now."""
        return ""

    def commit(self, position: Mapping[str, Any]) -> None:
        """Nothing is kept for it."""

    def close(self) -> None:
        """Nothing is let go: it is not ours."""
