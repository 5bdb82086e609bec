"""Checks of one model's labels against those of its reference."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.events.columns import Int64Array
from monitor.labels.checks import (
    AT_AN_ALARM,
    OF_A_WINDOW,
    OF_LATE,
    Strictness,
    label_fault,
    lacks_one_side,
)
from monitor.labels.faults import LabelFault
from monitor.watch.reference import MatureReference
from monitor.windows.outcome_reader import OutcomeReader

_FEWEST_PANES = 6
_LONGEST_MS = 7 * DAY_MS
_NO_SHIFT = 0.02


class LabelChecks:
    """Looks for label faults in windows and in the latest mature panes.

    Under labelling regimes other than `complete` no check finds anything.

    Args:
        model: its number.
        reference: with the usual coverage by labels.
        windows: counts.
        labelling: the labelling regime.
    """

    def __init__(
        self, model: int, reference: MatureReference, windows: OutcomeReader, labelling: Labelling
    ) -> None:
        self._model = model
        self._reference = reference
        self._windows = windows
        self._labelling = labelling
        self._latest: tuple[Int64Array, LabelFault | None] | None = None
        self._latest_edition: Hashable = None

    def may_explain_shift(self, now: int, age: int, totals: int) -> bool:
        """Return whether missing labels may explain a shift of prevalence that is seen now.

        Args:
            now: epoch milliseconds.
            age: the model's maturity, milliseconds.
            totals: series of all its outcomes.
        """
        if self._labelling is not Labelling.COMPLETE:
            return False
        cells = self._latest_cells(now, age, totals)
        lengths = sorted({len(cells), *range(_FEWEST_PANES, len(cells), _FEWEST_PANES)})
        if self._reference.opens is not None and any(
            lacks_one_side(self._reference.labelling, cells[-n:]) for n in lengths
        ):
            return True
        return any(self._fault(cells[-n:], AT_AN_ALARM) is not None for n in lengths)

    def latest_fault(self, now: int, age: int, totals: int) -> LabelFault | None:
        """Return the fault of the labels in the latest mature panes; None without one.

        Args:
            now: epoch milliseconds.
            age: the model's maturity, milliseconds.
            totals: series of all its outcomes.
        """
        if self._labelling is not Labelling.COMPLETE:
            return None
        edition = self._edition_of_latest(now, age)
        if self._latest is not None and edition is not None and edition == self._latest_edition:
            return self._latest[1]
        self._latest_edition = edition
        cells = self._latest_cells(now, age, totals)
        if self._latest is None or not np.array_equal(self._latest[0], cells):
            self._latest = (cells, self._fault(cells, OF_LATE))
        return self._latest[1]

    def fault_behind(self, cells: Int64Array, shift: float) -> LabelFault | None:
        """Return the fault of a window's labels that explains half of a shift, or more.

        Args:
            cells: the totals of the window by blocks, (blocks, 6).
            shift: of the log class ratio.
        """
        if self._labelling is not Labelling.COMPLETE:
            return None
        return fault_behind(self._reference, cells, shift, by_days=False)

    def _latest_cells(self, now: int, age: int, totals: int) -> Int64Array:
        start, end = self._latest_panes(now, age)
        return self._windows.panes(start, end, np.array([totals]))[:, 0]

    def _latest_panes(self, now: int, age: int) -> tuple[int, int]:
        step = self._windows.step_ms
        end = (now - age) // step
        return end - max(_FEWEST_PANES, min(age, _LONGEST_MS) // step), end

    def _edition_of_latest(self, now: int, age: int) -> Hashable:
        """Return the version of the latest mature panes; None where no window holds them all."""
        windows, panes = self._windows, self._latest_panes(now, age)
        first, last = (pane * windows.step_ms for pane in panes)
        for name in windows.names:
            edition = windows.edition(name, self._model, now, age)
            if edition is None:
                continue
            width = windows.width(edition.panes)
            if edition.panes.start * width <= first and last <= edition.panes.end * width:
                return panes, name, edition
        return None

    def _fault(self, cells: Int64Array, strictness: Strictness) -> LabelFault | None:
        return _fault_since(self._reference, cells, strictness)


def fault_behind(
    reference: MatureReference, cells: Int64Array, shift: float, *, by_days: bool
) -> LabelFault | None:
    """Return the fault of labels that explains half of a shift, or more.

    Args:
        reference: with the usual coverage by labels, under labelling `complete`.
        cells: all counts by blocks of time, (blocks, 6), all of them mature.
        shift: of the log class ratio.
        by_days: as for `label_fault`.
    """
    least = min(OF_A_WINDOW.shift, max(abs(shift) / 2, _NO_SHIFT))
    return _fault_since(reference, cells, OF_A_WINDOW._replace(shift=least), by_days=by_days)


def _fault_since(
    reference: MatureReference, cells: Int64Array, strictness: Strictness, *, by_days: bool = False
) -> LabelFault | None:
    given = reference.opens is None
    return label_fault(reference.labelling, cells, strictness, given=given, by_days=by_days)
