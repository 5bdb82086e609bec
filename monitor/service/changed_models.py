"""Messages on which models start anew, or are left out, under a changed configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monitor.config import Config
from monitor.events.counted_values import changed_meaning
from monitor.events.renumbering import State

_NAMED = 5
_SETTINGS = {"weighted": "labelling"}
"""Settings by what of them a state holds, where the names differ."""


def changed_models(config: Config, models: Sequence[State]) -> Iterator[str]:
    """Return a line for each reason why counts do not go on.

    Args:
        config: the new configuration.
        models: of the state: names, and the settings that the meaning of counts depends on.
    """
    gone, anew = [], dict[str, list[str]]()
    for saved in models:
        name = saved["name"]
        if not config.accepts(name):
            gone.append(name)
        elif changed := changed_meaning(config.model(name), saved):
            reason = " and ".join(_SETTINGS.get(key, key) for key in changed)
            anew.setdefault(reason, []).append(name)
    for reason, names in anew.items():
        yield f"{reason} changed: models start anew, without their counts: {_listed(names)}"
    if gone:
        yield f"models are no longer configured, and their counts are left out: {_listed(gone)}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {more:,} more" if more > 0 else shown
