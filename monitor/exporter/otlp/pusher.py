"""Pushes the series of /metrics by OTLP, on a thread of its own."""

from __future__ import annotations

import logging
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Protocol

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    MetricExportResult,
    MetricsData,
    ResourceMetrics,
    ScopeMetrics,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from monitor.clock import SECOND_MS, Clock
from monitor.config import Config
from monitor.config.otlp import OtlpConfig
from monitor.config.quantities import without_account
from monitor.exporter.otlp.conversion import converted
from monitor.prometheus.exposition import Exposition
from monitor.prometheus.process_series import OTLP_PUSHES, NumberByLabels, SeriesDescription
from monitor.version import __version__

_SERVICE = "precision-monitor"
_NANOSECONDS = 10**9
_LOGGER = "opentelemetry.exporter"


class OtlpExporter(Protocol):
    """As much of OpenTelemetry's exporter as is used here."""

    def export(self, metrics_data: MetricsData) -> MetricExportResult:
        """Send metrics, within the exporter's timeout."""
        ...


class OtlpPusher:
    """Pushes what a scrape would show, at intervals.

    A push that fails is counted and logged, once until one succeeds. Its numbers are not
    sent again: the next push has newer ones of the same counters.

    Args:
        config: with `exporter.otlp`.
        exposition: what /metrics serves.
        clock: wall time of the points.
        say: prints a one-line message for the operator.
        began: when the counters of the engine were 0, epoch seconds.
        ready: returns whether the counters hold all that was counted before the start; until
            then nothing is pushed.
        exporter: sends; OpenTelemetry's by default.
    """

    def __init__(
        self,
        config: Config,
        exposition: Exposition,
        clock: Clock,
        say: Callable[[str], None],
        *,
        began: float,
        ready: Callable[[], bool] = lambda: True,
        exporter: OtlpExporter | None = None,
    ) -> None:
        assert config.exporter.otlp is not None  # noqa: S101  # checked by the caller
        otlp = config.exporter.otlp
        self._endpoint = without_account(otlp.url)
        self._every = otlp.every / SECOND_MS
        self._exposition = exposition
        self._clock = clock
        self._say = say
        self._ready = ready
        self._began = round(began * _NANOSECONDS)
        self._started = round(clock.now() * _NANOSECONDS)
        self._resource = Resource(_attributes(config, otlp))
        self._scope = InstrumentationScope(_SERVICE, __version__)
        self._failure = _LastMessage()
        self._exporter = _exporter(otlp) if exporter is None else exporter
        self._outcomes: Counter[str] = Counter(sent=0, failed=0)
        self._failing = False
        self._stopping = threading.Event()

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """Series of pushes, and how each is read."""
        return {OTLP_PUSHES: lambda: {(k,): float(n) for k, n in self._outcomes.items()}}

    def start(self) -> None:
        """Begin to push, after the first interval."""
        threading.Thread(target=self._run, name="otlp", daemon=True).start()

    def stop(self) -> None:
        """Push no more; a push that still runs is left to its timeout."""
        self._stopping.set()

    def push(self) -> None:
        """Push the series as they are now, unless the state is still being restored."""
        if not self._ready():
            return
        sent = self._sent()
        self._outcomes["sent" if sent else "failed"] += 1
        if not sent and not self._failing:
            detail = self._failure.text or "no answer"
            self._say(f"otlp {self._endpoint}: a push failed: {detail}; retrying")
        elif sent and self._failing:
            self._say(f"otlp {self._endpoint}: pushes are taken again")
        self._failing = not sent

    def _sent(self) -> bool:
        """Push; return whether the receiver took it."""
        metrics = self._metrics()
        try:
            return self._exporter.export(metrics) is MetricExportResult.SUCCESS
        except Exception as error:  # noqa: BLE001  # its transport has errors of its own
            self._failure.text = f"{type(error).__name__}: {error}"
            return False

    def _run(self) -> None:
        while not self._stopping.wait(self._every):
            self.push()

    def _metrics(self) -> MetricsData:
        of_engine, of_process = self._exposition.families()
        now = round(self._clock.now() * _NANOSECONDS)
        metrics = [
            *converted(of_engine, self._began, now),
            *converted(of_process, self._started, now),
        ]
        scope = ScopeMetrics(self._scope, metrics, "")
        return MetricsData([ResourceMetrics(self._resource, [scope], "")])


def _exporter(otlp: OtlpConfig) -> OTLPMetricExporter:
    return OTLPMetricExporter(
        endpoint=otlp.url,
        headers={name: value.get_secret_value() for name, value in otlp.headers.items()},
        timeout=otlp.timeout / SECOND_MS,
        compression=Compression.Gzip,
    )


def _attributes(config: Config, otlp: OtlpConfig) -> dict[str, str]:
    instance = f"{socket.gethostname()}:{config.exporter.address.port}"
    own = {"service.name": _SERVICE, "service.version": __version__}
    return {**own, "service.instance.id": instance, **otlp.attributes}


class _LastMessage(logging.Handler):
    """The last message of the exporter, which logs why a push failed and returns only that."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.text = ""
        logger = logging.getLogger(_LOGGER)
        logger.propagate = False
        logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.text = record.getMessage().splitlines()[0]
