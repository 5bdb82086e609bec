"""When: metrics over time, and the choice of what is compared."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlencode

import htpy as h

from monitor.exporter.page.timeline import timelines
from monitor.exporter.page.words import Json, asked, count, moment, ratio, time_of

_MOST_ROWS = 400
_MONTHS = 24


class Choice(NamedTuple):
    """What the form sends along.

    Attributes:
        model: its name; None where nothing can be chosen, as in a report.
        before: as it was asked for; "" for the default.
        after: likewise.
    """

    model: str | None
    before: str
    after: str


def when_section(series: Json, diagnosis: Json | None, choice: Choice) -> h.Element:
    """The time line with both stretches marked, the form to change them, and a table."""
    chosen = [] if diagnosis is None else [diagnosis["before"], diagnosis["after"]]
    return h.section("#when", aria_labelledby="when-title")[
        h.h2(id="when-title")["When"],
        h.figure[timelines(series, chosen), h.figcaption[_legend()]],
        None if choice.model is None else _form(series, chosen, choice),
        h.details[
            h.summary["The same as a table"],
            h.div(".scroll", tabindex="0", role="region", aria_label="Series")[_table(series)],
        ],
    ]


def _legend() -> Iterator[h.Node]:
    for kind, said in (
        ("precision", "precision"),
        ("balanced_precision", "balanced precision (prevalence cancelled out)"),
        ("prevalence", "class ratio, labelled"),
        ("estimated", "class ratio, estimated from predictions if the model is unchanged"),
    ):
        yield h.span(".key")[
            h.svg(viewBox="0 0 24 8", width="24", height="8", aria_hidden="true")[
                h.path(f".line.{kind}", d="M0 4H24")
            ],
            said,
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


def _form(series: Json, chosen: list[Json], choice: Choice) -> h.Element:
    before, after = (asked(side["open"], side["close"]) for side in chosen) if chosen else ("", "")
    return h.form("#choose", method="get", action="/#why")[
        h.input(type="hidden", name="model", value=choice.model or ""),
        h.p(".hint", id="choose-hint")[
            "Drag over the picture to mark ",
            h.b["before"],
            ", then drag again to mark ",
            h.b["after"],
            "; or write months (2013-07), days or times: A..B, end exclusive, UTC.",
        ],
        h.div(".fields")[
            _field("before", choice.before or before),
            _field("after", choice.after or after),
            h.button(type="submit")["Explain"],
            h.a(".button", href=_reset(choice))["Reference and now"],
        ],
        h.datalist(id="months")[(h.option(value=month) for month in months(series))],
    ]


def _reset(choice: Choice) -> str:
    query = urlencode({"model": choice.model or ""}, errors="replace")
    return f"/?{query}"


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


def months(series: Json) -> list[str]:
    """Whole months that a series covers, the latest first."""
    if not series["open"]:
        return []
    first, last = (time_of(series["open"][i]) for i in (0, -1))
    found: list[str] = []
    month = last.replace(day=1)
    while month >= first.replace(day=1, hour=0, minute=0) and len(found) < _MONTHS:
        found.append(f"{month:%Y-%m}")
        month = (month - timedelta(days=1)).replace(day=1)
    return found


def _table(series: Json) -> h.Element:
    rows = range(max(0, len(series["open"]) - _MOST_ROWS), len(series["open"]))
    names = {
        "precision": "precision",
        "balanced_precision": "balanced",
        "recall": "recall",
        "false_positive_rate": "FPR",
        "class_ratio": "class ratio",
    }
    return h.table(".series")[
        h.caption(".unseen")["Metrics by step of time."],
        h.thead[
            h.tr[
                h.th(scope="col")["from (UTC)"],
                h.th(".number", scope="col")["predictions"],
                (h.th(".number", scope="col")[title] for title in names.values()),
                h.th(".number", scope="col")["ratio, estimated"],
            ]
        ],
        h.tbody[
            (
                h.tr[
                    h.th(scope="row")[moment(series["open"][i])],
                    h.td(".number")[count(series["predictions"][i])],
                    (
                        h.td(".number")[ratio(series["metrics"][name]["estimate"][i])]
                        for name in names
                    ),
                    h.td(".number")[ratio(series["class_ratio_from_predictions"][i])],
                ]
                for i in rows
            )
        ],
    ]
