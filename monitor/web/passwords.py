"""HTTP Basic authentication of users with bcrypt password hashes."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import os
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import bcrypt

from monitor.clock import Clock, SystemClock
from monitor.web.guesses import Guesses, TooManyGuessesError

MOST_WAITING, MOST_OF_ONE = 200, 2
"""Passwords that may wait for a check: in all, and of one address."""
_BUSY_SECONDS = 1
_NO_HASH = "$2b$10$abcdefghijklmnopqrstuu" + "." * 31
_SCHEME = "basic"


class Users:
    """Authenticates users by password; bound to one event loop.

    bcrypt is slow by design. One thread beside the event loop checks passwords, however
    many requests come, and passwords that were right are cached as keyed digests. An address
    has two passwords in the queue at most, and must wait after wrong ones, so that a right
    password from another address is always checked.

    Args:
        hashes: bcrypt hash of each user's password, by user name.
        clock: measures the time between wrong passwords.
    """

    def __init__(self, hashes: Mapping[str, str], clock: Clock | None = None) -> None:
        self._hashes = dict(hashes)
        self._guesses = Guesses(clock or SystemClock())
        self._right: set[bytes] = set()
        self._salt = os.urandom(16)
        self._waiting: Counter[str] = Counter()
        self._checking: dict[bytes, asyncio.Task[bool]] = {}
        self._checks = ThreadPoolExecutor(1, "passwords")

    def __bool__(self) -> bool:
        return bool(self._hashes)

    async def authenticate(self, authorization: str | None, address: str = "") -> str | None:
        """Return the user of a request; None where user or password are missing or wrong.

        An unknown user takes as long as a wrong password.

        Args:
            authorization: value of its Authorization header; None without one.
            address: of the client.

        Raises:
            TooManyGuessesError: the address sent too many wrong passwords, or too many wait.
        """
        name, password = _credentials(authorization)
        if name is None:
            return None
        digest = hmac.digest(self._salt, b"\0".join((name.encode(), password)), sha256)
        if digest in self._right:
            return name
        if digest not in self._checking:
            self._refuse_guesser(address)
            self._waiting[address] += 1
            self._checking[digest] = task = asyncio.create_task(
                self._checked(name, password, address)
            )
            task.add_done_callback(lambda _: self._checking.pop(digest))
        if not await asyncio.shield(self._checking[digest]):
            return None
        self._right.add(digest)
        return name

    def _refuse_guesser(self, address: str) -> None:
        """Refuse an address that must wait.

        Raises:
            TooManyGuessesError: it must.
        """
        wait = self._guesses.wait(address)
        if self._waiting[address] >= MOST_OF_ONE or self._waiting.total() >= MOST_WAITING:
            wait = max(wait, _BUSY_SECONDS)
        if wait:
            raise TooManyGuessesError(wait)

    async def _checked(self, name: str, password: bytes, address: str) -> bool:
        try:
            loop = asyncio.get_running_loop()
            right = await loop.run_in_executor(self._checks, self._check, name, password)
        finally:
            self._waiting -= Counter([address])
        if not right:
            self._guesses.note(address)
        return right

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
