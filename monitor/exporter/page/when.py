"""The section "When": metrics over time, and the choice of the periods to compare."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlencode

import htpy as h

from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.page.chart_legend import legend
from monitor.exporter.page.chart_marks import SIDES
from monitor.exporter.page.formats import count, moment, range_text, ratio, time_of
from monitor.exporter.page.timeline import timelines
from monitor.report.diagnosis_answer import ComparedSide, DiagnosisAnswer
from monitor.report.printable import one_line
from monitor.report.vocabulary import METRIC_WORDS

_MOST_ROWS = 400
_MONTHS = 24
_COLUMNS = ("precision", "balanced_precision", "recall", "false_positive_rate", "class_ratio")
_OF_TWO = (
    "predictions",
    *(METRIC_WORDS[name].short for name in _COLUMNS),
    "ratio, estimated",
    "flagged",
)
_ACCURACY = ("predictions", "accuracy")
"""Titles of the table of a model of more than two classes, the first ones of the same cells."""


class PeriodForm(NamedTuple):
    """Values of the form that chooses periods.

    Attributes:
        model: name of the model.
        before: as it was asked for; "" for the default.
        after: likewise.
        error: why the periods that were asked for cannot be compared; "" where they can.
    """

    model: str
    before: str
    after: str
    error: str = ""


def when_section(
    series: SeriesAnswer,
    diagnosis: DiagnosisAnswer | None,
    form: PeriodForm | None,
    *,
    pooled: bool = False,
) -> h.Element:
    """Return the section: the chart with both periods marked, the form to change them, a table.

    Args:
        series: the model over time.
        diagnosis: of the periods to mark; None where nothing is compared.
        form: what the form holds; None where nothing can be chosen, as in a report.
        pooled: the model has more than two classes: precision over all of them is accuracy,
            and the chart and the table have nothing else.
    """
    chosen = [] if diagnosis is None else [diagnosis.before, diagnosis.after]
    return h.section("#when", aria_labelledby="when-title")[
        h.h2(id="when-title")["When"],
        h.figure[
            timelines(series, chosen, pooled=pooled), h.figcaption[legend(series, pooled=pooled)]
        ],
        None if form is None else _form(series, chosen, form),
        h.details(id="when-details")[
            h.summary["The same as a table"],
            h.div(".scroll", tabindex="0", role="region", aria_label="Series")[
                _table(series, _ACCURACY if pooled else _OF_TWO)
            ],
        ],
    ]


def _form(series: SeriesAnswer, chosen: list[ComparedSide], form: PeriodForm) -> h.Element:
    before, after = (range_text(s.open, s.close) for s in chosen) if chosen else ("", "")
    return h.form("#choose", method="get", action="/#why")[
        h.input(type="hidden", name="model", value=form.model),
        h.p(".hint", id="choose-hint")[
            "Drag over the chart to mark ",
            h.b["before"],
            ", then drag again to mark ",
            h.b["after"],
            "; or write a month (",
            h.code["2013-07"],
            "), a day, or two days or times A..B, UTC, the end exclusive.",
        ],
        h.div(".fields")[
            _field("before", form.before or before, form),
            _field("after", form.after or after, form),
            h.button(type="submit")["Explain"],
            h.a(".button", href=_reset(form))["Reset"],
        ],
        h.p(".fault", id="choose-error", role="alert")[one_line(f"{form.error}.")]
        if form.error
        else None,
        h.datalist(id="months")[(h.option(value=month) for month in months(series))],
    ]


def _reset(form: PeriodForm) -> str:
    return f"/?{urlencode({'model': form.model}, errors='replace')}"


def _field(name: str, value: str, form: PeriodForm) -> h.Element:
    wrong = form.error.startswith(name) or (
        bool(form.error) and not form.error.startswith(SIDES) and name == SIDES[-1]
    )
    described = "choose-error choose-hint" if wrong else "choose-hint"
    return h.label(".period")[
        h.span[name],
        h.input(
            type="text",
            name=name,
            value=value,
            list="months",
            autocomplete="off",
            spellcheck="false",
            autofocus=wrong,
            aria_invalid="true" if wrong else None,
            aria_describedby=described,
        ),
    ]


def months(series: SeriesAnswer) -> list[str]:
    """Return the months that a series covers, the latest first."""
    if not series.open:
        return []
    first, last = (time_of(series.open[i]) for i in (0, -1))
    found: list[str] = []
    month = last.replace(day=1)
    while month >= first.replace(day=1, hour=0, minute=0) and len(found) < _MONTHS:
        found.append(f"{month:%Y-%m}")
        month = (month - timedelta(days=1)).replace(day=1)
    return found


def _table(series: SeriesAnswer, titles: Sequence[str]) -> h.Element:
    first = max(0, len(series.open) - _MOST_ROWS)
    return h.table(".series.stacked", {"data-of": "timeline"})[
        h.caption(".unseen")["Metrics by step of time."],
        h.thead[
            h.tr[
                h.th(scope="col")["from (UTC)"],
                (h.th(".number", scope="col")[title] for title in titles),
            ]
        ],
        h.tbody[(_row(series, titles, step) for step in range(first, len(series.open)))],
    ]


def _row(series: SeriesAnswer, titles: Sequence[str], step: int) -> h.Element:
    made, opens = series.predictions[step], series.open[step]
    cells = [
        count(made),
        *(ratio(series.metrics.metric(name).estimate[step]) for name in _COLUMNS),
        ratio(series.class_ratio_from_predictions[step]),
        ratio(series.predicted_positive[step] / made if made else None),
    ]
    middle = time_of(opens).timestamp() + series.step_seconds / 2
    return h.tr({"data-at": f"{middle:.0f}"})[
        h.th(scope="row")[moment(opens)],
        (
            h.td(".number", {"data-title": title})[cell]
            for title, cell in zip(titles, cells, strict=False)
        ),
    ]
