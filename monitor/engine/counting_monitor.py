"""A monitor that counts, and judges nothing."""

from __future__ import annotations

from monitor.engine.monitor import Monitor


class CountingMonitor(Monitor):
    """A monitor that counts as `Monitor` does, at a quarter of its cost, and judges nothing.

    For programs that read counts, books, delays and histograms of scores alone. Its snapshots have
    no verdict, no detection, no reference, nothing that is measured at the reference, and no word
    on whether predictions are as usual.

    >>> monitor = CountingMonitor()
    >>> monitor.predict("a", ts=0, prediction=1)
    >>> monitor.label("a", ts=60, label=1)
    >>> monitor.snapshot().lifetime.counts
    ConfusionCounts(tp=[1], fp=[0], fn=[0], tn=[0])
    """

    judges = False
