"""Client of a running monitor's API, for `--url` of `diagnose` and `compare`, and `top`."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec

from monitor.errors import FeedError, UsageError
from monitor.version import __version__

T = TypeVar("T", bound=msgspec.Struct)

_TIMEOUT_SECONDS = 30.0
_OK, _FAULTS = 200, range(400, 500)


class Remote:
    """A running monitor.

    Args:
        url: its address, such as http://127.0.0.1:9108; may end in a path prefix.

    Raises:
        UsageError: the address is not valid.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable or not url.isascii() or not url.isprintable() or " " in url:
            raise UsageError(f"--url: must be an address, got {url!r}; write http://HOST:PORT")
        self._parts = urlsplit(self.url)

    def json(self, path: str, query: Mapping[str, str | None]) -> Any:
        """Request an answer of the API as JSON.

        Args:
            path: path below /api/v1/.
            query: query parameters; those that are None are left out.

        Returns:
            The decoded answer.

        Raises:
            UsageError: the API rejects the query.
            FeedError: the monitor cannot be reached, or its answer is invalid.
        """
        text = self.text(path, query, "application/json")
        try:
            return json.loads(text)
        except ValueError as error:
            raise FeedError(
                f"{self.url}: the answer is not JSON; check that the URL is that of a "
                "precision-monitor"
            ) from error

    def answer(self, path: str, query: Mapping[str, str | None], kind: type[T]) -> T:
        """Return an answer of the API, checked.

        Args:
            path: below /api/v1.
            query: parameters; None leaves one out.
            kind: Struct of the answer.

        Raises:
            UsageError: a parameter does not fit.
            FeedError: it cannot be reached, or its version answers otherwise.
        """
        text = self.text(path, query, "application/json")
        try:
            return msgspec.json.decode(text, type=kind)
        except msgspec.DecodeError as error:
            raise FeedError(
                f"{self.url}: answered otherwise than expected ({error}): is it a "
                f"precision-monitor {__version__}?"
            ) from error

    def text(self, path: str, query: Mapping[str, str | None], accept: str = "text/plain") -> str:
        """Request an answer of the API as text.

        Args:
            path: path below /api/v1/.
            query: query parameters; those that are None are left out.
            accept: media type.

        Raises:
            UsageError: the API rejects the query.
            FeedError: the monitor cannot be reached, or its answer is invalid.
        """
        given = {name: value for name, value in query.items() if value is not None}
        address = f"{self._parts.path}/api/v1/{path}?{urlencode(given, errors='replace')}"
        try:
            status, body = self._get(address, accept)
        except (OSError, HTTPException) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise FeedError(f"{self.url}: cannot be reached: {why}") from error
        if status != _OK:
            raise self._fault(status, body)
        return body

    def _get(self, address: str, accept: str) -> tuple[int, str]:
        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        host, port = self._parts.hostname or "", self._parts.port
        connection = kind(host, port, timeout=_TIMEOUT_SECONDS)
        try:
            connection.request("GET", address, headers={"Accept": accept})
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def _fault(self, status: int, body: str) -> UsageError | FeedError:
        try:
            message = json.loads(body)["error"]
        except (ValueError, KeyError, TypeError):
            return FeedError(f"{self.url}: answered {status}: is a precision-monitor there?")
        if status in _FAULTS:
            return UsageError(f"{self.url}: {message}")
        return FeedError(f"{self.url}: {message}")


def remote_of(args: Namespace) -> Remote:
    """Return the running monitor that `--url` names.

    Args:
        args: of a command that also reads recorded events.

    Raises:
        UsageError: the address is not valid, or an option of recorded events is given too.
    """
    local = {"FILE": args.files, "--feed": args.feed, "--config": args.config}
    decided = None if args.threshold is None else str(args.threshold)
    for option, given in {
        **local,
        "--segments": args.segments,
        "--threshold": decided,
    }.items():
        if given:
            raise UsageError(
                f"{option}: cannot be combined with --url; a running monitor has its own"
            )
    return Remote(args.url)
