"""Batches of all kinds of events, and what a state on disk has counted of them.

Predictions of two classes and of many, audits, shadow versions, labels that come before, after,
again, and change: the streams of the simulator (`tests/simulator/events.py`), for real processes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from simulator.counts import DAY, EVENT, Counts, Truth, counted
from simulator.events import ALL, drawn_events

from monitor.config import Config
from monitor.engine import Monitor
from monitor.state import Checkpoints

TIMEOUT_DAYS = 30
SETTINGS = ALL.settings(label_timeout=f"{TIMEOUT_DAYS}d", maturity="1h")
YAML = "".join(f"{key}: {json.dumps(value)}\n" for key, value in SETTINGS.items())
"""The configuration of the models, as lines of a configuration file."""


def mixed_batches(chance: Random, client: int, *, repeated: bool = False) -> Iterator[list[dict]]:
    """Yield batches without end; some events come again in later ones.

    Args:
        chance: decides.
        client: number of the sender; no two share ids.
        repeated: whether batches may arrive twice; outcomes without an id, which would count
            twice then, are left out.
    """
    chunk = 0
    while True:
        chunk += 1
        events = [_named(event, f"{client}.{chunk}.") for event in drawn_events(chance, ALL)]
        with_id = [event for event in events if "id" in event]
        waiting = with_id if repeated else events
        while waiting:
            count = chance.randrange(1, 60)
            batch, waiting = waiting[:count], waiting[count:]
            yield batch + chance.choices(with_id, k=chance.randrange(5))


def truth_of(events: list[dict]) -> Counts:
    """Return what must be counted of events, apart from the numbers of events by type."""
    return Truth(events, TIMEOUT_DAYS * DAY).counts()


def counted_on_disk(state: Path) -> Counts:
    """Return what the newest checkpoint of a state directory has counted.

    Args:
        state: of a monitor that has ended by SIGTERM.
    """
    found = Checkpoints(state / "checkpoints").newest()
    assert found is not None
    monitor = Monitor(Config(**SETTINGS), found.state["engine"])
    counts = counted(monitor, monitor.snapshot())
    return {key: n for key, n in counts.items() if key[0] != EVENT or key[1] == "rejected"}


def _named(event: dict, prefix: str) -> dict:
    name = event.get("id")
    return event if name is None else event | {"id": f"{name[0]}{prefix}{name[1:]}"}
