"""All families over the snapshot, in the order of the exposition.

The one list: the collector, the fast writer and the table for people read it.
"""

from monitor.prometheus.family import Family
from monitor.prometheus.model_families import model_families, prediction_book_families
from monitor.prometheus.monitor_families import book_families
from monitor.prometheus.process_series import PROCESS_SERIES, SeriesDescription
from monitor.prometheus.verdict_families import verdict_families
from monitor.prometheus.window_families import window_families

FAMILIES: tuple[Family, ...] = (
    *window_families(),
    *verdict_families(),
    *model_families(),
    *prediction_book_families(),
    *book_families(),
)
"""What a snapshot is exported as."""


def table_of_series() -> list[SeriesDescription]:
    """Every family that the running monitor exports, besides the usual `process_*`."""
    return [*(family.description for family in FAMILIES), *PROCESS_SERIES]


def table_of_series_markdown() -> str:
    """The same as a Markdown table, for the README.

    >>> print(table_of_series_markdown().splitlines()[0])
    | series | type | labels | meaning |
    """
    rows = [_row(series) for series in table_of_series()]
    return "\n".join(["| series | type | labels | meaning |", "|---|---|---|---|", *rows])


def _row(series: SeriesDescription) -> str:
    labels = ", ".join(series.labels)
    return f"| `{series.name}` | {series.kind} | {labels} | {series.meaning} |"
