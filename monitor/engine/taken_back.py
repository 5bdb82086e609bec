"""Takes back the time of a model in a stored state, after false times were agreed upon."""

from __future__ import annotations

from typing import Any

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import Int64Array
from monitor.events.model_time import ModelTime
from monitor.events.renumbering import State
from monitor.events.version_starts import ModelVersions
from monitor.windows.ring_states import taken_back

_NO_PANES = (-1, 0, 0)


def with_time(state: State, model: str, time: int) -> State:
    """Return the state of a monitor in which a model stands at an earlier time.

    Counters, remembered predictions and labels stay, and so do the panes that are still stored.
    Detectors and verdicts begin anew with the reference, which stays if it lies before the time.

    Args:
        state: of a `Monitor`.
        model: name of the model.
        time: where it stands then, epoch milliseconds.

    Raises:
        ValueError: there is no such model, or it has not come so far.
    """
    if "silences" not in state and "forgotten" not in state:
        raise ValueError("it was written by an earlier version; start this one on it once")
    names = [one["name"] for one in state["catalogue"]["models"]]
    if model not in names:
        raise ValueError(f"no model {model!r}; there are {', '.join(names) or 'none'}")
    number = names.index(model)
    if state["times"]["models"][number]["time"] <= time:
        raise ValueError(f"the time of {model!r} is not later than that")
    owned = [i for i, series in enumerate(state["catalogue"]["series"]) if series[0] == model]
    series, itself = np.array(owned, dtype=np.int64), np.array([number])
    times = _times(state["times"], number, time)
    common = times["common"] - DAY_MS
    by_model = state["over"]["by_model"].copy()
    by_model[number : number + 1] = time // DAY_MS * DAY_MS - DAY_MS
    found: dict[str, Any] = {
        **state,
        "times": times,
        "over": {"by_model": by_model, "common": min(state["over"]["common"], common)},
        "windows": _windows(state["windows"], number, series, time),
        "delays": _rings(state["delays"], ("cohorts", "reports", "latest"), number, itself, time),
        "scores": {
            **_rings(state["scores"], ("weeks", "recent"), number, itself, time),
            **taken_back(_ring_of(state["scores"]), number, itself, time),
        },
        "watch": _watch(state["watch"], str(number), time),
        "day_cuts": [
            [] if place == number else row for place, row in enumerate(state.get("day_cuts", []))
        ],
        "join": {**state["join"], "delivered": _delivered(state["join"]["delivered"], model, time)},
        "versions": _versions(state["versions"], model, time),
    }
    if "value_scores" in state:
        found["value_scores"] = _value_scores(state["value_scores"], model, number, time)
    if "silences" in state:
        silences = state["silences"]
        common = min(silences["common"], times["common"])
        found["silences"] = {**silences, "common": common}
    return found


def _times(state: State, number: int, time: int) -> State:
    settled = ModelTime(1)
    settled.settle_at(time)
    models = [*state["models"]]
    pace = {name: models[number][name] for name in ("events", "aside_total", "gaps", "jumps")}
    models[number] = {**settled.state(), **pace}
    others = sorted(one["time"] for one in models if one["settled"])
    common = min(state["common"], others[-2:][0] // DAY_MS * DAY_MS)
    heard = state["heard"]
    if heard:
        left = heard[0] != number
        heard = [column[left] for column in heard] if left.any() else []
    counts = [0 if n == number else count for n, count in enumerate(state.get("heard_labels", []))]
    known = {"models": models, "common": common, "heard": heard, "heard_labels": counts}
    return {**state, **known}


def _rings(
    state: State, names: tuple[str, ...], number: int, rows: Int64Array, time: int
) -> dict[str, Any]:
    """Return a state whose rings of these names stand at a time."""
    changed = {name: taken_back(state[name], number, rows, time) for name in names}
    return {**state, **changed}


def _value_scores(state: State, model: str, number: int, time: int) -> State:
    of_model = [row for name, _, _, row in state["values"] if name == model]
    rows = np.array(of_model, dtype=np.int64)
    return {
        **_rings(state, ("weeks",), number, rows, time),
        **taken_back(_ring_of(state), number, rows, time),
    }


def _ring_of(state: State) -> State:
    return {name: state[name] for name in ("width", "span", "newest", "panes", "counts", "ahead")}


def _windows(state: State, number: int, series: Int64Array, time: int) -> State:
    itself = np.array([number])
    weights = state["weights"]
    running = {}
    for name, window in state["running"].items():
        places = window["places"].copy()
        places[number : number + 1] = _NO_PANES
        running[name] = {**window, "places": places}
    return {
        **state,
        "rings": [taken_back(ring, number, series, time) for ring in state["rings"]],
        "hours": taken_back(state["hours"], number, itself, time),
        "days": taken_back(state["days"], number, series, time),
        "weights": {
            **weights,
            "rings": [taken_back(ring, number, series, time) for ring in weights["rings"]],
        },
        "running": running,
    }


def _watch(state: State, number: str, time: int) -> State:
    def without(part: State) -> State:
        return {key: value for key, value in part.items() if key != number}

    reference = state["references"].get(number)
    stays = reference is not None and (reference["closes"] is None or reference["closes"] <= time)
    return {
        **state,
        "panes": without(state["panes"]),
        "references": state["references"] if stays else without(state["references"]),
        "watching": without(state["watching"]),
        "predictions": {name: without(part) for name, part in state["predictions"].items()},
    }


def _delivered(state: State, model: str, time: int) -> State:
    """Forget how far sources have come with a model, where that is later."""
    sources = {}
    for name, source in state["sources"].items():
        known = source["progress"]
        left = {
            key: one for key, one in known.items() if key != model or one["watermark_ms"] <= time
        }
        mark = source["watermark_ms"]
        mark = mark if len(left) == len(known) or mark is None else min(mark, time)
        sources[name] = {**source, "progress": left, "watermark_ms": mark}
    return {**state, "sources": sources}


def _versions(state: State, model: str, time: int) -> State:
    """Leave out versions that began later."""
    if model not in state:
        return state
    return {**state, model: ModelVersions.restored(state[model]).until(time).state()}
