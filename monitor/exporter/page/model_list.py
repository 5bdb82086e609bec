"""The list of all models, the worst verdicts first."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import htpy as h

from monitor.drift import Verdict
from monitor.exporter.api.series_answer import Numbers
from monitor.exporter.api.status_answer import ModelStatus, StatusAnswer
from monitor.exporter.page.drawing import sign
from monitor.exporter.page.formats import (
    count,
    interval,
    last_label,
    last_prediction,
    moment,
    ratio,
)
from monitor.exporter.page.html_document import document, page_head
from monitor.exporter.page.page_content import MODELS_A_PAGE, ModelListContent
from monitor.exporter.page.paging import page_links
from monitor.exporter.page.query import PageQuery
from monitor.exporter.page.sparkline import sparkline
from monitor.report.answer_parts import MetricIntervals
from monitor.report.printable import one_line
from monitor.report.verdict_words import (
    BECAUSE,
    VERDICTS,
    BecauseWords,
    VerdictWords,
    tone_of,
    words_of,
)
from monitor.report.vocabulary import PAGE_METRICS

_WITH_INTERVAL = ("precision", "balanced_precision")


def model_list_page(content: ModelListContent, query: PageQuery) -> str:
    """Return the list of models.

    Args:
        content: what it shows.
        query: what was asked for.
    """
    return document(
        "Models",
        head=page_head(),
        aside=h.strong["Precision monitor"],
        sections=(),
        main=[_tally(content.status, query), _filter(query), _models(content, query)],
    )


def _tally(status: StatusAnswer, query: PageQuery) -> h.Element:
    """Count the models of each kind, each a link to them; the one that is shown leads back."""

    def link(kind: str, words: VerdictWords | BecauseWords, number: int) -> h.Element:
        shown = kind == query.kind
        asked = [("q", query.matching), ("verdict", "" if shown else kind)]
        address = urlencode([(name, value) for name, value in asked if value], errors="replace")
        return h.a(".key", href=f"/?{address}", aria_current="true" if shown else None)[
            sign(words), f"{count(number)} {words.title}"
        ]

    return h.p(".tally")[(link(*kind) for kind in _kinds(status))]


def _kinds(status: StatusAnswer) -> Iterator[tuple[str, VerdictWords | BecauseWords, int]]:
    """Yield each verdict, its words and number of models; and each reason why one is missing."""
    for verdict, number in status.verdicts.items():
        if verdict is not Verdict.INSUFFICIENT_EVIDENCE:
            yield verdict, VERDICTS[verdict], number
    for because, number in status.because.items():
        yield because, BECAUSE[because], number


def _filter(query: PageQuery) -> h.Element:
    return h.form(".filter", method="get", action="/")[
        h.label[
            h.span["models with"],
            h.input(type="search", name="q", value=query.matching, autocomplete="off"),
        ],
        h.input(type="hidden", name="verdict", value=query.kind) if query.kind else None,
        h.button(type="submit")["Filter"],
    ]


def _models(content: ModelListContent, query: PageQuery) -> h.Element:
    status, missing = content.status, content.missing_trends
    return h.section("#models", aria_labelledby="models-title")[
        h.h2(id="models-title")[f"Models, last {status.verdict_window}"],
        h.p(".muted")[
            f"Event time {moment(status.now)}. Models that need attention are listed first."
        ],
        h.p(".muted")[
            f"The monitor is busy: trends of {count(missing)} models are missing. Load the page "
            "again to see them."
        ]
        if missing
        else None,
        h.div(".scroll", tabindex="0", role="region", aria_label="Models")[
            _table(content) if status.models else _no_models(status, query)
        ],
        page_links(
            query.models_page,
            MODELS_A_PAGE,
            status.total,
            [("q", query.matching), ("verdict", query.kind)],
            "models",
        )
        if status.total > MODELS_A_PAGE
        else None,
    ]


def _no_models(status: StatusAnswer, query: PageQuery) -> h.Element:
    if status.total:
        return h.p["This page has no models: ", h.a(href="/")["go to the first page"], "."]
    if query.kind:
        return h.p["No such model has this verdict now: ", h.a(href="/")["show all models"], "."]
    if query.matching:
        return h.p["No model has this text in its name."]
    return h.p["No model yet. A model appears with its first prediction."]


def _table(content: ModelListContent) -> h.Element:
    status = content.status
    return h.table(".fleet")[
        h.caption(".unseen")["Models with their verdicts and metrics."],
        h.thead[
            h.tr[
                h.th(scope="col")["Model"],
                h.th(scope="col")["Verdict"],
                h.th(".trend", scope="col")["Trend", h.small["precision"]],
                (h.th(".number", scope="col")[_title(metric.short)] for metric in PAGE_METRICS),
            ]
        ],
        h.tbody[
            (
                _row(model, status.verdict_window, content.trends.get(model.name, ()))
                for model in status.models
            )
        ],
    ]


def _title(words: str) -> str:
    return words[0].upper() + words[1:]


def _row(model: ModelStatus, window: str, trend: Numbers) -> h.Element:
    words = words_of(model.verdict, model.verdict_because)
    pages, moved = model.detectors.degradation_detected, model.moved_precision
    address = urlencode({"model": model.name}, errors="replace")
    return h.tr[
        h.th(scope="row")[
            h.a(href=f"/?{address}")[one_line(model.name)],
            h.small[last_prediction(model)],
            h.small[last_label(model)],
        ],
        h.td[
            sign(words, tone_of(words, pages=pages)),
            " ",
            words.title,
            h.small[f"{moved.text}."] if moved.certain else None,
            h.small[h.strong["Pages. "] if pages else None, one_line(model.worse.text)],
        ],
        h.td(".trend")[sparkline(trend, "precision")],
        _metrics(model.windows[window].metrics),
    ]


def _metrics(metrics: MetricIntervals) -> Iterator[h.Element]:
    for row in PAGE_METRICS:
        metric = metrics.metric(row.name)
        ends = interval(metric, 2) if row.name in _WITH_INTERVAL else ""
        yield h.td(".number")[h.strong[ratio(metric.estimate)], h.small[ends]]
