"""Segment values in the window that gives the verdict, without a comparison."""

from __future__ import annotations

import htpy as h

from monitor.exporter.api.segments_answer import SegmentNow, SegmentsAnswer
from monitor.exporter.page.formats import count, moment, ratio
from monitor.report.segment_names import segment_name
from monitor.report.vocabulary import PAGE_METRICS

_ROWS = 100


def segments_now(found: SegmentsAnswer) -> h.Node:
    """Return the table, by key, the most predictions first; None without segments.

    Args:
        found: the segment values.
    """
    if not found.segments:
        return None
    shown = found.segments[:_ROWS]
    return [
        h.h3[f"Each value in the last {found.window}"],
        h.p(".muted")[
            f"{moment(found.open)} to {moment(found.close)}. ",
            f"The first {_ROWS} of {count(len(found.segments))}."
            if len(found.segments) > _ROWS
            else None,
        ],
        h.div(".scroll", tabindex="0", role="region", aria_label="Segments now")[
            h.table(".segments.stacked")[
                h.caption(".unseen")["Segment values by number of predictions."],
                h.thead[
                    h.tr[
                        h.th(scope="col")["Segment"],
                        (h.th(".number", scope="col")[title] for title in _titles()),
                    ]
                ],
                h.tbody[(_row(one) for one in shown)],
            ]
        ],
    ]


def _titles() -> list[str]:
    metrics = [row.short[0].upper() + row.short[1:] for row in PAGE_METRICS]
    return ["Predictions", "Flagged", "Outcomes", *metrics]


def _row(one: SegmentNow) -> h.Element:
    cells = [
        count(one.predictions),
        ratio(one.predicted_positive_rate),
        count(one.outcomes.total),
        *(ratio(one.metrics.metric(row.name).estimate) for row in PAGE_METRICS),
    ]
    return h.tr[
        h.th(scope="row")[segment_name(one.segment, one.value, " = ")],
        (
            h.td(".number", {"data-title": title})[cell]
            for title, cell in zip(_titles(), cells, strict=True)
        ),
    ]
