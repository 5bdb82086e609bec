"""Authentication of requests by bearer token or user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from monitor.errors import ConfigError
from monitor.web.connection_shares import network
from monitor.web.passwords import Users
from monitor.web.tokens import Tokens, read_tokens
from monitor.web.web_config import WebConfig, read_web_config


class Access:
    """Authenticates the requests to a listener; bound to one event loop.

    A request must carry one of the tokens or the password of one of the users. Without
    tokens and users every request is accepted.

    Args:
        tokens: bearer tokens.
        web: users, TLS and response headers; by default none of them.

    Attributes:
        web: users, TLS and response headers.

    >>> import asyncio
    >>> access = Access(["0123456789abcdef"])
    >>> asyncio.run(access.client("Bearer 0123456789abcdef"))
    'token 9f9f5111f7b2'
    >>> asyncio.run(access.client("Bearer 0123456789")) is None
    True
    >>> asyncio.run(Access().client(None))
    ''
    """

    def __init__(self, tokens: Iterable[str] = (), web: WebConfig | None = None) -> None:
        self.web = web or WebConfig()
        self._tokens = Tokens(tokens)
        self._users = Users(self.web.users)

    @property
    def restricted(self) -> bool:
        """True where clients must authenticate, by token, password or TLS certificate."""
        return bool(self._tokens) or self.web.authenticates

    @property
    def challenges(self) -> str:
        """Value of the header WWW-Authenticate."""
        offered = (("Bearer", self._tokens), ("Basic", self._users))
        return ", ".join(f'{name} realm="precision-monitor"' for name, known in offered if known)

    async def client(self, authorization: str | None, address: str = "") -> str | None:
        """Authenticate a request.

        Args:
            authorization: value of its Authorization header; None without one.
            address: of the client.

        Returns:
            Name of the client; "" where no authentication is required; None if the
            credentials are missing or wrong.

        Raises:
            TooManyGuessesError: the address sent too many wrong passwords.
        """
        if not self._tokens and not self._users:
            return ""
        token = self._tokens.authenticate(authorization)
        if token is not None or not self._users:
            return None if token is None else f"token {token}"
        user = await self._users.authenticate(authorization, network(address))
        return None if user is None else f"user {user}"

    def replaced_by(self, other: Access, where: str) -> Access:
        """Return the other access, if it can replace this one while the listener runs.

        Args:
            other: read from the same files later.
            where: key of the listener's section, for messages.

        Raises:
            ConfigError: the TLS settings differ.
        """
        if other.web.tls != self.web.tls:
            fault = f"{where}.web_config: TLS cannot be changed at run time; restart the monitor"
            raise ConfigError((fault,))
        return other


def read_access(token_files: Sequence[Path] = (), web_config: Path | None = None) -> Access:
    """Read the files that a listener's settings name.

    Args:
        token_files: files of bearer tokens.
        web_config: web configuration file; None for none.

    Raises:
        ConfigError: a file cannot be used; lists all of its faults.
    """
    web = None if web_config is None else read_web_config(web_config)
    return Access(read_tokens(token_files), web)
