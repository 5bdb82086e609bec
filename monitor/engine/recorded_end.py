"""The end of a recording: what comes last is believed, and its labels carry the time further.

The labels do so until its predictions are mature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from monitor.clock import DAY_MS
from monitor.engine.stages import Stages
from monitor.events.columns import NO_TIME
from monitor.events.model_times import ModelTimes
from monitor.windows.history import HISTORY_DAYS


def carried(stages: Stages, until: Mapping[int, int]) -> Iterator[None]:
    """Carry models to the times that a recording ends with.

    Where it ends behind a gap, with too few events for a stream that goes on, these are believed.
    From there models go to times that their labels reach, day by day as a stream would.
    A model stops where its last prediction is mature, so that its windows end with its
    predictions, and a year behind them at the latest.

    Args:
        stages: as they are behind the last record.
        until: by model number, epoch milliseconds.

    Yields:
        Nothing; after each step of bounded work.
    """
    if ends := _behind_gaps(stages.times):
        yield from stages.carry(ends)
    going = {model: min(time, _latest(stages, model)) for model, time in until.items()}
    while going := {m: t for m, t in going.items() if _goes_on(stages, m, t)}:
        following = stages.days.following(stages.times.settled).tolist()
        yield from stages.carry({m: min(t, following[m]) for m, t in going.items()})


def _behind_gaps(times: ModelTimes) -> dict[int, int]:
    """Return the times of models with events behind a gap that a recording ends with."""
    ends = ((number, times.model(number).at_the_end()) for number in range(len(times.settled)))
    return {number: time for number, time in ends if time > times.settled[number] > NO_TIME}


def _latest(stages: Stages, model: int) -> int:
    return (stages.windows.last_prediction(model) or NO_TIME) + HISTORY_DAYS * DAY_MS


def _goes_on(stages: Stages, model: int, until: int) -> bool:
    """Return whether a model is before that time, with predictions that are not mature."""
    time, last = int(stages.times.settled[model]), stages.windows.last_prediction(model)
    if time == NO_TIME or time >= until or last is None:
        return False
    age = stages.maturities.judged(model, time)
    return age is not None and time - age < last
