"""ROC curves and reliability of the scores, before and after."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

import htpy as h
from msgspec import UnsetType

from monitor.exporter.page.chart_table import ChartRow, chart_table
from monitor.exporter.page.drawing import band, line, n
from monitor.exporter.page.formats import coded, count, interval, ratio, signed
from monitor.exporter.page.unit_square import unit_square, x_of, y_of
from monitor.metrics.score_intervals import Interval
from monitor.report.answer_parts import MetricInterval
from monitor.report.recalibration_answer import ScoreCorrections
from monitor.report.recalibration_words import (
    correction_advice,
    correction_rows,
    none_advised,
    with_limits,
)
from monitor.report.score_answer import (
    ComparedScoreMetrics,
    ReliabilityGroup,
    RocLimits,
    ScoreMetrics,
)
from monitor.report.score_words import (
    MAIN_SCORE_WORDS,
    SCORE_WORDS,
    ScoreWords,
    hidden_sentence,
    slide_sentence,
    ties_sentence,
)

_SIDES = ("before", "after")
_HOW_TO_READ = (
    "Of the whole days (UTC) inside each period, or of its whole weeks if it is long ago. A "
    "changed threshold, or scores that all slid, leave the ROC curve as it is; a worse model "
    "lowers it. Calibrated scores lie on the diagonal of the second figure. Bands are 95 % limits "
    "of recall at each false positive rate."
)
_CORRECTED = (
    "Of the whole days (UTC) inside each period, or of its whole weeks if it is long ago; "
    "corrected for wrong labels (label_errors). Calibrated scores lie on the diagonal."
)


def scores_panel(found: ComparedScoreMetrics | UnsetType, *, by_labels: bool = False) -> h.Node:
    """Return both figures with the metrics of the scores; None without scores.

    Args:
        found: the scores of both periods.
        by_labels: other labels explain the change, so that no correction is fitted to them.
    """
    if isinstance(found, UnsetType):
        return None
    corrected = found.recall_before is None and found.recall_after is None
    roc = h.figcaption[_legend(found, "recall by false positive rate")]
    return [
        h.h3["The scores"],
        h.div(".beside")[
            None if corrected else h.div[h.figure[_roc(found), roc], _roc_table(found)],
            h.div[
                h.figure[
                    _reliability(found), h.figcaption[_legend(found, "share of positives by score")]
                ],
                _reliability_table(found),
            ],
        ],
        _tables(found),
        _bins(found),
        _slide(found),
        None if found.implied_thresholds is None else h.p[found.implied_thresholds.text],
        None if by_labels else _corrections(found.recalibration),
        h.p(".muted")[_CORRECTED if corrected else _HOW_TO_READ],
    ]


def _roc(found: ComparedScoreMetrics) -> h.Element:
    areas = [
        f"{name} {ratio(side.roc_auc.estimate)}" for name, side in _held(found.before, found.after)
    ]
    return unit_square(
        "roc",
        f"ROC curves. Area under the curve: {', '.join(areas)}.",
        ("false positive rate", "recall"),
        [
            _diagonal(),
            *_limits(found),
            *(
                _curve(zip(found.false_positive_rate, recalls, strict=True), name)
                for name, recalls in zip(
                    _SIDES, (found.recall_before, found.recall_after), strict=True
                )
                if recalls is not None
            ),
        ],
    )


def _roc_table(found: ComparedScoreMetrics) -> h.Element:
    """Return recall at each false positive rate, with its limits."""
    sides = [
        (name, recalls, limits)
        for name, recalls, limits in zip(
            _SIDES,
            (found.recall_before, found.recall_after),
            (found.limits_before, found.limits_after),
            strict=True,
        )
        if recalls is not None
    ]
    rows = (
        ChartRow(
            rate, ratio(rate), [_with_limits(recalls, limits, i) for _, recalls, limits in sides]
        )
        for i, rate in enumerate(found.false_positive_rate)
    )
    heads = ["false positive rate", *(f"recall {name}" for name, _, _ in sides)]
    return chart_table("roc", "ROC curves", heads, rows, "Recall by false positive rate.")


def _with_limits(recalls: Sequence[float], limits: RocLimits | None, place: int) -> str:
    recall = ratio(recalls[place])
    if limits is None:
        return recall
    return f"{recall} ({ratio(limits.lower[place])} to {ratio(limits.upper[place])})"


def _limits(found: ComparedScoreMetrics) -> Iterator[h.Element]:
    xs = [x_of(rate) for rate in found.false_positive_rate]
    for name, limits in zip(_SIDES, (found.limits_before, found.limits_after), strict=True):
        if limits is not None:
            lower, upper = (
                [y_of(share) for share in side] for side in (limits.lower, limits.upper)
            )
            yield h.path(f".band.{name}", d=band(xs, lower, upper))


def _bins(found: ComparedScoreMetrics) -> Iterator[h.Element]:
    """Yield what the bins of the scores hide of their metrics."""
    for name, side in _held(found.before, found.after):
        area, tied = side.roc_auc.estimate, side.tied_pairs
        if area is not None and tied is not None:
            sentence = ties_sentence(area, tied, name)
            if sentence is not None:
                yield h.p[sentence]
        hidden = hidden_sentence(side.hidden_by_bins, name)
        if hidden is not None:
            yield h.p[hidden]


def _slide(found: ComparedScoreMetrics) -> h.Node:
    if found.slide is None:
        return None
    sentence = slide_sentence(
        *(_ends(metric) for metric in (found.slide.positive, found.slide.negative))
    )
    return None if sentence is None else h.p[_typeset(sentence)]


def _typeset(text: str) -> str:
    """Return a text with minus signs in place of hyphens."""
    return text.replace("-", "\N{MINUS SIGN}")


def _ends(metric: MetricInterval) -> Interval:
    return Interval(
        *(
            math.nan if value is None else value
            for value in (metric.estimate, metric.lower, metric.upper)
        )
    )


def _reliability(found: ComparedScoreMetrics) -> h.Element:
    errors = [
        f"{name} {ratio(side.calibration_error.estimate)}"
        for name, side in _held(found.before, found.after)
    ]
    return unit_square(
        "reliability",
        f"Reliability of the scores. Calibration error: {', '.join(errors)}.",
        ("score", "share of positives"),
        [
            _diagonal(),
            *(
                part
                for name, side in _held(found.before, found.after)
                for part in (
                    _curve(((one.score, one.rate) for one in side.reliability), name),
                    *_groups(side.reliability, name),
                )
            ),
        ],
    )


def _reliability_table(found: ComparedScoreMetrics) -> h.Element:
    """Return the groups of both periods, from the lowest scores on."""
    rows = [
        ChartRow(one.score, f"{name}, {ratio(one.score)}", [ratio(one.rate), count(one.cases)])
        for name, side in _held(found.before, found.after)
        for one in side.reliability
    ]
    rows.sort(key=lambda row: row.at)
    heads = ["mean score", "share of positives", "cases"]
    caption = "Share of positives by score."
    return chart_table("reliability", "Reliability of the scores", heads, rows, caption)


def _held(*sides: ScoreMetrics | None) -> Iterator[tuple[str, ScoreMetrics]]:
    for name, side in zip(_SIDES, sides, strict=True):
        if side is not None:
            yield name, side


def _diagonal() -> h.Element:
    return h.path(".iso", d=line([(x_of(0), y_of(0)), (x_of(1), y_of(1))]))


def _curve(points: Iterable[tuple[float, float]], kind: str) -> h.Element:
    return h.path(f".pr.{kind}", d=line((x_of(x), y_of(y)) for x, y in points))


def _groups(groups: Iterable[ReliabilityGroup], kind: str) -> Iterator[h.Element]:
    for one in groups:
        yield h.circle(f".mark.{kind}", cx=n(x_of(one.score)), cy=n(y_of(one.rate)), r="4")[
            h.title[
                f"{kind}: {count(one.cases)} cases with a mean score of {ratio(one.score)}, "
                f"{ratio(one.rate)} of them positive"
            ]
        ]


def _legend(found: ComparedScoreMetrics, what: str) -> Iterator[h.Node]:
    for name, _ in _held(found.before, found.after):
        yield h.span(".key")[
            h.svg(viewBox="0 0 24 14", width="24", height="14", aria_hidden="true")[
                h.path(f".pr.{name}", d="M0 7H24")
            ],
            f"{what}, {name}",
        ]


def _tables(found: ComparedScoreMetrics) -> Iterator[h.Element]:
    """Yield the main metrics, then a folded table of the others."""
    yield _table(found, MAIN_SCORE_WORDS)
    others = {name: words for name, words in SCORE_WORDS.items() if not words.is_main}
    yield h.details(id="score-metrics")[
        h.summary["More metrics of the scores"], _table(found, others)
    ]


def _table(found: ComparedScoreMetrics, rows: Mapping[str, ScoreWords]) -> h.Element:
    return h.table(".scores-table")[
        h.thead[
            h.tr[
                h.th(scope="col")["of the scores"],
                [h.th(scope="col")[name] for name in (*_SIDES, "change")],
            ]
        ],
        h.tbody[
            [
                h.tr[
                    h.th(scope="row")[words.words],
                    [_cell(side, name) for side in (found.before, found.after)],
                    _changed(found.changes[name]),
                ]
                for name, words in rows.items()
            ]
        ],
    ]


def _corrections(found: ScoreCorrections | None) -> h.Node:
    if found is None:
        return None
    rows = [*correction_rows(found)]
    heads = "correction of the scores", "log-odds", "takes off the Brier score"
    return [
        h.table(".scores-table")[
            h.thead[h.tr[(h.th(scope="col")[head] for head in heads)]],
            h.tbody[
                (
                    h.tr[
                        h.th(scope="row")[row.words],
                        h.td[_typeset(row.formula)],
                        h.td[_typeset(with_limits(row.gain, 4))],
                    ]
                    for row in rows
                )
            ],
        ]
        if rows
        else None,
        h.p[coded(correction_advice(found) or none_advised(found) or "")],
    ]


def _cell(side: ScoreMetrics | None, name: str) -> h.Element:
    if side is None:
        return h.td["—"]
    metric: MetricInterval = attrgetter(name)(side)
    ends = "" if metric.lower is None else f" ({interval(metric)})"
    return h.td[_typeset(f"{ratio(metric.estimate)}{ends}")]


def _changed(found: MetricInterval) -> h.Element:
    estimate, lower, upper = (signed(one, 3) for one in (found.estimate, found.lower, found.upper))
    return h.td[f"{estimate} ({lower} to {upper})" if found.lower is not None else estimate]
