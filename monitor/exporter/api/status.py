"""The state of every model as one answer, made from one snapshot."""

from __future__ import annotations

from collections import Counter

from msgspec import UNSET

from monitor.config import Labelling
from monitor.config.quantities import format_time, parse_duration
from monitor.drift import Attribution, Judgement, MainDriver
from monitor.exporter.api.selection import EVERY_MODEL, Selection, judged_models, selected
from monitor.exporter.api.status_answer import (
    DetectionMark,
    DetectorStatus,
    LifetimeTotals,
    ModelStatus,
    SinceReference,
    StatusAnswer,
    VersionAppeared,
)
from monitor.exporter.api.window_answer import (
    CauseEffects,
    JudgedDriver,
    LabelCoverage,
    PrecisionAtRatio,
    WindowAttribution,
    WindowJudgement,
    WindowStatus,
)
from monitor.exporter.api.window_nowcasts import window_nowcast
from monitor.labels.faults import LabelFault
from monitor.labels.refusals import because, refused
from monitor.labels.regime import LabelRegime
from monitor.report.answer_parts import (
    defined,
    evidence_ratio,
    label_status,
    metric_interval,
    metric_intervals,
    missing_label_shares,
    outcome_counts,
    outcome_sums,
    prediction_check,
    time_text,
)
from monitor.report.audit_words import live_following, seem_to_follow
from monitor.report.class_answer import compared_classes
from monitor.report.deciding_window import deciding_since_reference, verdict_on
from monitor.report.diagnosis_answer import Cause, CauseEffect, PrecisionChange
from monitor.report.findings import of_model
from monitor.report.label_answer import (
    audits_answer,
    clipped_classes,
    earlier_errors_answer,
    label_errors_text,
    labels_wrong_answer,
    lost_audits_answer,
    window_sensitivity,
)
from monitor.report.missing_evidence import missing_evidence
from monitor.report.model_headline import model_headline
from monitor.report.model_kinds import KINDS
from monitor.report.reference_answer import reference_period
from monitor.report.reference_text import warming_up_text
from monitor.report.rejected_lately import RejectedLately
from monitor.report.repeated_ids import reused_ids
from monitor.report.replay_json import window_bounds
from monitor.report.score_answer import scores_of
from monitor.report.short_answers import short_answers, what_is_excluded
from monitor.report.source_answer import label_sources_answer
from monitor.report.trend_answer import trend_answer
from monitor.report.two_answers import is_model_worse, what_moved_precision
from monitor.report.verdict_words import BECAUSE, VERDICTS
from monitor.report.version_news_words import change_beginning, version_news
from monitor.report.without_labels import (
    label_delay,
    predicted_positive_rate,
    usual_rate,
    without_labels,
)
from monitor.report.worse_segment_answer import live_worse_segments
from monitor.report.worse_version import worse_version_in_use
from monitor.snapshot import ModelState, Snapshot, Window
from monitor.verdicts import Watched
from monitor.version import __version__


def longest_window(snapshot: Snapshot) -> str:
    """Return the name of the longest window that every model uses."""
    unused = {name for model in snapshot.models for name in model.unused_windows}
    names = [window.name for window in snapshot.windows]
    return max((name for name in names if name not in unused), key=parse_duration)


def status_answer(
    snapshot: Snapshot,
    asked: Selection = EVERY_MODEL,
    *,
    limit: int,
    rejected_lately: RejectedLately | None = None,
) -> StatusAnswer:
    """Return the monitor, and one page of its models with all their windows.

    Args:
        snapshot: the state.
        asked: the models to return, and their order.
        limit: return at most this many.
        rejected_lately: records of the last day that are rejected; None where nobody counts them.
    """
    longest = longest_window(snapshot)
    judged = judged_models(snapshot)
    found = selected(snapshot, judged, asked, longest)
    tally, open_, kinds = (
        Counter(getattr(one, part) for one in judged.values())
        for part in ("verdict", "because", "kind")
    )
    return StatusAnswer(
        version=__version__,
        now=time_text(snapshot.now_ms),
        watermark=time_text(snapshot.watermark_ms),
        records=snapshot.records,
        rejected={str(reason): n for reason, n in snapshot.rejected.items() if n},
        rejected_lately=rejected_lately,
        audits_without_effect=lost_audits_answer(snapshot.lost_audits),
        windows=tuple(window.name for window in snapshot.windows),
        verdict_window=longest,
        paging=sum(model.watched.degradation_detected for model in snapshot.models),
        verdicts={verdict: tally[verdict] for verdict in VERDICTS if tally[verdict]},
        because={reason: open_[reason] for reason in BECAUSE if open_[reason]},
        tally={kind: kinds[kind] for kind in KINDS if kinds[kind]},
        total=len(found),
        offset=asked.offset,
        models=tuple(
            _model(snapshot, model, judged[model.name].deciding)
            for model in found[asked.offset : asked.offset + limit]
        ),
    )


def _model(snapshot: Snapshot, model: ModelState, deciding: str) -> ModelStatus:
    watched, found = model.watched, verdict_on(model, deciding)
    seen, worse = of_model(snapshot, model, deciding), worse_version_in_use(model)
    return ModelStatus(
        name=model.name,
        now=time_text(model.now_ms),
        behind_seconds=_between(model.now_ms, snapshot.now_ms),
        version=model.version or None,
        versions=tuple(
            VersionAppeared(version=name, first_prediction=format_time(first))
            for name, first in model.versions
        ),
        verdict=found.verdict,
        verdict_window=deciding,
        since_reference=_since_reference(model, deciding),
        label_fault=_fault(found.label_fault),
        verdict_because=seen.because,
        missing_evidence=_missing_evidence(snapshot, model, deciding),
        answers=short_answers(seen),
        excluded=what_is_excluded(seen),
        moved_precision=what_moved_precision(seen),
        worse=is_model_worse(seen),
        headline=model_headline(snapshot, model, deciding),
        change_began=change_beginning(watched.began),
        new_version=version_news(watched.new_version),
        worse_version=None if worse is None else worse.versions[1].name,
        worse_segments=live_worse_segments(snapshot, model, deciding),
        labelling=Labelling(model.labelling),
        label_errors=model.label_errors.rates,
        label_error_ranges=model.label_errors.ranges,
        label_errors_excluded=model.configured_label_errors.excluded(model.label_errors),
        earlier_label_errors=earlier_errors_answer(model.earlier_label_errors),
        label_errors_text=label_errors_text(model),
        audits=audits_answer(model.audits, LabelRegime.now(model)),
        labels_may_follow=live_following(snapshot, model),
        labels_seem_to_follow=seem_to_follow(snapshot, model),
        label_sources=label_sources_answer(model.label_sources),
        refused=dict(model.refused),
        refused_because=model.refused_because,
        objective=dict(model.objective),
        segments=model.segments,
        predictions=model.predictions_positive + model.predictions_negative,
        last_prediction=time_text(model.last_prediction_ms),
        last_prediction_age_seconds=_between(model.last_prediction_ms, snapshot.now_ms),
        last_label=time_text(model.last_label_ms),
        last_label_age_seconds=_between(model.last_label_ms, snapshot.now_ms),
        labels_came=model.labelled,
        labelled=model.matched,
        pending=model.pending,
        expired=model.expired,
        repeated_ids=reused_ids(model),
        maturity_seconds=_seconds(model.maturity_ms),
        maturity_settled=model.maturity_settled,
        judged_age_seconds=_seconds(watched.judged_age_ms),
        reference=reference_period(watched.reference, watched.awaited),
        detectors=_detectors(watched),
        detections=tuple(DetectionMark.of(found) for found in watched.detections),
        labels_missing_in=missing_label_shares(watched.missing_labels),
        predictions_degenerate=prediction_check(watched.predictions),
        usual_predicted_positive_rate=usual_rate(model),
        label_delay=label_delay(model),
        without_labels=without_labels(snapshot, model),
        trend=trend_answer(watched.trend),
        windows={w.name: _window(snapshot, model, w) for w in snapshot.windows_of(model)},
        unused_windows=model.unused_windows,
        lifetime=LifetimeTotals(
            outcomes=outcome_counts(snapshot.lifetime, model.row),
            metrics=metric_intervals(snapshot.lifetime, model.row),
        ),
    )


def _since_reference(model: ModelState, deciding: str) -> SinceReference | None:
    since = deciding_since_reference(model, deciding)
    if since is None:
        return None
    return SinceReference(seconds=since.length_ms / 1000, outcomes=outcome_sums(since.outcomes))


def _missing_evidence(snapshot: Snapshot, model: ModelState, deciding: str) -> str | None:
    if deciding_since_reference(model, deciding) is not None:
        return None
    window = next(one for one in snapshot.windows if one.name == deciding)
    return missing_evidence(model, window, verdict_on(model, deciding))


def _between(start: int | None, end: int | None) -> float | None:
    """Return the seconds of event time from a moment to another, at least 0."""
    return None if start is None or end is None else max(0, end - start) / 1000


def _detectors(watched: Watched) -> DetectorStatus:
    return DetectorStatus(
        off=watched.detectors_off or None,
        warming_up=watched.warming_up,
        warming_up_because=warming_up_text(watched),
        evidence=evidence_ratio(watched),
        degradation_detected=watched.degradation_detected,
        prevalence_shift_detected=watched.prevalence_shift_detected,
    )


def _window(snapshot: Snapshot, model: ModelState, window: Window) -> WindowStatus:
    row, found = model.row, verdict_on(model, window.name)
    opens, closes = window_bounds(snapshot, window, row)
    negative, positive = window.label_coverage()
    at_reference = snapshot.precision_of_model_at_reference(model, window)
    clipped = clipped_classes(model, window)
    return WindowStatus(
        open=opens,
        close=closes,
        outcomes=outcome_counts(window, row),
        metrics=metric_intervals(window, row),
        status=label_status(window, row),
        predictions=int(window.predicted_positive[row] + window.predicted_negative[row]),
        predicted_positive_rate=None if model.classes else predicted_positive_rate(window, row),
        label_coverage=LabelCoverage(
            predicted_positive=defined(positive[row]), predicted_negative=defined(negative[row])
        ),
        precision_at=_precision_at(window, row),
        precision_at_reference=metric_interval(at_reference, 0),
        far_from_reference=found.far_from_reference,
        verdict=found.verdict,
        verdict_because=found.because,
        label_fault=_fault(found.label_fault),
        refused=refused(window.fault_of(row)),
        refused_because=because(window.fault_of(row)),
        judgement=None if found.judgement is None else _judgement(found.judgement),
        attribution=None if found.attribution is None else _attribution(found.attribution),
        nowcast=None if found.nowcast is None else window_nowcast(found.nowcast),
        too_few_positive_labels=clipped.positive,
        too_few_negative_labels=clipped.negative,
        if_labels_wrong=labels_wrong_answer(window_sensitivity(model, window)),
        scores=scores_of(model.scores.get(window.name)),
        level=reference_period(found.level) or UNSET,
        classes=compared_classes(model, window.name),
    )


def _precision_at(window: Window, row: int) -> tuple[PrecisionAtRatio, ...]:
    found = ((r0, metric_interval(ends, row)) for r0, ends in window.precision_at.items())
    return tuple(
        PrecisionAtRatio(class_ratio=r0, estimate=at.estimate, lower=at.lower, upper=at.upper)
        for r0, at in found
    )


def _judgement(found: Judgement) -> WindowJudgement:
    return WindowJudgement(
        operating_point_moved=found.operating_point_moved,
        fell=found.fell,
        rose=found.rose,
        unknown=found.unknown,
        main_driver=_driver(found.main_driver),
        labels_may_explain=found.labels_may_explain,
        label_errors_changed=found.label_errors_changed,
    )


def _driver(found: MainDriver) -> JudgedDriver:
    return JudgedDriver(cause=Cause(found.cause), share=defined(found.share), certain=found.certain)


def _attribution(found: Attribution) -> WindowAttribution:
    effects = {
        cause: CauseEffect(
            logit=defined(found.logit[cause]),
            points=defined(found.points[cause]),
            lower_points=defined(found.lower_points[cause]),
            upper_points=defined(found.upper_points[cause]),
        )
        for cause in found.logit
    }
    return WindowAttribution(
        change=PrecisionChange(
            points=defined(found.change_points), logit=defined(found.change_logit)
        ),
        causes=CauseEffects(**effects),
        precision_had_prevalence_stayed=defined(found.precision_had_prevalence_stayed),
    )


def _fault(name: str) -> LabelFault | None:
    return LabelFault(name) if name else None


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
