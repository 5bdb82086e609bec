"""The series of the running process: scrapes, reloads, listeners, checkpoints.

Everything that the engine counts is in the `Snapshot`; these are numbers that only the
running process knows. They become Prometheus types when they are collected.
"""

import platform
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)

from monitor.kernel import kernel_in_use
from monitor.version import __version__


class SeriesDescription(NamedTuple):
    """A family of series as a person reads about it.

    Attributes:
        name: as queries use it.
        kind: Prometheus type: gauge, counter, histogram, summary or info.
        labels: names of its labels.
        meaning: its HELP text, one line.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


SCRAPE_DURATION = SeriesDescription(
    name="precision_monitor_scrape_duration_seconds",
    kind="summary",
    labels=("format",),
    meaning="Time to render the answer to a scrape, by format.",
)

SERIES_LEFT_OUT = SeriesDescription(
    name="precision_monitor_series_left_out",
    kind="gauge",
    labels=("kind",),
    meaning="Models, sources of counts and segment values that are counted, and of which this "
    "scrape has no series, because of max_series; what it has is exact.",
)

CONFIG_LAST_RELOAD_SUCCESSFUL = SeriesDescription(
    name="precision_monitor_config_last_reload_successful",
    kind="gauge",
    labels=(),
    meaning="1 if the configuration file had no faults when it was last read, 0 if it had and the "
    "previous configuration is still in force.",
)
CONFIG_LAST_RELOAD_SUCCESS = SeriesDescription(
    name="precision_monitor_config_last_reload_success_timestamp_seconds",
    kind="gauge",
    labels=(),
    meaning="Wall time when the configuration in force was read.",
)

CLOCK = SeriesDescription(
    name="precision_monitor_clock_timestamp_seconds",
    kind="gauge",
    labels=(),
    meaning="Wall clock of the monitor at the scrape, which event times are compared with.",
)
LOOP_STALL = SeriesDescription(
    name="precision_monitor_loop_stall_seconds",
    kind="gauge",
    labels=(),
    meaning="Longest time of the last five minutes for which the main loop, which reads and "
    "counts, did not run; one that still lasts included.",
)
HTTP_REQUESTS = SeriesDescription(
    name="precision_monitor_http_requests_total",
    kind="counter",
    labels=("listener", "code"),
    meaning="Requests answered, by listener and code: 429 while the queue is full, 503 while the "
    "journal cannot be written.",
)
HTTP_REQUESTS_IN_PROGRESS = SeriesDescription(
    name="precision_monitor_http_requests_in_progress",
    kind="gauge",
    labels=("listener",),
    meaning="Requests being read or answered.",
)
HTTP_CONNECTIONS = SeriesDescription(
    name="precision_monitor_http_connections",
    kind="gauge",
    labels=("listener",),
    meaning="Open connections, idle ones included. Linux only.",
)
QUEUE_REQUESTS = SeriesDescription(
    name="precision_monitor_queue_requests",
    kind="gauge",
    labels=(),
    meaning="Requests whose events are on disk and not yet counted.",
)
QUEUE_BYTES = SeriesDescription(
    name="precision_monitor_queue_bytes",
    kind="gauge",
    labels=("listener",),
    meaning="Bytes of requests being read, written to the journal or waiting to be counted; "
    "bounded by max_queue_bytes.",
)
QUEUE_OLDEST = SeriesDescription(
    name="precision_monitor_queue_oldest_timestamp_seconds",
    kind="gauge",
    labels=(),
    meaning="Wall time when the oldest events came that are on disk and not yet counted; absent "
    "if none wait.",
)
INGEST_PAUSED = SeriesDescription(
    name="precision_monitor_ingest_paused_seconds_total",
    kind="counter",
    labels=("cause",),
    meaning="Time in which posted events were rejected, by cause: queue_full or disk_full.",
)
CHECKPOINT_LAST_SUCCESS = SeriesDescription(
    name="precision_monitor_checkpoint_last_success_timestamp_seconds",
    kind="gauge",
    labels=(),
    meaning="Wall time of the state in the newest checkpoint on disk.",
)
CHECKPOINT_DURATION = SeriesDescription(
    name="precision_monitor_checkpoint_duration_seconds",
    kind="gauge",
    labels=(),
    meaning="Duration of the last checkpoint, until it was on disk.",
)
CHECKPOINT_STALL = SeriesDescription(
    name="precision_monitor_checkpoint_stall_seconds",
    kind="gauge",
    labels=(),
    meaning="Part of that duration in which nothing was counted, while the state was copied.",
)
CHECKPOINT_BYTES = SeriesDescription(
    name="precision_monitor_checkpoint_bytes",
    kind="gauge",
    labels=(),
    meaning="Size of the last checkpoint.",
)
STATE_BEGAN = SeriesDescription(
    name="precision_monitor_state_began_timestamp_seconds",
    kind="gauge",
    labels=(),
    meaning="Wall time when counting began; restarts continue from the saved state.",
)
STATE_FAULTS = SeriesDescription(
    name="precision_monitor_state_faults_total",
    kind="counter",
    labels=("kind",),
    meaning="Faults of the saved state that the monitor found and recovered from since the start.",
)
JOURNAL_BYTES = SeriesDescription(
    name="precision_monitor_journal_bytes",
    kind="gauge",
    labels=(),
    meaning="Size of the journal of posted events; segments older than two checkpoints are "
    "deleted.",
)
REPLAYED_RECORDS = SeriesDescription(
    name="precision_monitor_replayed_records",
    kind="gauge",
    labels=(),
    meaning="Records that the last start read again from the journal.",
)

DEAD_LETTERS = SeriesDescription(
    name="precision_monitor_dead_letters_total",
    kind="counter",
    labels=("outcome",),
    meaning="Rejected records since the start, by whether the dead-letter file has them: written, "
    "or dropped because it is full or cannot be written.",
)

OTLP_PUSHES = SeriesDescription(
    name="precision_monitor_otlp_pushes_total",
    kind="counter",
    labels=("outcome",),
    meaning="Pushes by OTLP since the start, by whether the receiver took them: sent or failed.",
)

PROCESS_SERIES = (
    SCRAPE_DURATION,
    SERIES_LEFT_OUT,
    CLOCK,
    LOOP_STALL,
    HTTP_REQUESTS,
    HTTP_REQUESTS_IN_PROGRESS,
    HTTP_CONNECTIONS,
    QUEUE_REQUESTS,
    QUEUE_BYTES,
    QUEUE_OLDEST,
    INGEST_PAUSED,
    CHECKPOINT_LAST_SUCCESS,
    CHECKPOINT_DURATION,
    CHECKPOINT_STALL,
    CHECKPOINT_BYTES,
    STATE_BEGAN,
    STATE_FAULTS,
    JOURNAL_BYTES,
    REPLAYED_RECORDS,
    DEAD_LETTERS,
    CONFIG_LAST_RELOAD_SUCCESSFUL,
    CONFIG_LAST_RELOAD_SUCCESS,
    OTLP_PUSHES,
)
"""Families that the running process alone serves, as those of `feed_series`; `SnapshotCollector`
does not."""


def build_labels() -> dict[str, str]:
    """Return the version of this program, that of Python, and which kernel runs.

    >>> sorted(build_labels())
    ['kernel', 'python', 'version']
    """
    return {
        "kernel": kernel_in_use(),
        "python": platform.python_version(),
        "version": __version__,
    }


class ScrapeTelemetry:
    """Counts and times scrapes by format.

    A collector for prometheus_client; safe to use from any thread.

    Args:
        formats: names of the formats; each has its series from the start.

    >>> scrapes = ScrapeTelemetry(["text"])
    >>> scrapes.observe("text", seconds=0.5)
    >>> [sample.value for family in scrapes.collect() for sample in family.samples]
    [1, 0.5]
    """

    def __init__(self, formats: list[str]) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(formats, 0)
        self._seconds = dict.fromkeys(formats, 0.0)

    def observe(self, format_name: str, *, seconds: float) -> None:
        """Count an answered scrape.

        Args:
            format_name: one of the formats.
            seconds: time from the request to the rendered answer.
        """
        with self._lock:
            self._counts[format_name] += 1
            self._seconds[format_name] += seconds

    def collect(self) -> Iterator[Metric]:
        """Yield the families for a registry."""
        name, _, labels, meaning = SCRAPE_DURATION
        family = SummaryMetricFamily(name, meaning, labels=labels)
        with self._lock:
            for format_name, count in self._counts.items():
                family.add_metric([format_name], count, self._seconds[format_name])
        yield family


NumberByLabels = Mapping[tuple[str, ...], float]
"""Numbers by label values, in the order of the description; those left out are undefined."""


class ProcessCollector:
    """Gauges and counters that are read afresh at each scrape.

    A collector for prometheus_client.

    Args:
        readers: a function for each family that returns its numbers; called by the thread
            that scrapes.

    >>> depth = SeriesDescription("queue_depth", "gauge", ("queue",), "Waiting requests.")
    >>> collector = ProcessCollector({depth: lambda: {("a",): 3.0}})
    >>> [(s.name, s.labels, s.value) for f in collector.collect() for s in f.samples]
    [('queue_depth', {'queue': 'a'}, 3.0)]
    """

    def __init__(self, readers: Mapping[SeriesDescription, Callable[[], NumberByLabels]]) -> None:
        self._readers = dict(readers)

    def add(self, readers: Mapping[SeriesDescription, Callable[[], NumberByLabels]]) -> None:
        """Add families, from the next scrape on."""
        self._readers = {**self._readers, **readers}

    def collect(self) -> Iterator[Metric]:
        """Yield the families for a registry."""
        for series, read in self._readers.items():
            make = CounterMetricFamily if series.kind == "counter" else GaugeMetricFamily
            family = make(series.name, series.meaning, labels=series.labels)
            for values, number in read().items():
                family.add_metric(values, number)
            yield family
