"""The end of a recording: its labels carry the time until its predictions are mature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from monitor.clock import DAY_MS
from monitor.engine.stages import Stages
from monitor.events.columns import NO_TIME
from monitor.windows.history import HISTORY_DAYS


def carried(stages: Stages, until: Mapping[int, int]) -> Iterator[None]:
    """Carry models to times that their recorded labels reach, day by day as a stream would.

    A model stops where its last prediction is mature, so that its windows end with its
    predictions, and a year behind them at the latest.

    Args:
        stages: as they are behind the last record.
        until: by model number, epoch milliseconds.

    Yields:
        Nothing; after each step of bounded work.
    """
    going = {model: min(time, _latest(stages, model)) for model, time in until.items()}
    while going := {m: t for m, t in going.items() if _goes_on(stages, m, t)}:
        following = stages.days.following(stages.times.settled).tolist()
        yield from stages.carry({m: min(t, following[m]) for m, t in going.items()})


def _latest(stages: Stages, model: int) -> int:
    return (stages.windows.last_prediction(model) or NO_TIME) + HISTORY_DAYS * DAY_MS


def _goes_on(stages: Stages, model: int, until: int) -> bool:
    """Return whether a model is before that time, with predictions that are not mature."""
    time, last = int(stages.times.settled[model]), stages.windows.last_prediction(model)
    if time == NO_TIME or time >= until or last is None:
        return False
    age = stages.maturities.judged(model, time)
    return age is not None and time - age < last
