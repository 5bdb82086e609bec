"""Takes back the time of a model in a state directory, while no monitor runs on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from monitor.config.quantities import format_time
from monitor.engine.taken_back import with_time
from monitor.events.renumbering import State
from monitor.state import Checkpoints, StateError


def take_back(directory: Path, model: str, time: int) -> str:
    """Write a checkpoint like the newest one, in which a model stands at an earlier time.

    Args:
        directory: state directory; its lock is held.
        model: name of the model.
        time: epoch milliseconds.

    Returns:
        What was done, as a sentence.

    Raises:
        StateError: there is no checkpoint, no such model, or nothing to take back.
    """
    checkpoints = Checkpoints(directory / "checkpoints")
    newest = checkpoints.newest()
    if newest is None:
        raise StateError(f"{directory}: has no checkpoint")
    try:
        engine = with_time(newest.state["engine"], model, time)
    except ValueError as error:
        raise StateError(f"{newest.path}: {error}") from error
    clock = newest.state["clock"]
    others = {name: known for name, known in clock["models"].items() if name != model}
    changed = {
        **newest.state,
        "engine": engine,
        "clock": {**clock, "models": others},
        "forwarded": _unsent(newest.state.get("forwarded"), model, time),
    }
    checkpoints.write(changed)
    before = newest.state["engine"]["times"]["models"]
    names = [one["name"] for one in engine["catalogue"]["models"]]
    was = before[names.index(model)]["time"]
    return (
        f"{model}: from {format_time(was)} back to {format_time(time)}; counters are as before: "
        "what has expired stays so"
    )


def _unsent(state: State | None, model: str, time: int) -> State | None:
    """Return the state of the forwarding with this time of the model in what is not yet sent."""
    if state is None or state["batch"] is None:
        return state
    batch: dict[str, Any] = dict(state["batch"])
    marks = batch["watermarks"]
    batch["watermarks"] = {n: min(t, time) if n == model else t for n, t in marks.items()}
    return {**state, "batch": batch}
