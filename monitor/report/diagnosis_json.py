"""A diagnosis as the JSON object that `diagnose --json` prints.

Every metric is an object with `estimate`, `lower` and `upper`; whatever is
undefined or refused is null. Times are ISO 8601 in UTC, points are fractions of
precision. Later versions may add keys; none changes its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from monitor.clock import HOUR_MS
from monitor.diagnosis import Diagnosis, Estimated, SegmentPart, Side
from monitor.drift import MainDriver, Status
from monitor.report.advice import advice
from monitor.report.answer_parts import MetricInterval, defined, json_text, outcome_sums, time_text
from monitor.report.curve_change_answer import curve_change
from monitor.report.curve_change_text import curve_sentences
from monitor.report.diagnosis_answer import (
    BlockCounts,
    Cause,
    CauseNumbers,
    ComparedSide,
    ComponentChange,
    ComponentChanges,
    DiagnosedDriver,
    DiagnosisAnswer,
    JudgedEffect,
    JudgedEffects,
    PrecisionChange,
    SegmentEffect,
    Unit,
)
from monitor.report.findings import of_diagnosis
from monitor.report.headline import certainties, headline
from monitor.report.label_answer import labels_wrong_answer
from monitor.report.metric_words import JSON_METRICS
from monitor.report.reference_answer import version_beginnings
from monitor.report.scatter_words import scatter_sentence
from monitor.report.score_answer import compared_scores
from monitor.report.sentences import cause_status, explanation, footnotes
from monitor.report.short_answers import short_answers, what_is_excluded
from monitor.report.source_answer import label_sources_answer
from monitor.report.two_answers import is_model_worse, what_moved_precision
from monitor.report.unjudged_words import notes_of
from monitor.report.version_news_words import change_beginning, version_news
from monitor.report.worse_segment_answer import worse_segments_in


def diagnosis_json(diagnosis: Diagnosis) -> str:
    """Return the JSON text, one object over several lines, ASCII only."""
    return json_text(diagnosis_answer(diagnosis), indent=2)


def diagnosis_answer(diagnosis: Diagnosis) -> DiagnosisAnswer:
    """Return the diagnosis as an object."""
    trusted, judgement = diagnosis.refusal is None, diagnosis.judgement
    found, components, news = of_diagnosis(diagnosis), _components(diagnosis), diagnosis.news
    return DiagnosisAnswer(
        model=diagnosis.model,
        headline=headline(diagnosis),
        certainties=certainties(diagnosis),
        answers=short_answers(found),
        excluded=what_is_excluded(found),
        moved_precision=what_moved_precision(found),
        worse=is_model_worse(found),
        before=_side(diagnosis.before),
        after=_side(diagnosis.after),
        change=PrecisionChange(
            points=defined(diagnosis.change_points), logit=defined(diagnosis.change_logit)
        ),
        plainly=explanation(diagnosis),
        attribution=JudgedEffects(
            **{cause: _effect(diagnosis, cause) for cause in diagnosis.attribution}
        ),
        footnotes=footnotes(diagnosis),
        log_likelihood_ratio=components.log_likelihood_ratio,
        components=components,
        precision_had_prevalence_stayed=_interval(diagnosis.had_prevalence_stayed),
        blocks=_blocks(diagnosis.before, diagnosis.after),
        operating_point_moved=diagnosis.operating_point_moved,
        verdict=diagnosis.verdict,
        verdict_because=diagnosis.because,
        judged_within=diagnosis.judged_within,
        below_reference_curve=diagnosis.below_reference_curve,
        main_driver=_driver(diagnosis.main_driver),
        fell=judgement.fell if trusted else (),
        rose=judgement.rose if trusted else (),
        unknown=judgement.unknown if trusted else tuple(judgement.status),
        labels_may_explain=judgement.labels_may_explain and trusted,
        label_errors_changed=judgement.label_errors_changed and trusted,
        segments=tuple(map(_segment, diagnosis.segments)),
        notes=notes_of(diagnosis),
        advice=advice(diagnosis),
        scores=compared_scores(diagnosis.scores),
        curves_moved=curve_sentences(diagnosis.segments) or UNSET,
        change_began=change_beginning(news.began) or UNSET,
        new_version=version_news(news.new_version) or UNSET,
        worse_version=UNSET if news.worse is None else news.worse.versions[1].name,
        worse_segments=worse_segments_in(diagnosis) or UNSET,
        versions_before=version_beginnings(news.before),
        versions_after=version_beginnings(news.after),
        reference_restarted_with=(news.before and news.before.restarted_with) or UNSET,
        label_sources=label_sources_answer(diagnosis.label_sources) or UNSET,
        scatter_of_days=scatter_sentence(diagnosis.scatter_days) or UNSET,
    )


def _side(side: Side) -> ComparedSide:
    return ComparedSide(
        open=time_text(side.opens),
        close=time_text(side.closes),
        source=side.source or None,
        predictions=side.predictions,
        predicted_positive_rate=defined(side.predicted_positive_rate),
        outcomes=outcome_sums(side.counts),
        if_labels_wrong=labels_wrong_answer(side.sensitivity),
        **{name: _interval(side.metrics[name]) for name in JSON_METRICS},
    )


def _interval(metric: Estimated) -> MetricInterval:
    return MetricInterval(
        estimate=defined(metric.estimate),
        lower=defined(metric.lower),
        upper=defined(metric.upper),
    )


def _effect(diagnosis: Diagnosis, cause: str) -> JudgedEffect:
    part = diagnosis.attribution[cause]
    return JudgedEffect(
        logit=defined(part.logit),
        points=defined(part.points),
        lower_points=defined(part.lower_points),
        upper_points=defined(part.upper_points),
        status=part.status,
        said=cause_status(diagnosis, cause),
    )


def _components(diagnosis: Diagnosis) -> ComponentChanges:
    """Return each component of the verdict; unknown, without numbers, where labels refuse it."""
    found, trusted = diagnosis.judgement, diagnosis.refusal is None
    return ComponentChanges(
        **{
            name: ComponentChange(
                change=defined(found.change[name]) if trusted else None,
                se=defined(found.standard_error[name]) if trusted else None,
                status=status if trusted else Status.UNKNOWN,
            )
            for name, status in found.status.items()
        }
    )


def _blocks(before: Side, after: Side) -> BlockCounts:
    units = [_unit(side.block_ms) for side in (before, after)]
    return BlockCounts(
        before=before.blocks,
        after=after.blocks,
        unit="hour" if "hour" in units else units[0] or units[1],
        before_unit=units[0],
        after_unit=units[1],
    )


def _unit(block_ms: int | None) -> Unit | None:
    if block_ms is None:
        return None
    return "hour" if block_ms == HOUR_MS else "day"


def _driver(driver: MainDriver | None) -> DiagnosedDriver:
    if driver is None:
        return DiagnosedDriver(cause=None, share=None, certain=False)
    return DiagnosedDriver(
        cause=Cause(driver.cause), share=defined(driver.share), certain=driver.certain
    )


def _segment(part: SegmentPart) -> SegmentEffect:
    return SegmentEffect(
        segment=part.series.segment or "",
        value=part.series.value or "",
        before=outcome_sums(part.before),
        after=outcome_sums(part.after),
        within=_numbers(part.within),
        mix=_numbers(part.mix),
        logit=defined(part.within_logit + part.mix_logit),
        points=defined(part.points),
        p_values=_numbers(part.p_values),
        carries=tuple(map(Cause, part.carries)),
        small_sample=part.small_sample,
        curve=curve_change(part.curve),
    )


def _numbers(values: Mapping[str, float]) -> CauseNumbers:
    return CauseNumbers(**{cause: defined(value) for cause, value in values.items()})
