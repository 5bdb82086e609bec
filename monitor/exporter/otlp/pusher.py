"""Pushes the series of /metrics by OTLP, on a thread of its own."""

from __future__ import annotations

import logging
import socket
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol

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

requests: Any = import_module("requests")

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

    A push that fails is counted and logged, once until one succeeds. OpenTelemetry's exporter
    repeats a push that the receiver is too busy for, within the timeout. After that its
    numbers are not sent again: the next push has newer ones of the same counters. One push
    runs at a time, so that none pile up behind a slow receiver.

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
        self._failure = _Failure()
        self._exporter = _exporter(otlp, self._failure) if exporter is None else exporter
        self._outcomes: Counter[str] = Counter(sent=0, failed=0)
        self._failing = ""
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
        failing = "" if sent else self._failure.kind
        if failing and failing != self._failing:
            self._say(f"otlp {self._endpoint}: a push failed: {self._failure.text}; retrying")
        elif sent and self._failing:
            self._say(f"otlp {self._endpoint}: pushes are taken again")
        self._failing = failing

    def _sent(self) -> bool:
        """Push; return whether the receiver took it."""
        self._failure.forget()
        try:
            return self._exporter.export(self._metrics()) is MetricExportResult.SUCCESS
        except Exception as error:  # noqa: BLE001  # else the thread ends, and pushes with it
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


def _exporter(otlp: OtlpConfig, failure: _Failure) -> OTLPMetricExporter:
    session = requests.Session()
    session.send = failure.watched(session.send)
    return OTLPMetricExporter(
        endpoint=otlp.url,
        headers={name: value.get_secret_value() for name, value in otlp.headers.items()},
        timeout=otlp.timeout / SECOND_MS,
        compression=Compression.Gzip,
        session=session,
    )


def _attributes(config: Config, otlp: OtlpConfig) -> dict[str, str]:
    instance = f"{socket.gethostname()}:{config.exporter.address.port}"
    own = {"service.name": _SERVICE, "service.version": __version__}
    return {**own, "service.instance.id": instance, **otlp.attributes}


class _Failure(logging.Handler):
    """Why a push failed: the exporter only returns that it did.

    Attributes:
        text: the status or error of the last request; where none was sent, what the exporter
            logs.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.forget()
        logger = logging.getLogger(_LOGGER)
        logger.propagate = False
        logger.addHandler(self)

    @property
    def kind(self) -> str:
        """The status, or the type of the error, whose text may differ each time."""
        return self.text.partition(":")[0]

    def forget(self) -> None:
        """Forget the push before."""
        self.text, self._requested = "no answer", False

    def watched(self, send: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that sends a request, and notes what comes of it."""

        def sent(*given: Any, **named: Any) -> Any:
            self._requested = True
            try:
                answer = send(*given, **named)
            except Exception as error:
                self.text = f"{type(error).__name__}: {error}"
                raise
            self.text = f"HTTP {answer.status_code} {answer.reason}".rstrip()
            return answer

        return sent

    def emit(self, record: logging.LogRecord) -> None:
        if not self._requested:
            self.text = record.getMessage().splitlines()[0]
