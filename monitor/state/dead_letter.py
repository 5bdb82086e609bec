"""The dead-letter file: records that could not be used, each with its reason."""

from __future__ import annotations

import codecs
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from monitor.errors import FeedError
from monitor.events.reject_reasons import Rejection
from monitor.state.disk import AppendFile, unsynced
from monitor.state.locked_directory import check_place
from monitor.state.state_errors import StateGoneError

_UTF8 = codecs.getincrementaldecoder("utf-8")


class DeadLetter:
    r"""Appends one NDJSON line per rejection, up to a size; nothing is ever deleted.

    A file that others truncate, remove or rotate is written again from then on.

    A line holds `reason`, `position`, `detail` and `record`, the start of the
    record. A record that is not UTF-8 is in base64, marked by `encoding`.
    Rejections beyond the size, or that cannot be written, are counted as dropped.

    Attributes:
        written: rejections appended since the file was opened.
        dropped: rejections not written.

    Args:
        path: the file; its directory is created if missing.
        max_bytes: maximum size of the file, including its content before.

    Raises:
        FeedError: the file cannot be opened for appending.
    """

    def __init__(self, path: str | PathLike[str], max_bytes: int) -> None:
        self.written = 0
        self.dropped = 0
        self._max_bytes = max_bytes
        self._path = Path(path)
        try:
            self._file = AppendFile(self._path, sync=unsynced)
        except OSError as error:
            raise FeedError(f"{path}: dead-letter file cannot be opened: {error}") from error

    def write(self, rejections: Sequence[Rejection]) -> None:
        """Append rejections; never raises for lack of space."""
        self._take_up()
        lines = self._fitting(rejections)
        if lines and not self._appended(b"".join(lines)):
            lines = []
        self.written += len(lines)
        self.dropped += len(rejections) - len(lines)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _take_up(self) -> None:
        """Go on in the file of this name: it may have been truncated, removed or rotated."""
        try:
            check_place(self._path, self._file.descriptor)
            self._file.take_up()
        except StateGoneError:
            with suppress(OSError):
                again = AppendFile(self._path, sync=unsynced)
                self._file.close()
                self._file = again
        except OSError:
            pass  # the append finds out

    def _fitting(self, rejections: Sequence[Rejection]) -> list[bytes]:
        """Return the leading rejections that fit, as lines; the others cost nothing."""
        room = self._max_bytes - self._file.size
        lines: list[bytes] = []
        for rejection in rejections:
            line = encoded(rejection)
            room -= len(line)
            if room < 0:
                break
            lines.append(line)
        return lines

    def _appended(self, data: bytes) -> bool:
        """Append data; return False, with the file unchanged, if that fails."""
        try:
            self._file.append(data)
        except OSError:
            return False
        return True


def encoded(rejection: Rejection) -> bytes:
    r"""Return a rejection as a line.

    >>> from monitor.events.reject_reasons import RejectReason
    >>> encoded(Rejection(RejectReason.MALFORMED, "a:1", "is not UTF-8", b"\xff"))
    b'{"reason":"malformed",...,"record":"/w==","encoding":"base64"}\n'
    """
    line = {
        "reason": rejection.reason,
        "position": _printable(rejection.position),
        "detail": _printable(rejection.detail),
        **_record(rejection.record),
    }
    return msgspec.json.encode(line) + b"\n"


def _printable(text: str) -> str:
    """Replace invalid characters: file names may hold any bytes."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _record(record: bytes) -> dict[str, str]:
    if record.isascii():
        return {"record": record.decode()}
    try:
        return {"record": _UTF8().decode(record)}  # the last character may be cut
    except UnicodeDecodeError:
        return {"record": b64encode(record).decode(), "encoding": "base64"}
