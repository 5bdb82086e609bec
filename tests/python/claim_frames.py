"""Claims as a frame, and what its columns are."""

from datetime import UTC

import numpy as np
import pandas as pd

ROWS = 500


def frame(rows=ROWS):
    rng = np.random.default_rng(6)
    proba = rng.random(rows).round(4)
    moments = pd.date_range("2026-10-01", periods=rows, freq="7min", tz=UTC)
    return pd.DataFrame(
        {
            "timestamp": moments.as_unit("us"),
            "claim": np.arange(rows),
            "proba": proba,
            "decision": (proba > 0.6).astype(int),
            "fraud": (rng.random(rows) < proba / 2).astype(int),
            "region": np.where(np.arange(rows) % 3 == 0, "eu", "us"),
            "note": [f"n{i}" for i in range(rows)],
        }
    )


FRAME = frame()
