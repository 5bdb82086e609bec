"""Sources of labels: how often each is wrong, and how they agree."""

from __future__ import annotations

from collections.abc import Sequence

import htpy as h

from monitor.exporter.page.formats import UNDEFINED, count, interval, percent, ratio
from monitor.report.answer_parts import MetricInterval
from monitor.report.printable import one_line
from monitor.report.source_answer import LabelSourcesAnswer, SourceAnswer

_ROWS = 30
_Row = tuple[str, Sequence[h.Node]]


def sources_now(found: LabelSourcesAnswer | None) -> h.Node:
    """Return the tables; None where no label has a source.

    Args:
        found: what sources show.
    """
    if found is None:
        return None
    alpha = UNDEFINED if found.alpha is None else ratio(found.alpha)
    why = found.rates_undefined
    rates = () if why else ("False positives", "False negatives")
    return [
        h.h3["Who labels"],
        h.p(".muted")[
            f"Cases with labels of several sources: {count(found.cases)}; Krippendorff's alpha of "
            f"all: {alpha}. Labels that another source outranks: {count(found.outranked)}."
        ],
        why and h.p(".muted")[f"{why[0].upper()}{why[1:]}."],
        _table(
            "Sources of labels and how often each is wrong",
            ("Source", "Cases", *rates),
            [
                (one.source, [count(one.labelled), *_rates(one)[: len(rates)]])
                for one in found.sources
            ],
        ),
        _table(
            "Agreement of sources",
            ("Sources", "Cases of both", "Agree on", "Cohen's kappa"),
            [
                (
                    f"{pair.first}, {pair.second}",
                    [count(pair.cases), percent(pair.agreement), _number(pair.kappa)],
                )
                for pair in found.pairs[:_ROWS]
            ],
        ),
    ]


def _table(title: str, columns: Sequence[str], rows: Sequence[_Row]) -> h.Node:
    if not rows:
        return None
    first, *others = columns
    return h.div(".scroll", tabindex="0", role="region", aria_label=title)[
        h.table(".segments.stacked")[
            h.caption(".unseen")[f"{title}."],
            h.thead[
                h.tr[
                    h.th(scope="col")[first],
                    (h.th(".number", scope="col")[name] for name in others),
                ]
            ],
            h.tbody[
                (
                    h.tr[
                        h.th(scope="row")[one_line(name)],
                        (
                            h.td(".number", {"data-title": title})[cell]
                            for title, cell in zip(others, cells, strict=True)
                        ),
                    ]
                    for name, cells in rows
                )
            ],
        ]
    ]


def _rates(source: SourceAnswer) -> Sequence[h.Node]:
    return [_number(source.false_positive), _number(source.false_negative)]


def _number(metric: MetricInterval) -> list[h.Node]:
    return [ratio(metric.estimate), " ", h.small[interval(metric)]]
