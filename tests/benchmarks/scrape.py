"""A scrape of ten thousand samples, against the stock handler of prometheus_client.

    python -m tests.benchmarks.scrape [--samples 1000 10000 100000]

CPU time in one process, the two in turn, median of several. "Stock" is what
`prometheus_client.make_wsgi_app` does over the same collector; a scrape of ours
is of a fresh snapshot each time, so that nothing but label text is remembered.
"""

import argparse
import gzip
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from itertools import cycle

from prometheus_client import CollectorRegistry, make_wsgi_app

from monitor.prometheus.collector import SnapshotCollector
from monitor.prometheus.exposition import Exposition
from monitor.snapshot import Snapshot
from tests.prometheus.snapshots import snapshot

SAMPLES_A_ROW = 90
"""Of one segment value, in three windows."""
ACCEPT = {"text": "text/plain;version=0.0.4", "openmetrics": "application/openmetrics-text"}


def states(samples: int) -> Iterator[Snapshot]:
    """Two snapshots of one shape in turn, each time as a new object."""
    segments = [("region", f"region-{i}") for i in range(max(1, samples // SAMPLES_A_ROW))]
    windows = ("1h", "1d", "7d")
    pair = [
        snapshot(segments=segments, windows=windows, class_ratios=(1.0,), undefined=0.0, seed=seed)
        for seed in (1, 2)
    ]
    return (replace(state) for state in cycle(pair))


def stock(read: Callable[[], Snapshot], form: str, encoding: str) -> Callable[[], bytes]:
    """The library's own handler."""
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(read))
    app = make_wsgi_app(registry)
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/metrics", "HTTP_ACCEPT": ACCEPT[form]}
    environ["HTTP_ACCEPT_ENCODING"] = encoding
    return lambda: b"".join(app(environ, lambda *_: None))


def ours(read: Callable[[], Snapshot], form: str, encoding: str) -> Callable[[], bytes]:
    """Return a function that renders /metrics without the process's own series."""
    exposition = Exposition(read, CollectorRegistry())
    return lambda: exposition.render(openmetrics=form == "openmetrics", gzip=encoding == "gzip")


def cpu_ms(work: Callable[[], bytes]) -> float:
    """CPU time of one call, milliseconds."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def compare(samples: int, form: str, encoding: str, repetitions: int) -> str:
    """One row of the table: both handlers in turn."""
    source = states(samples)
    handlers = {
        "stock": stock(lambda: next(source), form, encoding),
        "ours": ours(lambda: next(source), form, encoding),
    }
    text = handlers["stock"]()
    handlers["ours"]()
    times: dict[str, list[float]] = {name: [] for name in handlers}
    for _ in range(repetitions):
        for name, work in handlers.items():
            times[name].append(cpu_ms(work))
    theirs, mine = statistics.median(times["stock"]), statistics.median(times["ours"])
    text = gzip.decompress(text) if encoding == "gzip" else text
    count = sum(not line.startswith(b"#") for line in text.splitlines())
    return f"{count:>8} {form:<12} {encoding:<9} {theirs:>9.1f} {mine:>8.2f} {theirs / mine:>7.1f}x"


def main(given: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    arguments = parser.parse_args(given)
    if arguments.quick:
        arguments.samples, arguments.repetitions = [1000], 3
    print(f"Python {platform.python_version()}, prometheus_client {version('prometheus_client')}")
    print(" samples format       encoding  stock ms  ours ms   ratio")
    for samples in arguments.samples:
        for form in ACCEPT:
            for encoding in ("identity", "gzip"):
                print(compare(samples, form, encoding, arguments.repetitions))


if __name__ == "__main__":
    main()
