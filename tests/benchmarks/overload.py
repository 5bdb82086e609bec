"""Offers the service several times what it can take, and measures silence, memory and recovery.

    PYTHONPATH=tests python -m tests.benchmarks.overload [--times 10] [--seconds 60] [--clients 10]

Twenty models with three segment keys. One client posts for a while, each body once the one before
is acknowledged, until the service has counted what it has taken: so many events a second it can
count. Then clients offer so many times as many, and offer again what is refused; one scrapes the
metrics twice a second. The recovery is the time from their end until all that was acknowledged is
counted. Every acknowledged event must be counted, once.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import httpx
import numpy as np
from conservation import samples_of, total
from ports import free_port

from .made import Made, blocks_of
from .turns import machine, table

CONFIG = """\
defaults: {{segments: [key-0, key-1, key-2], label_timeout: 1d}}
feeds: [{{type: http, listen: "127.0.0.1:{feed}"}}]
exporter: {{listen: "127.0.0.1:{exporter}"}}
state: {{directory: {folder}/state}}
"""
EVENTS, STALL = "precision_monitor_events_total", "precision_monitor_loop_stall_seconds"
OK, BUSY, CUT_OFF = 200, (429, 503), 0
BODY = 500
"""Events of a body."""
PAUSE = 0.5
MEBIBYTE = 1 << 20


class Bodies:
    """Bodies to post, each of events of its own, in order of time; safe among threads."""

    def __init__(self, count: int, values: int) -> None:
        events = Made(keys=3, values=values).events(count)
        self._bodies = deque(blocks_of(events, BODY))
        self._lock = threading.Lock()

    def next(self) -> bytes:
        """Return the next body; an empty one where none is left."""
        with self._lock:
            return self._bodies.popleft() if self._bodies else b""


class Client:
    """Posts bodies over one connection, and again what is refused.

    Args:
        port: of the feed.
        bodies: shared with other clients.
    """

    def __init__(self, port: int, bodies: Bodies) -> None:
        self.answers: Counter[int] = Counter()
        self._bodies = bodies
        self._body = bodies.next()
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def post(self) -> None:
        """Offer a body once."""
        code = self._offer()
        self.answers[code] += 1
        if code == OK:
            self._body = self._bodies.next()
        elif code not in (*BUSY, CUT_OFF):
            raise RuntimeError(f"a body was answered with {code}")

    def _offer(self) -> int:
        try:
            self._connection.request("POST", "/v1/events", self._body)
            answer = self._connection.getresponse()
            answer.read()
        except (OSError, HTTPException):
            self._connection.close()
            return CUT_OFF
        return answer.status

    def run(self, until: float, every: float = 0.0) -> None:
        """Offer a body every so many seconds, or as soon as the last one has its answer."""
        with closing(self._connection):
            self._run(until, every)

    def _run(self, until: float, every: float) -> None:
        due = time.monotonic()
        while self._body and (now := time.monotonic()) < until:
            if now < due:
                time.sleep(due - now)
            self.post()
            due += every


class Scrapes:
    """Scrapes of the metrics, and the memory of the process.

    Args:
        url: of the exporter.
        process: its number.
    """

    def __init__(self, url: str, process: int) -> None:
        self._url = url
        self._process = process
        self.seconds: list[float] = []
        self.stall = 0.0
        self.megabytes: list[float] = []

    def counted(self) -> int:
        """Scrape, and return how many events are counted."""
        began = time.monotonic()
        text = httpx.get(f"{self._url}/metrics", timeout=60).text
        self.seconds.append(time.monotonic() - began)
        samples = samples_of(text)
        self.stall = max(self.stall, total(samples, STALL))
        self.megabytes.append(_resident(self._process) / MEBIBYTE)
        return int(total(samples, EVENTS))

    def run(self, until: float) -> None:
        """Scrape again and again."""
        while time.monotonic() < until:
            self.counted()
            time.sleep(PAUSE)

    def wait_for(self, events: int) -> float:
        """Return the seconds until so many events are counted."""
        began = time.monotonic()
        while (found := self.counted()) < events:
            time.sleep(PAUSE)
        if found > events:
            raise RuntimeError(f"{found} events are counted, of {events} that were acknowledged")
        return time.monotonic() - began


def _resident(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096


@contextmanager
def _service(folder: Path) -> Iterator[tuple[int, Scrapes]]:
    feed, exporter = free_port(), free_port()
    config = folder / "monitor.yaml"
    config.write_text(CONFIG.format(feed=feed, exporter=exporter, folder=folder))
    words = [sys.executable, "-m", "monitor", "run", "-c", config]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            process.stderr.readline()  # it listens
            yield feed, Scrapes(f"http://127.0.0.1:{exporter}", process.pid)
        finally:
            process.terminate()


def report(options: argparse.Namespace) -> None:
    """Measure, and print the table."""
    bodies = Bodies(options.events, options.values)
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder)) as (feed, scrapes):
        alone = Client(feed, bodies)
        began = time.monotonic()
        alone.run(began + options.alone)
        scrapes.wait_for(BODY * alone.answers[OK])
        rate = BODY * alone.answers[OK] / (time.monotonic() - began)
        before = max(scrapes.megabytes)
        scrapes.seconds.clear()
        clients = [Client(feed, bodies) for _ in range(options.clients)]
        every = BODY * options.clients / (options.times * rate)
        began = time.monotonic()
        until = began + options.seconds
        with ThreadPoolExecutor(options.clients + 1) as pool:
            done = [pool.submit(one.run, until, every) for one in clients]
            done.append(pool.submit(scrapes.run, until))
        for one in done:
            one.result()
        if not bodies.next():
            raise SystemExit("all events are taken before the end: make more by --events")
        spent = time.monotonic() - began
        answers = sum((one.answers for one in clients), Counter())
        recovery = scrapes.wait_for(BODY * (alone.answers[OK] + answers[OK]))
        rows = [
            ("events a second that one client has counted", f"{rate:,.0f}"),
            ("offered a second", f"{BODY * answers.total() / spent:,.0f}"),
            ("taken a second", f"{BODY * answers[OK] / spent:,.0f}"),
            *((f"bodies answered with {code or 'nothing'}", n) for code, n in answers.items()),
            ("longest time without a turn of the loop, seconds", f"{scrapes.stall:.2f}"),
            ("scrapes, seconds: median", f"{np.median(scrapes.seconds):.2f}"),
            ("slowest", f"{max(scrapes.seconds):.2f}"),
            ("memory before, most since, MB", f"{before:.0f}, {max(scrapes.megabytes):.0f}"),
            ("recovery, seconds", f"{recovery:.1f}"),
        ]
        print(table(("", ""), rows))


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=float, default=10, help="times what it can count")
    parser.add_argument("--seconds", type=float, default=60, help="of the overload")
    parser.add_argument("--alone", type=float, default=15, help="seconds of one client before")
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--values", type=int, default=45, help="values of a segment key")
    parser.add_argument("--events", type=int, default=3_000_000, help="events to make")
    options = parser.parse_args(arguments)
    print(machine("granian", "starlette"))
    report(options)


if __name__ == "__main__":
    main()
