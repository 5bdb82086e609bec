"""All models, those first that a person must look at."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import htpy as h

from monitor.exporter.api.trends import Trend
from monitor.exporter.page.shapes import sign
from monitor.exporter.page.sparkline import sparkline
from monitor.exporter.page.where import pages
from monitor.exporter.page.words import (
    VERDICTS,
    Json,
    count,
    interval,
    last_label,
    last_prediction,
    moment,
    ratio,
)
from monitor.report.printable import one_line

ROWS = 50
"""Models on a page."""

_SHOWN = ("precision", "balanced_precision", "prevalence", "recall", "false_positive_rate")


def fleet(status: Json, matching: str, page: int, trends: Mapping[str, Trend], late: int) -> h.Node:
    """Models as rows.

    Args:
        status: those of one page.
        matching: what their names were filtered by.
        page: which page, from 0 on.
        trends: precision over time by the name of the model.
        late: so many of them are still to come.
    """
    window = status["verdict_window"]
    return [
        h.p(".tally")[
            (
                h.span(".key")[sign(verdict), f"{count(number)} {VERDICTS[verdict].name}"]
                for verdict, number in status["verdicts"].items()
            )
        ],
        h.form(".filter", method="get", action="/")[
            h.label[
                h.span["models with"],
                h.input(type="search", name="q", value=matching, autocomplete="off"),
            ],
            h.button(type="submit")["Filter"],
        ],
        h.section("#models", aria_labelledby="models-title")[
            h.h2(id="models-title")[f"Models, last {window}"],
            h.p(".muted")[f"Event time {moment(status['now'])}. What needs a look stands first."],
            h.p(".muted")[
                f"The lines of {count(late)} models are missing, the monitor being busy: they "
                "come when the page is loaded again."
            ]
            if late
            else None,
            h.div(".scroll", tabindex="0", role="region", aria_label="Models")[
                _table(status, window, trends) if status["models"] else _none(status, matching)
            ],
            pages(page, ROWS, status["total"], [("q", matching)], "models")
            if status["total"] > ROWS
            else None,
        ],
    ]


def _none(status: Json, matching: str) -> h.Element:
    if matching and not status["total"]:
        return h.p["No model is called so."]
    if status["total"]:
        return h.p["There are no more models: ", h.a(href="/")["the first ones"], "."]
    return h.p["No model is known yet: one shows up with its first prediction."]


def model_link(name: str) -> str:
    """The address of a model's page."""
    return f"/?{urlencode({'model': name}, errors='replace')}"


def _table(status: Json, window: str, trends: Mapping[str, Trend]) -> h.Element:
    return h.table(".fleet")[
        h.caption(".unseen")["Models with their verdicts and metrics."],
        h.thead[
            h.tr[
                h.th(scope="col")["Model"],
                h.th(scope="col")["What happened"],
                h.th(".trend", scope="col")["Trend", h.small["precision"]],
                h.th(".number", scope="col")["Precision"],
                h.th(".number", scope="col")["Balanced"],
                h.th(".number", scope="col")["Prevalence"],
                h.th(".number", scope="col")["Recall"],
                h.th(".number", scope="col")["FPR"],
            ]
        ],
        h.tbody[(_row(model, window, trends) for model in status["models"])],
    ]


def _row(model: Json, window: str, trends: Mapping[str, Trend]) -> h.Element:
    metrics = model["windows"][window]["metrics"]
    return h.tr[
        h.th(scope="row")[
            h.a(href=model_link(model["name"]))[one_line(model["name"])],
            h.small[last_prediction(model)],
            h.small[last_label(model)],
        ],
        h.td[
            sign(model["verdict"]),
            " ",
            VERDICTS[model["verdict"]].name,
            h.small[model["verdict_because"]] if model["verdict_because"] else None,
        ],
        h.td(".trend")[sparkline(trends.get(model["name"], ()), "precision")],
        (
            h.td(".number")[
                h.strong[ratio(metrics[name]["estimate"])], h.small[_ends(metrics, name)]
            ]
            for name in _SHOWN
        ),
    ]


def _ends(metrics: Json, name: str) -> str:
    return interval(metrics[name], 2) if name in _SHOWN[:2] else ""
