"""`precision-monitor run`."""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from shlex import quote
from types import FrameType

from monitor.cli.config_warnings import warn
from monitor.cli.failures import complain
from monitor.cli.held_out import read_held_out, with_references
from monitor.cli.output import tell
from monitor.cli.parser.command import PROGRAM
from monitor.cli.shutdown import leave, release_hangups
from monitor.clock import SystemClock
from monitor.config import Config, HttpFeed, load_config
from monitor.config.counting_settings import counting_settings
from monitor.errors import ConfigError, MonitorError
from monitor.events.keys import PUBLIC_SEED
from monitor.exporter.app import create_app
from monitor.exporter.otlp.availability import unavailable_push
from monitor.feeds.class_tally import ClassTally
from monitor.feeds.decode import DecodeSettings, LiveDecoder
from monitor.feeds.follow.follower import FollowedFiles
from monitor.feeds.source import Source
from monitor.prometheus.exposition import Exposition
from monitor.prometheus.process_series import STATE_BEGAN, ProcessCollector
from monitor.service.changes import Reloadable, ReloadableDecoder
from monitor.service.checkpointing import Checkpointer
from monitor.service.dead_letter_readings import dead_letter_readings
from monitor.service.first_rejections import FirstRejections
from monitor.service.follow_readings import follow_readings
from monitor.service.forwarder import Forwarder
from monitor.service.garbage import GarbageSearch
from monitor.service.journal_replay import NewRejections
from monitor.service.kafka_readings import kafka_readings
from monitor.service.listener_readings import listener_readings
from monitor.service.listeners import ExporterAccess, exposed_listeners
from monitor.service.loop import Service
from monitor.service.notify import Notify
from monitor.service.posted import PostedFeeds
from monitor.service.reloads import Reloads
from monitor.service.sources import open_sources, unavailable_feeds
from monitor.service.sql_readings import sql_readings
from monitor.service.state_watch import StateWatch
from monitor.state import JOURNAL, Checkpoints, StateFaults, StateLock
from monitor.state.dead_letter import DeadLetter
from monitor.state.state_identity import identity_of_state
from monitor.web.access import read_access
from monitor.web.descriptors import connections_each
from monitor.web.hosts import AllowedHosts
from monitor.web.native_threads import take_turns_often
from monitor.web.server import BackgroundServer
from monitor.web.tokens import is_loopback

_PUBLIC_IDS = (
    "this state was created before ids were hashed with a secret: clients that choose ids can "
    "make them collide; a new state directory gets a secret"
)
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_GONE = "the state directory was removed or replaced; see the log"


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
        release_hangups()
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
    """Load a configuration that can run, with the references of a test set if one is given.

    Raises:
        ConfigError: it has faults.
        MonitorError: the test set cannot be used.
    """
    config = load_config(args.config)
    faults = unavailable_feeds(config) + unavailable_push(config)
    if not getattr(args, "insecure", False):
        faults += exposed_listeners(config)
    if faults:
        raise ConfigError(tuple(f"{args.config}: {fault}" for fault in faults))
    path = getattr(args, "reference", None)
    if path is None:
        return config
    command = f"{PROGRAM} reference {quote(path)}"
    return with_references(config, path, read_held_out(path, config, None, command=command))


def _watch(config: Config, reloads: Reloads, stopping: Callable[[], bool]) -> None:
    """Count until stopped; the exporter stops last."""
    host, port = config.exporter.address
    access, notify = read_access((), config.exporter.web_config), Notify()
    decoder = LiveDecoder(DecodeSettings.from_config(config), ClassTally(_say))
    take_turns_often()
    most = _most_connections(config)
    with ExitStack() as opened:
        locked = opened.enter_context(StateLock(config.state.directory))
        faults, identity = StateFaults(), identity_of_state(config.state.directory)
        forwarder = _forwarder(config, identity)
        checkpointer = Checkpointer(
            config,
            Checkpoints(config.state.directory / "checkpoints"),
            faults=faults,
            clock=SystemClock(),
            say=_say,
            check=locked.check,
            forwarder=forwarder,
        )
        begins = not checkpointer.found
        decoder.replace(DecodeSettings.from_config(config, id_seed=checkpointer.settle_id_seed()))
        sources = open_sources(config, decoder, SystemClock(), _say)
        posted = [
            opened.enter_context(closing(p))
            for p in _posted_feeds(
                config, decoder, checkpointer, faults=faults, most=most, identity=identity
            )
        ]
        sources += posted
        dead_letter = opened.enter_context(
            DeadLetter(config.dead_letter_path, config.dead_letter.max_bytes)
        )
        stored = FirstRejections(dead_letter, config.dead_letter_path, _say)
        rejected = NewRejections(stored)
        reloadables: list[Reloadable] = [ReloadableDecoder(decoder), *posted]
        watch = StateWatch([locked.check, *(feed.check_place for feed in posted)], _say, faults)
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
            state_watch=watch,
            garbage=opened.enter_context(GarbageSearch(SystemClock())),
        )
        telemetry = ProcessCollector(reloads.readings)
        telemetry.add(service.liveness.readings)
        telemetry.add(dead_letter_readings(dead_letter))
        of_feeds = (reads(sources) for reads in (kafka_readings, follow_readings, sql_readings))
        all_readings = (checkpointer.readings, *of_feeds)
        for readings in (*all_readings, *(feed.readings for feed in posted)):
            telemetry.add(readings)
        exposed: list[Exposition] = []
        app = create_app(
            lambda: service.snapshot,
            ready=lambda: service.ready,
            restored=lambda: service.restored,
            fault=lambda: _GONE if watch.fault else "",
            collectors=[telemetry],
            max_series=lambda: service.max_series,
            say=_say,
            read_engine=service.queries,
            reload=reloads.ask if config.exporter.allow_reload else None,
            access=access,
            hosts=AllowedHosts(config.exporter.hosts) if is_loopback(host) else None,
            exposed=exposed.append,
            rejected_lately=service.rejections.last_day,
        )
        reloadables.append(ExporterAccess(app))
        for feed in posted:
            feed.check(checkpointer.older_position(JOURNAL))
        limits = {"max_connections": min(config.exporter.max_connections, most)}
        server = BackgroundServer(app, host=host, port=port, tls=access.web.tls, **limits)
        server.start()
        opened.callback(server.stop)
        with _serving():
            for feed in posted:
                feed.listen()
            listeners = [server.listener, *(one for feed in posted for one in feed.listeners)]
            telemetry.add(listener_readings(listeners))
            _say(f"serving {server.url}/metrics; reading {_named(sources)}")
            if checkpointer.id_seed == PUBLIC_SEED:
                _say(_PUBLIC_IDS)
            if begins:
                _say(f"no state in {config.state.directory}; counting begins")
            opened.callback(_forward(forwarder, telemetry, lambda: service.restored))
            opened.callback(_push(config, exposed[0], checkpointer, service, telemetry))
            notify.ready()
            service.run(stopping)
            notify.stopping()


def _forwarder(config: Config, identity: str) -> Forwarder | None:
    """Return what forwards counts to another monitor, where that is configured."""
    if config.forward is None:
        return None
    settings = counting_settings(config)
    return Forwarder(config.forward, identity, settings, clock=SystemClock(), say=_say)


def _forward(
    forwarder: Forwarder | None, telemetry: ProcessCollector, restored: Callable[[], bool]
) -> Callable[[], None]:
    """Begin to forward, where that is configured; return what ends it."""
    if forwarder is None:
        return lambda: None
    telemetry.add(forwarder.readings(restored))
    forwarder.start()
    return forwarder.stop


def _push(
    config: Config,
    exposition: Exposition,
    checkpointer: Checkpointer,
    service: Service,
    telemetry: ProcessCollector,
) -> Callable[[], None]:
    """Begin to push the series by OTLP, where that is configured; return what ends it."""
    if config.exporter.otlp is None:
        return lambda: None
    from monitor.exporter.otlp.pusher import OtlpPusher  # noqa: PLC0415  # an extra

    pusher = OtlpPusher(
        config,
        exposition,
        SystemClock(),
        _say,
        began=checkpointer.readings[STATE_BEGAN]()[()],
        ready=lambda: service.restored,
    )
    telemetry.add(pusher.readings)
    pusher.start()
    return pusher.stop


def _most_connections(config: Config) -> int:
    """Return the connections of a listener that descriptors suffice for; say where they do not."""
    feeds = [feed.max_connections for feed in config.feeds if isinstance(feed, HttpFeed)]
    wanted = [config.exporter.max_connections, *feeds]
    most = connections_each(len(wanted))
    if max(wanted) > most:
        _say(
            f"each listener serves {most} connections at a time, fewer than max_connections: the "
            "limit of open files allows no more; raise it (ulimit -n, LimitNOFILE)"
        )
    return most


def _posted_feeds(
    config: Config,
    decoder: LiveDecoder,
    checkpointer: Checkpointer,
    *,
    faults: StateFaults,
    most: int,
    identity: str,
) -> list[PostedFeeds]:
    """Return the source of the HTTP feeds, if there are any."""
    posted_to = any(isinstance(feed, HttpFeed) for feed in config.feeds)
    if not posted_to:
        return []
    since = checkpointer.position(JOURNAL)
    return [
        PostedFeeds(
            config,
            decoder,
            SystemClock(),
            _say,
            faults,
            since=since,
            most_connections=most,
            state_id=identity,
        )
    ]


def _named(sources: list[Source]) -> str:
    return ", ".join(
        f"{source.name} (once it appears)"
        if isinstance(source, FollowedFiles) and not source.attached
        else source.name
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
