"""Bearer tokens, read from files."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from monitor.errors import ConfigError

SHORTEST = 16
"""Minimum number of characters of a token."""
_SCHEME = "bearer"
_SHOWN = 12


class Tokens:
    """Authenticates requests by bearer token.

    Args:
        tokens: the valid tokens.

    >>> Tokens(["0123456789abcdef"]).authenticate("Bearer 0123456789abcdef")
    '9f9f5111f7b2'
    >>> Tokens(["0123456789abcdef"]).authenticate("Bearer 0123456789") is None
    True
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self._digests = [_digest(token) for token in tokens]

    def __bool__(self) -> bool:
        return bool(self._digests)

    def authenticate(self, authorization: str | None) -> str | None:
        """Return the first digits of the digest of a request's token; None if it is not valid.

        A wrong token takes as long as a right one.

        Args:
            authorization: value of its Authorization header; None without one.
        """
        scheme, _, token = (authorization or "").partition(" ")
        given = _digest(token.strip())
        matches = [hmac.compare_digest(given, valid) for valid in self._digests]
        return given.hex()[:_SHOWN] if any(matches) and scheme.lower() == _SCHEME else None


def read_tokens(paths: Iterable[Path]) -> list[str]:
    """Read tokens from files: one per line; blank lines and lines that begin with # are skipped.

    Raises:
        ConfigError: a file cannot be read, has no token, or has an invalid one.
    """
    found: list[str] = []
    for path in paths:
        tokens = [line.strip() for line in _text(path).splitlines()]
        tokens = [token for token in tokens if token and not token.startswith("#")]
        if not tokens:
            raise ConfigError((f"{path}: contains no token; write one per line",))
        if not all(map(_is_valid, tokens)):
            allowed = f"{SHORTEST} or more printable ASCII characters, without spaces"
            raise ConfigError((f"{path}: contains an invalid token; give each {allowed}",))
        found += tokens
    return found


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a listener on a host.

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
        raise ConfigError(
            (f"{path}: token file is not ASCII; write one token per line",)
        ) from error


def _is_valid(token: str) -> bool:
    return len(token) >= SHORTEST and token.isprintable() and " " not in token


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogateescape")).digest()
