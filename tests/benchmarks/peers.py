"""What users would otherwise write: each takes blocks of lines and counts outcomes.

Every variant has `remember` for predictions that wait from the start, `take` for a
block of lines, and `cells` for what was counted.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry, Counter
from river import metrics as river_metrics
from river import utils as river_utils

from .made import CELLS
from .turns import wanted


class Plain:
    """What a team writes first: json, a dictionary, river's matrix, prometheus_client counters."""

    windows: tuple[dt.timedelta, ...] = ()

    def __init__(self) -> None:
        self.pending: dict[str, dict] = {}
        self.matrices: dict[str, river_metrics.ConfusionMatrix] = {}
        self.rolling: dict[str, list] = {}
        self.total = Counter("outcomes", "by cell", ["model", "cell"], registry=CollectorRegistry())
        self.counts = dict.fromkeys(CELLS, 0)

    def remember(self, block: bytes) -> None:
        """Predictions that wait."""
        self.take(block)

    def take(self, block: bytes) -> None:
        """Count a block of lines."""
        for line in block.splitlines():
            self.take_event(json.loads(line))

    def take_event(self, event: dict) -> None:
        """Count an event."""
        if event["type"] == "prediction":
            self.pending[event["id"]] = event
            return
        prediction = self.pending.pop(event["id"], None)
        if prediction is not None:
            self._count(prediction, event)

    def _count(self, prediction: dict, label: dict) -> None:
        model, predicted, is_ = prediction["model"], prediction["prediction"], label["label"]
        matrix = self.matrices.setdefault(model, river_metrics.ConfusionMatrix())
        matrix.update(is_, predicted)
        cell = CELLS[cell_of(predicted, is_)]
        self.total.labels(model, cell).inc()
        self.counts[cell] += 1
        if self.windows:
            moment = dt.datetime.fromtimestamp(label["ts"], dt.UTC).replace(tzinfo=None)
            for rolling in self._rolling(model):
                rolling.update(is_, predicted, t=moment)

    def _rolling(self, model: str) -> list:
        if model not in self.rolling:
            self.rolling[model] = [
                river_utils.TimeRolling(river_metrics.Precision, period=period)
                for period in self.windows
            ]
        return self.rolling[model]

    def cells(self) -> dict[str, int]:
        """Outcomes by cell, over all models."""
        return self.counts


class PlainWindows(Plain):
    """The same, with the windows that people ask for next."""

    windows = (dt.timedelta(minutes=5), dt.timedelta(hours=1), dt.timedelta(days=1))


class Streamz(Plain):
    """The plain one as a streamz pipeline: parse, join, count."""

    def __init__(self) -> None:
        super().__init__()
        self.source = wanted("streamz").Stream()
        joined = self.source.map(json.loads).accumulate(self._meet, returns_state=True, start=None)
        joined.filter(bool).sink(lambda pair: self._count(*pair))

    def remember(self, block: bytes) -> None:
        """Predictions that wait: straight into the dictionary, in its favour."""
        super().take(block)

    def take(self, block: bytes) -> None:
        """Count a block of lines."""
        for line in block.splitlines():
            self.source.emit(line)

    def _meet(self, state: None, event: dict) -> tuple[None, tuple[dict, dict] | None]:
        if event["type"] == "prediction":
            self.pending[event["id"]] = event
            return state, None
        prediction = self.pending.pop(event["id"], None)
        return state, prediction and (prediction, event)


class Bytewax:
    """A bytewax dataflow in memory: keyed by id, joined by stateful_map, counted."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(CELLS, 0)
        self.blocks: list[bytes] = []

    def remember(self, block: bytes) -> None:
        """Nothing waits: a flow ends with its input. In its favour."""

    def take(self, block: bytes) -> None:
        """Run a flow over a block; what it joins is kept by id from block to block."""
        self.blocks.append(block)

    def finish(self) -> None:
        """Run the flow."""
        flows, run = wanted("bytewax.operators"), wanted("bytewax.testing")
        flow = wanted("bytewax.dataflow").Dataflow("outcomes")
        lines = (line for block in self.blocks for line in block.splitlines())
        source = run.TestingSource(lines, batch_size=1000)
        events = flows.map("parse", flows.input("lines", flow, source), json.loads)
        keyed = flows.key_on("key", events, lambda event: event["id"])
        cells = flows.stateful_map("join", keyed, _met)
        flows.inspect("count", cells, self._count)
        found: list = []
        flows.output("out", cells, run.TestingSink(found))
        run.run_main(flow)

    def _count(self, _: str, item: tuple[str, int | None]) -> None:
        if item[1] is not None:
            self.counts[CELLS[item[1]]] += 1

    def cells(self) -> dict[str, int]:
        """Outcomes by cell, over all models."""
        return self.counts


def _met(waiting: dict | None, event: dict) -> tuple[dict | None, int | None]:
    """State and output of one id; the prediction goes once its label has come."""
    if event["type"] == "prediction":
        return event, None
    return None, None if waiting is None else cell_of(waiting["prediction"], event["label"])


class Careful:
    """What a careful team writes: a fast decoder, few objects, integers."""

    def __init__(self) -> None:
        self.pending: dict[str, tuple[str, int]] = {}
        self.tables: dict[str, list[int]] = {}
        self.loads: Any = wanted("orjson").loads

    def remember(self, block: bytes) -> None:
        """Predictions that wait."""
        self.take(block)

    def take(self, block: bytes) -> None:
        """Count a block of lines."""
        pending, tables = self.pending, self.tables
        for event in self.events(block):
            if event["type"] == "prediction":
                pending[event["id"]] = (event["model"], event["prediction"])
                continue
            known = pending.pop(event["id"], None)
            if known is not None:
                table = tables.setdefault(known[0], [0, 0, 0, 0])
                predicted, is_ = known[1], event["label"]
                table[(not predicted) * 2 + (predicted != is_ if predicted else not is_)] += 1

    def events(self, block: bytes) -> Iterable[dict]:
        """Events of a block, decoded."""
        return map(self.loads, block.splitlines())

    def cells(self) -> dict[str, int]:
        """Outcomes by cell, over all models."""
        sums = [sum(column) for column in zip(*self.tables.values(), strict=True)]
        return dict(zip(CELLS, sums, strict=True))


class CarefulLines(Careful):
    """The same with a decoder that takes many lines at once."""

    decoder = msgspec.json.Decoder()

    def events(self, block: bytes) -> Iterable[dict]:
        """Events of a block, decoded."""
        return self.decoder.decode_lines(block)


def cell_of(predicted: int, is_: int) -> int:
    """Where an outcome counts: tp, fp, fn, tn."""
    return (not predicted) * 2 + (predicted != is_ if predicted else not is_)
