"""The schema version of a checkpoint names its keys: other keys need another number."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from labelled import DAY, stream
from same import through_disk

from monitor.config import Config
from monitor.engine import Monitor
from monitor.state.encoding import SCHEMA_VERSION

KEYS = Path(__file__).with_name("schema.json")
"""Keys of the engine's state by schema version."""


def keys_of(state, above="") -> Iterator[str]:
    if isinstance(state, dict):
        for key, value in state.items():
            name = key if isinstance(key, str) else "*"
            yield f"{above}{name}"
            yield from keys_of(value, f"{above}{name}.")
    elif isinstance(state, list | tuple):
        for value in state:
            yield from keys_of(value, f"{above}[].")


def test_a_state_of_other_keys_has_another_schema_version():
    config = Config(
        defaults={"reference": {"trailing": "2d"}, "labelling": "sampled", "label_timeout": "3d"},
        windows=["6h", "2d"],
    )
    monitor = Monitor(config)
    events = stream(9, 400, seed=5, delays=(0.2,) * 4, labelled=(0.5,) * 4, weighted=True)
    for batch in events.batches(np.inf, DAY // 3):
        monitor.apply(batch)
    found = sorted(set(keys_of(through_disk(monitor.state()))))
    known = json.loads(KEYS.read_text())
    assert found == known.get(str(SCHEMA_VERSION)), (
        "the keys of the state are others: raise SCHEMA_VERSION, and add them to schema.json "
        f"under it: {json.dumps(found)}"
    )
