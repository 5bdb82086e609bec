"""The plane: what prevalence did apart from the model, and the threshold that would help."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h

from monitor.exporter.page.plane import Iso, plane
from monitor.exporter.page.words import Json, count, interval, ratio, signed


def plane_section(diagnosis: Json, curve: Json | None, iso: Iso) -> h.Element:
    """Precision against recall: where the model stood, stands, and would stand."""
    drawn = plane(diagnosis, curve, iso)
    return h.section("#plane", aria_labelledby="plane-heading")[
        h.h2(id="plane-heading")["The plane"],
        h.p(".muted")["Precision or recall of one side is not known."]
        if drawn is None
        else h.div(".beside")[
            h.figure[drawn, h.figcaption[_legend(curve, iso)]],
            h.div[_reading(diagnosis), _threshold(diagnosis, curve)],
        ],
    ]


def _legend(curve: Json | None, iso: Iso) -> Iterator[h.Node]:
    for shape, said in (
        (h.circle(".mark.before", cx="7", cy="7", r="5"), "before"),
        (h.rect(".mark.after", x="2", y="2", width="10", height="10"), "after"),
        (h.circle(".mark.carried", cx="7", cy="7", r="5"), "after, at the class ratio of before"),
    ):
        yield _key(shape, said, 14)
    yield _key(h.path(".move.prevalence", d="M0 7H24"), "what prevalence did", 24)
    yield _key(h.path(".move.skill", d="M0 7H24"), "what the model or its threshold did", 24)
    yield _key(h.path(".iso", d="M0 7H24"), f"equal {iso.name}", 24)
    if curve is not None and curve["recall"]:
        yield _key(h.path(".pr.after", d="M0 7H24"), "every threshold, now", 24)
        if curve["precision_at_reference"] is not None:
            said = "every threshold, at the class ratio of before"
            yield _key(h.path(".pr.before", d="M0 7H24"), said, 24)
        if curve["choice"] is not None:
            yield _key(h.path(".choice", d="M7 1l6 6-6 6-6-6Z"), "the threshold below", 14)


def _key(shape: h.Element, said: str, width: int) -> h.Element:
    return h.span(".key")[
        h.svg(viewBox=f"0 0 {width} 14", width=str(width), height="14", aria_hidden="true")[shape],
        said,
    ]


def _reading(diagnosis: Json) -> h.Node:
    """What the figure shows, in words."""
    before, after = diagnosis["before"], diagnosis["after"]
    stayed = diagnosis["precision_had_prevalence_stayed"]["estimate"]
    if stayed is None:
        return None
    skill = diagnosis["log_likelihood_ratio"]
    said = {
        "clean": "is as before",
        "changed": "changed",
        "unknown": "may or may not have changed",
    }[skill["status"]]
    return [
        h.h3["How to read it"],
        h.p[
            "Prevalence moves precision straight up or down: recall does not know how many "
            f"positives there are. Here it took precision from {ratio(stayed)} to "
            f"{ratio(after['precision']['estimate'])}."
        ],
        h.p[
            "What is left of the way is the model's, or its threshold's: from "
            f"({ratio(before['recall']['estimate'])}, {ratio(before['precision']['estimate'])}) "
            f"to ({ratio(after['recall']['estimate'])}, {ratio(stayed)}) in recall and "
            f"precision. Skill, log LR+, {said} ({signed(skill['change'])}"
            f"{_error(skill['se'])}). A threshold that is moved slides along a curve; a model that "
            "got worse falls below it."
        ],
    ]


def _error(se: float | None) -> str:
    return "" if se is None else f" ± {se:.2f}"


def _threshold(diagnosis: Json, curve: Json | None) -> h.Node:
    title = h.h3["A threshold to consider"]
    if curve is None or not curve["labelled_scores"]:
        return [
            title,
            h.p(".muted")[
                "No scores of this stretch are known: events carry none, or it is longer ago "
                "than scores are kept (two months)."
            ],
        ]
    if curve["objective"] is None:
        return None
    wanted, choice = ratio(curve["objective"]), curve["choice"]
    if choice is None or choice["threshold"] is None:
        return [title, h.p[f"No threshold brings precision back to {wanted} at today's ratio."]]
    now = diagnosis["after"]["recall"]["estimate"]
    found = choice["recall"]["estimate"]
    cost = "" if now is None else f", against {ratio(now)} now"
    return [
        title,
        h.p[
            f"For precision of {wanted} at today's class ratio, flag from a score of ",
            h.strong[f"{choice['threshold']:g}"],
            f" on. Recall would be {ratio(found)} ({interval(choice['recall'])}){cost}; ",
            f"precision {ratio(choice['precision']['estimate'])} ",
            f"({interval(choice['precision'])}). Rests on {count(curve['labelled_scores'])} ",
            f"labelled scores, {count(choice['labelled_scores'])} of them from it on.",
        ],
        None
        if choice["certain"]
        else h.p(".muted")["That this threshold keeps it is likely, not certain."],
    ]
