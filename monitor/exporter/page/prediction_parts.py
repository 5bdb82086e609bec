"""Parts of the page that need no labels: flagged cases and estimates by window, and scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import htpy as h

from monitor.exporter.api.score_shares import distance_text
from monitor.exporter.api.scores_answer import ScoresAnswer, ScoreShares
from monitor.exporter.api.status_answer import ModelStatus
from monitor.exporter.api.window_answer import EstimatedRate, WindowStatus
from monitor.exporter.page.chart_table import ChartRow, chart_table
from monitor.exporter.page.drawing import n, ticks
from monitor.exporter.page.formats import (
    UNDEFINED,
    coded,
    count,
    interval,
    moment,
    percent,
    period,
    ratio,
)
from monitor.exporter.page.window_cells import window_cells
from monitor.report.answer_parts import MetricInterval
from monitor.report.vocabulary import METRIC_WORDS
from monitor.report.without_labels import WithoutLabels

_WIDTH, _HEIGHT, _LEFT, _BELOW = 480.0, 130.0, 44.0, 24.0
_ESTIMATED = ("precision", "prevalence")


def without_labels_block(found: WithoutLabels) -> h.Element:
    """Return what is known of a model while no metric is, and what to send."""
    return h.div(".unlabelled")[
        h.p[coded(found.text)],
        h.ul[(h.li[coded(sentence)] for sentence in found.known)],
        None if found.lost is None else h.p(".fault")[coded(found.lost)],
        [
            h.p["Send a label for each prediction, by its id:"],
            h.pre[h.code[found.send[0]]],
            h.p["or map a table of labels in the configuration, under ", h.code["feeds"], ":"],
            h.pre[h.code[found.send[1]]],
        ]
        if found.send
        else None,
    ]


def prediction_rows(model: ModelStatus, windows: Sequence[WindowStatus]) -> Iterator[h.Node]:
    """Yield the rows of the metrics table that need no labels.

    Args:
        model: the model.
        windows: its windows, in the order of the columns.
    """
    usual = model.usual_predicted_positive_rate
    beside = ""
    if usual is not None:
        source = "in the reference" if usual.source == "reference" else "of all so far"
        beside = f"; {ratio(usual.rate)} {source}"
    yield h.tr[
        h.th(scope="row")["Flagged", h.small[f"Share of cases predicted positive{beside}."]],
        h.td(".trend"),
        window_cells(
            model,
            (
                [
                    h.strong[ratio(window.predicted_positive_rate)],
                    h.small[f"of {count(window.predictions)}"],
                ]
                for window in windows
            ),
        ),
    ]
    for name in _ESTIMATED:
        yield _estimated(name, model, windows)


def _estimated(name: str, model: ModelStatus, windows: Sequence[WindowStatus]) -> h.Node:
    """Return a rate of each window ahead of its labels; None where none is published."""
    found = [None if one.nowcast is None else _rate(one, name) for one in windows]
    published = [one.nowcast for one, rate in zip(windows, found, strict=True) if _is_shown(rate)]
    if not published:
        return None
    close = max(one.close for one in published if one is not None)
    return h.tr[
        h.th(scope="row")[
            f"Estimated {METRIC_WORDS[name].words}",
            h.small[f"Up to the start of {moment(close)}, before its labels."],
        ],
        h.td(".trend"),
        window_cells(model, map(_estimate, found)),
    ]


def _rate(window: WindowStatus, name: str) -> EstimatedRate | None:
    if window.nowcast is None:
        return None
    return window.nowcast.precision if name == "precision" else window.nowcast.prevalence


def _is_shown(found: EstimatedRate | None) -> bool:
    return found is not None and found.withheld is None


def _estimate(found: EstimatedRate | None) -> list[h.Node]:
    if found is None:
        return [UNDEFINED]
    ends = MetricInterval(estimate=found.estimate, lower=found.lower, upper=found.upper)
    return [h.strong[ratio(found.estimate)], h.small[interval(ends)]]


def estimate_notes(model: ModelStatus) -> h.Node:
    """Return what the estimates of each window rest on, or why there are none."""
    if model.without_labels is not None:
        return None
    notes = [
        f"{METRIC_WORDS[name].title}, last {window}: {rate.rests_on}."
        for window, status in model.windows.items()
        for name in _ESTIMATED
        if (rate := _rate(status, name)) is not None
    ]
    if not notes:
        return None
    return h.details(id="estimates")[
        h.summary["What the estimates rest on"], h.ul[(h.li[note] for note in notes)]
    ]


def scores_figure(found: ScoresAnswer | None) -> h.Node:
    """Return the distribution of the scores now, beside an earlier one; None without scores.

    Args:
        found: both distributions; None where the history cannot be read.
    """
    if found is None or found.now is None or not found.now.scored:
        return None
    sides = [("after", "now", found.now)]
    if found.before is not None:
        words = "reference" if found.before_is == "reference" else "earlier"
        sides.insert(0, ("before", words, found.before))
    return h.div(".scores")[
        h.h3["Scores, with and without a label"],
        h.figure[_drawing(found, sides), h.figcaption[_legend(sides)]],
        None if found.distance is None else h.p(".muted")[distance_text(found.distance)],
        _as_table(found, sides),
    ]


_Side = tuple[str, str, ScoreShares]


def _drawing(found: ScoresAnswer, sides: Sequence[_Side]) -> h.Element:
    top = max(max(side.shares) for _, _, side in sides)
    right = _WIDTH - 8

    def x(score: float) -> float:
        return _LEFT + (right - _LEFT) * score

    def y(share: float) -> float:
        return 8 + (_HEIGHT - 8) * (1 - share / top)

    edges = list(zip(found.edges, found.edges[1:], strict=False))
    return h.svg(
        ".readable.histogram",
        {
            "data-table": "scores-figure",
            "data-left": n(_LEFT),
            "data-right": n(right),
            "data-from": "0",
            "data-to": "1",
        },
        viewBox=f"0 0 {n(_WIDTH)} {n(_HEIGHT + _BELOW)}",
        role="img",
        aria_label="Share of the predictions by score. The same numbers are in the table below.",
    )[
        (
            [
                h.line(".grid", x1=n(_LEFT), x2=n(right), y1=n(y(share)), y2=n(y(share))),
                h.text(".tick", x=n(_LEFT - 6), y=n(y(share)), dy="4", text_anchor="end")[
                    f"{100 * share:g} %"
                ],
            ]
            for share in ticks(0.0, top, 3)
        ),
        (
            h.text(".tick", x=n(x(score)), y=n(_HEIGHT + 17), text_anchor="middle")[f"{score:g}"]
            for score in (0.0, 0.25, 0.5, 0.75, 1.0)
        ),
        (
            h.path(
                f".step.{kind}",
                d=f"M{n(x(0))} {n(y(0))}"
                + "".join(
                    f"V{n(y(share))}H{n(x(end))}"
                    for (_, end), share in zip(edges, side.shares, strict=True)
                )
                + f"V{n(y(0))}",
            )
            for kind, _, side in sides
        ),
        h.line(".cursor", x1="0", x2="0", y1="8", y2=n(_HEIGHT), visibility="hidden"),
    ]


def _legend(sides: Sequence[_Side]) -> Iterator[h.Element]:
    for kind, words, side in sides:
        yield h.span(".key")[
            h.svg(viewBox="0 0 24 8", width="24", height="8", aria_hidden="true")[
                h.path(f".step.{kind}", d="M0 4H24")
            ],
            f"{words}: {count(side.scored)} scored, {period(side.open, side.close)}",
        ]


def _as_table(found: ScoresAnswer, sides: Sequence[_Side]) -> h.Element:
    ranges = zip(found.edges, found.edges[1:], strict=False)
    rows = (
        ChartRow(
            (low + high) / 2,
            f"{low:g} to {high:g}",
            [percent(side.shares[i]) for _, _, side in sides],
        )
        for i, (low, high) in enumerate(ranges)
    )
    heads = ["score", *(words for _, words, _ in sides)]
    return chart_table("scores", "Scores", heads, rows, "Share of the predictions by score.")
