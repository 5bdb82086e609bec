"""Hostile clients at both listeners: what good clients at other addresses notice of them.

python tests/benchmarks/hostile_clients.py --clients 2000 --descriptors 1024 --seconds 30

A quarter of the hostile connections says nothing, a quarter asks for /metrics over and over
and never reads, a quarter stalls in the middle of a large body, a quarter guesses passwords;
whoever is dropped comes again. They come from four addresses (127.0.0.2 to 127.0.0.5).
Meanwhile good clients post events and scrape, each time over a new connection. At least 99 %
of that must succeed, the slowest but one in a hundred scrapes answer within a second, and the
process must run on, with few descriptors too (`--descriptors 256`).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from multiprocessing import Process, Value
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import NamedTuple

import bcrypt
import numpy as np

CONFIG = """\
feeds: [{{type: http, listen: "127.0.0.1:0"}}]
exporter: {{listen: "127.0.0.1:0", web_config: {folder}/web.yaml}}
state: {{directory: {folder}/state}}
"""
PASSWORD = "correct horse"  # noqa: S105  # of this benchmark
GOOD, HOSTILE = "127.0.0.1", tuple(f"127.0.0.{n}" for n in range(2, 6))
STALLED = b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n"
TIMEOUT = 10


class Found(NamedTuple):
    """What was measured.

    Attributes:
        posts: share of the good clients' posts that succeeded.
        scrapes: share of the good clients' scrapes that succeeded.
        post_seconds: p50, p99 of the posts that did.
        scrape_seconds: p50, p99 of the scrapes that did.
        hostile: connections that hostile clients opened.
        ran_on: True if the process still ran.
    """

    posts: float
    scrapes: float
    post_seconds: tuple[float, float]
    scrape_seconds: tuple[float, float]
    hostile: int
    ran_on: bool


def basic(password: str) -> bytes:
    return b"Basic " + base64.b64encode(f"prometheus:{password}".encode())


def scrape(password: str) -> bytes:
    return b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: " + basic(password) + b"\r\n"


def measure(clients: int, descriptors: int, seconds: float, folder: Path) -> Found:
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(10)).decode()
    (folder / "web.yaml").write_text(f"basic_auth_users: {{prometheus: {hashed}}}\n")
    config = folder / "monitor.yaml"
    config.write_text(CONFIG.format(folder=folder))
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [
                *("prlimit", f"--nofile={descriptors}:{descriptors}"),
                *(sys.executable, "-m", "monitor", "run", "-c", config),
            ],
            stderr=log,
        ) as process,
    ):
        try:
            exporter, feed = ports(folder / "log")
            assert asyncio.run(good_scrape(exporter))[0], "the service does not answer at all"
            opened = Value("q", 0)
            attackers = Process(target=attack, args=(exporter, feed, clients, opened), daemon=True)
            attackers.start()
            time.sleep(2)
            found = asyncio.run(good_clients(exporter, feed, seconds))
            attackers.kill()
            return found._replace(hostile=opened.value, ran_on=process.poll() is None)
        finally:
            process.kill()


def ports(log: Path) -> tuple[int, int]:
    """Ports of the exporter and of the feed, which the service prints when it starts."""
    while "/metrics;" not in log.read_text():
        time.sleep(0.05)
    line = next(line for line in log.read_text().splitlines() if "/metrics;" in line)
    exporter, feed = (part.partition("/metrics")[0].partition("/v1")[0] for part in line.split(";"))
    return int(exporter.rpartition(":")[2]), int(feed.rpartition(":")[2])


async def good_clients(exporter: int, feed: int, seconds: float) -> Found:
    until = time.monotonic() + seconds
    posts, scrapes = await asyncio.gather(
        repeated(lambda number: good_post(feed, number), until),
        repeated(lambda _: good_scrape(exporter), until),
    )
    return Found(
        *(np.mean([ok for ok, _ in done]).item() for done in (posts, scrapes)),
        *(quantiles([spent for ok, spent in done if ok]) for done in (posts, scrapes)),
        hostile=0,
        ran_on=False,
    )


def quantiles(spent: list[float]) -> tuple[float, float]:
    p50, p99 = np.quantile(spent, [0.5, 0.99]).round(3).tolist() if spent else (np.nan, np.nan)
    return p50, p99


async def repeated(
    ask: Callable[[int], Awaitable[tuple[bool, float]]], until: float
) -> list[tuple[bool, float]]:
    done = []
    while time.monotonic() < until:
        done.append(await ask(len(done)))
        await asyncio.sleep(0.02)
    return done


async def good_post(port: int, number: int) -> tuple[bool, float]:
    event = {"type": "prediction", "id": f"p{number}", "ts": time.time(), "prediction": 1}
    body = json.dumps(event).encode()
    head = b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(body)
    return await asked(port, head + b"Connection: close\r\n\r\n" + body)


async def good_scrape(port: int) -> tuple[bool, float]:
    return await asked(port, scrape(PASSWORD) + b"Connection: close\r\n\r\n")


async def asked(port: int, request: bytes) -> tuple[bool, float]:
    """Whether a request on a connection of its own is answered with 200, and how soon."""
    began = time.monotonic()
    writer = None
    try:
        async with asyncio.timeout(TIMEOUT):
            reader, writer = await asyncio.open_connection(GOOD, port, local_addr=(GOOD, 0))
            writer.write(request)
            answer = await reader.read()
    except (OSError, TimeoutError):
        return False, time.monotonic() - began
    finally:
        if writer is not None:
            writer.close()
    return answer.startswith(b"HTTP/1.1 200"), time.monotonic() - began


def attack(exporter: int, feed: int, clients: int, opened: Synchronized[int]) -> None:
    """Run the hostile clients, in a process of their own so that good ones are not held up."""

    async def run_all() -> None:
        attackers = Attackers(exporter, feed, opened)
        await asyncio.gather(*(attackers.run(number) for number in range(clients)))

    asyncio.run(run_all())


class Attackers:
    """Hostile clients, a kind a quarter."""

    def __init__(self, exporter: int, feed: int, opened: Synchronized[int]) -> None:
        self._opened = opened
        self._exporter = exporter
        self._feed = feed
        self._chance = random.Random(1)

    async def run(self, number: int) -> None:
        kinds = (self._silent, self._never_reading, self._stalled, self._guessing)
        loop = asyncio.get_running_loop()
        while True:
            port = (self._feed, self._exporter, self._feed, self._exporter)[number % 4]
            if number % 4 == 0 and number % 8:
                port = self._exporter
            with socket.socket() as client:
                client.setblocking(False)  # its only argument
                try:
                    client.bind((HOSTILE[number % len(HOSTILE)], 0))
                    await loop.sock_connect(client, (GOOD, port))
                    self._opened.value += 1
                    await kinds[number % 4](loop, client)
                except OSError:
                    pass
            await asyncio.sleep(self._chance.uniform(0, 0.5))

    async def _silent(self, loop: asyncio.AbstractEventLoop, client: socket.socket) -> None:
        await loop.sock_recv(client, 1)

    async def _never_reading(self, loop: asyncio.AbstractEventLoop, client: socket.socket) -> None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        while True:
            await loop.sock_sendall(client, (scrape(PASSWORD) + b"\r\n") * 50)

    async def _stalled(self, loop: asyncio.AbstractEventLoop, client: socket.socket) -> None:
        await loop.sock_sendall(client, STALLED + b"{" * 100_000)
        await loop.sock_recv(client, 1)

    async def _guessing(self, loop: asyncio.AbstractEventLoop, client: socket.socket) -> None:
        while True:
            guess = str(self._chance.random())
            await loop.sock_sendall(client, scrape(guess) + b"\r\n")
            if not await loop.sock_recv(client, 1 << 16):
                return


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--descriptors", type=int, default=1024)
    parser.add_argument("--seconds", type=float, default=30.0)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(measure(words.clients, words.descriptors, words.seconds, Path(scratch)))
        print((Path(scratch) / "log").read_text()[-3000:])
