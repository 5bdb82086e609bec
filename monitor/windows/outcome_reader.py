"""What judges and detectors read: outcomes in windows and in coarse panes."""

from __future__ import annotations

from typing import Protocol

from monitor.events.columns import Int64Array
from monitor.windows.running import PaneRange
from monitor.windows.windows import Edition


class PaneReader(Protocol):
    """Outcomes by series in coarse panes."""

    @property
    def step_ms(self) -> int:
        """Width of a coarse pane, milliseconds."""
        ...

    def panes(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """As `WindowCounts.panes`: the counts of coarse panes, (panes, series, 6)."""
        ...

    def pane_weights(self, start: int, end: int, rows: Int64Array) -> Int64Array:
        """As `Windows.pane_weights`: the weights of labels in coarse panes."""
        ...


class OutcomeReader(PaneReader, Protocol):
    """Outcomes of models by series: those of `Windows`, or those of a class against the others.

    `Windows` has the arguments and shapes of each method.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the windows of every model."""
        ...

    @property
    def longest(self) -> int:
        """Length of the longest window, milliseconds."""
        ...

    @property
    def shortest(self) -> int:
        """Length of the shortest window, milliseconds."""
        ...

    def length(self, name: str) -> int:
        """Return the length of a window, milliseconds."""
        ...

    def first_pane(self, model: int) -> int | None:
        """Return the first coarse pane with a prediction of the model; None without any."""
        ...

    def edition(self, name: str, model: int, now: int, age: int) -> Edition | None:
        """As `Windows.edition`: the version of a model's counts in a window."""
        ...

    def pane_range(self, name: str, now: int, age: int) -> PaneRange:
        """As `Windows.pane_range`: the panes of a window."""
        ...

    def width(self, panes: PaneRange) -> int:
        """Return the width of these panes, milliseconds."""
        ...

    def blocks(self, name: str, rows: Int64Array, now: int, age: int, block_ms: int) -> Int64Array:
        """As `Windows.blocks`: a window's counts in blocks of time."""
        ...

    def weight_blocks(
        self, name: str, rows: Int64Array, now: int, age: int, block_ms: int
    ) -> Int64Array:
        """As `Windows.weight_blocks`: the weights of labels in the same blocks."""
        ...
