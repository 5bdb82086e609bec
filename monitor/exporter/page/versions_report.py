"""Two versions of a model compared, as one file: no script, nothing to load."""

from __future__ import annotations

import htpy as h

from monitor.exporter.page.formats import count, interval, ratio, signed, version_name
from monitor.exporter.page.html_report import report_file
from monitor.exporter.page.version_section import comparison_parts
from monitor.report.answer_parts import MetricInterval
from monitor.report.printable import one_line
from monitor.report.versions_answer import ComparedVersion, EqualMixMetrics, VersionsAnswer
from monitor.report.vocabulary import METRIC_WORDS


def versions_html(found: VersionsAnswer) -> str:
    """Return the whole file.

    Args:
        found: the comparison.
    """
    return report_file(
        f"{one_line(found.model)}: two versions compared",
        sections=(),
        main=h.section("#versions", aria_labelledby="versions-title")[
            h.h2(id="versions-title")["Versions"], comparison_parts(found), _sides(found)
        ],
    )


def _sides(found: VersionsAnswer) -> h.Element:
    where = "at equal class ratio and mix" if found.condition is None else "at equal class ratio"
    if found.decided_by == "pairs":
        where = "on the cases that both scored"
    sides = (found.a, found.b)
    return h.div(".scroll", tabindex="0", role="region", aria_label="Both versions")[
        h.table(".sides")[
            h.caption[f"Metrics {where}, with 95 % intervals for one look."],
            h.thead[
                h.tr[
                    h.th(scope="col")[h.span(".unseen")["Metric"]],
                    (h.th(".number", scope="col")[version_name(one.version)] for one in sides),
                    h.th(".number", scope="col")["Difference"],
                ]
            ],
            h.tbody[
                (_metric(name, found) for name in EqualMixMetrics.__struct_fields__),
                _row("Precision as it was", *(_number(one.precision) for one in sides)),
                _row("Outcomes", *(count(round(_total(one))) for one in sides)),
                _row("Predictions", *(count(one.predictions) for one in sides)),
            ],
        ]
    ]


def _metric(name: str, found: VersionsAnswer) -> h.Element:
    a, b = (getattr(one.at_equal_mix, name) for one in (found.a, found.b))
    known: MetricInterval | None = getattr(found.differences, name, None)
    change: h.Node = None
    if known is not None:
        ends = f"{signed(known.lower, 3)} to {signed(known.upper, 3)}"
        change = [signed(known.estimate, 3), h.small[ends if known.lower is not None else ""]]
    elif a.estimate is not None and b.estimate is not None:
        change = signed(b.estimate - a.estimate, 3)
    return _row(METRIC_WORDS[name].title, _number(a), _number(b), change)


def _number(found: MetricInterval) -> h.Node:
    return [h.strong[ratio(found.estimate)], h.small[interval(found)]]


def _total(one: ComparedVersion) -> float:
    return one.outcomes.tp + one.outcomes.fp + one.outcomes.fn + one.outcomes.tn


def _row(title: str, a: h.Node, b: h.Node, difference: h.Node = None) -> h.Element:
    return h.tr[
        h.th(scope="row")[title],
        h.td(".number")[a],
        h.td(".number")[b],
        h.td(".number")[difference],
    ]
