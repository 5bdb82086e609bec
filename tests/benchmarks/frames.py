"""The same rows as frames and as NDJSON: `Monitor.feed` beside decoding, and one `predict`.

    python -m tests.benchmarks.frames [--rows N]

CPU time of reading alone, and of reading and counting, with the compiled kernel and without it;
all must count the same. Of single calls, the least of some rounds, beside a loop that does
nothing else than adding.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from monitor import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.files import read
from monitor.kernel import kernel_in_use
from monitor.kernel.choice import VARIABLE
from monitor.python.tables import TableReader, mapping_of

from .turns import cpu_seconds, machine, medians, table, wanted

COLUMNS = {
    "id": "claim", "ts": "moment", "score": "proba", "prediction": "decision", "label": "fraud",
}  # fmt: skip

_CALLED = 25_000
"""Rows that are given as single calls."""


def made(rows: int) -> dict[str, Any]:
    """Columns of outcomes with ids, as a program has them."""
    rng = np.random.default_rng(1)
    proba = rng.random(rows).round(4)
    return {
        "claim": [f"claim-{number}" for number in range(rows)],
        "moment": 1.75e9 + np.arange(rows) * 5.0,
        "proba": proba,
        "decision": (proba > 0.6).astype(np.int8),
        "fraud": (rng.random(rows) < proba / 2).astype(np.int8),
    }


def tables(columns: dict[str, Any]) -> dict[str, Any]:
    """The rows as tables, by their kind; polars where it is installed."""
    arrow = wanted("pyarrow").table(columns)
    found = {"pandas": wanted("pandas").DataFrame(columns), "Arrow": arrow, "arrays": columns}
    try:
        return {**found, "polars": wanted("polars").from_arrow(arrow)}
    except SystemExit:
        return found


def lines(columns: dict[str, Any], path: Path) -> Path:
    """The rows as a file of events."""
    names = {column: field for field, column in COLUMNS.items()}
    plain = {names[name]: list(map(_plain, values)) for name, values in columns.items()}
    with path.open("w") as file:
        for row in zip(*plain.values(), strict=True):
            event = {"type": "outcome", **dict(zip(plain, row, strict=True))}
            file.write(f"{json.dumps(event)}\n")
    return path


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def read_lines(path: Path) -> None:
    """Every batch of a file."""
    for _ in read([path], Decoder(DecodeSettings())):
        pass


def read_table(rows: Any) -> None:
    """Every batch of a table."""
    mapping = mapping_of(COLUMNS, None, None)
    for _ in TableReader(rows, mapping, Decoder(DecodeSettings())).batches():
        pass


def counted_lines(path: Path) -> Monitor:
    """A monitor that took a file."""
    monitor = Monitor()
    for batch in read([path], Decoder(DecodeSettings())):
        monitor.apply(batch)
    return monitor


def counted_table(rows: Any) -> Monitor:
    """A monitor that took a table."""
    monitor = Monitor()
    monitor.feed(rows, **COLUMNS)
    return monitor


def one_by_one(columns: dict[str, Any]) -> Monitor:
    """A monitor that took the rows as single calls, two a row."""
    monitor = Monitor()
    for key, ts, score, predicted, label in zip(*columns.values(), strict=True):
        monitor.predict(key, ts=ts, score=score, prediction=predicted)
        monitor.label(key, ts=ts, label=label)
    monitor.flush()
    return monitor


def by_kernel(kernel: str, work: Callable[[], Any]) -> Any:
    """Do some work with a kernel, `c` or `python`."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = kernel
    try:
        return work()
    finally:
        del os.environ[VARIABLE]
        if before is not None:
            os.environ[VARIABLE] = before


def turns_of_a_loop(turns: int) -> int:
    """A loop of plain Python, to compare with: the sum of its turns."""
    total = 0
    for turn in range(turns):
        total += turn
    return total


def single_calls(columns: dict[str, Any], rounds: int) -> str:
    """What one call of `predict` or `label` costs: microseconds, and turns of a loop.

    Args:
        columns: of the rows, each of which makes two calls.
        rounds: rounds of which the least counts: what others do on the machine only adds.
    """
    calls = 2 * len(columns["claim"])
    each, loop = (
        min(cpu_seconds(partial(work, given)) for _ in range(rounds)) / number
        for work, given, number in (
            (one_by_one, columns, calls),
            (turns_of_a_loop, 10 * calls, 10 * calls),
        )
    )
    return (
        f"One call of predict or label, {calls:,} calls in one process, least of {rounds}: "
        f"{1e6 * each:.1f} us, as {each / loop:.0f} turns of a loop that adds"
    )


def report(rows: int, rounds: int) -> None:
    """Print the tables.

    Args:
        rows: number of rows.
        rounds: rounds of each measurement.
    """
    columns = made(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = lines(columns, Path(folder) / "events.ndjson")
        given = tables(columns)
        reads: dict[str, Callable[[], object]] = {"NDJSON": partial(read_lines, path)}
        reads |= {name: partial(read_table, found) for name, found in given.items()}
        counts: dict[str, Callable[[], Monitor]] = {"NDJSON": partial(counted_lines, path)}
        counts |= {name: partial(counted_table, found) for name, found in given.items()}
        kernels = ["c", "python"] if kernel_in_use() == "c" else ["python"]
        alone, whole = (
            {(name, k): partial(by_kernel, k, do) for k in kernels for name, do in works.items()}
            for works in (reads, counts)
        )
        calls = partial(one_by_one, columns)
        totals = {repr(count().snapshot().lifetime.counts) for count in (*whole.values(), calls)}
        if len(totals) != 1:
            raise SystemExit(f"the tables disagree: {totals}")
        reading, counting = (
            medians({name: partial(cpu_seconds, work) for name, work in works.items()}, rounds)
            for works in (alone, whole)
        )
        called = single_calls({name: values[:_CALLED] for name, values in columns.items()}, rounds)
    print(f"\nFrames, ns of CPU time a row and speed beside NDJSON: {rows:,} rows with ids")
    print(
        table(
            ("", "kernel", "read", "read and counted", "it / NDJSON, read", "it / NDJSON, counted"),
            [
                (
                    name, kernel,
                    f"{1e9 * reading[name, kernel] / rows:.0f}",
                    f"{1e9 * counting[name, kernel] / rows:.0f}",
                    f"{reading['NDJSON', kernel] / reading[name, kernel]:.1f}x",
                    f"{counting['NDJSON', kernel] / counting[name, kernel]:.1f}x",
                )
                for name, kernel in whole
            ],
        )
    )  # fmt: skip
    print(f"\n{called}")


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rows, options.rounds = 5_000, 1
    print(machine("numpy", "msgspec", "pyarrow", "pandas"))
    report(options.rows, options.rounds)


if __name__ == "__main__":
    main()
