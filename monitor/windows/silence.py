"""Silence past the label timeout, counted as a negative."""

from __future__ import annotations

import numpy as np

from monitor.config import Labelling
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.join.deltas import known, unlabelled_as_negative


class Silence:
    """Turns stored counts into counts to read.

    Args:
        catalogue: the models' labelling regimes, and the series of each.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._of_model = np.zeros(0, dtype=np.bool_)

    def refresh(self) -> None:
        """Read the labelling regimes again; call it where the catalogue has changed."""
        silent = [s.labelling is Labelling.NEGATIVES_BY_TIMEOUT for s in self._catalogue.settings]
        self._of_model = np.array(silent, dtype=np.bool_)

    def as_negatives(self, cells: Int64Array, rows: Int64Array) -> Int64Array:
        """Return counts with unlabelled predictions as negatives, where the regime says so.

        Unknown outcomes count in no cell. The counts must be of predictions whose label
        timeout has passed.

        Args:
            cells: stored counts, (..., rows, 6).
            rows: series numbers.

        Returns:
            Counts of the same shape.
        """
        cells = known(cells)
        if not self._of_model.any():
            return cells
        chosen = np.flatnonzero(self._of_model[self._catalogue.model_of_series()[rows]])
        out = cells.copy()
        out[..., chosen, :] = unlabelled_as_negative(cells[..., chosen, :])
        return out
