"""Clients that are slow, and bodies that are large: what they cost everybody else.

python tests/benchmarks/slow_clients.py --clients 500 --gigabytes 1

Half of the slow clients never end their headers, half never end their body. While they are
there /healthz must answer within 100 ms, and after 35 s none may be left. Then a body of a
gigabyte without a length and a bomb come: 413, and memory within twice the cap.
"""

from __future__ import annotations

import argparse
import gzip
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import httpx

CAP = 8 * 1024 * 1024
CONFIG = """\
feeds: [{{type: http, listen: "127.0.0.1:0"{limits}}}]
exporter: {{listen: "127.0.0.1:0"}}
state: {{directory: {folder}/state}}
"""
HEADERS = b"POST /v1/events HTTP/1.1\r\nHost: x\r\n"
BODY = HEADERS + b"Content-Length: 1000\r\n\r\n{"


class Found(NamedTuple):
    """Measurements.

    Attributes:
        slowest: seconds that the slowest /healthz took while all were there.
        gone: seconds after which the last slow client was dropped.
        codes: answers to the large body and to the bomb; 0 where it hung up.
        grown: bytes by which the process grew at most over these.
    """

    slowest: float
    gone: float
    codes: tuple[int, int]
    grown: int


def measure(clients: int, megabytes: int, folder: Path, limits: str = "") -> Found:
    config = folder / "monitor.yaml"
    config.write_text(CONFIG.format(folder=folder, limits=limits))
    words = [sys.executable, "-m", "monitor", "run", "-c", config]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            feed = process.stderr.readline().partition("reading ")[2].partition("/v1")[0]
            slowest, gone = slow_clients(feed, clients)
            before = peak(process.pid)
            codes = (posted(feed, pieces(megabytes)), posted(feed, bomb(megabytes), "gzip"))
            return Found(slowest, gone, codes, peak(process.pid) - before)
        finally:
            process.kill()


def slow_clients(feed: str, count: int) -> tuple[float, float]:
    port = httpx.URL(feed).port
    began = time.monotonic()
    opened = []
    for number in range(count):
        opened.append(socket.create_connection(("127.0.0.1", port)))
        opened[-1].sendall(BODY if number % 2 else HEADERS)
    with httpx.Client() as client:
        slowest = max(healthy(client, feed) for _ in range(50))
    while opened and time.monotonic() - began < 60:
        opened = [one for one in opened if is_open(one)]
        time.sleep(0.1)
    assert not opened, f"{len(opened)} are still there"
    return slowest, time.monotonic() - began


def healthy(client: httpx.Client, url: str) -> float:
    began = time.monotonic()
    assert client.get(f"{url}/healthz").status_code == 200
    return time.monotonic() - began


def is_open(client: socket.socket) -> bool:
    client.settimeout(0)
    try:
        while data := client.recv(1 << 16):
            assert data
    except BlockingIOError:
        return True
    except ConnectionError:
        pass
    client.close()
    return False


def pieces(megabytes: int):
    for _ in range(megabytes * 4):
        yield b"x" * (256 * 1024)


def bomb(megabytes: int) -> bytes:
    packed = gzip.compress(b"0" * (megabytes * 1024 * 1024), 9)
    assert len(packed) < CAP
    return packed


def posted(feed: str, content, encoding: str = "") -> int:
    headers = {"content-encoding": encoding} if encoding else {}
    try:
        url = f"{feed}/v1/events"
        return httpx.post(url, content=content, headers=headers, timeout=60).status_code
    except httpx.TransportError:
        return 0


def peak(pid: int) -> int:
    """The most memory that the process ever held, bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--gigabytes", type=int, default=1)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        print(measure(words.clients, words.gigabytes * 1024, Path(scratch)))
