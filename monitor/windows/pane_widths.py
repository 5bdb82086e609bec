"""Width and reach of coarse panes, from the configuration or an earlier state."""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config, Reference
from monitor.config.quantities import format_duration
from monitor.errors import ConfigError
from monitor.events.renumbering import State

LONGEST_FIRST_MS = 28 * DAY_MS
"""Longest extension of a reference of the first days that has too few outcomes."""

SPARE_MS = 7 * DAY_MS
"""How much must be known after a reference of the first days before it replaces a shorter one."""

_LONGEST_MATURITY_MS = 60 * DAY_MS
"""Highest age at which windows end where labels have no timeout."""
_SLACK_MS = 2 * DAY_MS
_COARSE = 1


class CoarsePanes(NamedTuple):
    """Panes for weeks.

    Attributes:
        width: of one, milliseconds.
        reach: event time for which they are stored, milliseconds.
    """

    width: int
    reach: int


def coarse_panes(config: Config, stored: State | None = None) -> CoarsePanes:
    """Return the coarse panes of a configuration, or those of an earlier state.

    Args:
        config: panes, windows, references, and how late labels may come.
        stored: state of `Windows` of an earlier run; None to start empty.

    Raises:
        ConfigError: the panes of the state do not fit the configured panes or windows.
    """
    lengths = tuple(config.window_lengths.values())
    width = _width(config.pane, lengths) if stored is None else _stored_width(config, stored)
    return CoarsePanes(width, _longest_span(config) + _longest_maturity(config) + _SLACK_MS)


def _width(pane: int, lengths: tuple[int, ...]) -> int:
    """Return the longest run of panes, up to an hour, that divides every window."""
    panes = gcd(*lengths) // pane
    most = max(1, HOUR_MS // pane)
    return pane * max(k for k in range(1, min(panes, most) + 1) if panes % k == 0)


def _stored_width(config: Config, stored: State) -> int:
    """Return the width of the coarse panes of a state.

    Raises:
        ConfigError: they do not fit the configured panes or windows.
    """
    if stored["pane"] != config.pane:
        raise _unfit("pane", format_duration(stored["pane"]), format_duration(config.pane))
    ring = stored["rings"][_COARSE]
    width, reach = int(ring["width"]), ring["width"] * ring["span"] - _SLACK_MS
    for name, length in config.window_lengths.items():
        known = length in stored["lengths"]
        if length % width or (length > reach and not known):
            raise _unfit(
                "windows",
                f"of panes of {format_duration(width)} that reach back {format_duration(reach)}",
                name,
            )
    return width


def _unfit(key: str, stored: str, wanted: str) -> ConfigError:
    fault = (
        f"{key}: must fit the stored state, which is {stored}, got {wanted}; change it "
        "back, or move the state directory away to begin anew"
    )
    return ConfigError((fault,))


def _longest_maturity(config: Config) -> int:
    settings = [*config.models.values()] or [config.defaults]
    timeouts = [s.label_timeout for s in settings]
    return max(_LONGEST_MATURITY_MS if t is None else t for t in timeouts)


def _longest_span(config: Config) -> int:
    """Return the longest stretch of event time that windows or references read."""
    settings = [*config.models.values()] or [config.defaults]
    references = [_reach(s.reference) for s in settings]
    return max(*config.window_lengths.values(), *references, LONGEST_FIRST_MS) + SPARE_MS


def _reach(reference: Reference) -> int:
    """Return how far back a reference is read once it is mature, milliseconds."""
    if reference.window is not None:
        return reference.window.length
    return 2 * (reference.trailing or 0) or reference.first or 0
