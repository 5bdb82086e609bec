"""Families of Prometheus as metrics of OpenTelemetry, with the same names, labels and values.

Counters are cumulative monotonic sums, and histograms cumulative histograms; everything
else is a gauge. A summary, which here has a count and a sum alone, becomes two sums. What
is undefined is absent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    NumberDataPoint,
    Sum,
)
from prometheus_client.core import Metric as MetricFamily
from prometheus_client.core import Sample

_CUMULATIVE = AggregationTemporality.CUMULATIVE
_BUCKET, _BOUND = "_bucket", "le"

_Labels = tuple[tuple[str, str], ...]


def converted(families: Iterable[MetricFamily], start_ns: int, now_ns: int) -> Iterator[Metric]:
    """Yield the metrics of some families; those without a defined sample are left out.

    Args:
        families: as a collector gives them.
        start_ns: when their counters were 0, epoch nanoseconds.
        now_ns: when they were read, epoch nanoseconds.
    """
    for family in families:
        samples = [s for s in family.samples if not math.isnan(s.value)]
        if not samples:
            continue
        if family.type == "histogram":
            points = list(_histograms(family.name, samples, start_ns, now_ns))
            data = Histogram(points, _CUMULATIVE)
            yield Metric(family.name, family.documentation, "", data)
        elif family.type in ("counter", "summary"):
            yield from _metrics(
                family, samples, lambda points: Sum(points, _CUMULATIVE, True), start_ns, now_ns
            )
        else:
            yield from _metrics(family, samples, Gauge, 0, now_ns)


def _metrics(
    family: MetricFamily,
    samples: Sequence[Sample],
    make: Callable[[Sequence[NumberDataPoint]], Sum | Gauge],
    start_ns: int,
    now_ns: int,
) -> Iterator[Metric]:
    """Yield a metric for each name that the samples have."""
    points: dict[str, list[NumberDataPoint]] = defaultdict(list)
    for sample in samples:
        point = NumberDataPoint(dict(sample.labels), start_ns, now_ns, float(sample.value))
        points[sample.name].append(point)
    for name, some in points.items():
        yield Metric(name, family.documentation, "", make(some))


def _histograms(
    name: str, samples: Sequence[Sample], start_ns: int, now_ns: int
) -> Iterator[HistogramDataPoint]:
    """Yield a point for each label set, its buckets by themselves instead of cumulated."""
    buckets: dict[_Labels, list[tuple[float, float]]] = defaultdict(list)
    sums: dict[_Labels, float] = {}
    for sample in samples:
        labels = tuple((key, value) for key, value in sample.labels.items() if key != _BOUND)
        if sample.name == f"{name}{_BUCKET}":
            buckets[labels].append((float(sample.labels[_BOUND]), sample.value))
        elif sample.name == f"{name}_sum":
            sums[labels] = sample.value
    for labels, cumulated in buckets.items():
        cumulated.sort()
        counts = [round(count) for _, count in cumulated]
        yield HistogramDataPoint(
            attributes=dict(labels),
            start_time_unix_nano=start_ns,
            time_unix_nano=now_ns,
            count=counts[-1],
            sum=sums.get(labels, 0.0),
            bucket_counts=[b - a for a, b in zip([0, *counts], counts, strict=False)],
            explicit_bounds=[bound for bound, _ in cumulated if math.isfinite(bound)],
            min=None,  # type: ignore[arg-type]  # optional in the protocol, and not known
            max=None,  # type: ignore[arg-type]  # likewise
        )
