"""Checks that the database of a URL can be read, and hides the secrets of the URL."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote_plus

from monitor.extras import install_command

EXTRA = "sql"
"""The extra that brings SQLAlchemy."""
_HIDDEN = "***"
_SECRET = ("pass", "pwd", "secret", "token", "key")
"""Parts of the names of parameters whose values are secret."""


def is_installed() -> bool:
    """Return whether SQLAlchemy is installed, without importing it."""
    return find_spec("sqlalchemy") is not None


def fault_of_url(url: str) -> str:
    """Return why a database cannot be read, without connecting; "" where nothing is known.

    Args:
        url: as SQLAlchemy takes it.
    """
    if not is_installed():
        return f"needs SQLAlchemy, which is not installed; {install_command(EXTRA)}"
    sqlalchemy = import_module("sqlalchemy")
    try:
        parsed = sqlalchemy.make_url(url)
    except sqlalchemy.exc.ArgumentError:
        return "is no URL of a database; write one like postgresql+psycopg://USER@HOST/DATABASE"
    try:
        dialect = parsed.get_dialect()
    except sqlalchemy.exc.NoSuchModuleError:
        name = parsed.drivername
        return f"names a database that is not known here, got {name!r}; install its dialect"
    try:
        dialect.import_dbapi()
    except ImportError as error:
        missing = error.name or parsed.get_driver_name()
        return f"needs the driver {missing}, which is not installed; install it with pip"
    return ""


def absent_file(url: str) -> str:
    """Return the file that a URL names if it does not exist; "" for other databases.

    SQLite would create it, and find no table in it.

    Args:
        url: as SQLAlchemy takes it, without a fault.
    """
    parsed = import_module("sqlalchemy").make_url(url)
    path: str = parsed.database or ""
    is_file = parsed.get_backend_name() == "sqlite" and path and not path.startswith((":", "file:"))
    return path if is_file and not Path(path).exists() else ""


def without_secrets(text: str, url: str) -> str:
    """Return a message of a driver without the secrets of the URL.

    Args:
        text: the message.
        url: of the database.

    >>> without_secrets('no user "a" with "s3cret"', "postgresql://a:s3cret@db/x?token=t0k%20en")
    'no user "a" with "***"'
    """
    for secret in _secrets_of(url):
        for written in {secret, quote(secret, safe=""), quote_plus(secret)}:
            text = text.replace(written, _HIDDEN)
    return text.replace(url, _HIDDEN)


def _secrets_of(url: str) -> list[str]:
    """The password, and the values of parameters named like one, the longest first."""
    rest = url.partition("://")[2]
    account, at, tail = rest.rpartition("@")
    password = account.partition(":")[2] if at else ""
    query = tail.partition("?")[2]
    pairs = [pair.partition("=") for pair in query.split("&")]
    values = [value for name, _, value in pairs if any(part in name.lower() for part in _SECRET)]
    found = {unquote_plus(value) for value in (password, *values)}
    return sorted(filter(None, found), key=len, reverse=True)
