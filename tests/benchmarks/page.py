"""The pages of a real `precision-monitor run`: a thousand models, and a thousand segments.

    python -m tests.benchmarks.page [--models 1000] [--segments 1000] [--seconds 20]

A process is given forty days of counts, and then a prediction and a label of a tenth of
the models each second, while its page is asked for over and over on loopback. What is
told: CPU of the process a second without anybody looking, milliseconds to the first byte
and to the last (median and worst), and bytes. The load of the machine is said along.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import numpy as np

from .kills import free_port
from .pending import process_seconds

START = 1_700_000_000 // 86_400 * 86_400
DAYS = 40
_PAUSE = 0.5


class Case(NamedTuple):
    """A monitor to look at.

    Attributes:
        name: in the table.
        models: how many.
        segments: values of a segment key; 0 for no key.
    """

    name: str
    models: int
    segments: int

    def config(self, port: int, folder: Path) -> str:
        """Of the process."""
        keys = f", segments: [shop], max_segment_values: {self.segments}" if self.segments else ""
        return (
            f"defaults: {{label_timeout: 2d, maturity: 1h{keys}}}\nmax_models: {self.models}\n"
            f"max_series: {self.models * (self.segments + 2) + 100}\n"
            f"feeds:\n  - {{type: file, path: {folder}/events.ndjson, follow: true}}\n"
            f"exporter: {{listen: '127.0.0.1:{port}'}}\nstate: {{directory: {folder}/state}}\n"
        )

    def past(self) -> Iterator[dict]:
        """Forty days, each counted at noon; positives become rarer for a third of the models."""
        rng = np.random.default_rng(8)
        for day in range(DAYS):
            rarer = 0.5 if day > DAYS // 2 else 1.0
            for model in range(self.models):
                share = rarer if model % 3 == 0 else 1.0
                for shop in range(self.segments or 1):
                    rates = (80 * share, 45, 20 * share, 855)
                    tp, fp, fn, tn = rng.poisson(rates if not self.segments else [8, 5, 2, 85])
                    yield {
                        "type": "counts",
                        "model": f"model-{model:04}",
                        "ts": START + day * 86_400 + 43_200,
                        "tp": int(tp),
                        "fp": int(fp),
                        "fn": int(fn),
                        "tn": int(tn),
                        "predicted_positive": int(tp + fp),
                        "predicted_negative": int(fn + tn),
                        **({"segment": {"shop": f"s{shop:04}"}} if self.segments else {}),
                    }

    def present(self, second: int) -> Iterator[dict]:
        """A prediction and a label of every tenth model."""
        ts = START + (DAYS - 1) * 86_400 + 43_200 + second
        for model in range(second % 10, self.models, 10):
            name = f"{model}-{second}"
            prediction = {"type": "prediction", "id": name, "ts": ts, "prediction": second % 2}
            yield prediction | {"model": f"model-{model:04}", "segment": {"shop": "s0001"}}
            yield {"type": "label", "id": name, "ts": ts + 0.5, "label": second % 3 == 0}


class Answer(NamedTuple):
    """Cost of one look at the page."""

    first: float
    last: float
    length: int


def looked(url: str) -> Answer:
    """Milliseconds to the first and to the last byte, and bytes."""
    began = time.perf_counter()
    with httpx.stream("GET", url, timeout=60) as answer:
        chunks = answer.iter_raw()
        length, first = len(next(chunks)), time.perf_counter() - began
        length += sum(map(len, chunks))
        assert answer.status_code == 200, answer.status_code
    return Answer(1000 * first, 1000 * (time.perf_counter() - began), length)


def measured(case: Case, seconds: int) -> str:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        file = folder / "events.ndjson"
        file.write_text("".join(f"{json.dumps(event)}\n" for event in case.past()))
        (folder / "monitor.yaml").write_text(case.config(port, folder))
        command = [sys.executable, "-m", "monitor", "run", "-c", f"{folder}/monitor.yaml"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            return _of(process, case, f"http://127.0.0.1:{port}/", file, seconds)
        finally:
            process.terminate()
            process.wait()


def _of(process: subprocess.Popen[bytes], case: Case, url: str, file: Path, seconds: int) -> str:
    expected = DAYS * case.models * (case.segments or 1)
    while _records(url) < expected:
        assert process.poll() is None, f"it ended with {process.returncode}"
    before, began = process_seconds(process.pid), time.monotonic()
    for second in range(seconds):
        _append(file, case, second)
        time.sleep(max(0.0, began + second + 1 - time.monotonic()))  # live: a second each
    busy = (process_seconds(process.pid) - before) / (time.monotonic() - began)
    answers, began = [], time.monotonic()
    for second in range(seconds, 2 * seconds):
        _append(file, case, second)
        while time.monotonic() < began + second - seconds + 1:
            answers.append(looked(url))
            time.sleep(_PAUSE)  # as somebody who looks again
    first, last = (sorted(a[i] for a in answers) for i in (0, 1))
    return (
        f"{case.name:<20}{busy:>8.2f}{statistics.median(first):>10.0f}{first[-1]:>8.0f}"
        f"{statistics.median(last):>10.0f}{last[-1]:>8.0f}{answers[-1].length:>10,}"
    )


def _append(file: Path, case: Case, second: int) -> None:
    with file.open("a") as opened:
        opened.writelines(f"{json.dumps(event)}\n" for event in case.present(second))


def _records(url: str) -> int:
    time.sleep(_PAUSE)  # to ask costs the server, too
    try:
        return int(httpx.get(f"{url}api/v1/status?limit=1", timeout=60).json()["records"])
    except (httpx.HTTPError, ValueError, KeyError):
        return 0


def main(given: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=1_000)
    parser.add_argument("--segments", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    options = parser.parse_args(given)
    if options.quick:
        options.models, options.segments, options.seconds = 20, 20, 2
    cases = [Case(f"{options.models} models", options.models, 0)]
    cases.append(Case(f"{options.segments} segments", 1, options.segments))
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(
        f"{'':<20}{'CPU/s':>8}{'first ms':>10}{'worst':>8}{'last ms':>10}{'worst':>8}{'bytes':>10}"
    )
    for case in cases:
        if case.models * max(case.segments, 1):
            print(measured(case, options.seconds), flush=True)
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
