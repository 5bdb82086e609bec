"""What of a changed configuration can be taken without a restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from monitor.config import Config
from monitor.feeds.decode import DecodeSettings, LiveDecoder

_ENGINE = (
    "defaults",
    "max_models",
    "max_pending",
    "max_record_bytes",
    "max_series",
    "models",
    "pane",
    "windows",
)
"""Keys that the engine goes by: another one takes over its state, or refuses to."""
_LIVE = (
    "body_timeout",
    "checkpoint_every",
    "max_body_bytes",
    "max_events_per_second",
    "max_queue_bytes",
    "token_files",
    "web_config",
)
"""Keys inside other sections whose change needs no restart."""


class Part(Protocol):
    """A part of the running process that a new configuration concerns."""

    def prepare(self, config: Config) -> Callable[[], None]:
        """See whether a configuration can be taken, and change nothing yet.

        Returns:
            Takes it; cannot fail.

        Raises:
            MonitorError: it cannot be taken.
        """
        ...


def concerns_engine(old: Config, new: Config) -> bool:
    """Whether another engine is needed.

    >>> concerns_engine(Config(), Config(windows=["1h"]))
    True
    """
    return any(getattr(old, name) != getattr(new, name) for name in _ENGINE)


class Decoding:
    """The decoder of all feeds, as a `Part`.

    Args:
        decoder: what they decode by.
    """

    def __init__(self, decoder: LiveDecoder) -> None:
        self._decoder = decoder

    def prepare(self, config: Config) -> Callable[[], None]:
        """Any configuration can be taken."""
        settings = DecodeSettings.from_config(config)
        return lambda: self._decoder.replace(settings)


def restart_faults(old: Config, new: Config) -> tuple[str, ...]:
    """The keys whose change needs a restart, one line a fault.

    >>> restart_faults(Config(), Config(exporter={"listen": "127.0.0.1:9200"}))
    ("exporter.listen: cannot be changed while it runs, from '127.0.0.1:9108' to
    '127.0.0.1:9200'; restart it",)
    """
    before, after = old.model_dump(mode="json"), new.model_dump(mode="json")
    return tuple(
        f"{path}: cannot be changed while it runs, from {was!r} to {now!r}; restart it"
        for name in before
        if name not in _ENGINE
        for path, was, now in _differences(name, before[name], after[name])
    )


def _differences(path: str, was: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    if was == now:
        return
    if isinstance(was, dict) and isinstance(now, dict) and set(was) == set(now):
        for name in was:
            if name not in _LIVE:
                yield from _differences(f"{path}.{name}", was[name], now[name])
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, pair in enumerate(zip(was, now, strict=True)):
            yield from _differences(f"{path}[{number}]", *pair)
    else:
        yield path, was, now
