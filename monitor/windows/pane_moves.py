"""Moves of models from pane to pane, those that are alike together."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.events.columns import Int64Array


def alike_moves(
    old: Int64Array, new: Int64Array, models: Int64Array
) -> Iterator[tuple[int, int, Int64Array]]:
    """Yield the pairs of panes that models move from and to, and the models of each.

    Args:
        old: newest pane of each model.
        new: its newest pane then.
        models: those that move.
    """
    while len(models):
        before, after = int(old[models[0]]), int(new[models[0]])
        same = (old[models] == before) & (new[models] == after)
        if same.all():
            yield before, after, models
            return
        yield before, after, models[same]
        models = models[~same]
