"""Segment keys that are asked for and that no recorded prediction has."""

from __future__ import annotations

from monitor.cli.mapped_files import RecordedFeed
from monitor.cli.output import tell
from monitor.events.columns import MISSING_VALUE
from monitor.report.printable import one_line
from monitor.snapshot import Snapshot


def unknown_segments(snapshot: Snapshot, feed: RecordedFeed) -> dict[tuple[str, str], str]:
    """Return a fault for each model and segment key that no prediction has.

    Args:
        snapshot: after all records.
        feed: what was read.
    """
    values: dict[tuple[str, str], set[str]] = {}
    for series in snapshot.series:
        if series.segment is not None and series.value is not None:
            values.setdefault((series.model, series.segment), set()).add(series.value)
    unknown = [place for place, those in values.items() if those <= {MISSING_VALUE}]
    known = ", ".join(feed.segment_keys()) if unknown else ""
    notation = feed.faults.notation
    return {
        (model, key): f"no prediction has the key {key!r}; there are "
        + (
            known
            or f"none; say which column holds it: {notation.columns({f'segment.{key}': 'COLUMN'})}"
        )
        for model, key in unknown
    }


def warn_of_unknown_segments(snapshot: Snapshot, feed: RecordedFeed) -> None:
    """Print a line for each configured key that no prediction has.

    Args:
        snapshot: after all records.
        feed: what was read.
    """
    for (model, _), fault in unknown_segments(snapshot, feed).items():
        tell(f"{one_line(model)}: segments: {fault}")
