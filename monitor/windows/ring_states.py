"""Changes of the stored state of a ring of panes."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import Int64Array
from monitor.events.renumbering import State


def taken_back(state: State, model: int, rows: Int64Array, time: int) -> State:
    """Return the state of a ring in which a model stands at an earlier time.

    What is stored of later panes lies ahead of the model then, and what was dropped stays so.

    Args:
        state: of a `PaneRing`.
        model: number of the model.
        rows: its rows.
        time: epoch milliseconds.
    """
    newest, span = state["newest"], state["span"]
    pane = time // state["width"]
    rows = rows[rows < state["counts"].shape[1]]
    if model >= len(newest) or newest[model] <= pane:
        return state
    last = int(newest[model])
    numbers = last - (last - state["panes"]) % span
    counts, newest = state["counts"].copy(), newest.copy()
    place, row, cell = np.nonzero(counts[:, rows])
    there = counts[place, rows[row], cell].astype(np.int64)
    entries = np.stack([numbers[place], rows[row], cell, there], axis=1)
    counts[:, rows], newest[model] = 0, pane
    ahead = np.concatenate([np.asarray(state["ahead"]).reshape(-1, 4), entries])
    return {**state, "newest": newest, "counts": counts, "ahead": ahead}
