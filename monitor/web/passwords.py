"""HTTP Basic authentication of users with bcrypt password hashes."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import bcrypt

MOST_WAITING = 20
"""Passwords that may wait for a check; above it, requests are refused unchecked."""
_NO_HASH = "$2b$10$abcdefghijklmnopqrstuu" + "." * 31
_SCHEME = "basic"


class Users:
    """Authenticates users by password; bound to one event loop.

    bcrypt is slow by design. One thread beside the event loop checks passwords, however
    many requests come, and passwords that were right are cached as keyed digests.

    Args:
        hashes: bcrypt hash of each user's password, by user name.
    """

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = dict(hashes)
        self._right: set[bytes] = set()
        self._salt = os.urandom(16)
        self._waiting = 0
        self._checks = ThreadPoolExecutor(1, "passwords")

    def __bool__(self) -> bool:
        return bool(self._hashes)

    async def authenticate(self, authorization: str | None) -> str | None:
        """Return the user of a request; None where user or password are missing or wrong.

        An unknown user takes as long as a wrong password.

        Args:
            authorization: value of its Authorization header; None without one.
        """
        name, password = _credentials(authorization)
        if name is None:
            return None
        digest = hmac.digest(self._salt, b"\0".join((name.encode(), password)), sha256)
        if digest in self._right:
            return name
        if self._waiting >= MOST_WAITING or not await self._checked(name, password):
            return None
        self._right.add(digest)
        return name

    async def _checked(self, name: str, password: bytes) -> bool:
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._checks, self._check, name, password)
        finally:
            self._waiting -= 1

    def _check(self, name: str, password: bytes) -> bool:
        some = next(iter(self._hashes.values()), _NO_HASH)  # an unknown user costs the same
        try:
            right = bcrypt.checkpw(password, self._hashes.get(name, some).encode())
        except ValueError:  # longer than bcrypt supports
            return False
        return right and name in self._hashes


def _credentials(authorization: str | None) -> tuple[str | None, bytes]:
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != _SCHEME:
        return None, b""
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        return (name.decode() if colon else None), password
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None, b""
