"""Decides which changes of the configuration need no restart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from monitor.config import Config
from monitor.feeds.decode import DecodeSettings, LiveDecoder

_ENGINE = (
    "defaults",
    "forget_after",
    "max_models",
    "max_pending",
    "max_record_bytes",
    "max_series",
    "models",
    "pane",
    "windows",
    "longer_window",
)
"""Keys that need a new engine, which takes over the state of the old one or refuses it.

`longer_window` is a property: it depends on whether `windows` is there at all.
"""
_LIVE = (
    "body_timeout",
    "checkpoint_every",
    "external_url",
    "max_body_bytes",
    "max_events_per_second",
    "max_queue_bytes",
    "token_files",
    "web_config",
)
"""Keys inside other sections whose change needs no restart."""
_LIST = (list, tuple)
_FORWARD_ENDS = (
    "stop the monitor with `forward` in its configuration, and take it out once the last line of "
    "its log on forwarding says that the receiver has all counts"
)


class Reloadable(Protocol):
    """A part of the running process that a reload of the configuration changes."""

    def prepare(self, config: Config) -> Callable[[], None]:
        """Check that a configuration can be applied, without changing anything yet.

        Returns:
            Applies it; cannot fail.

        Raises:
            MonitorError: the configuration cannot be applied.
        """
        ...


def concerns_engine(old: Config, new: Config) -> bool:
    """Return True if a change needs a new engine.

    Args:
        old: the configuration in force.
        new: the changed configuration.

    >>> concerns_engine(Config(), Config(windows=["1h"]))
    True
    """
    return any(getattr(old, name) != getattr(new, name) for name in _ENGINE)


class ReloadableDecoder:
    """The decoder of all feeds, as a `Reloadable`.

    Args:
        decoder: the decoder that the feeds share.
    """

    def __init__(self, decoder: LiveDecoder) -> None:
        self._decoder = decoder

    def prepare(self, config: Config) -> Callable[[], None]:
        """Return what applies the decoder settings; any configuration can be applied."""
        settings = DecodeSettings.from_config(config, id_seed=self._decoder.settings.id_seed)
        return lambda: self._decoder.replace(settings)


def restart_faults(old: Config, new: Config) -> tuple[str, ...]:
    """Return the changed keys that need a restart, one line a fault.

    Args:
        old: the configuration in force.
        new: the changed configuration.

    >>> restart_faults(Config(), Config(exporter={"listen": "127.0.0.1:9200"}))
    ("exporter.listen: cannot be changed without a restart, from '127.0.0.1:9108' to
    '127.0.0.1:9200'; restart the monitor",)

    """
    if old.id_seed != new.id_seed:  # the secret itself is never shown
        return ("id_secret: cannot be changed for a state that exists; change it back",)
    before, after = old.model_dump(), new.model_dump()
    was, now = old.model_dump(mode="json"), new.model_dump(mode="json")
    then = {"forward": _FORWARD_ENDS} if new.forward is None else {}
    return tuple(
        f"{path}: cannot be changed without a restart, {change}; "
        + then.get(path, "restart the monitor")
        for name in before
        if name not in _ENGINE
        for path, change in _differences(name, (before[name], after[name]), (was[name], now[name]))
    )


def _differences(
    path: str, values: tuple[Any, Any], shown: tuple[Any, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the path of each change, and the change as it may be shown.

    Args:
        path: of the values.
        values: before and after, in which secrets compare by what they hide.
        shown: the same as plain values, in which a secret is a row of asterisks.
    """
    was, now = values
    if was == now:
        return
    if isinstance(was, dict) and isinstance(now, dict) and set(was) == set(now):
        for name in was:
            if name not in _LIVE:
                inner = (shown[0][name], shown[1][name])
                yield from _differences(f"{path}.{name}", (was[name], now[name]), inner)
    elif isinstance(was, _LIST) and isinstance(now, _LIST) and len(was) == len(now):
        for number, pair in enumerate(zip(was, now, strict=True)):
            inner = (shown[0][number], shown[1][number])
            yield from _differences(f"{path}[{number}]", pair, inner)
    elif shown[0] == shown[1]:
        yield path, "from one hidden value to another"
    else:
        yield path, f"from {shown[0]!r} to {shown[1]!r}"
