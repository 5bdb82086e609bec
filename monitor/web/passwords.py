"""Users with bcrypt hashes of their passwords, asked for by HTTP Basic authentication."""

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
"""Passwords that may wait to be checked; beyond them a request is as good as wrong."""
_NOBODY = "$2b$10$abcdefghijklmnopqrstuu" + "." * 31
_SCHEME = "basic"


class Users:
    """Users of whom a request must name one, with the password; for one event loop.

    A check takes as long as bcrypt is meant to. So it is done by one thread beside
    the loop, whatever the number of guesses, and what was right is remembered.

    Args:
        hashes: bcrypt hash of each user's password.
    """

    def __init__(self, hashes: Mapping[str, str]) -> None:
        self._hashes = dict(hashes)
        self._right: set[bytes] = set()
        self._salt = os.urandom(16)
        self._waiting = 0
        self._checks = ThreadPoolExecutor(1, "passwords")

    def __bool__(self) -> bool:
        return bool(self._hashes)

    async def known(self, authorization: str | None) -> str | None:
        """The user who sent a request; None where the password is wrong or there is none.

        An unknown user takes as long as a wrong password.

        Args:
            authorization: value of its Authorization header; None without one.
        """
        name, password = _credentials(authorization)
        if name is None:
            return None
        mark = hmac.digest(self._salt, b"\0".join((name.encode(), password)), sha256)
        if mark in self._right:
            return name
        if self._waiting >= MOST_WAITING or not await self._checked(name, password):
            return None
        self._right.add(mark)
        return name

    async def _checked(self, name: str, password: bytes) -> bool:
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._checks, self._check, name, password)
        finally:
            self._waiting -= 1

    def _check(self, name: str, password: bytes) -> bool:
        some = next(iter(self._hashes.values()), _NOBODY)  # costs as much as anybody's
        try:
            right = bcrypt.checkpw(password, self._hashes.get(name, some).encode())
        except ValueError:  # longer than bcrypt can tell apart
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
