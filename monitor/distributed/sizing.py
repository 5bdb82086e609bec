"""How many pages a job needs, from what a touched page and a stored prediction cost.

A batch reads each page that it touches as a whole, and writes what has changed since the page
was written whole, see `monitor.distributed.pages`: on a page of n ids, of which it touches t,
sqrt(2 n t) of them. Ids are spread over the pages at random, so that E events touch
P (1 - exp(-E / P)) of P pages. With few pages every batch reads the whole state; with many, each
event touches a page of its own, and a search for expired states, which is one batch's work, reads
all of them. The number with the least cost is chosen, of those that a task can search.
"""

from __future__ import annotations

from math import ceil, expm1, sqrt
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.config.quantities import format_duration
from monitor.distributed.page_rules import SWEEPS
from monitor.errors import MonitorError

PAGE_SECONDS = 310e-6
"""CPU for reading and writing a small page, two calls of Spark's: 77 us in Python, the rest in the
JVM. Measured, as the next two, on a warm JVM."""
READ_SECONDS = 210e-9
"""CPU for reading one stored prediction as part of a page: 57 ns in Python."""
WRITE_SECONDS = 400e-9
"""CPU for writing one stored prediction as part of a page: 125 ns in Python."""
EVENT_SECONDS = 11e-6
"""CPU for an event besides its pages: 2.6 us in Python, the rest in the JVM."""
PREDICTION_BYTES = 24
"""A stored prediction, as a page is worked on."""
STORED_BYTES = PREDICTION_BYTES * 8 / 7
"""A stored prediction in Spark's state, see `monitor.distributed.seven_bits`."""
LARGEST_PAGE = 8 << 20
"""A page is worked on as a whole, so it should not be larger, bytes."""

MOST_DOUBLINGS = 16
MOST_PAGES = 1 << MOST_DOUBLINGS
"""Pages of a task: a search for expired states reads each of them in one batch, which takes 20 s of
CPU where they are empty."""

_ENDLESS_DAYS = 30
_MEGABYTE = 1e6


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
        """Return the load of the models of a configuration; endless terms as 30 days.

        Args:
            config: horizons and label timeouts of the models, of which the longer one counts.
            rate: predictions a second, of all models.
            batch: seconds of events in a batch.
        """
        settings = [*config.models.values()] or [config.defaults]
        terms = [term for s in settings for term in (s.horizon_ms, s.label_timeout)]
        longest = max(term or _ENDLESS_DAYS * DAY_MS for term in terms)
        return cls(rate, longest / 1000, batch)

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
        return touched * page + self.searches * self.search_cost(pages)

    @property
    def searches(self) -> float:
        """Share of the batches that search for expired states."""
        return min(1.0, self.batch * SWEEPS / self.remembered)

    def search_cost(self, pages: int) -> float:
        """Return the CPU of a search for expired states in a batch, seconds.

        The pages that the batch has touched are not read again; all are written.

        Args:
            pages: number of pages.

        >>> round(Load(100, 86_400, 10).search_cost(1024), 1)
        3.8
        """
        rows = self.pending / pages
        read = (pages - self.touched(pages)) * (PAGE_SECONDS + rows * READ_SECONDS)
        return read + pages * rows * WRITE_SECONDS


def pages_for(load: Load, tasks: int) -> int:
    """Return the number of pages with the least cost: the tasks times a power of two.

    Args:
        load: what the job is expected to hold.
        tasks: number of stateful tasks.

    Raises:
        MonitorError: so many tasks cannot hold it.

    >>> [pages_for(Load(rate, 86_400, 60), 8) for rate in (10, 1000, 100_000)]
    [8, 256, 32768]
    """
    least = ceil(load.pending * PREDICTION_BYTES / LARGEST_PAGE)
    if least > MOST_PAGES * tasks:
        raise MonitorError(
            f"--partitions {tasks}: {load.pending:,.0f} predictions to remember need {least:,} "
            f"pages of {LARGEST_PAGE >> 20} MiB, and a task has at most {MOST_PAGES:,}; give at "
            f"least --partitions {ceil(least / MOST_PAGES)}, or a lower --rate"
        )
    numbers = [tasks << doublings for doublings in range(MOST_DOUBLINGS + 1)]
    return min((n for n in numbers if n >= least), key=load.cost)


def check_pages(pages: int, tasks: int) -> None:
    """Check a number of pages that a person has chosen for a new checkpoint.

    Args:
        pages: number of pages.
        tasks: number of stateful tasks.

    Raises:
        MonitorError: a task would have too many.

    >>> check_pages(1 << 20, 8)
    Traceback (most recent call last):
    monitor.errors.MonitorError: --buckets 1048576: a task has at most 65,536 pages; give at most \
--buckets 524288, or at least --partitions 16
    """
    if pages > MOST_PAGES * tasks:
        raise MonitorError(
            f"--buckets {pages}: a task has at most {MOST_PAGES:,} pages; give at most --buckets "
            f"{MOST_PAGES * tasks}, or at least --partitions {ceil(pages / MOST_PAGES)}"
        )


def why_so_many(load: Load, pages: int, assumed: str = "") -> str:
    """Return why a job has so many pages, in one line.

    Args:
        load: what the job is expected to hold.
        pages: number of pages.
        assumed: what of the load was assumed and not given, to be appended.

    >>> print(why_so_many(Load(1000, 86_400, 60), 256))
    256 pages, for 1,000 predictions a second remembered for 1d (86,400,000): 337,500 in each, \
8.1 MB (9.3 MB as stored); a batch of 1m touches 256 of them and has 120,000 events, 21.7 s of \
CPU with its share in the searches for expired states, of which each takes 35 s more
    """
    rows = load.pending / pages
    kept, batch = (
        format_duration(round(seconds * 1000)) for seconds in (load.remembered, load.batch)
    )
    seconds = load.cost(pages) + load.events * EVENT_SECONDS
    cores = seconds / load.batch
    if cores > 1:
        assumed = f": {cores:,.1f} cores keep up with it, fewer with a longer --every{assumed}"
    return (
        f"{pages} pages, for {load.rate:,.0f} predictions a second remembered for {kept} "
        f"({load.pending:,.0f}): {rows:,.0f} in each, {_size(rows * PREDICTION_BYTES)} "
        f"({_size(rows * STORED_BYTES)} as stored); a batch of {batch} touches "
        f"{load.touched(pages):,.0f} of them and has {load.events:,.0f} events, {seconds:,.1f} s "
        "of CPU with its share in the searches for expired states, of which each takes "
        f"{load.search_cost(pages):,.0f} s more{assumed}"
    )


def _size(size: float) -> str:
    return f"{size / 1e6:.1f} MB" if size >= _MEGABYTE else f"{size / 1e3:.1f} kB"
