"""The same events out of files: NDJSON, CSV, Parquet, Arrow.

    python -m tests.benchmarks.feeds [--events N]

CPU time of reading alone, and of reading and counting; all must count the same.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
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


def counted(path: Path) -> Monitor:
    """A monitor that took a file."""
    config = Config(defaults={"label_timeout": "30d"})
    monitor = Monitor(config)
    for batch in read([path], Decoder(DecodeSettings.from_config(config))):
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
    print(f"\nFeeds, CPU nanoseconds an event: {events:,} events")
    rows = [
        (name, *(1e9 * found[name] / events for found in (alone, whole)),
         f"{alone['NDJSON'] / alone[name]:.1f}x", f"{whole['NDJSON'] / whole[name]:.1f}x")
        for name in paths
    ]  # fmt: skip
    head = ("", "read", "read and counted", "NDJSON / it, read", "NDJSON / it, counted")
    print(table(head, rows))


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
