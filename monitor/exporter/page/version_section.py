"""The section "Versions": those of a model side by side, and the new one compared."""

from __future__ import annotations

import htpy as h

from monitor.drift import Verdict
from monitor.drift.recall_evidence import Because
from monitor.drift.version_verdict import NotShown, VersionVerdict
from monitor.exporter.page.drawing import sign
from monitor.exporter.page.formats import (
    UNDEFINED,
    coded,
    count,
    interval,
    minus,
    moment,
    percent,
    period,
    points,
    ratio,
    signed,
    version_name,
)
from monitor.report.answer_parts import MetricInterval
from monitor.report.printable import one_line
from monitor.report.score_words import skill_parts_sentence
from monitor.report.verdict_words import BECAUSE, VERDICTS, BecauseWords, VerdictWords
from monitor.report.version_scores_answer import ComparedVersionScores, DistanceFromCurve
from monitor.report.versions_answer import (
    JointOutcomes,
    PairedCases,
    VersionsAnswer,
)
from monitor.report.versions_conditions import OFF_OWN_CURVE, ON_UNLIKE_DAYS, parts_take
from monitor.report.versions_not_compared import not_compared_text
from monitor.report.versions_now import LiveVersionsAnswer, VersionNow, shadow_text
from monitor.report.versions_text import p_value_text
from monitor.report.versions_words import MODEL_AND_MIX
from monitor.report.vocabulary import METRIC_WORDS

_SHOWN = ("precision", "balanced_precision", "recall", "false_positive_rate")
_PARTS = {"model": "the model", "prevalence": "prevalence", "mix": "the mix of cases"}
_SIGNS: dict[VersionVerdict, VerdictWords | BecauseWords] = {
    VersionVerdict.WORSE: VERDICTS[Verdict.MODEL_DEGRADED],
    VersionVerdict.BETTER: VERDICTS[Verdict.MODEL_IMPROVED],
    VersionVerdict.EQUAL: VERDICTS[Verdict.NO_CHANGE],
    VersionVerdict.NOT_SHOWN: BECAUSE[Because.TOO_FEW],
}
_TITLES = {
    VersionVerdict.WORSE: "The new version is worse",
    VersionVerdict.BETTER: "The new version is better",
    VersionVerdict.EQUAL: "The versions are equal",
    VersionVerdict.NOT_SHOWN: "Not shown yet",
}


def versions_section(found: LiveVersionsAnswer) -> h.Element | None:
    """Return the section; None for a model with fewer than two versions.

    Args:
        found: the versions.
    """
    if len(found.versions) <= 1:
        return None
    return h.section("#versions", aria_labelledby="versions-title")[
        h.h2(id="versions-title")["Versions"],
        comparison_parts(found.comparison)
        if found.comparison is not None
        else h.p(".muted")[coded(not_compared_text(found.not_compared or ""))],
        (h.p(".muted")[coded(limit)] for limit in found.limits),
        _table(found),
    ]


def comparison_parts(found: VersionsAnswer) -> list[h.Node]:
    """Return the verdict on two versions, and what it rests on.

    Args:
        found: the comparison.
    """
    words = _SIGNS[found.verdict]
    looks = "however often it is looked at" if found.anytime else "for one look"
    return [
        h.p(f".verdict.{words.tone}")[
            sign(words), h.strong[_title(found)], h.span[coded(found.headline)]
        ],
        h.p(".muted")[found.condition] if found.condition is not None else None,
        h.p[
            one_line(_compared(found)),
            f". The verdict holds {looks}. ",
            _parts(found),
        ],
        h.p[_curve(found, found.from_roc_curve)] if found.from_roc_curve else None,
        h.p[_scores(found, found.scores)] if found.scores else None,
        h.p(".muted")[OFF_OWN_CURVE.format(a=one_line(found.a.version))]
        if found.off_own_curve
        else None,
        h.p(".muted")[ON_UNLIKE_DAYS] if found.on_unlike_days else None,
        h.p[_pairs(found, found.paired)] if found.paired is not None else None,
    ]


def _title(found: VersionsAnswer) -> str:
    """Return the verdict in a few words."""
    if found.because is NotShown.ANOTHER_THRESHOLD:
        return "Another threshold"
    return _TITLES[found.verdict]


def _curve(found: VersionsAnswer, distance: DistanceFromCurve) -> str:
    """Return how far B lies from the ROC curve of A."""
    a, b = one_line(found.a.version), one_line(found.b.version)
    ends = f"{signed(distance.lower, 3)} to {signed(distance.upper, 3)}"
    return (
        f"Recall of version {b} less that of the ROC curve of {a} at the same false-positive rate, "
        f"{'which decides' if distance.decides else 'which does not decide'}: "
        f"{signed(distance.recall, 3)} ({ends})."
    )


def _scores(found: VersionsAnswer, scores: ComparedVersionScores) -> str:
    """Return the areas under both ROC curves, and what threshold and curve did."""
    areas = [
        f"{ratio(area.estimate)} of version {one_line(side.version)}"
        for side, area in ((found.a, scores.roc_auc_a), (found.b, scores.roc_auc_b))
    ]
    known = scores.roc_auc_difference
    ends = f"{signed(known.lower, 3)} to {signed(known.upper, 3)}"
    difference = signed(known.estimate, 3) + (f" ({ends})" if known.lower is not None else "")
    text = f"Area under the ROC curve: {' and '.join(areas)}, difference {difference}."
    if scores.skill is None:
        positives = (one.outcomes.sum_of(("tp", "fn")) for one in (found.a, found.b))
        return f"{text} {parts_take(min(positives))}".rstrip()
    parts = scores.skill.threshold.interval, scores.skill.curve.interval
    return f"{text} {minus(skill_parts_sentence(*parts, whole=MODEL_AND_MIX))}"


def _compared(found: VersionsAnswer) -> str:
    """Return which time and which cases the verdict rests on."""
    moments = [str(end)[: len("1970-01-01T00:00:00")] for end in (found.open, found.close)]
    timed = moments[0] != moments[1]  # cases without a time have one moment
    start = f"Compared from {period(found.open, found.close)}" if timed else "Compared"
    if found.decided_by == "pairs":
        return f"{start} on the cases that both scored"
    by = found.adjusted_for
    if not by:
        return f"{start} at the mix as it was: neither segments nor times are known"
    return f"{start} at the same mix by {', '.join(by[:-1])}{' and ' * bool(by[1:])}{by[-1]}"


def _pairs(found: VersionsAnswer, paired: PairedCases) -> str:
    """Return on how many of the cases that both scored the two versions disagree."""
    a, b = one_line(found.a.version), one_line(found.b.version)
    classes = {"positives": paired.positives, "negatives": paired.negatives}
    cases = [
        f"of {_total(joint):,} {word} {joint.only_a:,.0f} were flagged by {a} alone and "
        f"{joint.only_b:,.0f} by {b} alone (McNemar's exact p {p_value_text(joint.p_value)})"
        for word, joint in classes.items()
    ]
    return f"Both versions scored the same cases: {'; '.join(cases)}."


def _total(joint: JointOutcomes) -> int:
    return round(joint.both + joint.only_a + joint.only_b + joint.neither)


def _parts(found: VersionsAnswer) -> str:
    """Return what the difference of precision consists of; "" where it is not known."""
    parts = {title: getattr(found.parts, name).points for name, title in _PARTS.items()}
    if None in parts.values():
        return ""
    whole = points(sum(parts.values()))
    listed = ", ".join(f"{points(part)} {title}" for title, part in parts.items())
    return f"Precision as it was differs by {whole} points: {listed}."


def _table(found: LiveVersionsAnswer) -> list[h.Node]:
    titles = ["Began", "Traffic", "Outcomes", *(METRIC_WORDS[name].title for name in _SHOWN)]
    counted = any(one.metrics is not None for one in found.versions)
    if not counted:
        titles = titles[:1]
    return [
        h.h3[f"Each version in the last {found.window}"] if counted else None,
        h.div(".scroll", tabindex="0", role="region", aria_label="Versions now")[
            h.table(".segments.versions.stacked")[
                h.caption(".unseen")["Versions by when they began, each with its own traffic."],
                h.thead[
                    h.tr[
                        h.th(scope="col")["Version"],
                        (h.th(".number", scope="col")[title] for title in titles),
                    ]
                ],
                h.tbody[(_row(one, titles) for one in found.versions)],
            ]
        ],
        h.p(".muted")["As they were: each on its own traffic. Only the comparison is at one mix."]
        if counted
        else None,
    ]


def _row(one: VersionNow, titles: list[str]) -> h.Element:
    if one.shadow and len(titles) > 1:
        return h.tr[
            h.th(scope="row")[version_name(one.version)],
            h.td(".number", {"data-title": titles[0]})[moment(one.first_prediction)],
            h.td(".number", {"data-title": titles[1]})["shadow"],
            h.td(".number.wide-cell", {"data-title": "Cases"}, colspan=str(len(titles) - 2))[
                shadow_text(one)
            ],
        ]
    cells: list[h.Node] = [
        [moment(one.first_prediction), one.ended and h.small[f"ended {moment(one.ended)}"]],
        percent(one.traffic),
        count(None if one.outcomes is None else one.outcomes.total),
        *(_number(None if one.metrics is None else one.metrics.metric(name)) for name in _SHOWN),
    ]
    return h.tr[
        h.th(scope="row")[version_name(one.version)],
        (
            h.td(".number", {"data-title": title})[cell]
            for title, cell in zip(titles, cells, strict=False)
        ),
    ]


def _number(found: MetricInterval | None) -> h.Node:
    if found is None:
        return UNDEFINED
    return [ratio(found.estimate), h.small[interval(found)]]
