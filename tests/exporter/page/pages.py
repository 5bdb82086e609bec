"""Monitors for the tests of the page, and a server in front of one."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec
from diagnosis.episodes import DAYS

from monitor.config import Config
from monitor.config.quantities import parse_time
from monitor.engine import Monitor
from monitor.exporter.app import create_app
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.web.server import BackgroundServer

MODEL = "delay-hgb-v1"
CELLS = ("tp", "fp", "fn", "tn", "predicted_positive", "predicted_negative")
HOUR = 3_600


def all_flights(until: str, *, reference_end: str = "2013-08-01") -> Monitor:
    """Return a monitor of every flight before a day, counted by days; July is the reference."""
    model = {
        "label_timeout": "2d",
        "maturity": "12h",
        "reference": {"window": {"length": "31d", "end": reference_end}},
    }
    monitor = Monitor(Config(models={MODEL: model}, windows=["1d", "7d", "28d"]))
    days = [(parse_time(day) // 1000, row) for day, row in DAYS.items() if day < until]
    return fed(monitor, [counts(MODEL, ts + HOUR, row) for ts, row in days])


def counts(model: str, ts: float, cells: Sequence[int], **segment: str) -> dict:
    """Return one record of counted outcomes."""
    named = dict(zip(CELLS, cells, strict=False))
    more = {"segment": segment} if segment else {}
    return {"type": "counts", "model": model, "ts": ts, **named, **more}


def fed(monitor: Monitor, records: Sequence[dict]) -> Monitor:
    """Apply records to a monitor and return it."""
    decoder = Decoder(DecodeSettings.from_config(monitor.config))
    lines = b"".join(msgspec.json.encode(record) + b"\n" for record in records)
    monitor.apply(decoder.decode_lines(lines, source="test", first_line=1))
    return monitor


@contextmanager
def served(monitor: Monitor) -> Iterator[str]:
    """Serve a monitor that counts nothing further; yield its address."""
    state = monitor.snapshot()
    app = create_app(
        lambda: state, ready=lambda: True, read_engine=lambda read: read(monitor), patience=60
    )
    with BackgroundServer(app) as server:
        yield server.url


def plain(page: str) -> str:
    """The words of a page: without tags, with plain minus signs and single spaces."""
    words = html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"</?code>", "", page)))
    return " ".join(words.replace("\N{MINUS SIGN}", "-").split())
