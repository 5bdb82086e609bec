"""Who reaches the listeners of a configuration, checked before they are opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from monitor.config import Config, HttpFeed
from monitor.errors import ConfigError
from monitor.web.access import read_access
from monitor.web.access_middleware import AccessMiddleware
from monitor.web.tokens import is_loopback


def exposed_listeners(config: Config) -> tuple[str, ...]:
    """Where other machines could change something without authentication, one line a fault.

    An exporter that only is read may be open, as Prometheus's exporters are.

    Raises:
        ConfigError: a token file or web configuration cannot be used.
    """
    return tuple(_exposed(config))


def refused_listeners(config: Config) -> tuple[str, ...]:
    """Files of tokens or users that cannot be used; or else what `exposed_listeners` tells."""
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


class ExporterDoor:
    """The exporter's guard, which changes with the files of its users; see `changes.Part`.

    Args:
        guard: of the exporter.
    """

    def __init__(self, guard: AccessMiddleware) -> None:
        self._guard = guard

    def prepare(self, config: Config) -> Callable[[], None]:
        """See whether the files can be used.

        Raises:
            ConfigError: they cannot, or speak of another TLS.
        """
        read = read_access((), config.exporter.web_config)
        access = self._guard.access.replaced_by(read, "exporter")

        def take() -> None:
            self._guard.access = access

        return take
