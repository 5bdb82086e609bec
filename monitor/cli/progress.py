"""How far a long reading has come, on stderr.

On a terminal one line that renews itself, else a line every minute. A
short reading says nothing.
"""

from __future__ import annotations

from typing import TextIO

from monitor.clock import Clock

_ON_TERMINAL, _ELSEWHERE = 0.2, 60.0
_MIB = 1 << 20


class Progress:
    """Tells bytes read; called by `monitor.feeds.files.read`.

    Args:
        stream: where to write.
        clock: when to write.

    >>> import io
    >>> from monitor.clock import ManualClock
    >>> clock, said = ManualClock(), io.StringIO()
    >>> progress = Progress(said, clock)
    >>> for minute in range(3):
    ...     clock.sleep(60)
    ...     progress(minute << 20, 16 << 20)
    >>> print(said.getvalue(), end="")
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
        """Bytes read so far, and bytes there are; 0 where nobody knows."""
        now = self._clock.monotonic()
        if now - self._last < (_ON_TERMINAL if self._terminal else _ELSEWHERE):
            return
        self._last = now
        of = f" of {total / _MIB:.0f}" if total else ""
        self._write(f"read {done / _MIB:.0f}{of} MiB")

    def close(self) -> None:
        """Leave a clean line behind."""
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        if self._terminal:
            self._stream.write(f"\r{text.ljust(self._width)}" + ("" if text else "\r"))
            self._width = len(text)
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()
