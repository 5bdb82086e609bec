"""A snapshot as the JSON object that `replay --json` prints.

Every metric is an object with `estimate`, `lower` and `upper`; whatever is
undefined is null. Times are ISO 8601 in UTC. Later versions may add keys; none
changes its meaning.
"""

from __future__ import annotations

from msgspec import UNSET

from monitor.config.quantities import format_time
from monitor.labels.faults import LabelFault
from monitor.labels.refusals import because, refused
from monitor.labels.regime import LabelRegime
from monitor.report.answer_parts import (
    json_text,
    label_status,
    metric_interval,
    metric_intervals,
    missing_label_shares,
    outcome_counts,
    prediction_check,
    time_text,
)
from monitor.report.class_answer import classes_of, compared_classes
from monitor.report.deciding_window import deciding_window, verdict_on
from monitor.report.findings import of_model
from monitor.report.label_answer import audits_answer, lost_audits_answer
from monitor.report.reference_answer import reference_period
from monitor.report.replay_answer import (
    ReplayAnswer,
    ReplayedDetection,
    ReplayedModel,
    ReplayedWindow,
)
from monitor.report.score_answer import scores_of
from monitor.report.short_answers import short_answers, what_is_excluded
from monitor.report.trend_answer import trend_answer
from monitor.report.two_answers import is_model_worse, what_moved_precision
from monitor.report.version_news_words import change_beginning, version_news
from monitor.report.worse_segment_answer import live_worse_segments
from monitor.report.worse_version import worse_version_in_use
from monitor.snapshot import ModelState, Snapshot, Window


def replay_json(snapshot: Snapshot) -> str:
    """Return the JSON text, one object over several lines, ASCII only.

    Args:
        snapshot: the state after the last event.
    """
    return json_text(replay_answer(snapshot), indent=2)


def replay_answer(snapshot: Snapshot) -> ReplayAnswer:
    """Return the state as an object.

    Args:
        snapshot: the state after the last event.
    """
    return ReplayAnswer(
        events=snapshot.records,
        events_rejected={str(reason): n for reason, n in snapshot.rejected.items() if n},
        audits_without_effect=lost_audits_answer(snapshot.lost_audits) or UNSET,
        models={model.name: _model(snapshot, model) for model in snapshot.models},
    )


def _model(snapshot: Snapshot, model: ModelState) -> ReplayedModel:
    deciding = deciding_window(model, [window.name for window in snapshot.windows])
    seen, worse = of_model(snapshot, model, deciding), worse_version_in_use(model)
    return ReplayedModel(
        predictions=model.predictions_positive + model.predictions_negative,
        labels=model.labelled,
        pending=model.pending,
        expired=model.expired,
        outcomes=outcome_counts(snapshot.lifetime, model.row),
        metrics=metric_intervals(snapshot.lifetime, model.row),
        reference=reference_period(model.watched.reference),
        windows={
            window.name: _window(snapshot, model, window) for window in snapshot.windows_of(model)
        },
        detections=tuple(
            ReplayedDetection(
                at=format_time(found.at),
                kind=found.kind,
                series=model.name,
                class_=found.of_class or UNSET,
            )
            for found in model.watched.detections
        ),
        verdict=seen.verdict,
        verdict_because=seen.because,
        verdict_window=deciding,
        answers=short_answers(seen),
        excluded=what_is_excluded(seen),
        moved_precision=what_moved_precision(seen),
        worse=is_model_worse(seen),
        paging=model.watched.degradation_detected,
        refused=dict(model.refused),
        refused_because=model.refused_because,
        labels_missing_in=missing_label_shares(model.watched.missing_labels),
        predictions_degenerate=prediction_check(model.watched.predictions),
        trend=trend_answer(model.watched.trend),
        classes=classes_of(model.classes.get(snapshot.lifetime.name)),
        change_began=change_beginning(model.watched.began) or UNSET,
        new_version=version_news(model.watched.new_version) or UNSET,
        worse_version=UNSET if worse is None else worse.versions[1].name,
        worse_segments=live_worse_segments(snapshot, model, deciding) or UNSET,
        label_errors=model.label_errors.rates or UNSET,
        label_error_ranges=model.label_errors.ranges or UNSET,
        audits=audits_answer(model.audits, LabelRegime.now(model)) or UNSET,
    )


def _window(snapshot: Snapshot, model: ModelState, window: Window) -> ReplayedWindow:
    row, found = model.row, verdict_on(model, window.name)
    opens, closes = window_bounds(snapshot, window, row)
    at_reference = snapshot.precision_of_model_at_reference(model, window)
    return ReplayedWindow(
        open=opens,
        close=closes,
        outcomes=outcome_counts(window, row),
        metrics=metric_intervals(window, row),
        precision_at_reference=metric_interval(at_reference, 0),
        status=label_status(window, row),
        refused=refused(window.fault_of(row)),
        refused_because=because(window.fault_of(row)),
        verdict=found.verdict,
        verdict_because=found.because,
        label_fault=LabelFault(found.label_fault) if found.label_fault else None,
        far_from_reference=found.far_from_reference,
        scores=scores_of(model.scores.get(window.name)),
        level=reference_period(found.level) or UNSET,
        classes=compared_classes(model, window.name),
    )


def window_bounds(snapshot: Snapshot, window: Window, row: int) -> tuple[str | None, str | None]:
    """Return the first moment of a window and the first after it, for one series.

    Args:
        snapshot: the state.
        window: one of its windows.
        row: of the series.

    Returns:
        ISO 8601 in UTC; None for both before event time began.
    """
    if snapshot.now_ms is None:
        return None, None
    return time_text(int(window.open[row])), time_text(int(window.close[row]))
