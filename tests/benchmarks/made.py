"""Input of the benchmarks, made from a seed.

Predictions with ids of 36 characters, and labels that come two and a half minutes
later in the median; one in four predictions never gets one.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import numpy as np

from monitor.engine import Monitor
from monitor.events.columns import MISSING_VALUE, EventBatch, Group, Predictions

START = 1_700_000_000.0
BLOCK = 10_000
CELLS = ("tp", "fp", "fn", "tn")


@dataclass(frozen=True)
class Made:
    """Parameters of a stream.

    Attributes:
        models: how many, each as busy as the others.
        rate: predictions a second.
        keys: segment keys that every prediction carries.
        values: distinct values of each key.
    """

    models: int = 20
    rate: float = 100.0
    keys: int = 0
    values: int = 50

    def events(self, count: int, seed: int = 1) -> list[dict]:
        """Predictions and labels in order of time."""
        chance = random.Random(seed)
        found: list[tuple[float, dict]] = []
        moment = START
        while len(found) < count * 1.7:
            moment += 1 / self.rate
            prediction = self.prediction(chance, round(moment, 3))
            found.append((moment, prediction))
            if chance.random() < 0.75:
                delay = chance.lognormvariate(5.0, 1.5)
                truth = int(chance.random() < (0.6 if prediction["prediction"] else 0.05))
                label = {"type": "label", "id": prediction["id"], "ts": round(moment + delay, 3)}
                found.append((moment + delay, label | {"label": truth}))
        found.sort(key=lambda one: one[0])
        return [event for _, event in found[:count]]

    def prediction(self, chance: random.Random, ts: float) -> dict:
        """One prediction."""
        score = round(chance.betavariate(0.5, 3.0), 4)
        event = {
            "type": "prediction",
            "id": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
            "ts": ts,
            "score": score,
            "prediction": int(score >= 0.5),
            "model": f"model-{chance.randrange(self.models)}",
        }
        if self.keys:
            names = [f"key-{number}" for number in range(self.keys)]
            event["segment"] = {name: f"value-{chance.randrange(self.values)}" for name in names}
        return event

    def waiting(self, count: int, seed: int = 2) -> list[dict]:
        """Predictions of the minute before the stream, whose label never comes."""
        chance = random.Random(seed)
        return [self.prediction(chance, START - 60.0 + 59.0 * i / count) for i in range(count)]


def blocks_of(events: list[dict], size: int = BLOCK) -> list[bytes]:
    """Events as blocks of so many NDJSON lines."""
    encode = msgspec.json.Encoder().encode_lines
    return [encode(events[i : i + size]) for i in range(0, len(events), size)]


def batches_waiting(count: int, keys: int = 0, seed: int = 3) -> Iterator[EventBatch]:
    """Predictions that wait, as columns: many at little cost, of one model without segments."""
    chance = np.random.default_rng(seed)
    group = Group("model-0", values=(MISSING_VALUE,) * keys)
    for first in range(0, count, BLOCK):
        yield _columns(chance, group, first, min(BLOCK, count - first), count)


def remember(monitor: Monitor, count: int, keys: int = 0) -> None:
    """Let a monitor that keeps so many segment keys wait for so many more labels."""
    for batch in batches_waiting(count, keys):
        monitor.apply(batch)


def _columns(
    chance: np.random.Generator, group: Group, first: int, rows: int, count: int
) -> EventBatch:
    predictions = Predictions(
        key=np.frombuffer(chance.bytes(8 * rows), np.uint64),
        time=int((START - 60) * 1000) + 59_000 * np.arange(first, first + rows) // count,
        predicted_positive=chance.random(rows) < 0.1,
        score=np.full(rows, np.nan),
        group=np.zeros(rows, np.int64),
    )
    return EventBatch(predictions=predictions, groups=(group,), records=rows)
