"""`precision-monitor run`."""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from types import FrameType

from monitor.cli.config_warnings import warn
from monitor.cli.failures import complain
from monitor.cli.output import tell
from monitor.cli.parser.command import PROGRAM
from monitor.cli.shutdown import leave
from monitor.clock import SystemClock
from monitor.config import Config, HttpFeed, load_config
from monitor.errors import ConfigError, MonitorError
from monitor.events.keys import PUBLIC_SEED
from monitor.exporter.app import create_app
from monitor.feeds.decode import DecodeSettings, LiveDecoder
from monitor.feeds.source import Source
from monitor.prometheus.process_series import ProcessCollector
from monitor.service import Service
from monitor.service.changes import Reloadable, ReloadableDecoder
from monitor.service.checkpointing import Checkpointer
from monitor.service.follow_readings import follow_readings
from monitor.service.journal_replay import NewRejections
from monitor.service.kafka_readings import kafka_readings
from monitor.service.listener_readings import listener_readings
from monitor.service.listeners import ExporterAccess, exposed_listeners
from monitor.service.notify import Notify
from monitor.service.posted import PostedFeeds
from monitor.service.reloads import Reloads
from monitor.service.sources import open_sources, unavailable_feeds
from monitor.state import JOURNAL, Checkpoints, StateFaults, StateLock
from monitor.state.dead_letter import DeadLetter
from monitor.state.id_seed import seed_of_state
from monitor.web.access import read_access
from monitor.web.server import BackgroundServer

_PUBLIC_IDS = (
    "the kept state is from before each had a secret for ids: ids can be chosen that collide; a "
    "new state directory gets a secret"
)
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run(args: Namespace) -> int:
    """Monitor the configured feeds and serve the results until a signal stops the program.

    Returns:
        The exit code.

    Raises:
        MonitorError: the monitor cannot start; later errors are printed here.
    """
    config = _checked(args)
    warn(config)
    reloads = Reloads(lambda: _checked(args), clock=SystemClock(), say=_say)
    with _until_signal() as stopping, _on_hangup(reloads.ask):
        try:
            _watch(config, reloads, stopping)
        except _ServedError as ended:
            return leave(complain(ended.error))
    _say("stopped")
    return leave()


class _ServedError(Exception):
    """The error that ended a process with running servers."""

    def __init__(self, error: MonitorError) -> None:
        super().__init__(error)
        self.error = error


@contextmanager
def _serving() -> Iterator[None]:
    """Mark errors that occur while servers run."""
    try:
        yield
    except MonitorError as error:
        raise _ServedError(error) from error


def _checked(args: Namespace) -> Config:
    """Load a configuration that can run.

    Raises:
        ConfigError: it has faults.
    """
    config = load_config(args.config)
    faults = unavailable_feeds(config)
    if not getattr(args, "insecure", False):
        faults += exposed_listeners(config)
    if faults:
        raise ConfigError(tuple(f"{args.config}: {fault}" for fault in faults))
    return config


def _watch(config: Config, reloads: Reloads, stopping: Callable[[], bool]) -> None:
    """Count until stopped; the exporter stops last."""
    host, port = config.exporter.address
    access, notify = read_access((), config.exporter.web_config), Notify()
    decoder = LiveDecoder(DecodeSettings.from_config(config))
    with ExitStack() as opened:
        opened.enter_context(StateLock(config.state.directory))
        faults = StateFaults()
        checkpointer = Checkpointer(
            config,
            Checkpoints(config.state.directory / "checkpoints"),
            faults=faults,
            clock=SystemClock(),
            say=_say,
        )
        checkpointer.id_seed = seed_of_state(
            config.state.directory, config.id_seed, checkpointer.id_seed
        )
        if checkpointer.id_seed == PUBLIC_SEED:
            _say(_PUBLIC_IDS)
        decoder.replace(DecodeSettings.from_config(config, id_seed=checkpointer.id_seed))
        sources = open_sources(config, decoder, SystemClock(), _say)
        posted = [
            opened.enter_context(closing(p))
            for p in _posted_feeds(config, decoder, faults, checkpointer)
        ]
        sources += posted
        dead_letter = opened.enter_context(
            DeadLetter(config.dead_letter_path, config.dead_letter.max_bytes)
        )
        rejected = NewRejections(dead_letter)
        reloadables: list[Reloadable] = [ReloadableDecoder(decoder), *posted]
        service = Service(
            config,
            sources,
            clock=SystemClock(),
            rejected=rejected,
            say=_say,
            reloads=reloads,
            reloadables=reloadables,
            alive=notify.alive,
            checkpointer=checkpointer,
        )
        telemetry = ProcessCollector(reloads.readings)
        telemetry.add(service.liveness.readings)
        all_readings = (checkpointer.readings, kafka_readings(sources), follow_readings(sources))
        for readings in (*all_readings, *(feed.readings for feed in posted)):
            telemetry.add(readings)
        app = create_app(
            lambda: service.snapshot,
            ready=lambda: service.ready,
            restored=lambda: service.restored,
            collectors=[telemetry],
            read_engine=service.queries,
            reload=reloads.ask if config.exporter.allow_reload else None,
            access=access,
        )
        reloadables.append(ExporterAccess(app))
        for feed in posted:
            feed.check()
        limits = {"max_connections": config.exporter.max_connections}
        server = BackgroundServer(app, host=host, port=port, tls=access.web.tls, **limits)
        server.start()
        opened.callback(server.stop)
        with _serving():
            for feed in posted:
                feed.listen()
            listeners = [server.listener, *(one for feed in posted for one in feed.listeners)]
            telemetry.add(listener_readings(listeners))
            _say(f"serving {server.url}/metrics; reading {_named(sources)}")
            notify.ready()
            service.run(stopping)
            notify.stopping()


def _posted_feeds(
    config: Config, decoder: LiveDecoder, faults: StateFaults, checkpointer: Checkpointer
) -> list[PostedFeeds]:
    """Return the source of the HTTP feeds, if there are any."""
    posted_to = any(isinstance(feed, HttpFeed) for feed in config.feeds)
    if not posted_to:
        return []
    since = checkpointer.position(JOURNAL)
    return [PostedFeeds(config, decoder, SystemClock(), _say, faults, since=since)]


def _named(sources: list[Source]) -> str:
    return ", ".join(
        source.name
        if source.attached or isinstance(source, PostedFeeds)
        else f"{source.name} (once it appears)"
        for source in sources
    )


def _say(text: str) -> None:
    tell(f"{PROGRAM}: {text}")


@contextmanager
def _until_signal() -> Iterator[Callable[[], bool]]:
    """Yield a function that is True after SIGTERM or Ctrl-C; a second signal acts as usual."""
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in _STOP_SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)
        restore()

    for number in _STOP_SIGNALS:
        signal.signal(number, note)
    try:
        yield lambda: bool(came)
    finally:
        restore()


@contextmanager
def _on_hangup(ask: Callable[[], object]) -> Iterator[None]:
    """Let SIGHUP request a reload."""
    before = signal.signal(signal.SIGHUP, lambda _number, _frame: ask() and None)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)
