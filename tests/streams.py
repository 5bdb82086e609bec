"""Streams for tests: event dictionaries, and batches made of them without the decoder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from monitor.events.columns import RETRACTED, EventBatch, Group, Labels, Predictions
from monitor.events.keys import keys_of

FLIGHTS = Path(__file__).parents[1] / "monitor" / "demo" / "flights.ndjson.gz"


def flights() -> list[dict]:
    """The bundled real stream: predictions and late labels, in order of time."""
    with gzip.open(FLIGHTS, "rt") as lines:
        return [json.loads(line) for line in lines]


def flights_of(first: float, end: float) -> list[dict]:
    """The predictions of a time range, epoch seconds, with their labels, whenever these came."""
    events = [e for e in flights() if e["type"] == "label" or first <= e["ts"] < end]
    made = {event["id"] for event in events if event["type"] == "prediction"}
    return [event for event in events if event["id"] in made]


def batch_of(events: list[dict], segments: tuple[str, ...] = ()) -> EventBatch:
    """Event dictionaries (ts in epoch seconds) as one batch."""
    predictions = [e for e in events if e["type"] == "prediction"]
    labels = [e for e in events if e["type"] == "label"]
    groups: dict[Group, int] = {}
    codes = [groups.setdefault(_group(e, segments), len(groups)) for e in predictions]
    return EventBatch(
        predictions=Predictions(
            key=keys_of(e["id"] for e in predictions),
            time=_milliseconds(predictions),
            predicted_positive=np.array([bool(e["prediction"]) for e in predictions], np.bool_),
            score=np.array([e.get("score", np.nan) for e in predictions], np.float64),
            group=np.array(codes, np.int64),
            row=_rows(events, "prediction"),
        ),
        labels=Labels(
            key=keys_of(e["id"] for e in labels),
            time=_milliseconds(labels),
            value=np.array(
                [RETRACTED if e["label"] is None else e["label"] for e in labels], np.int64
            ),
            sampling_probability=np.full(len(labels), np.nan),
            row=_rows(events, "label"),
        ),
        groups=tuple(groups),
        records=len(events),
    )


def in_batches(events: list[dict], size: int, segments: tuple[str, ...] = ()) -> list[EventBatch]:
    """The same, so many events a batch."""
    return [batch_of(events[i : i + size], segments) for i in range(0, len(events), size)]


def _group(event: dict, segments: tuple[str, ...]) -> Group:
    carried = event.get("segment", {})
    values = tuple(carried.get(key, "__missing__") for key in segments)
    return Group(event.get("model", "default"), event.get("version", ""), values)


def _rows(events: list[dict], kind: str) -> np.ndarray:
    return np.array([i for i, e in enumerate(events) if e["type"] == kind], np.int64)


def _milliseconds(events: list[dict]) -> np.ndarray:
    return np.array([round(e["ts"] * 1000) for e in events], np.int64)
