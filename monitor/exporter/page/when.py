"""The section "When": metrics over time, and the choice of the periods to compare."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlencode

import htpy as h

from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.page.formats import count, moment, range_text, ratio, time_of
from monitor.exporter.page.timeline import timelines
from monitor.report.diagnosis_answer import ComparedSide, DiagnosisAnswer
from monitor.report.vocabulary import METRIC_WORDS

_MOST_ROWS = 400
_MONTHS = 24


_COLUMNS = ("precision", "balanced_precision", "recall", "false_positive_rate", "class_ratio")


class PeriodForm(NamedTuple):
    """Values of the form that chooses periods.

    Attributes:
        model: name of the model.
        before: as it was asked for; "" for the default.
        after: likewise.
    """

    model: str
    before: str
    after: str


def when_section(
    series: SeriesAnswer, diagnosis: DiagnosisAnswer | None, form: PeriodForm | None
) -> h.Element:
    """Return the section: the chart with both periods marked, the form to change them, a table.

    Args:
        series: the model over time.
        diagnosis: of the periods to mark; None where nothing is compared.
        form: what the form holds; None where nothing can be chosen, as in a report.
    """
    chosen = [] if diagnosis is None else [diagnosis.before, diagnosis.after]
    return h.section("#when", aria_labelledby="when-title")[
        h.h2(id="when-title")["When"],
        h.figure[timelines(series, chosen), h.figcaption[_legend(series)]],
        None if form is None else _form(series, chosen, form),
        h.details[
            h.summary["The same as a table"],
            h.div(".scroll", tabindex="0", role="region", aria_label="Series")[_table(series)],
        ],
    ]


def _legend(series: SeriesAnswer) -> Iterator[h.Node]:
    lines = {
        "precision": "precision",
        "balanced_precision": "balanced precision (prevalence cancelled out)",
        "prevalence": "class ratio, labelled",
    }
    if any(ratio is not None for ratio in series.class_ratio_from_predictions):
        lines["estimated"] = "class ratio, estimated from predictions if the model is unchanged"
    for kind, words in lines.items():
        yield h.span(".key")[
            h.svg(viewBox="0 0 24 8", width="24", height="8", aria_hidden="true")[
                h.path(f".line.{kind}", d="M0 4H24")
            ],
            words,
        ]
    yield h.span(".key")[
        h.svg(viewBox="0 0 12 12", width="12", height="12", aria_hidden="true")[
            h.path(".detection-sign.bad", d="M0 1h12l-6 10Z")
        ],
        "a worse model was detected",
    ]
    yield h.span(".key")[
        h.svg(viewBox="0 0 12 12", width="12", height="12", aria_hidden="true")[
            h.path(".detection-sign.world", d="M6 0l6 6-6 6-6-6Z")
        ],
        "a shift of prevalence was detected",
    ]
    yield h.span(".key")["shaded bands: 95 % intervals; at the right: labels still to come"]


def _form(series: SeriesAnswer, chosen: list[ComparedSide], form: PeriodForm) -> h.Element:
    before, after = (range_text(s.open, s.close) for s in chosen) if chosen else ("", "")
    return h.form("#choose", method="get", action="/#why")[
        h.input(type="hidden", name="model", value=form.model),
        h.p(".hint", id="choose-hint")[
            "Drag over the chart to mark ",
            h.b["before"],
            ", then drag again to mark ",
            h.b["after"],
            "; or write months (2013-07), days or times: A..B, end exclusive, UTC.",
        ],
        h.div(".fields")[
            _field("before", form.before or before),
            _field("after", form.after or after),
            h.button(type="submit")["Explain"],
            h.a(".button", href=_reset(form))["Reference and now"],
        ],
        h.datalist(id="months")[(h.option(value=month) for month in months(series))],
    ]


def _reset(form: PeriodForm) -> str:
    return f"/?{urlencode({'model': form.model}, errors='replace')}"


def _field(name: str, value: str) -> h.Element:
    return h.label[
        h.span[name],
        h.input(
            type="text",
            name=name,
            value=value,
            list="months",
            autocomplete="off",
            spellcheck="false",
            aria_describedby="choose-hint",
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


def _table(series: SeriesAnswer) -> h.Element:
    first = max(0, len(series.open) - _MOST_ROWS)
    return h.table(".series")[
        h.caption(".unseen")["Metrics by step of time."],
        h.thead[
            h.tr[
                h.th(scope="col")["from (UTC)"],
                h.th(".number", scope="col")["predictions"],
                (h.th(".number", scope="col")[METRIC_WORDS[name].short] for name in _COLUMNS),
                h.th(".number", scope="col")["ratio, estimated"],
            ]
        ],
        h.tbody[(_row(series, step) for step in range(first, len(series.open)))],
    ]


def _row(series: SeriesAnswer, step: int) -> h.Element:
    metrics = (series.metrics.metric(name).estimate[step] for name in _COLUMNS)
    return h.tr[
        h.th(scope="row")[moment(series.open[step])],
        h.td(".number")[count(series.predictions[step])],
        (h.td(".number")[ratio(value)] for value in metrics),
        h.td(".number")[ratio(series.class_ratio_from_predictions[step])],
    ]
