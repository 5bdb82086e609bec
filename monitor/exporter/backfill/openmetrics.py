"""Recorded states as one OpenMetrics text: by family, then metric, then moment."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TextIO

from monitor.exporter.backfill.recorder import RecordedMetric, Recorder
from monitor.prometheus.family import Family, number_text
from monitor.prometheus.text import openmetrics_heading, prefix

_SECOND_MS = 1000


def write_openmetrics(recorder: Recorder, stream: TextIO, target: dict[str, str]) -> int:
    """Write every recorded state; an undefined number has no sample.

    Args:
        recorder: the states.
        stream: receives the text, in pieces.
        target: labels that a scrape would have added, such as job and instance.

    Returns:
        The number of samples written.
    """
    samples = 0
    for family, metrics in recorder.families():
        stream.write(openmetrics_heading(family))
        for metric in metrics:
            lines = list(_lines(family, metric, target))
            stream.writelines(lines)
            samples += len(lines)
    stream.write("# EOF\n")
    return samples


def _lines(family: Family, metric: RecordedMetric, target: dict[str, str]) -> Iterator[str]:
    lefts = [
        prefix(family, line._replace(labels={**target, **line.labels})) for line in metric.lines
    ]
    for time, numbers in zip(metric.times, metric.numbers.tolist(), strict=True):
        at = _seconds(time)
        for left, number in zip(lefts, numbers, strict=True):
            if not math.isnan(number):
                yield f"{left}{number_text(number)} {at}\n"


def _seconds(time_ms: int) -> str:
    """Format a moment in seconds, with a fraction where there is one."""
    whole, rest = divmod(time_ms, _SECOND_MS)
    return f"{whole}.{rest:03}" if rest else str(whole)
