"""`precision-monitor run`."""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from monitor.cli.notes import warn
from monitor.cli.output import tell
from monitor.cli.parser import PROGRAM
from monitor.clock import SystemClock
from monitor.config import Config, load_config
from monitor.errors import ConfigError
from monitor.exporters.app import create_app
from monitor.exporters.server import BackgroundServer
from monitor.feeds.dead_letter import DeadLetter
from monitor.service import Service
from monitor.service.sources import Source, open_sources, unavailable_feeds

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run(args: Namespace) -> int:
    """Watch the configured feeds and serve the results until a signal says to stop."""
    config = load_config(args.config)
    faults = unavailable_feeds(config)
    if faults:
        raise ConfigError(tuple(f"{args.config}: {fault}" for fault in faults))
    warn(config)
    with _until_signal() as stopping:
        _watch(config, stopping)
    _say("stopped")
    return 0


def _watch(config: Config, stopping: Callable[[], bool]) -> None:
    """Count until it is to stop; the exporter is stopped last."""
    sources = open_sources(config)
    host, port = config.exporter.address
    with DeadLetter(config.dead_letter_path, config.dead_letter.max_bytes) as dead_letter:
        service = Service(config, sources, clock=SystemClock(), rejected=dead_letter, say=_say)
        app = create_app(lambda: service.snapshot, ready=lambda: service.ready)
        with BackgroundServer(app, host=host, port=port) as server:
            _say(f"serving {server.url}/metrics; reading {_named(sources)}")
            service.run(stopping)


def _named(sources: list[Source]) -> str:
    return ", ".join(
        source.name if source.attached else f"{source.name} (once it is there)"
        for source in sources
    )


def _say(text: str) -> None:
    tell(f"{PROGRAM}: {text}")


@contextmanager
def _until_signal() -> Iterator[Callable[[], bool]]:
    """Whether SIGTERM or Ctrl-C came; a second one does what it always does."""
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
