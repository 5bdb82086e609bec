"""Messages on which models start anew, or are left out, under a changed configuration."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.config import Config
from monitor.config.quantities import count_of
from monitor.events.counted_values import changed_meaning
from monitor.events.renumbering import State
from monitor.report.printable import first_names
from monitor.watch.asked_settings import asked_settings

_NAMED = 5
_SETTINGS = {"weighted": "labelling"}
"""Settings by what of them a state holds, where the names differ."""


def changed_models(config: Config, engine: State) -> Iterator[str]:
    """Yield a line for each reason why counts, or a reference and detectors, do not go on.

    Args:
        config: the new configuration.
        engine: state of the engine under the configuration before.
    """
    gone, anew, watched_anew = [], dict[str, list[str]](), dict[str, list[str]]()
    asked = engine.get("watch", {}).get("asked", ())
    for number, saved in enumerate(engine["catalogue"]["models"]):
        name = saved["name"]
        if not config.accepts(name):
            gone.append(name)
        elif changed := changed_meaning(config.model(name), saved):
            reason = " and ".join(_SETTINGS.get(key, key) for key in changed)
            anew.setdefault(reason, []).append(name)
        elif number < len(asked):
            now, before = asked_settings(config.model(name)), asked[number]
            keys = [key for key in {**before, **now} if before.get(key) != now.get(key)]
            if keys:
                watched_anew.setdefault(" and ".join(keys), []).append(name)
    for reason, names in anew.items():
        named = first_names(names, _NAMED)
        yield f"{reason} changed: models start anew, without their counts: {named}"
    for reason, names in watched_anew.items():
        named = first_names(names, _NAMED)
        yield f"{reason} changed: references and detectors start anew, counts go on: {named}"
    if gone:
        named = first_names(gone, _NAMED)
        yield f"models are no longer configured, and their counts are left out: {named}"
    yield from _received({name for names in anew.values() for name in names}, engine)


def _received(models: set[str], engine: State) -> Iterator[str]:
    """Yield a line where other monitors, or jobs, have sent counts of models that start anew."""
    known = engine["join"]["delivered"].get("sources", {})
    senders = [name for name, source in known.items() if models & source.get("progress", {}).keys()]
    if senders:
        yield (
            f"CAUTION: {count_of(len(senders), 'source')} of counts of these models, such as "
            f"{first_names(senders, 1)}, will not send them again: stop, and start with a new "
            "state directory, to which monitors that forward send all predictions within the "
            "horizon"
        )
