"""Messages on which models start anew, or are left out, under a changed configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monitor.config import Config
from monitor.events.counted_values import changed_meaning
from monitor.events.renumbering import State
from monitor.report.printable import first_names

_NAMED = 5
_SETTINGS = {"weighted": "labelling"}
"""Settings by what of them a state holds, where the names differ."""


def changed_models(config: Config, models: Sequence[State]) -> Iterator[str]:
    """Yield a line for each reason why counts do not go on.

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
        named = first_names(names, _NAMED)
        yield f"{reason} changed: models start anew, without their counts: {named}"
    if gone:
        named = first_names(gone, _NAMED)
        yield f"models are no longer configured, and their counts are left out: {named}"
