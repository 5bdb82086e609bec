"""Now: each metric in each window with its interval, how fresh that is, what is not known."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h

from monitor.exporter.page.shapes import sign
from monitor.exporter.page.sparkline import sparkline
from monitor.exporter.page.words import (
    METRICS,
    UNDEFINED,
    VERDICTS,
    Json,
    count,
    duration,
    interval,
    last_label,
    last_prediction,
    moment,
    percent,
    ratio,
)
from monitor.report.printable import one_line

_LABELLING = {
    "complete": "Every prediction gets a label sooner or later, or misses it at random.",
    "sampled": "Labels are a random sample of the flagged and of the other cases; metrics are "
    "corrected for it (Begg and Greenes).",
    "weighted": "Labels are weighted by the probability with which they were asked for.",
    "negatives_by_timeout": "Only positives are reported; silence past the timeout is a negative.",
    "flagged_only": "Only flagged cases are ever labelled.",
}


def now_section(status: Json, model: Json, series: Json | None) -> h.Element:
    """What stands now.

    Args:
        status: of the monitor.
        model: one of its models.
        series: its history by days, for the lines; None where it cannot be had.
    """
    return h.section("#now", aria_labelledby="now-title")[
        h.h2(id="now-title")["Now"],
        _table(status, model, series),
        h.div(".facts")[_fresh(status, model), _unknown(model)],
    ]


def _table(status: Json, model: Json, series: Json | None) -> h.Element:
    names = status["windows"]
    windows = [model["windows"][name] for name in names]
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
                (_metric(name, windows, series) for name in METRICS),
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


def _metric(name: str, windows: list[Json], series: Json | None) -> h.Element:
    title, meaning = METRICS[name]
    values = [] if series is None else series["metrics"][name]["estimate"]
    return h.tr[
        h.th(scope="row")[title, h.small[meaning]],
        h.td(".trend")[sparkline(values, name)],
        (h.td(".number")[_number(window["metrics"][name])] for window in windows),
    ]


def _number(metric: Json) -> list[h.Node]:
    return [h.strong[ratio(metric["estimate"])], h.small[interval(metric)]]


def _verdict(window: Json) -> list[h.Node]:
    name = VERDICTS[window["verdict"]].name
    return [sign(window["verdict"]), " ", name]


def _coverage(window: Json) -> list[h.Node]:
    shares = window["label_coverage"]
    said = window["status"]
    return [
        f"{percent(shares['predicted_positive'])}; {percent(shares['predicted_negative'])}",
        h.small["" if said in (None, "mature") else said],
    ]


def _outcomes(window: Json) -> list[h.Node]:
    total = sum(window["outcomes"].values())
    return [count(total), h.small[moment(window["open"])], h.small[f"to {moment(window['close'])}"]]


def _fresh(status: Json, model: Json) -> h.Element:
    detectors = model["detectors"]
    rows = {
        "Event time now": moment(status["now"]),
        "Last prediction": last_prediction(model).removeprefix("last prediction "),
        "Last label": last_label(model).removeprefix("last label "),
        "Predictions": f"{count(model['predictions'])}, {count(model['pending'])} wait for a label",
        "Labels need": f"{duration(model['maturity_seconds'])}; windows end so long before now"
        + ("" if model["maturity_settled"] else " (not settled yet)"),
        "Evidence for a worse model": _evidence(detectors),
        "Version": one_line(model["version"] or UNDEFINED),
    }
    return h.div[
        h.h3["How fresh this is"],
        h.dl[([h.dt[name], h.dd[said]] for name, said in rows.items())],
    ]


def _evidence(detectors: Json) -> str:
    if detectors["off"]:
        return "no detector runs under this labelling"
    if detectors["warming_up_because"]:
        return str(detectors["warming_up_because"])
    share = detectors["evidence"]
    fired = "; it has fired" if detectors["degradation_detected"] else ""
    known = UNDEFINED if share is None else f"{100 * share:.2g} %"
    return f"{known} of what it takes to page{fired}"


def _unknown(model: Json) -> h.Element:
    return h.div[
        h.h3["What cannot be known"],
        h.p[_LABELLING.get(model["labelling"], model["labelling"])],
        (h.p(".refused")[sentence] for sentence in _refused(model)),
        h.ul[_missing(model)],
    ]


def _refused(model: Json) -> list[str]:
    """Why something is withheld, of the model and of each window, each reason once."""
    windows = [
        f"Last {name}: {found['refused_because']}." if found["refused_because"] else ""
        for name, found in model["windows"].items()
    ]
    return [text for text in (model["refused_because"], *windows) if text]


def _missing(model: Json) -> Iterator[h.Node]:
    yield h.li["Whether labels are right: each is taken at its word until a later one revises it."]
    if not model["labels_missing_in"]:
        yield h.li["Cases without a label: the numbers speak of the labelled ones."]
    for found in model["labels_missing_in"]:
        yield h.li(".warn")[
            f"Labels are missing more in {one_line(found['segment'])} = "
            f"{one_line(found['value'])}: "
            f"{percent(found['share'])} without one, {percent(found['elsewhere'])} elsewhere."
        ]
