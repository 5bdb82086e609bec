"""All families over the snapshot, in the order of the exposition.

The collector, the text writer and the table for people read this one list.
"""

from monitor.prometheus.change_families import change_families
from monitor.prometheus.class_families import class_families
from monitor.prometheus.confusion_families import confusion_families
from monitor.prometheus.family import Family
from monitor.prometheus.feed_series import FEED_SERIES
from monitor.prometheus.forward_series import FORWARD_SERIES
from monitor.prometheus.model_families import model_families, prediction_state_families
from monitor.prometheus.monitor_families import monitor_families
from monitor.prometheus.process_series import PROCESS_SERIES, SeriesDescription
from monitor.prometheus.score_families import score_families
from monitor.prometheus.segment_families import segment_families
from monitor.prometheus.source_families import label_source_families
from monitor.prometheus.verdict_families import verdict_families
from monitor.prometheus.version_families import version_families
from monitor.prometheus.window_families import window_families

FAMILIES: tuple[Family, ...] = (
    *window_families(),
    *class_families(),
    *score_families(),
    *verdict_families(),
    *segment_families(),
    *confusion_families(),
    *change_families(),
    *model_families(),
    *version_families(),
    *label_source_families(),
    *prediction_state_families(),
    *monitor_families(),
)
"""The families that a snapshot is exported as."""


def table_of_series() -> list[SeriesDescription]:
    """Return every family that the running monitor exports, besides the usual `process_*`."""
    return [
        *(family.description for family in FAMILIES),
        *PROCESS_SERIES,
        *FEED_SERIES,
        *FORWARD_SERIES,
    ]


def table_of_series_markdown() -> str:
    """Return every family as a row of a Markdown table.

    >>> print(table_of_series_markdown().splitlines()[0])
    | series | type | labels | meaning |
    """
    rows = [_row(series) for series in table_of_series()]
    return "\n".join(["| series | type | labels | meaning |", "|---|---|---|---|", *rows])


def _row(series: SeriesDescription) -> str:
    labels = ", ".join(series.labels)
    return f"| `{series.name}` | {series.kind} | {labels} | {series.meaning} |"
