"""What it costs to recompute instead: pandas and DuckDB over the events that a window holds.

Once a minute all events held are joined and counted anew, so that an event is paid for
as often as its window has minutes. The cost of taking events in is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .made import CELLS
from .turns import cpu_seconds, wanted

WINDOW_MINUTES = 1440
"""Of a window of a day: so often each event is counted."""

_QUERY = """
SELECT model, sum(predicted AND truth), sum(predicted AND NOT truth),
       sum(NOT predicted AND truth), sum(NOT predicted AND NOT truth)
FROM predictions JOIN labels USING (id) GROUP BY model
"""


def pandas_over(events: list[dict]) -> Callable[[], dict[str, int]]:
    """Counts of all events by pandas."""
    pd = wanted("pandas")
    predictions, labels = _frames(pd, events)

    def counted() -> dict[str, int]:
        both = predictions.merge(labels, on="id")
        cell = (1 - both["predicted"]) * 2 + (both["predicted"] != both["truth"]).where(
            both["predicted"] == 1, both["truth"] == 0
        )
        found = both.groupby(["model", cell]).size().groupby(level=1).sum()
        return {name: int(found.get(number, 0)) for number, name in enumerate(CELLS)}

    return counted


def duckdb_over(events: list[dict]) -> Callable[[], dict[str, int]]:
    """Counts of all events by DuckDB, tables in its memory, one thread."""
    predictions, labels = _frames(wanted("pandas"), events)
    database: Any = wanted("duckdb").connect(config={"threads": 1})
    predictions["predicted"] = predictions["predicted"] == 1
    labels["truth"] = labels["truth"] == 1
    database.register("given_predictions", predictions)
    database.register("given_labels", labels)
    database.execute("CREATE TABLE predictions AS SELECT * FROM given_predictions")
    database.execute("CREATE TABLE labels AS SELECT * FROM given_labels")

    def counted() -> dict[str, int]:
        rows = database.execute(_QUERY).fetchall()
        sums = [int(sum(column)) for column in list(zip(*rows, strict=True))[1:]]
        return dict(zip(CELLS, sums, strict=True))

    return counted


def _frames(pd: Any, events: list[dict]) -> tuple[Any, Any]:
    reported = [(e["id"], e["model"], e["prediction"]) for e in events if e["type"] == "prediction"]
    came = [(e["id"], e["label"]) for e in events if e["type"] == "label"]
    return pd.DataFrame(reported, columns=["id", "model", "predicted"]), pd.DataFrame(
        came, columns=["id", "truth"]
    )


PEERS = {"pandas": pandas_over, "duckdb": duckdb_over}


def nanoseconds_an_event(counted: Callable[[], object], events: int) -> float:
    """Of recomputing a window of a day every minute, each event's share."""
    return cpu_seconds(counted) / events * 1e9 * WINDOW_MINUTES
