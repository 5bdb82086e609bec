"""The list of all models, the worst verdicts first."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import htpy as h

from monitor.drift import Verdict
from monitor.exporter.api.selection import DESCENDING, URGENCY
from monitor.exporter.api.series_answer import Numbers
from monitor.exporter.api.status_answer import ModelStatus, StatusAnswer
from monitor.exporter.api.window_answer import WindowStatus
from monitor.exporter.page.drawing import sign
from monitor.exporter.page.formats import (
    coded,
    count,
    interval,
    is_silent,
    lacks_labels,
    last_label,
    last_prediction,
    moment,
    ratio,
)
from monitor.exporter.page.html_document import document, page_head
from monitor.exporter.page.objectives import objective_mark
from monitor.exporter.page.page_content import MODELS_A_PAGE, ModelListContent
from monitor.exporter.page.paging import page_links
from monitor.exporter.page.query import PageQuery
from monitor.exporter.page.rejected_note import rejected_note
from monitor.exporter.page.sparkline import sparkline
from monitor.exporter.page.window_cells import window_title
from monitor.report.metric_words import titled
from monitor.report.model_kinds import KINDS, tone_of
from monitor.report.printable import one_line
from monitor.report.verdict_words import VERDICTS, BecauseWords, VerdictWords
from monitor.report.vocabulary import PAGE_METRICS

_FLAGGED = "Flagged"
_WITH_INTERVAL = ("precision", "balanced_precision")
SORT_WORDS = {
    URGENCY: "need of attention",
    "name": "name, A to Z",
    "-name": "name, Z to A",
    "-predictions": "predictions, most first",
    "predictions": "predictions, fewest first",
    "last_prediction": "last prediction, oldest first",
    "-last_prediction": "last prediction, latest first",
    "last_label": "last label, oldest first",
    "-last_label": "last label, latest first",
    **{row.name: f"{row.words}, lowest first" for row in PAGE_METRICS},
    **{f"-{row.name}": f"{row.words}, highest first" for row in PAGE_METRICS},
}
"""Words for every order."""


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
        main=[
            rejected_note(content.status.rejected_lately),
            _lost_audits(content.status),
            _tally(content.status, query),
            _filter(query),
            _models(content, query),
        ],
    )


def _lost_audits(status: StatusAnswer) -> h.Node:
    found = status.audits_without_effect
    return None if found is None else h.p(".warn")[f"{titled(found.text)}."]


def _tally(status: StatusAnswer, query: PageQuery) -> h.Element:
    """Count those that page, and the models of each kind; the link that is shown leads back."""

    def link(to: str, drawn: h.Element, text: str, *, shown: bool) -> h.Element:
        return h.a(".key", href=to, aria_current="true" if shown else None)[drawn, text]

    def of_kind(kind: str, words: VerdictWords | BecauseWords, number: int) -> h.Element:
        shown = kind == query.kind
        address = _address(query, verdict="" if shown else kind, paging="")
        drawn = sign(words, tone_of(words, pages=False))
        return link(address, drawn, f"{count(number)} {words.title}", shown=shown)

    pages = _address(query, verdict="", paging="" if query.paging else "true")
    drawn = sign(VERDICTS[Verdict.MODEL_DEGRADED], "bad" if status.paging else "unknown")
    return h.p(".tally")[
        link(pages, drawn, f"Pages: {count(status.paging)}", shown=query.paging)
        if status.tally
        else None,
        (of_kind(kind, KINDS[kind], number) for kind, number in status.tally.items()),
    ]


def _address(query: PageQuery, **other: str) -> str:
    """Return the address of the list with some parameters changed; "" leaves one out."""
    asked = {**dict(_asked(query)), **other}
    given = {name: value for name, value in asked.items() if value}
    return f"/?{urlencode(given, errors='replace')}"


def _asked(query: PageQuery) -> list[tuple[str, str]]:
    """Return what was asked for, as parameters of a link; "" where it was not."""
    return [
        ("q", query.matching),
        ("verdict", query.kind),
        ("paging", "true" if query.paging else ""),
        ("sort", _order(query)),
    ]


def _order(query: PageQuery) -> str:
    return "" if query.sort == URGENCY else query.sort


def _filter(query: PageQuery) -> h.Element:
    return h.form(".filter", method="get", action="/")[
        h.label[
            h.span["models with"],
            h.input(type="search", name="q", value=query.matching, autocomplete="off"),
        ],
        h.label[
            h.span["sorted by"],
            h.select(name="sort")[
                (
                    h.option(value=sort, selected=sort == query.sort)[words]
                    for sort, words in SORT_WORDS.items()
                )
            ],
        ],
        h.input(type="hidden", name="verdict", value=query.kind) if query.kind else None,
        h.input(type="hidden", name="paging", value="true") if query.paging else None,
        h.button(type="submit")["Show"],
    ]


def _models(content: ModelListContent, query: PageQuery) -> h.Element:
    status = content.status
    return h.section("#models", aria_labelledby="models-title")[
        h.h2(id="models-title")[f"Models, last {status.verdict_window}"],
        h.p(".muted")[
            f"Event time {moment(status.now)}. Sorted by {SORT_WORDS[query.sort]}; numbers that "
            "are not known come last."
            if query.sort != URGENCY
            else f"Event time {moment(status.now)}. Models that need attention are listed first."
        ],
        h.div(".scroll", tabindex="0", role="region", aria_label="Models")[
            _table(content, query) if status.models else _no_models(status, query)
        ],
        page_links(
            query.models_page,
            MODELS_A_PAGE,
            status.total,
            _asked(query),
            "models",
        )
        if status.total > MODELS_A_PAGE
        else None,
    ]


def _no_models(status: StatusAnswer, query: PageQuery) -> h.Element:
    if status.total:
        return h.p["This page has no models: ", h.a(href="/")["go to the first page"], "."]
    if query.paging:
        return h.p["No such model pages now: ", h.a(href="/")["show all models"], "."]
    if query.kind:
        return h.p["No such model has this verdict now: ", h.a(href="/")["show all models"], "."]
    if query.matching:
        return h.p["No model has this text in its name."]
    return h.p["No model yet. A model appears with its first prediction."]


def _table(content: ModelListContent, query: PageQuery) -> h.Element:
    status = content.status
    return h.table(".fleet.stacked")[
        h.caption(".unseen")["Models with their verdicts and metrics."],
        h.thead[
            h.tr[
                _head("Model", "name", query),
                _head("Verdict", URGENCY, query),
                h.th(".trend", scope="col")["Trend", h.small["precision"]],
                (_head(_title(metric.short), metric.name, query) for metric in PAGE_METRICS),
                h.th(".number", scope="col")[_FLAGGED],
            ]
        ],
        h.tbody[
            (
                _row(model, status.verdict_window, content.trends.get(model.name))
                for model in status.models
            )
        ],
    ]


def _head(title: str, order: str, query: PageQuery) -> h.Element:
    """Return the head of a column, a link that sorts by it, the other way round if it does."""
    sorted_by = query.sort.removeprefix(DESCENDING) == order
    down = query.sort.startswith(DESCENDING)
    other = "" if order == URGENCY else f"{DESCENDING}{order}" if sorted_by and not down else order
    direction = "descending" if down else "ascending"
    number = order not in ("name", URGENCY)
    return h.th(
        {"class": "number" if number else None},
        scope="col",
        aria_sort=direction if sorted_by and order != URGENCY else None,
    )[
        h.a(".plain", href=_address(query, sort=other))[title],
        h.span(aria_hidden="true")[" ↓" if down else " ↑"]
        if sorted_by and order != URGENCY
        else None,
    ]


def _title(words: str) -> str:
    return words[0].upper() + words[1:]


def _row(model: ModelStatus, window: str, trend: Numbers | None) -> h.Element:
    judged, words = model.judged, model.judged.words
    decides = model.verdict_window
    is_shown = decides == window or model.reference is None
    other = None if is_shown else f", {window_title(model, decides)}"
    address = urlencode({"model": model.name}, errors="replace")
    return h.tr[
        h.th(scope="row")[
            h.a(href=f"/?{address}")[one_line(model.name)],
            h.small({"class": "warn" if is_silent(model) else None})[
                _seen("prediction", last_prediction(model))
            ],
            h.small({"class": "warn" if lacks_labels(model) else None})[
                _seen("label", last_label(model))
            ],
            None if model.behind is None else h.small(".warn")[model.behind],
        ],
        h.td(".verdict-cell")[
            _degenerate(model),
            h.div[sign(words, tone_of(words, pages=judged.pages)), " ", words.title, other],
            _why(model),
        ],
        h.td(".trend")[
            h.small(".later")["still to come"] if trend is None else sparkline(trend, "precision")
        ],
        _numbers(model, model.windows[window]),
    ]


def _seen(what: str, age: str) -> str:
    """Return an age for a narrow column."""
    if age.startswith("none"):
        return age.replace("none", f"no {what}")
    short = age.replace("less than a minute", "< 1 min").replace("less than an hour", "< 1 h")
    return f"{what} {short}"


def _degenerate(model: ModelStatus) -> h.Node:
    text = model.predictions_degenerate.text
    return (
        None
        if text is None
        else h.div[sign(VERDICTS[Verdict.MODEL_DEGRADED], "bad"), f" It {text}"]
    )


def _why(model: ModelStatus) -> Iterator[h.Node]:
    """Yield the two answers in short; what is known of a model without labels."""
    if model.without_labels is not None:
        yield h.small[coded(model.without_labels.text)]
        return
    pages, moved = model.detectors.degradation_detected, model.moved_precision
    yield h.small[coded(f"{moved.text}.")] if moved.certain else None
    paging = "Pages. " if pages else "Does not page. " if model.worse.answer == "yes" else None
    answer = "Is the model worse? ", coded(model.worse.text)
    yield h.small[None if paging is None else h.strong[paging], answer]


def _numbers(model: ModelStatus, window: WindowStatus) -> Iterator[h.Element]:
    for row in PAGE_METRICS:
        metric = window.metrics.metric(row.name)
        ends = interval(metric, 2) if row.name in _WITH_INTERVAL else ""
        empty = " empty" if metric.estimate is None else ""
        yield h.td({"class": f"number{empty}", "data-title": _title(row.short)})[
            h.strong[ratio(metric.estimate)],
            h.small[ends],
            objective_mark(row.name, metric, model.objective.get(row.name)),
        ]
    usual = model.usual_predicted_positive_rate
    yield h.td(".number", {"data-title": _FLAGGED})[
        h.strong[ratio(window.predicted_positive_rate)],
        h.small["" if usual is None else f"usually {ratio(usual.rate)}"],
    ]
