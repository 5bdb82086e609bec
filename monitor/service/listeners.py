"""Checks which listeners are open to other machines, before they start."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from monitor.config import Config, HttpFeed
from monitor.errors import ConfigError
from monitor.web.access import read_access
from monitor.web.access_middleware import AccessMiddleware
from monitor.web.tokens import is_loopback


def exposed_listeners(config: Config) -> tuple[str, ...]:
    """Return the listeners that let other machines change something without authentication.

    An exporter that can only be read may be open, as Prometheus exporters are.

    Returns:
        One line a fault.

    Raises:
        ConfigError: a token file or web configuration cannot be used.
    """
    return tuple(_exposed(config))


def refused_listeners(config: Config) -> tuple[str, ...]:
    """Return the faults of token files and web configurations, or else the exposed listeners."""
    return tuple(dict.fromkeys(_unusable(config))) or exposed_listeners(config)


def _unusable(config: Config) -> Iterator[str]:
    feeds = [feed for feed in config.feeds if isinstance(feed, HttpFeed)]
    files = [(feed.token_files, feed.web_config) for feed in feeds]
    for tokens, web_config in (*files, ((), config.exporter.web_config)):
        try:
            read_access(tokens, web_config)
        except ConfigError as error:
            yield from error.faults


def _exposed(config: Config) -> Iterator[str]:
    for number, feed in enumerate(config.feeds):
        if isinstance(feed, HttpFeed) and not is_loopback(feed.address.host):
            access = read_access(feed.token_files, feed.web_config)
            if not access.restricted:
                yield (
                    f"feeds[{number}].listen: is open to other machines without authentication, "
                    f"got {feed.listen!r}; add token_files or web_config, listen on 127.0.0.1, or "
                    "run with --insecure"
                )
    exporter = config.exporter
    if not exporter.allow_reload or is_loopback(exporter.address.host):
        return
    if not read_access((), exporter.web_config).restricted:
        yield (
            "exporter.allow_reload: is open to other machines without authentication, got "
            f"listen {exporter.listen!r}; add web_config, listen on 127.0.0.1, or run with "
            "--insecure"
        )


class ExporterAccess:
    """Access control of the exporter, as a `Reloadable`.

    Args:
        guard: guard of the exporter.
    """

    def __init__(self, guard: AccessMiddleware) -> None:
        self._guard = guard

    def prepare(self, config: Config) -> Callable[[], None]:
        """Check that the web configuration can be used.

        Returns:
            Applies it.

        Raises:
            ConfigError: it cannot be used, or changes TLS.
        """
        read = read_access((), config.exporter.web_config)
        access = self._guard.access.replaced_by(read, "exporter")

        def apply() -> None:
            self._guard.access = access

        return apply
