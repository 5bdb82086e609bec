"""The exporter's app: the page, its API, the series, the two probes.

All routes only read, except the one that reloads the configuration, which is off by
default; events have a listener of their own. Every response, errors included, carries
headers that keep a browser from running or embedding it.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from monitor.clock import Clock, SystemClock
from monitor.errors import MonitorError
from monitor.exporter.api.engine_access import ReadEngine
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.routes import api_routes
from monitor.exporter.api.trends import PATIENCE_SECONDS
from monitor.exporter.page.routes import page_routes
from monitor.prometheus.exposition import Exposition
from monitor.prometheus.negotiation import Format, accepts_gzip, negotiate
from monitor.prometheus.process_series import SERIES_LEFT_OUT, ScrapeTelemetry
from monitor.prometheus.process_series import ProcessCollector as SeriesCollector
from monitor.prometheus.series_limit import LeftOut
from monitor.report.rejected_lately import RejectedLately
from monitor.snapshot import Snapshot
from monitor.web.access import Access
from monitor.web.access_middleware import AccessMiddleware
from monitor.web.hosts import AllowedHosts

_RELOAD_SECONDS = 30
"""How long a client waits for a reload, which goes on after that."""
_RETRY = "1"
"""Seconds after which to try again while the state is being restored."""


def create_app(
    read_snapshot: Callable[[], Snapshot],
    *,
    ready: Callable[[], bool],
    restored: Callable[[], bool] = lambda: True,
    fault: Callable[[], str] = lambda: "",
    collectors: Iterable[Collector] = (),
    max_series: Callable[[], int] = lambda: sys.maxsize,
    say: Callable[[str], None] = lambda _: None,
    reload: Callable[[], Future[None]] | None = None,
    access: Access | None = None,
    hosts: AllowedHosts | None = None,
    read_engine: ReadEngine | None = None,
    clock: Clock | None = None,
    patience: float = PATIENCE_SECONDS,
    exposed: Callable[[Exposition], None] = lambda _: None,
    rejected_lately: Callable[[], RejectedLately] | None = None,
) -> AccessMiddleware:
    """Return the ASGI app of the exporter.

    Args:
        read_snapshot: returns the latest snapshot; called from worker threads. A scrape is
            rendered anew when the object differs from the last one.
        ready: returns whether state is restored and feeds are attached; called at each probe.
        restored: returns whether snapshots hold all that was counted before the start. Until
            then /metrics answers 503: Prometheus would take lower counters for a reset.
        fault: returns what keeps a running monitor from saving events, "" if nothing does; the
            readiness probe answers it with 503.
        collectors: further series of the process to serve at /metrics.
        max_series: returns the maximum number of series at /metrics; no limit by default.
        say: prints a one-line message for the operator, when that leaves out others than before.
        reload: starts a reload of the configuration; its future is done once that is in
            force. There is no such route where None.
        access: who may read, everybody by default; the probes are open to all.
        hosts: names that requests may carry where no authentication is required; any if None.
        read_engine: reads the history for the API, which answers 503 where None.
        clock: measures how long scrapes take; the machine's where None.
        patience: seconds that a list of models waits for its trends.
        exposed: called with what /metrics serves, for serving the same elsewhere.
        rejected_lately: returns which records of the last day are rejected; None where nobody
            counts them.
    """
    scrapes = ScrapeTelemetry([_format_name(fmt) for fmt in (Format.TEXT, Format.OPENMETRICS)])
    registry = CollectorRegistry()
    for collector in (scrapes, ProcessCollector(registry=None), *collectors):
        registry.register(collector)
    exposition = Exposition(
        read_snapshot,
        registry,
        limit=max_series,
        say=lambda left: say(_left_out_text(left, max_series())),
    )
    registry.register(
        SeriesCollector(
            {SERIES_LEFT_OUT: lambda: {(k,): n for k, n in exposition.left_out._asdict().items()}}
        )
    )
    exposed(exposition)
    metrics = _Metrics(exposition, scrapes, clock or SystemClock(), restored)
    queries = Queries(read_snapshot, read_engine, patience, rejected_lately)
    routes = [
        Route("/metrics", metrics.answer),
        Route("/healthz", _health),
        Route("/readyz", _readiness(ready, fault)),
        *api_routes(queries),
        *page_routes(queries),
    ]
    if reload is not None:
        routes.append(Route("/-/reload", _reloading(reload), methods=["POST"]))
    probes = ("/healthz", "/readyz")
    return AccessMiddleware(Starlette(routes=routes), access or Access(), probes, hosts)


def _left_out_text(left: LeftOut, most: int) -> str:
    """Return what is left out of scrapes, as a line for the operator.

    >>> _left_out_text(LeftOut(models=0, sources=0, segment_values=7), 1000)
    '/metrics leaves out 7 segment values: max_series is 1000; ...'
    >>> _left_out_text(LeftOut(), 1000)
    '/metrics leaves nothing out any more: max_series is 1000'
    """
    parts = [f"{n} {kind.replace('_', ' ')}" for kind, n in left._asdict().items() if n]
    if not parts:
        return f"/metrics leaves nothing out any more: max_series is {most}"
    return (
        f"/metrics leaves out {', '.join(parts)}: max_series is {most}; raise it, or split models "
        "by fewer segments"
    )


class _Metrics:
    """/metrics, rendered in a thread; scrapes that arrive meanwhile share the rendering."""

    def __init__(
        self,
        exposition: Exposition,
        scrapes: ScrapeTelemetry,
        clock: Clock,
        restored: Callable[[], bool],
    ) -> None:
        self._exposition = exposition
        self._restored = restored
        self._scrapes = scrapes
        self._clock = clock
        self._renderings: dict[tuple[bool, bool], asyncio.Task[bytes]] = {}

    async def answer(self, request: Request) -> Response:
        if not self._restored():
            text = "the state is being restored; try again\n"
            return PlainTextResponse(text, status_code=503, headers={"Retry-After": _RETRY})
        began = self._clock.monotonic()
        choice = negotiate(_header(request, "accept"))
        gzip = accepts_gzip(_header(request, "accept-encoding"))
        body = await self._rendered(openmetrics=choice.format.is_openmetrics, gzip=gzip)
        headers = {"Content-Type": choice.content_type, "Vary": "Accept, Accept-Encoding"}
        if gzip:
            headers["Content-Encoding"] = "gzip"
        self._scrapes.observe(_format_name(choice.format), seconds=self._clock.monotonic() - began)
        return Response(body, headers=headers)

    async def _rendered(self, *, openmetrics: bool, gzip: bool) -> bytes:
        key = (openmetrics, gzip)
        if key not in self._renderings:
            work = asyncio.to_thread(self._exposition.render, openmetrics=openmetrics, gzip=gzip)
            self._renderings[key] = task = asyncio.create_task(work)
            task.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(self._renderings[key])

    def _forget(self, key: tuple[bool, bool], task: asyncio.Task[bytes]) -> None:
        del self._renderings[key]
        if not task.cancelled():
            task.exception()  # retrieved, even where every client has disconnected


def _format_name(fmt: Format) -> str:
    return "openmetrics" if fmt.is_openmetrics else "text"


def _header(request: Request, name: str) -> str:
    return ",".join(request.headers.getlist(name))


async def _health(_: Request) -> Response:
    return PlainTextResponse("alive\n")


def _readiness(
    ready: Callable[[], bool], fault: Callable[[], str]
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        if why := fault():
            return PlainTextResponse(f"not ready: {why}\n", status_code=503)
        if ready():
            return PlainTextResponse("ready\n")
        return PlainTextResponse("not ready\n", status_code=503)

    return answer


def _reloading(reload: Callable[[], Future[None]]) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if "origin" in request.headers:
            return PlainTextResponse(
                "a web page may not reload the configuration\n", status_code=403
            )
        try:
            async with asyncio.timeout(_RELOAD_SECONDS):
                await asyncio.shield(asyncio.wrap_future(reload()))
        except MonitorError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)
        except TimeoutError:
            return PlainTextResponse("not done yet; see the log\n", status_code=503)
        return PlainTextResponse("reloaded\n")

    return answer
