"""Sums over models that are forgotten: they stay in the totals of the monitor."""

from __future__ import annotations

import numpy as np

from monitor.counts import Outcome
from monitor.engine.stages import Stages
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.forgotten import Forgotten
from monitor.join.shadow_store import Book


def sums_of(models: Int64Array, catalogue: Catalogue, stages: Stages) -> Forgotten:
    """Return the sums over some models, to which nothing is added any more.

    Args:
        models: their numbers.
        catalogue: names of models.
        stages: that counted them.
    """
    join, windows, names = stages.join, stages.windows, catalogue.models
    rows = np.array([catalogue.totals_row(names[n]) for n in models.tolist()], np.int64)
    cells = windows.as_negatives(windows.lifetime[rows], rows).sum(axis=0)
    duplicates = int(join.books.duplicates[models].sum())
    received = int(join.books.predictions[models].sum()) + duplicates
    shadows = join.shadows.store.books(len(names))[models, Book.RECEIVED].sum()
    outcomes = cells[: len(Outcome)].tolist()
    return Forgotten(
        len(models),
        received,
        duplicates,
        int(shadows),
        int(join.books.applied[models].sum()),
        *outcomes,
    )
