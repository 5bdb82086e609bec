"""Posts counts to the http feed of another monitor."""

from __future__ import annotations

import gzip
import http.client
import secrets
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Callable
from email.message import Message
from typing import NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from monitor.clock import SECOND_MS
from monitor.config.forward import ForwardConfig
from monitor.config.quantities import without_account
from monitor.feeds.acknowledgement import direct_opener
from monitor.feeds.http.feed_settings import SETTINGS_HEADER, STATE_HEADER
from monitor.feeds.http.senders import SENDER_HEADER

_BODY = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
_FASTEST = 1
_ANSWER_BYTES = 1 << 24


class ReceiverAnswer(NamedTuple):
    """Answer of the receiver.

    Attributes:
        status: HTTP status code.
        state: identity of the receiver's state; "" where it names none.
        body: JSON of a feed, or the beginning of whatever it is.
        retry_after: seconds that it asks to wait; 0 where it does not.
        settings: digest of the settings by which it counts; "" where it names none.
    """

    status: int
    state: str = ""
    body: bytes = b""
    retry_after: float = 0.0
    settings: str = ""


class ReceiverAwayError(Exception):
    """The receiver did not answer; the message says why."""


Post = Callable[[bytes, str], ReceiverAnswer]
"""Posts NDJSON to a receiver whose state has an identity, "" for whichever it has; raises a
`ReceiverAwayError`."""


def poster(config: ForwardConfig, shard: str) -> Post:
    """Return what posts to the configured receiver. Redirects are not followed.

    Args:
        config: of the forwarding.
        shard: name of this shard; requests name it, and the process, by which a receiver notices
            two processes of one shard.
    """
    opener = direct_opener()
    own = {name: value.get_secret_value() for name, value in config.headers.items()}
    sender = {SENDER_HEADER: f"{shard} {secrets.token_hex(8)}"}
    fixed = {**_account(config.url), **own, **_BODY, **sender}
    parts = urlsplit(config.url)
    url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

    def post(lines: bytes, state: str) -> ReceiverAnswer:
        named = {STATE_HEADER: state} if state else {}
        body = gzip.compress(lines, _FASTEST, mtime=0)
        request = urllib.request.Request(url, body, {**fixed, **named})  # noqa: S310  # the operator's
        try:
            with opener.open(request, timeout=config.timeout / SECOND_MS) as answer:
                return _read(answer.status, answer.headers, answer.read(_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            with error:
                return _read(error.code, error.headers, error.read(_ANSWER_BYTES))
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise ReceiverAwayError(without_account(f"cannot be reached: {reason}")) from error

    return post


def _account(url: str) -> dict[str, str]:
    """Return the header for the user and password of a URL; none where it has none."""
    parts = urlsplit(url)
    if parts.username is None:
        return {}
    account = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(account.encode()).decode()}"}


def _read(status: int, headers: Message, body: bytes) -> ReceiverAnswer:
    wait = headers.get("Retry-After", "")
    return ReceiverAnswer(
        status=status,
        state=headers.get(STATE_HEADER, ""),
        body=body,
        retry_after=float(wait) if wait.isdecimal() else 0.0,
        settings=headers.get(SETTINGS_HEADER, ""),
    )
