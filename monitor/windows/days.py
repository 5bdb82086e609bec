"""Counts of every series by day, stored for a year at no cost per event."""

from __future__ import annotations

from monitor.clock import DAY_MS
from monitor.windows.panes import PaneRing
from monitor.windows.passed_panes import PassedPanes


class Days(PassedPanes):
    """Counts by day (UTC) and series.

    Args:
        coarse: the ring that panes come from.
        span: number of days.
    """

    def __init__(self, coarse: PaneRing, span: int) -> None:
        super().__init__(coarse, DAY_MS, span)
