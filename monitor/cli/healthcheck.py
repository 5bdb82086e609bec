"""`precision-monitor healthcheck`: for containers, which have no curl."""

from __future__ import annotations

from argparse import Namespace
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, urlsplit

from monitor.cli.output import show, tell
from monitor.errors import UsageError

_TIMEOUT_SECONDS = 5.0
_OK = 200


def run(args: Namespace) -> int:
    """Check that the monitor answers with 200.

    Returns:
        0 if it does, else 1.

    Raises:
        UsageError: the URL is not valid.
    """
    url = _checked(args.url)
    try:
        answer = _answer(url)
    except (OSError, HTTPException) as error:
        answer = getattr(error, "strerror", None) or str(error) or type(error).__name__
    if answer is None:
        show("ok")
        return 0
    tell(f"{args.url}: {answer}")
    return 1


def _checked(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        usable = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:
        usable = False
    if not usable or not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError(f"--url: must be an address, got {text!r}; write http://HOST:PORT/healthz")
    return urlsplit(text)


def _answer(url: SplitResult) -> str | None:
    """Return why the check fails, or None if it succeeds; ignores proxies of the environment."""
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request("GET", url.path or "/healthz")
        response = connection.getresponse()
        return None if response.status == _OK else f"answered {response.status} {response.reason}"
    finally:
        connection.close()
