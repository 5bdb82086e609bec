"""What wrong labels would do, as a part of JSON answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from monitor.config import Labelling
from monitor.config.quantities import format_duration, format_time
from monitor.events.lost_audits import LostAudits
from monitor.labels.error_words import audits_note, lost_audits_text, too_high_text, wrong_labels
from monitor.labels.refusals import if_labels_wrong
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_cells import metrics_by_audits
from monitor.metrics.audited_errors import AuditFindings
from monitor.metrics.label_errors import EarlierErrors, ErrorRates, TooFewLabels, too_few_labels
from monitor.metrics.label_sensitivity import (
    SENSITIVE_METRICS,
    LabelSensitivity,
    label_sensitivity,
)
from monitor.metrics.sampled import SampledCounts
from monitor.report.answer_parts import Count, LabelStatus, Share, label_status, metric_interval
from monitor.snapshot import ModelState, Window


class IfLabelsWrong(Struct, frozen=True, kw_only=True):
    """Metrics as they would be if labels had errors.

    Attributes:
        share: share of the labels of either class that would be wrong.
        metrics: metrics that would move by more than the width of their interval, each with its
            value then.
        text: the same as a clause.
    """

    share: Share
    metrics: dict[str, float]
    text: str


def labels_wrong_answer(found: LabelSensitivity | None) -> IfLabelsWrong | None:
    """Return what wrong labels would do; None for None."""
    if found is None:
        return None
    return IfLabelsWrong(
        share=found.share,
        metrics={one.metric: one.would_be for one in found.moved},
        text=if_labels_wrong(found),
    )


def window_sensitivity(model: ModelState, window: Window) -> LabelSensitivity | None:
    """Return what wrong labels would do to the metrics of a window.

    Args:
        model: whose totals.
        window: one of its windows.

    Returns:
        None where it is too little, where rates of wrong labels are known, where labels are
        weighted, and unless the labels of the window have come.
    """
    row = model.row
    come = label_status(window, row) is LabelStatus.MATURE
    if not come or any(model.label_errors) or model.labelling == Labelling.WEIGHTED:
        return None
    labelled = window.counts[row]
    flagged, passed = labelled.predicted_positive, labelled.predicted_negative
    if model.labelling == Labelling.SAMPLED:
        flagged = np.maximum(flagged, window.predicted_positive[row])
        passed = np.maximum(passed, window.predicted_negative[row])
    counts = SampledCounts(labelled=labelled, predicted_positive=flagged, predicted_negative=passed)
    stated = {name: metric_interval(window.metrics[name], row) for name in SENSITIVE_METRICS}
    return label_sensitivity(counts, stated)


def clipped_classes(model: ModelState, window: Window) -> TooFewLabels:
    """Return the predicted classes whose correction for wrong labels ends at 0 or 1 in a window.

    Args:
        model: whose totals.
        window: one of its windows.

    Returns:
        At the lowest rates that its predictions had; none where no rates are known, and where
        nothing is shown for what is wrong with the labels.
    """
    if not model.label_errors.rates or window.fault_of(model.row):
        return TooFewLabels()
    regime = LabelRegime.now(model)
    ends = np.array([window.open[model.row], window.close[model.row] - 1])
    first, last = regime.stretches(ends).tolist()
    held = regime.rates[first : last + 1]
    lowest = ErrorRates(
        min(one.false_positive - one.false_positive_below for one in held),
        min(one.false_negative - one.false_negative_below for one in held),
    )
    return too_few_labels(window.counts[model.row], lowest)


class LostAuditsAnswer(Struct, frozen=True, kw_only=True):
    """Audits without effect, since no prediction with their id was there.

    Attributes:
        count: of them.
        horizon: the shortest horizon of a model that forgot predictions; null where none did.
        horizon_needed: a horizon at which none would have been forgotten; null likewise.
        text: the same in words.
    """

    count: Count
    horizon: str | None
    horizon_needed: str | None
    text: str


def lost_audits_answer(found: LostAudits | None) -> LostAuditsAnswer | None:
    """Return audits without effect as a part of an answer; None for None."""
    if found is None:
        return None
    ends = (found.horizon_ms, found.needed_ms)
    horizon, needed = (None if one is None else format_duration(one) for one in ends)
    return LostAuditsAnswer(
        count=found.number,
        horizon=horizon,
        horizon_needed=needed,
        text=lost_audits_text(found),
    )


class EarlierLabelErrors(Struct, frozen=True, kw_only=True):
    """Rates of wrong labels of earlier predictions.

    Attributes:
        until: of predictions before this moment, ISO 8601 in UTC.
        label_errors: the rates, the middle of their ranges.
        label_error_ranges: the lowest and the highest of each.
    """

    until: str
    label_errors: dict[str, float]
    label_error_ranges: dict[str, tuple[float, float]]


def earlier_errors_answer(found: Sequence[EarlierErrors]) -> tuple[EarlierLabelErrors, ...]:
    """Return the rates before each change, the oldest first."""
    return tuple(
        EarlierLabelErrors(
            until=format_time(one.until),
            label_errors=one.errors.rates,
            label_error_ranges=one.errors.ranges,
        )
        for one in found
    )


def label_errors_text(model: ModelState) -> str:
    """Return what metrics of a model are corrected for, or which rates its labels exclude.

    Args:
        model: the model.

    Returns:
        "" where labels are taken as they are.
    """
    if not model.label_errors.known:
        return too_high_text(model.configured_label_errors, model.label_limits)
    if not model.label_errors.rates:
        return ""
    return wrong_labels(
        model.label_errors, model.earlier_label_errors, configured=model.configured_label_errors
    )


class AuditedValueRates(Struct, frozen=True, kw_only=True):
    """Rates of wrong labels of a segment value.

    Attributes:
        segment: the key.
        value: its value.
        audits: audited cases.
        label_errors: the rates, the middle of their ranges.
        label_error_ranges: the lowest and the highest of each.
    """

    segment: str
    value: str
    audits: Count
    label_errors: dict[str, float]
    label_error_ranges: dict[str, tuple[float, float]]


class MetricByAudits(Struct, frozen=True, kw_only=True):
    """A metric as audits alone determine it, with its 95 % interval.

    Attributes:
        estimate: the value.
        lower: lower limit of the interval.
        upper: upper limit.
    """

    estimate: float
    lower: float
    upper: float


class AuditsAnswer(Struct, frozen=True, kw_only=True):
    """What audits of labels show.

    Attributes:
        labelled_0: audited cases that are labelled 0.
        labelled_1: audited cases that are labelled 1.
        wrong_0: labels 0 found to be wrong.
        wrong_1: labels 1 found to be wrong.
        follow_predictions: true where rates of wrong labels differ between flagged and other
            cases; null with too few audits.
        by_value: rates of segment values between which they certainly differ; empty otherwise.
        metrics: what audits alone determine where labels follow the prediction, of the audited
            days since the rates last changed; empty otherwise.
        text: the same in words.
    """

    labelled_0: Count
    labelled_1: Count
    wrong_0: Count
    wrong_1: Count
    follow_predictions: bool | None
    by_value: tuple[AuditedValueRates, ...]
    metrics: dict[str, MetricByAudits]
    text: str


def audits_answer(found: AuditFindings | None, regime: LabelRegime) -> AuditsAnswer | None:
    """Return what audits show; None without audits.

    Args:
        found: what they show.
        regime: how often labels are taken to be wrong.
    """
    if found is None:
        return None
    zero, one = found.cases.by_label
    return AuditsAnswer(
        labelled_0=zero,
        labelled_1=one,
        wrong_0=int(found.cases.audited[:, 0, 1].sum()),
        wrong_1=int(found.cases.audited[:, 1, 0].sum()),
        follow_predictions=found.follow_predictions,
        by_value=tuple(
            AuditedValueRates(
                segment=one.segment,
                value=one.value,
                audits=int(one.cases.audited.sum()),
                label_errors=one.rates.rates,
                label_error_ranges=one.rates.ranges,
            )
            for one in found.by_value
        ),
        metrics={
            name: MetricByAudits(**one._asdict())
            for name, one in metrics_by_audits(found.cases).items()
        }
        if found.follow_predictions
        else {},
        text=audits_note(found, regime),
    )
