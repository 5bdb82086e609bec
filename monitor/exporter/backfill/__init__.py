"""Backfill: the series that the exporter would have exposed in the past, for Prometheus.

    moments       replays recorded events and yields the state at every step of event time
    recorder      stores the series at each moment on disk
    openmetrics   writes them as one OpenMetrics text with timestamps

`promtool tsdb create-blocks-from openmetrics` turns the text into blocks.
"""

from monitor.exporter.backfill.moments import Moments
from monitor.exporter.backfill.openmetrics import write_openmetrics
from monitor.exporter.backfill.recorder import Recorder

__all__ = ["Moments", "Recorder", "write_openmetrics"]
