"""The same events out of files: NDJSON, CSV, Parquet, Arrow.

    python -m tests.benchmarks.feeds [--events N]

CPU time of reading alone, and of reading and counting; all must count the same. Then NDJSON,
plain and gzip, with one and with two decoder threads: CPU time of all threads, and of the one that
counts, which is the limit where each thread has a core.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.files import read

from .made import BLOCK, CELLS, Made, blocks_of
from .turns import cpu_seconds, machine, medians, table, wanted

FIELDS = ("type", "id", "ts", "score", "prediction", "model", "label")


def written(events: list[dict], folder: Path) -> dict[str, Path]:
    """Files of these events, one event a row, by format."""
    rows = [{name: event.get(name) for name in FIELDS} for event in events]
    paths = {
        "NDJSON": folder / "events.ndjson",
        "CSV": folder / "events.csv",
        "Parquet": folder / "events.parquet",
        "Arrow": folder / "events.arrow",
    }
    paths["NDJSON"].write_bytes(b"".join(blocks_of(events)))
    with paths["CSV"].open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    arrow, parquet = wanted("pyarrow"), wanted("pyarrow.parquet")
    rows_table = arrow.Table.from_pylist(rows, _schema(arrow))
    parquet.write_table(rows_table, paths["Parquet"])
    with arrow.ipc.new_file(paths["Arrow"], rows_table.schema) as sink:
        sink.write_table(rows_table, max_chunksize=2 * BLOCK)
    return paths


def _schema(arrow: Any) -> Any:
    few = arrow.dictionary(arrow.int32(), arrow.string())
    kinds = {"type": few, "id": arrow.string(), "ts": arrow.float64(), "score": arrow.float64()}
    return arrow.schema(kinds | {"prediction": arrow.int8(), "model": few, "label": arrow.int8()})


def read_alone(path: Path) -> None:
    """Every batch of a file."""
    for _ in read([path], Decoder(DecodeSettings())):
        pass


def counted(path: Path, threads: int = 1) -> Monitor:
    """A monitor that took a file, decoded by so many threads."""
    config = Config(defaults={"label_timeout": "30d"})
    monitor = Monitor(config)
    decoder = Decoder(DecodeSettings.from_config(config))
    for batch in read([path], decoder, threads=DecoderThreads(threads)):
        monitor.apply(batch)
    return monitor


def report(events: int, rounds: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        paths = written(Made().events(events), Path(folder))
        totals = {name: _totals(counted(path)) for name, path in paths.items()}
        if len(set(totals.values())) != 1:
            raise SystemExit(f"the feeds disagree: {totals}")
        alone = medians(_timed(paths, read_alone), rounds)
        whole = medians(_timed(paths, counted), rounds)
        packed = Path(folder) / "events.ndjson.gz"
        packed.write_bytes(gzip.compress(paths["NDJSON"].read_bytes(), compresslevel=1))
        files = {"NDJSON": paths["NDJSON"], "gzip": packed}
        threads = [_threads(name, path, events, rounds) for name, path in files.items()]
    print(f"\nFeeds, CPU nanoseconds an event: {events:,} events")
    rows = [
        (name, *(1e9 * found[name] / events for found in (alone, whole)),
         f"{alone['NDJSON'] / alone[name]:.1f}x", f"{whole['NDJSON'] / whole[name]:.1f}x")
        for name in paths
    ]  # fmt: skip
    head = ("", "read", "read and counted", "NDJSON / it, read", "NDJSON / it, counted")
    print(table(head, rows))
    print("\nDecoder threads, CPU nanoseconds an event, read and counted")
    head = ("", "1 thread", "2 threads, all", "2 threads, the one that counts", "1 / it")
    print(table(head, threads))


def _threads(
    name: str, path: Path, events: int, rounds: int
) -> tuple[str, float, float, float, str]:
    alone, both, counting = [], [], []
    for _ in range(rounds):
        alone.append(cpu_seconds(partial(counted, path)))
        began = time.thread_time()
        both.append(cpu_seconds(partial(counted, path, 2)))
        counting.append(time.thread_time() - began)
    one, all_, main = (1e9 * median(found) / events for found in (alone, both, counting))
    return name, one, all_, main, f"{one / main:.1f}x"


def _timed(
    paths: dict[str, Path], work: Callable[[Path], object]
) -> dict[str, Callable[[], float]]:
    return {name: partial(cpu_seconds, partial(work, path)) for name, path in paths.items()}


def _totals(monitor: Monitor) -> tuple[int, ...]:
    snapshot = monitor.snapshot()
    counts = snapshot.lifetime.counts[[model.row for model in snapshot.models]].sum()
    return (snapshot.records, *(int(getattr(counts, name)) for name in CELLS))


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    options = parser.parse_args(arguments)
    if options.quick:
        options.events, options.rounds = 2 * BLOCK, 1
    print(machine("numpy", "msgspec", "pyarrow"))
    report(options.events, options.rounds)


if __name__ == "__main__":
    main()
