"""Whether a request is let in, and who sent it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from monitor.errors import ConfigError
from monitor.web.passwords import Users
from monitor.web.tokens import Tokens, read_tokens
from monitor.web.web_config import WebConfig, read_web_config


class Access:
    """Tokens and users of a listener, either of which opens it; for one event loop.

    Args:
        tokens: bearer tokens.
        web: users, and how the listener speaks.

    Attributes:
        web: likewise.

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
        """Whether only some are let in, be it by TLS."""
        return bool(self._tokens) or self.web.authenticates

    @property
    def challenges(self) -> str:
        """What WWW-Authenticate offers."""
        offered = (("Bearer", self._tokens), ("Basic", self._users))
        return ", ".join(f'{name} realm="precision-monitor"' for name, known in offered if known)

    async def client(self, authorization: str | None) -> str | None:
        """Who sent a request, in a word; "" where everybody is let in, None if it is not.

        Args:
            authorization: value of its Authorization header; None without one.
        """
        if not self._tokens and not self._users:
            return ""
        token = self._tokens.known(authorization)
        if token is not None or not self._users:
            return None if token is None else f"token {token}"
        user = await self._users.known(authorization)
        return None if user is None else f"user {user}"

    def replaced_by(self, other: Access, where: str) -> Access:
        """The other one, if it can take over from this one while the listener runs.

        Args:
            other: read from the same files later.
            where: the listener, as messages name it.

        Raises:
            ConfigError: it speaks another TLS.
        """
        if other.web.tls != self.web.tls:
            fault = f"{where}.web_config: TLS cannot be changed while it runs; restart it"
            raise ConfigError((fault,))
        return other


def read_access(token_files: Sequence[Path] = (), web_config: Path | None = None) -> Access:
    """What the files of a listener say.

    Raises:
        ConfigError: one of them cannot be used; all faults of it are told.
    """
    web = None if web_config is None else read_web_config(web_config)
    return Access(read_tokens(token_files), web)
