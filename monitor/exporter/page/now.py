"""The section "Now": each metric in each window, how fresh the data is, what is not known."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h
from msgspec import UNSET

from monitor.config import Labelling
from monitor.exporter.api.scores_answer import ScoresAnswer
from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.api.status_answer import DetectorStatus, ModelStatus, StatusAnswer
from monitor.exporter.api.window_answer import WindowStatus
from monitor.exporter.page.class_rows import class_rows, coverage, has_many_classes
from monitor.exporter.page.drawing import sign
from monitor.exporter.page.expressions import expressions
from monitor.exporter.page.formats import (
    UNDEFINED,
    coded,
    count,
    duration,
    event_time,
    interval,
    is_silent,
    lacks_labels,
    last_label,
    last_prediction,
    minus,
    moment,
    percent,
    ratio,
    reaches_back,
)
from monitor.exporter.page.objectives import objective_mark, objective_text
from monitor.exporter.page.prediction_parts import estimate_notes, prediction_rows, scores_figure
from monitor.exporter.page.sources_now import sources_now
from monitor.exporter.page.sparkline import sparkline
from monitor.exporter.page.window_cells import context_row, window_cells, window_title
from monitor.labels.faults import RATES_UNDEFINED
from monitor.labels.refusals import UNAUDITED, UNAUDITED_CLASSES, clipped_texts
from monitor.report.answer_parts import MetricInterval, PredictionCheck
from monitor.report.label_words import LABELLINGS
from monitor.report.metric_words import titled
from monitor.report.model_kinds import tone_of, words_of
from monitor.report.prediction_words import NO_ALARM
from monitor.report.printable import one_line
from monitor.report.unused_windows import unused_windows_text
from monitor.report.version_news_words import beginning_text
from monitor.report.vocabulary import PAGE_METRICS, MetricWords
from monitor.report.without_labels import delay_text

_MOST_ON_A_PHONE = 3
"""Windows that fit beside each other on a phone."""


def now_section(
    status: StatusAnswer,
    model: ModelStatus,
    trend: SeriesAnswer | None,
    scores: ScoresAnswer | None,
) -> h.Element:
    """Return the section.

    Args:
        status: of the monitor.
        model: one of its models.
        trend: its metrics by days, for the small lines; None where the history cannot be read.
        scores: the distribution of its scores; None likewise.
    """
    return h.section("#now", aria_labelledby="now-title")[
        h.h2(id="now-title")["Now"],
        _table(model, trend),
        h.p[unused] if (unused := unused_windows_text(model.unused_windows)) else None,
        estimate_notes(model),
        expressions(model),
        scores_figure(scores),
        sources_now(model.label_sources),
        h.div(".facts")[_fresh(model), _unknown(status, model)],
    ]


def _table(model: ModelStatus, trend: SeriesAnswer | None) -> h.Element:
    if not any(window.predictions for window in model.windows.values()) and model.predictions:
        return _so_far(model)
    windows = [*model.windows.values()]
    many = len(windows) > _MOST_ON_A_PHONE
    return h.div(".scroll", tabindex="0", role="region", aria_label="Metrics by window")[
        h.table({"class": "metrics stacked" if many else "metrics"})[
            h.caption(".unseen")["Each metric in each window, with its 95 % interval."],
            h.thead[
                h.tr[
                    h.th(scope="col")["Metric"],
                    h.th(".trend", scope="col")["Trend"],
                    (
                        h.th(".number", scope="col")[window_title(model, name)]
                        for name in model.windows
                    ),
                ]
            ],
            h.tbody[
                _metrics(model, windows, trend),
                context_row("Verdict", "", model, [_verdict(model, window) for window in windows]),
                context_row(
                    "Labelled",
                    "Share of the predictions."
                    if has_many_classes(windows)
                    else "Share of the flagged cases; of the others.",
                    model,
                    [coverage(window) for window in windows],
                ),
                context_row("Outcomes", "", model, [_outcomes(window) for window in windows]),
            ],
        ]
    ]


def _metrics(
    model: ModelStatus, windows: list[WindowStatus], trend: SeriesAnswer | None
) -> Iterator[h.Node]:
    if has_many_classes(windows):
        yield from class_rows(windows, model, trend)
        return
    if model.without_labels is None:
        yield from (_metric(row, model, windows, trend) for row in PAGE_METRICS)
    yield from prediction_rows(model, windows)


def _so_far(model: ModelStatus) -> h.Element:
    """Return the metrics of everything so far, while windows lie before the first prediction."""
    found, usual = model.lifetime, model.usual_predicted_positive_rate
    outcomes = found.outcomes
    rows: list[tuple[str, list[h.Node]]] = [
        (row.title, _number(found.metrics.metric(row.name)))
        for row in PAGE_METRICS
        if found.metrics.metric(row.name).estimate is not None
    ]
    return h.table(".metrics")[
        h.caption[
            "Everything so far; labels that arrive early are over-represented. Windows show "
            "mature predictions only."
        ],
        h.thead[h.tr[h.th(scope="col")["Metric"], h.th(".number", scope="col")["so far"]]],
        h.tbody[
            (h.tr[h.th(scope="row")[name], h.td(".number")[cell]] for name, cell in rows),
            h.tr[
                h.th(scope="row")["Flagged"],
                h.td(".number")[
                    h.strong[ratio(None if usual is None else usual.rate)],
                    h.small[f"of {count(model.predictions)}"],
                ],
            ],
            h.tr(".context")[h.th(scope="row")["Outcomes"], h.td(".number")[count(outcomes.total)]],
        ],
    ]


def _metric(
    row: MetricWords, model: ModelStatus, windows: list[WindowStatus], trend: SeriesAnswer | None
) -> h.Element:
    values = () if trend is None else trend.metrics.metric(row.name).estimate
    objective = model.objective.get(row.name)
    numbers = [window.metrics.metric(row.name) for window in windows]
    return h.tr[
        h.th(scope="row")[
            h.a(".plain", href="#expressions", title="Its Prometheus expression")[row.title],
            h.small[f"{row.meaning} {objective_text(row.name, objective)}".strip()],
        ],
        h.td(".trend")[sparkline(values, row.name)],
        window_cells(
            model,
            ([_number(one), objective_mark(row.name, one, objective)] for one in numbers),
        ),
    ]


def _number(metric: MetricInterval) -> list[h.Node]:
    return [h.strong[ratio(metric.estimate)], h.small[interval(metric)]]


def _verdict(model: ModelStatus, window: WindowStatus) -> list[h.Node]:
    words = words_of(window.verdict, window.verdict_because)
    title = "Reaches into the reference" if reaches_back(model, window) else words.title
    return [sign(words, tone_of(words, pages=False)), " ", title]


def _outcomes(window: WindowStatus) -> list[h.Node]:
    return [
        count(window.outcomes.total),
        h.small[_whole(moment(window.open))],
        h.small["to ", _whole(moment(window.close))],
    ]


def _whole(text: str) -> list[h.Node]:
    """Return a time that breaks into two lines only between the day and the hour."""
    return [[h.span(".whole")[part], " "] for part in text.split(" ")]


def _fresh(model: ModelStatus) -> h.Element:
    rows: dict[str, h.Node] = {
        "Event time now": event_time(model),
        "Last prediction": _aged(last_prediction(model), late=is_silent(model)),
        "Last label": _aged(last_label(model), late=lacks_labels(model)),
        "Predictions": _predictions(model),
        "Labels": _delay(model),
        "Maturity": _maturity(model),
        "Evidence for a worse model": _evidence(model.detectors),
        **(
            {}
            if has_many_classes([*model.windows.values()])
            else {"Predictions alone": _alone(model.predictions_degenerate)}
        ),
        **({} if model.trend is None else {"Trend over weeks": minus(model.trend.text)}),
        **({} if (when := model.change_began) is None else {"Rates changed": beginning_text(when)}),
        "Version": _versions(model),
    }
    return h.div[
        h.h3["How fresh the data is"],
        h.dl[([h.dt[name], h.dd[text]] for name, text in rows.items())],
    ]


def _aged(text: str, *, late: bool) -> h.Node:
    return h.span(".warn")[f"{text}, later than usual"] if late else text


def _predictions(model: ModelStatus) -> str:
    text = f"{count(model.predictions)}; {count(model.pending)} wait for a label"
    return f"{text}, {count(model.expired)} expired without one" if model.expired else text


def _delay(model: ModelStatus) -> str:
    delay = model.label_delay
    if delay is None:
        return "none yet" if model.last_label is None else "come with their predictions"
    return delay_text(delay)


def _maturity(model: ModelStatus) -> str:
    if model.maturity_seconds is None:
        return "not known before labels come; windows end now"
    text = f"{duration(model.maturity_seconds)}: windows end this long before now"
    return text if model.maturity_settled else f"{text} (still being learned)"


def _versions(model: ModelStatus) -> h.Node:
    if model.version is None:
        return coded("events carry none; with a `version`, the chart marks each deployment")
    since = next((v for v in model.versions if v.version == model.version), None)
    known = "" if since is None else f", since {moment(since.first_prediction)}"
    below = f", of the last prediction; all {len(model.versions)} are below"
    return one_line(f"{model.version}{known}{below * (len(model.versions) > 1)}")


def _alone(found: PredictionCheck) -> str:
    if found.text is not None:
        return f"the model {found.text}, since {moment(found.since)}"
    if found.known:
        return NO_ALARM
    return "the usual range is not known yet"


def _evidence(detectors: DetectorStatus) -> str:
    if detectors.off:
        return "no detector runs under this labelling"
    lacking = detectors.warming_up_because
    if detectors.evidence is None:
        return lacking or UNDEFINED
    known = f"{100 * detectors.evidence:.2g} % of the threshold for an alarm"
    if detectors.evidence >= 1:
        known = "over the threshold for an alarm"
    paging = "the page lasts until the model has certainly recovered"
    parts = [known, paging if detectors.degradation_detected else None, lacking]
    return "; ".join(filter(None, parts))


def _unknown(status: StatusAnswer, model: ModelStatus) -> h.Element:
    return h.div[
        h.h3["What cannot be known"],
        h.p[LABELLINGS[model.labelling].meaning],
        (h.p(".refused")[coded(sentence)] for sentence in _refused(model)),
        h.ul[_missing(status, model)],
    ]


def _refused(model: ModelStatus) -> list[str]:
    """Return why metrics are withheld, each reason once with the windows that it holds for."""
    windows: dict[str, list[str]] = {}
    for name, window in model.windows.items():
        if window.refused_because:
            windows.setdefault(window.refused_because, []).append(name)
    own = model.refused_because
    found = [
        f"Last {', '.join(names)}: {reason}." for reason, names in windows.items() if reason != own
    ]
    return [f"All windows: {own}.", *found] if own else found


def _correctness(model: ModelStatus) -> Iterator[h.Node]:
    if text := model.label_errors_text:
        corrected = "; outcomes are as labelled" if model.label_errors else ""
        yield h.li[f"Which labels are wrong: {text}{corrected}."]
        for name, window in model.windows.items():
            few = window.too_few_positive_labels, window.too_few_negative_labels
            for words in clipped_texts(*few):
                yield h.li(".warn")[f"Last {name}: {words}."]
    elif model.label_fault not in RATES_UNDEFINED:
        yield h.li[
            "Whether labels are correct: each one counts until another one revises it. "
            f"{_if_wrong(model)}".strip()
        ]


def _missing(status: StatusAnswer, model: ModelStatus) -> Iterator[h.Node]:
    yield from _correctness(model)
    if model.audits is not None:
        item = h.li(".warn") if model.audits.follow_predictions else h.li
        yield item[f"Whether labels follow the prediction: {model.audits.text}."]
    elif model.labels_may_follow is not None:
        item = h.li(".warn") if model.labels_seem_to_follow else h.li
        yield item[f"{titled(model.labels_may_follow)}."]
    elif model.labelling == Labelling.COMPLETE:
        yield h.li[UNAUDITED_CLASSES if has_many_classes([*model.windows.values()]) else UNAUDITED]
    if status.audits_without_effect is not None:
        yield h.li(".warn")[f"{titled(status.audits_without_effect.text)}."]
    if model.repeated_ids:
        yield h.li(".warn")[f"{one_line(model.repeated_ids)}."]
    if not model.labels_missing_in:
        yield h.li["Cases without a label: the metrics describe the labelled ones."]
    for found in model.labels_missing_in:
        yield h.li(".warn")[
            "More labels are missing where "
            f"{one_line(found.segment)} = {one_line(found.value)}: {percent(found.share)} of the "
            f"predictions have none, {percent(found.elsewhere)} elsewhere."
        ]


def _if_wrong(model: ModelStatus) -> str:
    """Return what wrong labels would do to the window that decides; "" where too little."""
    name = model.verdict_window
    window = model.windows.get(name)
    found = None if window is None else window.if_labels_wrong
    if window is None or found is None or window.classes is not UNSET:
        return ""
    return f"{titled(found.text)} (last {name}); with known rates, set label_errors."
