"""The section "Plane": the effect of prevalence apart from the model, and a better threshold."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h
from msgspec import UnsetType

from monitor.drift import Status
from monitor.exporter.api.curve_answer import CurveAnswer
from monitor.exporter.page.formats import count, interval, ratio, signed
from monitor.exporter.page.iso_curves import IsoCurves
from monitor.exporter.page.plane_figure import plane_figure, plane_table
from monitor.exporter.page.score_figures import scores_panel
from monitor.report.answer_parts import MetricInterval
from monitor.report.diagnosis_answer import DiagnosisAnswer
from monitor.report.metric_words import titled
from monitor.report.recalibration_words import CORRECTED_CURVE, threshold_advice

_SKILL = {
    Status.CLEAN: "is as before",
    Status.CHANGED: "changed",
    Status.UNKNOWN: "may or may not have changed",
}


def plane_section(diagnosis: DiagnosisAnswer, curve: CurveAnswer, iso: IsoCurves) -> h.Element:
    """Return the section: precision against recall, before and after.

    Args:
        diagnosis: of the two periods.
        curve: precision against recall of the later one.
        iso: the curves of equal score to draw.
    """
    drawn = plane_figure(diagnosis, curve, iso)
    return h.section("#plane", aria_labelledby="plane-heading")[
        h.h2(id="plane-heading")["The plane"],
        h.p(".muted")["Precision or recall of one side is not known."]
        if drawn is None
        else h.div(".beside")[
            h.div[
                h.figure[drawn, h.figcaption[_legend(curve, iso)]], plane_table(diagnosis, curve)
            ],
            h.div[_explained(diagnosis), _threshold(diagnosis, curve)],
        ],
        scores_panel(diagnosis.scores, by_labels=diagnosis.labels_may_explain),
    ]


def _legend(curve: CurveAnswer, iso: IsoCurves) -> Iterator[h.Node]:
    for shape, words in (
        (h.circle(".mark.before", cx="7", cy="7", r="5"), "before"),
        (h.rect(".mark.after", x="2", y="2", width="10", height="10"), "after"),
        (h.circle(".mark.carried", cx="7", cy="7", r="5"), "after, at the class ratio of before"),
    ):
        yield _key(shape, words, 14)
    yield _key(h.path(".move.prevalence", d="M0 7H24"), "effect of prevalence", 24)
    yield _key(h.path(".move.skill", d="M0 7H24"), "effect of the model or its threshold", 24)
    yield _key(h.path(".iso", d="M0 7H24"), f"equal {iso.name}", 24)
    if curve.recall:
        yield _key(h.path(".pr.after", d="M0 7H24"), "every threshold, now", 24)
        if curve.precision_at_reference is not None:
            words = "every threshold, at the class ratio of before"
            yield _key(h.path(".pr.before", d="M0 7H24"), words, 24)
        if curve.choice is not None:
            yield _key(h.path(".choice", d="M7 1l6 6-6 6-6-6Z"), "the threshold to consider", 14)


def _key(shape: h.Element, words: str, width: int) -> h.Element:
    return h.span(".key")[
        h.svg(viewBox=f"0 0 {width} 14", width=str(width), height="14", aria_hidden="true")[shape],
        words,
    ]


def _explained(diagnosis: DiagnosisAnswer) -> h.Node:
    """Return what the figure shows, in words."""
    before, after = diagnosis.before, diagnosis.after
    stayed = diagnosis.precision_had_prevalence_stayed.estimate
    if stayed is None:
        return None
    skill = diagnosis.log_likelihood_ratio
    error = "" if skill.se is None else f" ± {skill.se:.2f}"
    return [
        h.h3["How to read it"],
        h.p[
            "A change of prevalence moves precision straight up or down, because recall does not "
            "depend on the number of positives. Here it moved precision from "
            f"{ratio(stayed)} to {ratio(after.precision.estimate)}."
        ],
        h.p[
            "The rest of the move is the effect of the model or its threshold: from "
            f"({ratio(before.recall.estimate)}, {ratio(before.precision.estimate)}) "
            f"to ({ratio(after.recall.estimate)}, {ratio(stayed)}) in recall and precision. "
            f"Skill, log LR+, {_SKILL[skill.status]} ({signed(skill.change)}{error}). A changed "
            "threshold slides along a curve; a worse model falls below it."
        ],
    ]


def _threshold(diagnosis: DiagnosisAnswer, curve: CurveAnswer) -> h.Node:
    title = h.h3["A threshold to consider"]
    if not curve.labelled_scores:
        return [
            title,
            h.p(".muted")[
                "There are no scores for this period: events carry none, or it holds no whole "
                "week and is older than the two months for which scores are stored by the day."
            ],
        ]
    if curve.refused_because is not None:
        return [title, h.p(".muted")[f"None is given: {curve.refused_because}."]]
    if curve.objective is None:
        return None
    scores = diagnosis.scores
    if not isinstance(scores, UnsetType) and scores.threshold is not None:
        return [title, h.p[threshold_advice(scores.threshold, diagnosis.after.recall.estimate)]]
    wanted, choice = ratio(curve.objective), curve.choice
    if choice is None or choice.threshold is None:
        return [title, h.p[f"No threshold restores a precision of {wanted} at today's ratio."]]
    now = diagnosis.after.recall.estimate
    cost = "" if now is None else f", against {ratio(now)} now"
    return [
        title,
        h.p[
            f"For a precision of {wanted} at today's class ratio, flag scores of ",
            h.strong[f"{choice.threshold:g}"],
            f" and above. Recall would be {_with_interval(choice.recall)}{cost}; precision ",
            f"{_with_interval(choice.precision)}. This rests on {count(curve.labelled_scores)} ",
            f"labelled scores, {count(choice.labelled_scores)} of them from the threshold on. It ",
            "was chosen on these scores; others bring a little less on average.",
        ],
        h.p(".muted")[f"{titled(CORRECTED_CURVE)}."] if curve.corrected else None,
        None
        if choice.certain
        else h.p(".muted")[f"A precision of {wanted} is likely, and not certain."],
    ]


def _with_interval(metric: MetricInterval) -> str:
    return f"{ratio(metric.estimate)} ({interval(metric)})"
