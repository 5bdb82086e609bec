"""Pairs of periods of the real flights, from daily counts of all of them.

`flights_by_day.json` holds the outcomes of every day of the full stream, of
which the demo bundles a fifth; the pairs and their figures are those that were
measured of it independently (errors clustered by day).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from monitor.config.quantities import parse_time
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period

DAYS = json.loads(Path(__file__).with_name("flights_by_day.json").read_text())["days"]

# before, after, log r and its error, log LR+ and its error
PAIRS = {
    "july-september": ("2013-07-01..2013-08-01", "2013-09-01..2013-10-01", -1.11, 0.20, 0.01, 0.08),
    "august-september": (
        "2013-08-01..2013-09-01",
        "2013-09-01..2013-10-01",
        -0.72,
        0.22,
        0.00,
        0.08,
    ),
    "november-december": (
        "2013-11-01..2013-12-01",
        "2013-12-01..2014-01-01",
        0.83,
        0.17,
        -0.07,
        0.06,
    ),
    "march-december": ("2013-03-01..2013-04-01", "2013-12-01..2014-01-01", 0.49, 0.19, -0.16, 0.06),
    "spring-winter": ("2013-03-01..2013-05-01", "2013-11-01..2014-01-01", -0.02, 0.14, -0.06, 0.04),
}


def period(written: str) -> Period:
    """The outcomes of A..B, by days."""
    first, end = written.split("..")
    cells = np.array([row for day, row in DAYS.items() if first <= day < end])
    days = ConfusionCounts.from_cells(cells[:, :4])
    return Period(
        opens=parse_time(first),
        closes=parse_time(end),
        blocks=days,
        by_day=days,
        block_ms=86_400_000,
        predictions=int(cells[:, 4:].sum()),
    )


def given(**cells: int) -> Period:
    """Counts without a time."""
    return Period.given(ConfusionCounts(**cells))
