"""Who may post: bearer tokens out of files."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from monitor.errors import ConfigError

SHORTEST = 16
"""Characters that a token has at least."""
_SCHEME = "bearer"
_SHOWN = 12


class Tokens:
    """The tokens of which a request must carry one.

    Args:
        tokens: any number.

    >>> Tokens(["0123456789abcdef"]).known("Bearer 0123456789abcdef")
    '9f9f5111f7b2'
    >>> Tokens(["0123456789abcdef"]).known("Bearer 0123456789") is None
    True
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self._digests = [_digest(token) for token in tokens]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def known(self, authorization: str | None) -> str | None:
        """The start of the digest of a request's token; None where it carries none of these.

        Takes as long for a wrong token as for a right one.

        Args:
            authorization: value of its Authorization header; None without one.
        """
        scheme, _, token = (authorization or "").partition(" ")
        given = _digest(token.strip())
        matches = [hmac.compare_digest(given, known) for known in self._digests]
        return given.hex()[:_SHOWN] if any(matches) and scheme.lower() == _SCHEME else None


def read_tokens(paths: Iterable[Path]) -> list[str]:
    """The tokens of all files: one a line; blank lines and those that begin with # are none.

    Raises:
        ConfigError: a file cannot be read, or holds no token or one that cannot be one.
    """
    found: list[str] = []
    for path in paths:
        tokens = [line.strip() for line in _text(path).splitlines()]
        tokens = [token for token in tokens if token and not token.startswith("#")]
        if not tokens:
            raise ConfigError((f"{path}: holds no token; write one a line",))
        if not all(map(_fits, tokens)):
            allowed = f"{SHORTEST} printable ASCII characters or more, without blanks"
            raise ConfigError((f"{path}: holds what cannot be a token; give each {allowed}",))
        found += tokens
    return found


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a listener there.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise ConfigError((f"{path}: token file cannot be read: {error.strerror}",)) from error
    except UnicodeDecodeError as error:
        raise ConfigError((f"{path}: token file is not ASCII; write one token a line",)) from error


def _fits(token: str) -> bool:
    return len(token) >= SHORTEST and token.isprintable() and " " not in token


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()
