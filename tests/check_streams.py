"""Replays real streams and compares every count with the truth file that came with each.

    python -m tests.check_streams DIRECTORY

The directory holds pairs NAME.ndjson.gz and NAME.truth.json. Compared are the
totals, each day and month of event time, and each segment value. Exit status 1
where anything differs. Streams that may not be shipped are checked this way.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.snapshot import Snapshot

LINES = 500
"""Few enough that a stream of one event a day does not leap over a year."""
CELLS = ("tp", "fp", "fn", "tn")


def main(directory: Path) -> int:
    """Check every stream of a directory; how many are wrong."""
    wrong = 0
    for truth_file in sorted(directory.glob("*.truth.json")):
        truth = json.loads(truth_file.read_text())
        stream = truth_file.with_name(truth_file.name.replace(".truth.json", ".ndjson.gz"))
        faults = list(differences(stream, truth))
        wrong += bool(faults)
        print(f"{'BAD' if faults else 'ok '} {stream.name}: {truth['n_events']} events")
        print("".join(f"    {fault}\n" for fault in faults[:10]), end="")
    return wrong


def differences(stream: Path, truth: dict) -> list[str]:
    """Differences between the counts of a replay and the truth of the stream."""
    snapshot, hours = replayed(stream, tuple(truth["by_segment"]))
    (model,) = snapshot.models
    found = {"overall": _cells(snapshot.lifetime.counts, model.row)}
    expected = {"overall": _expected(truth["overall"])}
    for row, series in enumerate(snapshot.series):
        if series.segment is not None:
            name = f"{series.segment}={series.value}"
            found[name] = _cells(snapshot.lifetime.counts, row)
    for key, values in truth["by_segment"].items():
        expected |= {f"{key}={value}": _expected(counts) for value, counts in values.items()}
    for block, period in (("by_day", "%Y-%m-%d"), ("by_month", "%Y-%m")):
        expected |= {name: _expected(counts) for name, counts in truth.get(block, {}).items()}
        found |= _by_period(hours, period)
    return [
        f"{name}: counted {found.get(name)}, truth {counts}"
        for name, counts in expected.items()
        if found.get(name, dict.fromkeys(CELLS, 0)) != counts
    ]


def replayed(stream: Path, segments: tuple[str, ...]) -> tuple[Snapshot, dict[int, list[int]]]:
    """The state after the whole stream, and the counts of every hour that passed.

    A monitor keeps hours for a year; longer streams are read off as they go.
    """
    config = Config(defaults={"label_timeout": None, "segments": segments})
    monitor, hours = Monitor(config), {}
    decoder = Decoder(DecodeSettings.from_config(config))
    lines = iter(gzip.decompress(stream.read_bytes()).splitlines(keepends=True))
    while block := b"".join(islice(lines, LINES)):
        monitor.apply(decoder.decode_lines(block, source=stream.name, first_line=1))
        for model in monitor.models:
            opens, counted = monitor.history(model)
            busy = np.flatnonzero(counted.any(axis=1))
            hours |= dict(zip(opens[busy].tolist(), counted[busy].tolist(), strict=True))
    return monitor.snapshot(), hours


def _by_period(hours: dict[int, list[int]], period: str) -> dict[str, dict[str, int]]:
    found: dict[str, Counter] = {}
    for opens, counted in hours.items():
        name = datetime.fromtimestamp(opens / 1000, UTC).strftime(period)
        known = found.setdefault(name, Counter(dict.fromkeys(CELLS, 0)))
        known.update(dict(zip(CELLS, counted, strict=False)))
    return {name: dict(counts) for name, counts in found.items()}


def _cells(counts, row: int) -> dict[str, int]:
    return {name: int(getattr(counts, name)[row]) for name in CELLS}


def _expected(counts: dict) -> dict[str, int]:
    return {name: counts[name] for name in CELLS}


if __name__ == "__main__":
    sys.exit(min(1, main(Path(sys.argv[1]))))
