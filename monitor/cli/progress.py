"""Progress of a long read, on stderr.

Updates one line on a terminal; elsewhere prints a line every minute. A short
read prints nothing.
"""

from __future__ import annotations

from typing import TextIO

from monitor.clock import Clock

_ON_TERMINAL, _ELSEWHERE = 0.2, 60.0
_MIB = 1 << 20


class Progress:
    """Reports bytes read; called by `monitor.feeds.files.read`.

    Args:
        stream: output.
        clock: decides when to write.

    >>> import io
    >>> from monitor.clock import ManualClock
    >>> clock, output = ManualClock(), io.StringIO()
    >>> progress = Progress(output, clock)
    >>> for minute in range(3):
    ...     clock.sleep(60)
    ...     progress(minute << 20, 16 << 20)
    >>> print(output.getvalue(), end="")
    read 0 of 16 MiB
    read 1 of 16 MiB
    read 2 of 16 MiB
    """

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream, self._clock = stream, clock
        self._terminal = stream.isatty()
        self._last = clock.monotonic()
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        """Report progress.

        Args:
            done: bytes read so far.
            total: bytes in all; 0 if unknown.
        """
        now = self._clock.monotonic()
        if now - self._last < (_ON_TERMINAL if self._terminal else _ELSEWHERE):
            return
        self._last = now
        of = f" of {total / _MIB:.0f}" if total else ""
        self._write(f"read {done / _MIB:.0f}{of} MiB")

    def close(self) -> None:
        """Clear the line."""
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        if self._terminal:
            self._stream.write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
            self._width = len(text)
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()
