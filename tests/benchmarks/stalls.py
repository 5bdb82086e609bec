"""Counts a backlog of many days in one batch; prints the longest time without a turn of the loop.

python -m tests.benchmarks.stalls --days 120

Models with three segment keys of 45 values, whose references wait for their positives: each day
and each pane of event time is judged, and the loop must turn between. Times are CPU time of the
process, as other programs on the machine stall it as well.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from unittest.mock import patch

import numpy as np

from monitor.clock import DAY_SECONDS, SystemClock
from monitor.config import Config
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.loop import Service

START = 1_700_000_000 // DAY_SECONDS * DAY_SECONDS
KEYS, VALUES = ("country", "channel", "product"), 45


class CpuClock(SystemClock):
    """A clock that runs while this process does."""

    def monotonic(self) -> float:
        """CPU seconds of the process."""
        return time.process_time()


class NoRejections:
    """No record is rejected here."""

    def write(self, rejections: Sequence[Rejection]) -> None:
        """Write nothing."""


class OneBatch:
    """A feed that has all of it at once, and then nothing."""

    name = identity = "one batch"
    attached = True
    ended = False

    def __init__(self, batch: EventBatch) -> None:
        self._batches = [batch]

    def poll(self) -> EventBatch | None:
        """The batch, once."""
        return self._batches.pop() if self._batches else None

    def close(self) -> None:
        """Nothing is open."""


def backlog(models: int, days: int, a_day: int, seed: int) -> Iterator[dict]:
    """Predictions in the order of their time, each followed by its label, a few hours later.

    Args:
        models: number of models.
        days: of predictions.
        a_day: predictions of a model and day.
        seed: of all that is drawn.
    """
    chance = np.random.default_rng(seed)
    for number, at in enumerate(np.sort(chance.random(models * days * a_day)) * days):
        positive = chance.random() < 0.08
        flagged = chance.random() < (0.8 if positive else 0.05)
        ts = round(START + float(at) * DAY_SECONDS, 3)
        yield {
            "type": "prediction",
            "id": str(number),
            "ts": ts,
            "model": f"m{number % models}",
            "prediction": int(flagged),
            "segment": {key: f"v{chance.integers(VALUES)}" for key in KEYS},
        }
        delay = float(chance.exponential(DAY_SECONDS / 4))
        yield {
            "type": "label",
            "id": str(number),
            "ts": round(ts + delay, 3),
            "label": int(positive),
        }


def longest_stall(models: int, days: int, a_day: int, seed: int) -> tuple[float, float]:
    """Count the backlog; return CPU seconds of all, and of the longest time without a turn."""
    config = Config(defaults={"segments": [*KEYS], "label_timeout": "30d"})
    events = backlog(models, days, a_day, seed)
    lines = b"".join(json.dumps(event).encode() + b"\n" for event in events)
    batch = Decoder(DecodeSettings.from_config(config)).decode_lines(lines, source="backlog")
    turns: list[float] = []
    clock = CpuClock()
    service = Service(
        config, [OneBatch(batch)], clock=clock, rejected=NoRejections(), say=lambda _line: None
    )
    turned = service.liveness.turned

    def noted() -> None:
        turns.append(clock.monotonic())
        turned()

    began = clock.monotonic()
    with patch.object(service.liveness, "turned", noted):
        while service.turn():
            pass
    ends = np.array([began, *turns, clock.monotonic()])
    return float(ends[-1] - began), float(np.diff(ends).max())


def main() -> None:
    """Print how long it took, and the longest stall."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--days", type=int, default=120)
    parser.add_argument("--a-day", type=int, default=50, help="predictions of a model and day")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    spent, stall = longest_stall(args.models, args.days, args.a_day, args.seed)
    print(f"{args.models * args.days * args.a_day:,} predictions in {spent:.0f} s of CPU")
    print(f"longest time without a turn: {stall * 1000:.0f} ms of CPU")


if __name__ == "__main__":
    main()
