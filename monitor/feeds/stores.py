"""Recorded files in object stores, by URL such as `s3://bucket/events.parquet`, by fsspec.

fsspec finds the credentials, as its file systems do: in the environment, or in
`~/.config/fsspec`. fsspec is an extra, and has no types.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import urlsplit

from monitor.config.quantities import without_account
from monitor.errors import FeedError
from monitor.extras import install_command

EXTRA = "objectstores"
"""The extra that brings fsspec."""
AS_DATABASE = (
    "which a feed of type sql reads. Next: write the feed as in monitor/feeds/README.md#databases, "
    "then precision-monitor check-config FILE, and precision-monitor replay sql:NAME -c FILE"
)
"""What to do with a database in the place of a file."""
_DATABASES = ("sqlite", "postgresql", "postgres", "mysql", "mariadb", "oracle", "mssql", "duckdb")
_BUFFER_BYTES = 1 << 20
_Found = TypeVar("_Found")


def is_installed() -> bool:
    """Return whether fsspec is installed, without importing it."""
    return find_spec("fsspec") is not None


def fault_of_store(url: str) -> str:
    """Return why objects of a store cannot be read, without connecting; "" where nothing is known.

    Args:
        url: of an object, or a pattern of several.
    """
    if _protocol(url).partition("+")[0] in _DATABASES:
        return f"is a database, {AS_DATABASE}"
    if urlsplit(url).password:
        return "must not hold a password; give it to fsspec in the environment or ~/.config/fsspec"
    if not is_installed():
        return f"needs fsspec to be read; {install_command(EXTRA)}"
    return _fault_here(url)


def _fault_here(url: str) -> str:
    """Return why the packages that are installed cannot read objects of a store; "" if they can."""
    try:
        system = import_module("fsspec").get_filesystem_class(_protocol(url))
    except ImportError as error:
        return f"needs a package that is not installed: {error}"
    except ValueError:
        return f"names a store that is not known, got {_protocol(url)!r}; write one like s3://"
    archived = import_module("fsspec.archive").AbstractArchiveFileSystem
    if issubclass(system, archived) and "::" not in url:
        return f"names no archive; write it behind the file, as in {_protocol(url)}://FILE::ARCHIVE"
    return ""


def size_of(url: str) -> int:
    """Return the size of an object in bytes; 0 where the store does not say.

    Args:
        url: of the object.

    Raises:
        FeedError: the store cannot be used.
        OSError: there is no such object, or the store does not answer.
    """
    return int(_info(url).get("size") or 0)


def opened(url: str) -> BinaryIO:
    """Return an object, open for reading and seeking; it is fetched as it is read.

    Args:
        url: of the object.

    Raises:
        FeedError: the store cannot be used.
        OSError: there is no such object, or the store does not answer.
    """
    system, path = _system(url)
    raw = _StoredObject(_answered(lambda: system.open(path, "rb")), system)
    return cast("BinaryIO", io.BufferedReader(raw, _BUFFER_BYTES))


def fingerprint(url: str) -> list[str]:
    """Return the size and what the store says of the content; empty where it does not answer."""
    try:
        system, path = _system(url)
        size = size_of(url)
        return [str(size), _answered(lambda: str(system.ukey(path)))]
    except (FeedError, OSError):
        return []


def matching_objects(url: str) -> list[str]:
    """Return the URLs of the objects of a pattern, by name; the URL itself if it is no pattern.

    Args:
        url: of an object, or a pattern of several.

    Raises:
        FeedError: the store cannot be used, or does not answer.
    """
    if not set(url) & set("*?["):
        return [url]
    try:
        system, path = _system(url)
        found: list[str] = _answered(lambda: system.glob(path))
    except OSError as error:
        raise FeedError(f"{url}: cannot be read: {error}") from error
    archive = "".join(url.partition("::")[1:])
    return sorted(f"{system.unstrip_protocol(name)}{archive}" for name in found)


def _info(url: str) -> dict[str, Any]:
    system, path = _system(url)
    found: dict[str, Any] = _answered(lambda: system.info(path))
    if found.get("type") == "directory":
        raise IsADirectoryError(url)
    return found


def _system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    if fault := fault_of_store(url):
        raise FeedError(f"{without_account(url)}: {fault}")
    found: tuple[Any, str] = _answered(lambda: import_module("fsspec").core.url_to_fs(url))
    return found


def _protocol(url: str) -> str:
    return url.partition("://")[0]


def _answered(ask: Callable[[], _Found]) -> _Found:
    """Call a store and return its answer; errors of the store's own types become OSError."""
    try:
        return ask()
    except OSError:
        raise
    except Exception as error:  # each store has a client of its own, with errors of its own
        raise OSError(f"{type(error).__name__}: {error}") from error


class _StoredObject(io.RawIOBase):
    """An object whose store's errors are OSErrors."""

    def __init__(self, file: Any, system: Any) -> None:
        super().__init__()
        self._file = file
        self._system = system  # an archive is closed when nothing refers to it

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data: bytes = _answered(lambda: self._file.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return _answered(lambda: int(self._file.seek(offset, whence)))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()
        super().close()
