"""Backfill: what the exporter would have exposed in the past, for Prometheus to import.

    moments.py       recorded events up to one moment after the other, as a running
                     monitor would have seen them
    recorder.py      the series at each moment, kept on disk
    openmetrics.py   all of it as one OpenMetrics text with timestamps

`promtool tsdb create-blocks-from openmetrics` makes blocks of it.
"""

from monitor.exporter.backfill.moments import Moments
from monitor.exporter.backfill.openmetrics import write_openmetrics
from monitor.exporter.backfill.recorder import Recorder

__all__ = ["Moments", "Recorder", "write_openmetrics"]
