"""`precision-monitor demo`."""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from urllib.parse import urlencode

from monitor.cli.output import show, tell
from monitor.cli.shutdown import INTERRUPTED, leave
from monitor.clock import DAY_MS, Clock, SystemClock
from monitor.config import Config
from monitor.config.quantities import Address, parse_address
from monitor.counts import ConfusionCounts, Outcome
from monitor.demo import month_rows
from monitor.demo.flights import MODEL, flights, flights_config
from monitor.demo.months import Month, Months
from monitor.demo.playback import playback
from monitor.demo.story import PAGED_DAYS, RANGES, Paged, StoryAnswers, lowest, story
from monitor.diagnosis.comparison import compared_live
from monitor.engine import Monitor
from monitor.errors import MonitorError, UsageError
from monitor.exporter.api.compare import compared, recall
from monitor.labels.regime import LabelRegime
from monitor.report.compared import Compared
from monitor.report.findings import of_diagnosis
from monitor.report.two_answers import is_model_worse, what_moved_precision
from monitor.service.query_queue import QueryQueue
from monitor.snapshot import ModelState, Snapshot

_PUBLISH_EVERY_SECONDS = 1.0
_IDLE_SECONDS = 0.05
_COMPARED = urlencode({"model": MODEL, "before": RANGES[0], "after": RANGES[1]})

_INTRODUCTION = """\
Will a flight from New York be 15 minutes late? March to December 2013: real
flights, a real model's predictions, and labels that arrive when a flight lands.
A month appears once its labels are complete. r: late flights per punctual one;
balanced: what precision would be if half of the flights were late.
"""


def run(args: Namespace) -> int:
    """Run the demo on the bundled flights, or the one on alerts.

    Returns:
        The exit code.

    Raises:
        MonitorError: an option cannot be used.
    """
    if args.alerts:
        from monitor.cli import demo_alerts  # noqa: PLC0415  # needed with --alerts only

        return demo_alerts.run()
    listen = _address(args.listen)
    if args.no_serve:
        _play(args, listen)
        return 0
    try:
        _play(args, listen)
    except KeyboardInterrupt:
        return leave(INTERRUPTED)
    return leave()


def _play(args: Namespace, listen: Address) -> None:
    show(_INTRODUCTION)
    demo = _Demo(flights_config(), SystemClock())
    with nullcontext() if args.no_serve else _served(demo, listen) as url:
        months = []
        for month in demo.months(args.seconds):
            show(demo.row(month))
            months.append(month)
        show(f"\n{story(months, demo.answers(months))}")
        if url is not None:
            show(f"\nThe page of these months: {url}/?{_COMPARED}#why")
        if url is not None and sys.stdout.isatty():
            _serve_on(demo)


class _Demo:
    """The monitor of the flights.

    Attributes:
        snapshot: the snapshot published last.
        queries: queries of the page.
    """

    def __init__(self, config: Config, clock: Clock) -> None:
        self._config, self._clock = config, clock
        self._monitor = Monitor(config)
        self._published = clock.monotonic()
        self._picture = shutil.get_terminal_size().columns >= month_rows.PICTURE_NEEDS_COLUMNS
        self.queries = QueryQueue()
        self.snapshot: Snapshot = self._monitor.snapshot()

    def months(self, seconds: float) -> Iterator[Month]:
        """Replay all events; yield each month once it is final."""
        timeout = self._config.model(MODEL).label_timeout or 0
        months = Months(self._monitor, MODEL, timeout)
        show(month_rows.header(picture=self._picture))
        for batch in playback(flights(self._config), seconds=seconds, clock=self._clock):
            self._monitor.apply(batch)
            self.queries.answer(self._monitor)
            yield from months.final()
            if self._clock.monotonic() - self._published >= _PUBLISH_EVERY_SECONDS:
                self._publish()
        self._publish()
        yield from months.remaining()

    def row(self, month: Month) -> str:
        """Return the row of a month."""
        return month_rows.row(month, picture=self._picture)

    def answers(self, months: Sequence[Month]) -> StoryAnswers:
        """Return what the monitor answers about all months."""
        self._publish()
        (model,) = self.snapshot.models
        found = self._found(model, *RANGES)
        at_lowest = self._found(model, None, f"{lowest(months).start:%Y-%m}")
        watched = model.watched
        pages = [one.at for one in watched.detections if one.kind == "model_degraded"]
        return StoryAnswers(
            moved=what_moved_precision(found).text,
            worse=is_model_worse(found).text,
            worse_at_lowest=is_model_worse(at_lowest).text,
            paged=[self._paged(at, at - (watched.judged_age_ms or 0)) for at in pages],
            pages=watched.degradation_detected,
        )

    def serve_on(self) -> None:
        """Answer queries until Ctrl-C."""
        while True:
            if not self.queries.answer(self._monitor):
                self._clock.sleep(_IDLE_SECONDS)

    def _found(self, model: ModelState, before: str | None, after: str) -> Compared:
        """Return what a range of time shows, compared with another or with the reference."""
        asked = compared_live(self.snapshot, model, before, after)
        counts = recall(self._monitor, asked, LabelRegime.now(model))
        return of_diagnosis(compared(model, asked, counts))

    def _paged(self, at: int, mature: int) -> Paged:
        """Return a page, by its start and the end of its labelled days, epoch milliseconds."""
        counted = self._monitor.recall(MODEL, mature - PAGED_DAYS * DAY_MS, mature, DAY_MS)
        totals = counted.series(MODEL)[0]
        cells = counted.blocks(totals, counted.opens, counted.closes, DAY_MS).sum(axis=0)
        counts = ConfusionCounts.from_cells(cells[: len(Outcome)])
        return Paged(datetime.fromtimestamp(at / 1000, UTC), counts)

    def _publish(self) -> None:
        self._published = self._clock.monotonic()
        self.snapshot = self._monitor.snapshot()


def _address(text: str) -> Address:
    try:
        return parse_address(text)
    except ValueError as error:
        raise UsageError(f"--listen: {error}, got {text!r}") from error


@contextmanager
def _served(demo: _Demo, listen: Address) -> Iterator[str]:
    from monitor.exporter.app import create_app  # noqa: PLC0415  # not needed with --no-serve
    from monitor.web.server import BackgroundServer  # noqa: PLC0415  # same

    app = create_app(lambda: demo.snapshot, ready=lambda: True, read_engine=demo.queries)
    server = BackgroundServer(app, host=listen.host, port=listen.port)
    try:
        server.start()
    except MonitorError as error:
        tell(f"{error}\nserving on a free port instead")
        server = BackgroundServer(app, host=listen.host)
        server.start()
    try:
        show(f"Page: {server.url}/  Series: {server.url}/metrics\n")
        yield server.url
    finally:
        server.stop()


def _serve_on(demo: _Demo) -> None:
    show("\nStill serving, for you to explore; stop with Ctrl-C.")
    try:
        demo.serve_on()
    except KeyboardInterrupt:
        show()
