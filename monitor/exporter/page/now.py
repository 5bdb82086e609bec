"""The section "Now": each metric in each window, how fresh the data is, what is not known."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h

from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.api.status_answer import DetectorStatus, ModelStatus, StatusAnswer
from monitor.exporter.api.window_answer import EstimatedRate, WindowStatus
from monitor.exporter.page.drawing import sign
from monitor.exporter.page.formats import (
    UNDEFINED,
    count,
    duration,
    interval,
    last_label,
    last_prediction,
    moment,
    percent,
    ratio,
)
from monitor.exporter.page.sparkline import sparkline
from monitor.report.answer_parts import LabelStatus, MetricInterval, PredictionCheck
from monitor.report.label_words import LABELLINGS
from monitor.report.printable import one_line
from monitor.report.unused_windows import unused_windows_text
from monitor.report.verdict_words import tone_of, words_of
from monitor.report.vocabulary import PAGE_METRICS, MetricWords


def now_section(status: StatusAnswer, model: ModelStatus, trend: SeriesAnswer | None) -> h.Element:
    """Return the section.

    Args:
        status: of the monitor.
        model: one of its models.
        trend: its metrics by days, for the small lines; None where the history cannot be read.
    """
    return h.section("#now", aria_labelledby="now-title")[
        h.h2(id="now-title")["Now"],
        _table(status, model, trend),
        h.p[unused] if (unused := unused_windows_text(model.unused_windows)) else None,
        _estimated(model),
        h.div(".facts")[_fresh(status, model), _unknown(model)],
    ]


def _table(status: StatusAnswer, model: ModelStatus, trend: SeriesAnswer | None) -> h.Element:
    names = [name for name in status.windows if name in model.windows]
    windows = [model.windows[name] for name in names]
    return h.div(".scroll", tabindex="0", role="region", aria_label="Metrics by window")[
        h.table(".metrics")[
            h.caption(".unseen")["Each metric in each window, with its 95 % interval."],
            h.thead[
                h.tr[
                    h.th(scope="col")["Metric"],
                    h.th(".trend", scope="col")["Trend"],
                    (h.th(".number", scope="col")[f"last {name}"] for name in names),
                ]
            ],
            h.tbody[
                (_metric(row, windows, trend) for row in PAGE_METRICS),
                _ahead(windows),
                h.tr(".context")[
                    h.th(scope="row")["Verdict"],
                    h.td(".trend"),
                    (h.td(".number")[_verdict(window)] for window in windows),
                ],
                h.tr(".context")[
                    h.th(scope="row")["Labelled", h.small["of flagged; of the others"]],
                    h.td(".trend"),
                    (h.td(".number")[_coverage(window)] for window in windows),
                ],
                h.tr(".context")[
                    h.th(scope="row")["Outcomes"],
                    h.td(".trend"),
                    (h.td(".number")[_outcomes(window)] for window in windows),
                ],
            ],
        ]
    ]


def _metric(row: MetricWords, windows: list[WindowStatus], trend: SeriesAnswer | None) -> h.Element:
    values = () if trend is None else trend.metrics.metric(row.name).estimate
    return h.tr[
        h.th(scope="row")[row.title, h.small[row.meaning]],
        h.td(".trend")[sparkline(values, row.name)],
        (h.td(".number")[_number(window.metrics.metric(row.name))] for window in windows),
    ]


def _ahead(windows: list[WindowStatus]) -> h.Element | None:
    """Return precision of each window ahead of its labels; None where none is published."""
    found = [None if one.nowcast is None else one.nowcast.precision for one in windows]
    if all(one is None or one.withheld is not None for one in found):
        return None
    return h.tr[
        h.th(scope="row")["Precision, estimated", h.small["up to the last day, before its labels"]],
        h.td(".trend"),
        (h.td(".number")[_estimate(one)] for one in found),
    ]


def _estimate(found: EstimatedRate | None) -> list[h.Node] | str:
    if found is None:
        return UNDEFINED
    ends = MetricInterval(estimate=found.estimate, lower=found.lower, upper=found.upper)
    return _number(ends)


def _estimated(model: ModelStatus) -> Iterator[h.Node]:
    """Yield what the published estimate of each window rests on."""
    for name, window in model.windows.items():
        if window.nowcast is not None and window.nowcast.precision.withheld is None:
            yield h.p[f"Precision up to the last day, {name}: {window.nowcast.precision.rests_on}."]


def _number(metric: MetricInterval) -> list[h.Node]:
    return [h.strong[ratio(metric.estimate)], h.small[interval(metric)]]


def _verdict(window: WindowStatus) -> list[h.Node]:
    words = words_of(window.verdict, window.verdict_because)
    return [sign(words, tone_of(words, pages=False)), " ", words.title]


def _coverage(window: WindowStatus) -> list[h.Node]:
    shares, status = window.label_coverage, window.status
    return [
        f"{percent(shares.predicted_positive)}; {percent(shares.predicted_negative)}",
        h.small["" if status in (None, LabelStatus.MATURE) else status],
    ]


def _outcomes(window: WindowStatus) -> list[h.Node]:
    return [
        count(window.outcomes.total),
        h.small[moment(window.open)],
        h.small[f"to {moment(window.close)}"],
    ]


def _fresh(status: StatusAnswer, model: ModelStatus) -> h.Element:
    rows = {
        "Event time now": moment(status.now),
        "Last prediction": last_prediction(model).removeprefix("last prediction "),
        "Last label": last_label(model).removeprefix("last label "),
        "Predictions": f"{count(model.predictions)}, {count(model.pending)} wait for a label",
        "Maturity": f"{duration(model.maturity_seconds)}; windows end this long before now"
        + ("" if model.maturity_settled else " (still being learned)"),
        "Evidence for a worse model": _evidence(model.detectors),
        "Predictions alone": _alone(model.predictions_degenerate),
        **({} if model.trend is None else {"Trend over weeks": model.trend.text}),
        "Version": one_line(model.version or UNDEFINED),
    }
    return h.div[
        h.h3["How fresh the data is"],
        h.dl[([h.dt[name], h.dd[text]] for name, text in rows.items())],
    ]


def _alone(found: PredictionCheck) -> str:
    if found.text is not None:
        return f"the model {found.text}, since {moment(found.since)}"
    if found.known:
        return "within all that is known of the model"
    return "it is not known yet what is usual"


def _evidence(detectors: DetectorStatus) -> str:
    if detectors.off:
        return "no detector runs under this labelling"
    lacking = detectors.warming_up_because
    if detectors.evidence is None:
        return lacking or UNDEFINED
    known = f"{100 * detectors.evidence:.2g} % of the threshold for an alarm"
    if detectors.evidence >= 1:
        known = "over the threshold for an alarm"
    paging = "the page lasts until the model is certainly back"
    parts = [known, paging if detectors.degradation_detected else None, lacking]
    return "; ".join(filter(None, parts))


def _unknown(model: ModelStatus) -> h.Element:
    return h.div[
        h.h3["What cannot be known"],
        h.p[LABELLINGS[model.labelling].meaning],
        (h.p(".refused")[sentence] for sentence in _refused(model)),
        h.ul[_missing(model)],
    ]


def _refused(model: ModelStatus) -> list[str]:
    """Return why metrics are withheld, of the model and of each window."""
    windows = [
        f"Last {name}: {window.refused_because}."
        for name, window in model.windows.items()
        if window.refused_because
    ]
    return [model.refused_because, *windows] if model.refused_because else windows


def _missing(model: ModelStatus) -> Iterator[h.Node]:
    yield h.li["Whether labels are correct: each one counts until a later one revises it."]
    if not model.labels_missing_in:
        yield h.li["Cases without a label: the metrics describe the labelled ones."]
    for found in model.labels_missing_in:
        yield h.li(".warn")[
            "More labels are missing where "
            f"{one_line(found.segment)} = {one_line(found.value)}: {percent(found.share)} of the "
            f"predictions have none, {percent(found.elsewhere)} elsewhere."
        ]
