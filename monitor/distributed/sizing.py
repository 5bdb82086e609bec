"""How many pages a job needs, from what a touched page and a stored prediction cost.

A batch reads each page that it touches as a whole, and writes what has changed since the page
was written whole, see `monitor.distributed.pages`: on a page of n ids, of which it touches t,
sqrt(2 n t) of them. Ids are spread over the pages at random, so that E events touch
P (1 - exp(-E / P)) of P pages. With few pages every batch reads the whole state; with many, each
event touches a page of its own, and the searches for expired states read all of them. The number
with the least cost is chosen.
"""

from __future__ import annotations

from math import expm1, sqrt
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.config.quantities import format_duration
from monitor.distributed.page_rules import SWEEPS

PAGE_SECONDS = 310e-6
"""CPU for reading and writing a small page, two calls of Spark's: 77 us in Python, the rest in the
JVM. Measured, as the next two, on a warm JVM."""
READ_SECONDS = 210e-9
"""CPU for reading one stored prediction as part of a page: 57 ns in Python."""
WRITE_SECONDS = 400e-9
"""CPU for writing one stored prediction as part of a page: 125 ns in Python."""
PREDICTION_BYTES = 24
LARGEST_PAGE = 8 << 20
"""A page is worked on as a whole, so it should not be larger, bytes."""

_ENDLESS_DAYS = 30
_MOST_DOUBLINGS = 24


class Load(NamedTuple):
    """What a job is expected to hold and to do.

    Attributes:
        rate: predictions a second.
        remembered: how long predictions are remembered, seconds.
        batch: seconds of events in a batch.
    """

    rate: float
    remembered: float
    batch: float

    @classmethod
    def of(cls, config: Config, *, rate: float, batch: float) -> Load:
        """Return the load of the models of a configuration; endless horizons as 30 days.

        Args:
            config: horizons of the models.
            rate: predictions a second, of all models.
            batch: seconds of events in a batch.
        """
        settings = [*config.models.values()] or [config.defaults]
        horizons = [s.horizon_ms or _ENDLESS_DAYS * DAY_MS for s in settings]
        return cls(rate, max(horizons) / 1000, batch)

    @property
    def pending(self) -> float:
        """Number of predictions remembered."""
        return self.rate * self.remembered

    @property
    def events(self) -> float:
        """Number of events in a batch: each prediction gets a label."""
        return 2 * self.rate * self.batch

    def touched(self, pages: int) -> float:
        """Return how many pages a batch touches.

        Args:
            pages: number of pages.

        >>> round(Load(100, 86_400, 10).touched(1024))
        879
        """
        return -pages * expm1(-self.events / pages)

    def cost(self, pages: int) -> float:
        """Return the CPU that a batch takes for its pages, seconds.

        Args:
            pages: number of pages.

        Returns:
            With its share in the searches for expired states, which read all pages.
        """
        rows, touched = self.pending / pages, self.touched(pages)
        written = min(rows, sqrt(2 * rows * self.events / touched))
        page = PAGE_SECONDS + rows * READ_SECONDS + written * WRITE_SECONDS
        searched = PAGE_SECONDS + rows * (READ_SECONDS + WRITE_SECONDS)
        searches = self.batch / (self.remembered / SWEEPS)
        return touched * page + searches * pages * searched


def pages_for(load: Load, tasks: int) -> int:
    """Return the number of pages with the least cost: the tasks times a power of two.

    Args:
        load: what the job is expected to hold.
        tasks: number of stateful tasks.

    >>> [pages_for(Load(rate, 86_400, 60), 8) for rate in (10, 1000, 100_000)]
    [8, 256, 32768]
    """
    numbers = [tasks << doublings for doublings in range(_MOST_DOUBLINGS)]
    fit = [n for n in numbers if load.pending * PREDICTION_BYTES / n <= LARGEST_PAGE]
    return min(fit or numbers[-1:], key=load.cost)


def why_so_many(load: Load, pages: int) -> str:
    """Return why a job has so many pages, in one line.

    Args:
        load: what the job is expected to hold.
        pages: number of pages.

    >>> print(why_so_many(Load(1000, 86_400, 60), 256))
    256 pages, for 1,000 predictions a second remembered for 1d (86,400,000): 337,500 in each of \
8.1 MB; a batch of 1m touches 256 of them, 20.6 s of CPU for 120,000 events
    """
    rows = load.pending / pages
    kept, batch = (
        format_duration(round(seconds * 1000)) for seconds in (load.remembered, load.batch)
    )
    return (
        f"{pages} pages, for {load.rate:,.0f} predictions a second remembered for {kept} "
        f"({load.pending:,.0f}): {rows:,.0f} in each of {rows * PREDICTION_BYTES / 1e6:.1f} MB; "
        f"a batch of {batch} touches {load.touched(pages):,.0f} of them, "
        f"{load.cost(pages):.1f} s of CPU for {load.events:,.0f} events"
    )
