"""The snapshot as a prometheus_client collector, for the registry of any program."""

import math
from collections.abc import Callable, Iterator

from prometheus_client.core import Metric, Sample
from prometheus_client.registry import Collector

from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import Family, Shape, shape_of
from monitor.snapshot import Snapshot


class SnapshotCollector(Collector):
    """All series of the monitor, as of the snapshot at the moment of the scrape.

    Args:
        read: returns the latest snapshot; called once a scrape, by the thread that scrapes.
            Where that is not the thread of the monitor, return a snapshot taken there.

    >>> from monitor import Monitor
    >>> from prometheus_client import CollectorRegistry
    >>> monitor, registry = Monitor(), CollectorRegistry()
    >>> monitor.predict("a", ts=0, prediction=True)
    >>> registry.register(SnapshotCollector(monitor.snapshot))
    >>> registry.get_sample_value("precision_monitor_events_total", {"type": "prediction"})
    1.0
    """

    def __init__(self, read: Callable[[], Snapshot]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        """Return every family with the samples that are defined."""
        snapshot = self._read()
        shape = shape_of(snapshot)
        return (_metric(f, shape, snapshot) for f in FAMILIES if f.is_shown(shape))

    def describe(self) -> Iterator[Metric]:
        """Return every family without samples, so that a registry can refuse duplicate names."""
        return (_empty(family) for family in FAMILIES)


def _empty(family: Family) -> Metric:
    return Metric(family.metric_name, family.meaning, family.kind)


def _metric(family: Family, shape: Shape, snapshot: Snapshot) -> Metric:
    metric = _empty(family)
    numbers = family.values(snapshot).tolist()
    metric.samples = [
        Sample(family.name + line.suffix, line.labels, number)
        for line, number in zip(family.lines(shape), numbers, strict=True)
        if not math.isnan(number) and not shape.hides(line.labels)
    ]
    return metric
