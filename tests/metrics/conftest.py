"""The bundled flights, one row a labelled prediction."""

import gzip
import json
from importlib.resources import files

import numpy as np
import pytest


@pytest.fixture(scope="session")
def flight_rows() -> dict[str, np.ndarray]:
    """Columns `score`, `prediction` and `label` of all flights that have a label."""
    predictions: dict[str, tuple[float, int]] = {}
    rows: list[tuple[float, int, int]] = []
    path = files("monitor") / "demo" / "flights.ndjson.gz"
    for line in gzip.decompress(path.read_bytes()).splitlines():
        event = json.loads(line)
        if event["type"] == "prediction":
            predictions[event["id"]] = (event["score"], event["prediction"])
        else:
            rows.append((*predictions[event["id"]], event["label"]))
    return dict(zip(("score", "prediction", "label"), np.array(rows).T, strict=True))
