"""The section "Why": what moved precision between two periods, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import htpy as h
from msgspec import UNSET

from monitor.exporter.page.drawing import sign
from monitor.exporter.page.formats import (
    UNDEFINED,
    coded,
    count,
    interval,
    minus,
    percent,
    period,
    points,
    ratio,
    signed,
)
from monitor.exporter.page.waterfall import waterfall
from monitor.report.diagnosis_answer import ComparedSide, DiagnosisAnswer
from monitor.report.label_quality_words import IF_LABELS_ARE_AS_BEFORE
from monitor.report.model_kinds import JudgedModel, tone_of
from monitor.report.moved_precision import PrecisionAnswer
from monitor.report.score_words import PARTS_BY_LABELS, skill_parts_sentence
from monitor.report.two_answers import WorseAnswer
from monitor.report.verdict_words import LABEL_ERRORS_CHANGED, BecauseWords, VerdictWords
from monitor.report.version_news_words import beginning_text, compared_versions_text
from monitor.report.visible_fall import visible_fall
from monitor.report.vocabulary import PAGE_METRICS, SOURCES, MetricWords
from monitor.report.worse_segment_answer import are_named


def why_section(diagnosis: DiagnosisAnswer) -> h.Element:
    """Return the section: the verdict, the effect of each cause, what is not known, what to do."""
    words = JudgedModel(
        diagnosis.verdict,
        diagnosis.verdict_because,
        pages=diagnosis.worse.answer == "yes",
        worse_version=diagnosis.worse_version is not UNSET,
        worse_segment=are_named(diagnosis.worse_segments),
    ).words
    return h.section("#why", aria_labelledby="why-title")[
        h.h2(id="why-title")["Why"],
        verdict_line(words, diagnosis.headline),
        two_answers(diagnosis.moved_precision, diagnosis.worse, diagnosis.verdict_because),
        h.p[f"Rates changed: {beginning_text(diagnosis.change_began)}."]
        if diagnosis.change_began
        else None,
        _versions(diagnosis),
        h.p(".plainly")[coded(" ".join(diagnosis.plainly))] if diagnosis.plainly else None,
        h.p[
            LABEL_ERRORS_CHANGED if diagnosis.label_errors_changed else words.meaning,
            " ",
            h.em[diagnosis.certainties],
        ],
        h.div(".scroll", tabindex="0", role="region", aria_label="Causes")[waterfall(diagnosis)],
        (h.p(".muted")[sentence] for sentence in diagnosis.footnotes),
        _parts_of_skill(diagnosis),
        _counterfactual(diagnosis),
        _sides(diagnosis),
        h.div(".facts")[
            _bullets("What to do next", diagnosis.advice),
            _bullets("What is not known, and why", diagnosis.notes),
        ],
    ]


def verdict_line(
    words: VerdictWords | BecauseWords, headline: str, *, pages: bool = False
) -> h.Element:
    """Return the verdict as a sign and in words, then what happened.

    Args:
        words: of the verdict, or of the reason why there is none.
        headline: what happened, in one line.
        pages: the model pages.
    """
    tone = tone_of(words, pages=pages)
    title = f"Pages: {words.title}" if pages else words.title
    return h.p(f".verdict.{tone}")[sign(words, tone), h.strong[title], h.span[coded(headline)]]


def two_answers(
    moved: PrecisionAnswer, worse: WorseAnswer, because: str | None, rests_on: str = ""
) -> h.Element:
    """Return what moved precision, and whether the model is worse.

    Args:
        moved: the first answer.
        worse: the second.
        because: why there is no verdict; None where there is one.
        rests_on: the window and the counts behind both; "" to leave them out.
    """
    return h.dl(".answers")[
        h.dt["What moved precision?"],
        h.dd[coded(f"{moved.text}.")],
        h.dt["Is the model worse?"],
        h.dd[coded(f"{worse.text}. {visible_fall(because, worse)}".rstrip())],
        [h.dt["Rests on"], h.dd[rests_on]] if rests_on else None,
    ]


def _versions(diagnosis: DiagnosisAnswer) -> h.Node:
    before, after = diagnosis.versions_before, diagnosis.versions_after or ()
    if not before:
        return None
    return h.p[compared_versions_text(before, after, diagnosis.reference_restarted_with)]


def side_name(side: ComparedSide) -> str:
    """Return the period of a side, and where it comes from."""
    source = "" if side.source is None else SOURCES[side.source].words
    if side.open is None:
        return source
    return period(side.open, side.close) + (f" ({source})" if source else "")


def _parts_of_skill(diagnosis: DiagnosisAnswer) -> h.Node:
    """Return what of the part of skill the threshold did, and what the ROC curve."""
    skill = UNSET if diagnosis.scores is UNSET else diagnosis.scores.skill
    if not skill:
        return None
    return h.p[
        minus(skill_parts_sentence(skill.threshold.interval, skill.curve.interval)),
        f" {PARTS_BY_LABELS}" if diagnosis.labels_may_explain else None,
    ]


def _counterfactual(diagnosis: DiagnosisAnswer) -> h.Node:
    stayed, before = diagnosis.precision_had_prevalence_stayed, diagnosis.before
    if diagnosis.labels_may_explain:
        return h.p(".counterfactual")[IF_LABELS_ARE_AS_BEFORE]
    if stayed.estimate is None:
        return None
    effect, whole = points(diagnosis.attribution.prevalence.points), points(diagnosis.change.points)
    return h.p(".counterfactual")[
        "Had prevalence stayed at ",
        h.strong[percent(before.prevalence.estimate)],
        ", precision would now be ",
        h.strong[ratio(stayed.estimate)],
        f" ({interval(stayed)}); it was {ratio(before.precision.estimate)}.",
        None if whole == "0.0" else f" Prevalence accounts for {effect} of {whole} points.",
    ]


def _sides(diagnosis: DiagnosisAnswer) -> h.Element:
    before, after = diagnosis.before, diagnosis.after
    return h.div(".scroll", tabindex="0", role="region", aria_label="Before and after")[
        h.table(".sides")[
            h.caption["Before and after, with 95 % intervals."],
            h.thead[
                h.tr[
                    h.th(scope="col")[h.span(".unseen")["Metric"]],
                    h.th(".number", scope="col")["Before", h.small[side_name(before)]],
                    h.th(".number", scope="col")["After", h.small[side_name(after)]],
                    h.th(".number", scope="col")["Change"],
                ]
            ],
            h.tbody[
                (_metric(row, before, after) for row in PAGE_METRICS),
                _flagged(before, after),
                h.tr[
                    h.th(scope="row")["Outcomes"],
                    (h.td(".number")[_outcomes(side)] for side in (before, after)),
                    h.td,
                ],
            ],
        ]
    ]


def _metric(row: MetricWords, before: ComparedSide, after: ComparedSide) -> h.Element:
    old, new = before.metric(row.name), after.metric(row.name)
    change = UNDEFINED
    if old.estimate is not None and new.estimate is not None:
        change = signed(new.estimate - old.estimate, 3)
    return h.tr[
        h.th(scope="row")[row.title],
        (h.td(".number")[h.strong[ratio(m.estimate)], h.small[interval(m)]] for m in (old, new)),
        h.td(".number")[change],
    ]


def _flagged(before: ComparedSide, after: ComparedSide) -> h.Element:
    """Return the share of flagged cases of both, labelled or not."""
    old, new = before.predicted_positive_rate, after.predicted_positive_rate
    change = UNDEFINED if old is None or new is None else signed(new - old, 3)
    return h.tr[
        h.th(scope="row")["Flagged"],
        (h.td(".number")[h.strong[ratio(rate)]] for rate in (old, new)),
        h.td(".number")[change],
    ]


def _outcomes(side: ComparedSide) -> Iterator[h.Node]:
    total = side.outcomes.total
    yield count(round(total))
    if side.predictions:
        unlabelled = max(0.0, 1 - total / side.predictions)
        yield h.small[f"{percent(unlabelled)} of the predictions have no label"]


def _bullets(title: str, sentences: Sequence[str]) -> h.Element:
    return h.div[
        h.h3[title],
        h.ul[(h.li[coded(sentence)] for sentence in sentences)] if sentences else h.p["Nothing."],
    ]
