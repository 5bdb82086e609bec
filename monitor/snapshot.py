"""The state of the monitor at one moment, frozen.

The engine makes a `Snapshot`; `/metrics`, the page, `replay --json` and an
embedding program read it. A snapshot never changes, so that it can be stored,
compared and read from any thread. Undefined numbers are NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from monitor.counts import ConfusionCounts
from monitor.events.came_expired import NONE_CAME, CameExpired
from monitor.events.columns import FloatArray, Int64Array, Series
from monitor.events.counter_totals import CounterTotals
from monitor.events.forgotten import Forgotten
from monitor.events.jumps import NO_JUMPS, Jumps
from monitor.events.label_totals import LabelTotals
from monitor.events.lost_audits import LostAudits
from monitor.events.reject_reasons import RejectReason
from monitor.events.shared_ids import SharedIds
from monitor.metrics.audited_errors import AuditFindings
from monitor.metrics.class_report import ClassReport
from monitor.metrics.intervals import WINDOW_METRICS
from monitor.metrics.label_errors import NO_ERRORS, EarlierErrors, ErrorRates, ValueErrors
from monitor.metrics.possible_rates import NO_LIMITS, LabelLimits
from monitor.metrics.ratio import ratio
from monitor.metrics.score_skill import ScoreSkill
from monitor.metrics.source_findings import SourceFindings
from monitor.verdicts import NAMED_VERSIONS, VersionsNow, Watched

METRIC_NAMES = tuple(WINDOW_METRICS)
"""Metrics of each window, by their names in `monitor.metrics`."""

CELL_NAMES = ("none", "tp", "fp", "fn", "tn")
"""States of a prediction, the axes of `ModelState.transitions`; "none" means not labelled."""


class Estimate(NamedTuple):
    """A metric with its 95 % interval, one element for each series; NaN where undefined.

    Attributes:
        estimate: the value.
        lower: lower limit of the interval.
        upper: upper limit of the interval.
    """

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Outcomes and metrics of one window, for every series.

    All arrays have one element for each series.

    Attributes:
        name: as configured, such as "1h"; "all" for everything ever counted.
        open: first moment of the window, epoch milliseconds; it differs between models,
            which have their own maturity.
        close: first moment after the window, [open, close).
        counts: outcomes of the predictions made in the window.
        predicted_positive: predictions made in the window and called positive, labelled or not.
        predicted_negative: the same for predictions called negative.
        metrics: estimates by the names in `METRIC_NAMES`.
        precision_at: precision at each configured class ratio r0; NaN for series whose
            model does not ask for that r0.
        status: `mature`; `corrected` where labels are still due and the metrics (not the
            counts) correct for them; `immature` where too few labels have come for any
            metric; `untrusted` where a label fault withholds metrics. Empty, shape (0,),
            where the window has no statuses.
        label_fault: the `LabelFault` that withholds metrics; "" for none. Empty likewise.
    """

    name: str
    open: Int64Array
    close: Int64Array
    counts: ConfusionCounts
    predicted_positive: Int64Array
    predicted_negative: Int64Array
    metrics: Mapping[str, Estimate]
    precision_at: Mapping[float, Estimate]
    status: NDArray[np.str_] = field(default_factory=lambda: np.empty(0, dtype=np.str_))
    label_fault: NDArray[np.str_] = field(default_factory=lambda: np.empty(0, dtype=np.str_))

    def fault_of(self, row: int) -> str:
        """Return the label fault that withholds metrics of a series, "" where there is none."""
        return str(self.label_fault[row]) if len(self.label_fault) else ""

    def label_coverage(self) -> tuple[FloatArray, FloatArray]:
        """Return the share of the predictions made in the window that have a label.

        Where silence past the label timeout is a negative, it counts as a label.

        Returns:
            Shares in [0, 1] by series, of predictions called negative and of those called
            positive; NaN where there are none.
        """
        counts = self.counts
        return (
            ratio(counts.predicted_negative, self.predicted_negative),
            ratio(counts.predicted_positive, self.predicted_positive),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """Totals of one model, its verdicts, and the settings that exporters show.

    At every moment, predictions received = matched + pending + expired + evicted +
    duplicates. A label is attributed to a model once its prediction is known;
    `LabelTotals` counts the others.

    Attributes:
        name: name of the model.
        version: version of its latest prediction; "" where no prediction had one.
        versions: each version whose first prediction is known, with the time of that
            prediction, epoch milliseconds, in order of time.
        version_last_ms: time of the latest prediction of each version.
        row: row of the model's totals in the snapshot's series.
        predictions_positive: distinct predictions called positive, ever.
        predictions_negative: distinct predictions called negative, ever.
        labels: number of labels that took effect, by "positive", "negative" and
            "retracted"; each revision counts.
        labelled: predictions for which a label came in time, retracted later or not.
        matched: predictions whose label in force is positive or negative; where silence
            past the label timeout is a negative, also those whose label expired.
        pending: predictions that wait for a label.
        expired: predictions whose label did not come in time; 0 where silence is a negative.
        evicted: predictions dropped early because `max_pending` was reached.
        duplicates: repeated predictions.
        shared_ids: of these, those whose id another model predicted; None without any.
        transitions: int64 (5, 5), moves of predictions from row to column of `CELL_NAMES`.
        maturity_ms: age at which windows end, milliseconds; None while unknown.
        label_timeout_ms: age at which an unlabelled prediction expires; None where none does.
        delay_counts: int64 (2, bins), labels in force by their delay, for actual negatives
            and actual positives, in the bins of `Snapshot.delay_edges`.
        delay_sum: float (2,), sum of these delays, seconds.
        delay_within: seconds within which half, and 99 of 100, of these labels came.
        segments: segment keys that the model is split by.
        labelling: labelling regime, as configured.
        label_errors: rates of wrong labels that metrics are corrected for; zeros for none.
        configured_label_errors: see `LabelRegime.configured`.
        label_limits: see `LabelRegime.limits`.
        earlier_label_errors: the rates before each change that audits show, the oldest first.
        label_errors_by_value: the rates of segment values where audits show that these differ.
        audits: what audits of its labels show; None without audits.
        label_sources: how sources label the same cases; None where no label has a source.
        refused: metrics that the labels do not identify, each with its reason.
        refused_because: these reasons as sentences; "" where nothing is refused.
        objective: configured objectives, by metric.
        last_prediction_ms: end of the pane of the latest prediction, epoch milliseconds;
            None where none came, or none within a year.
        last_label_ms: the same of the latest label in force, by the hour, within 90 days.
        maturity_settled: False while the stream is too short to show long delays.
        watched: reference, verdicts and detections.
        counters: values of the counters that never decrease.
        watermark_ms: third-highest time of the model's events, epoch milliseconds; None
            before three distinct ones.
        now_ms: event time from which the model's windows subtract the maturity, epoch
            milliseconds; None where the watermark is None.
        below_zero: windows, and "all", in which corrections leave a count below 0.
        aside: events far ahead that do not move the model's time: now, and so far.
        jumps: of its time, far ahead of what came before.
        came_expired: predictions that were past their horizon as they came.
        unused_windows: windows that it does not use at its volume.
        versions_now: its latest versions compared; None where they are not counted apart.
        scores: metrics of its scores by window; without windows that have none.
        classes: reports on its classes by window; empty for a model of two classes.
    """

    name: str
    version: str
    row: int
    predictions_positive: int
    predictions_negative: int
    labels: Mapping[str, int]
    labelled: int
    matched: int
    pending: int
    expired: int
    evicted: int
    duplicates: int
    transitions: Int64Array
    maturity_ms: int | None
    delay_counts: Int64Array
    delay_sum: FloatArray
    segments: tuple[str, ...]
    versions: tuple[tuple[str, int], ...] = ()
    version_last_ms: Mapping[str, int] = field(default_factory=dict)
    label_timeout_ms: int | None = None
    delay_within: tuple[float, ...] = (float("nan"), float("nan"))
    shared_ids: SharedIds | None = None
    labelling: str = "complete"
    label_errors: ErrorRates = NO_ERRORS
    configured_label_errors: ErrorRates = NO_ERRORS
    label_limits: LabelLimits = NO_LIMITS
    earlier_label_errors: tuple[EarlierErrors, ...] = ()
    label_errors_by_value: tuple[ValueErrors, ...] = ()
    audits: AuditFindings | None = None
    label_sources: SourceFindings | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    refused_because: str = ""
    objective: Mapping[str, float] = field(default_factory=dict)
    last_prediction_ms: int | None = None
    last_label_ms: int | None = None
    maturity_settled: bool = True
    watched: Watched = field(default_factory=Watched)
    counters: CounterTotals = field(default_factory=CounterTotals)
    watermark_ms: int | None = None
    now_ms: int | None = None
    below_zero: tuple[str, ...] = ()
    aside: tuple[int, int] = (0, 0)
    jumps: Jumps = NO_JUMPS
    came_expired: CameExpired = NONE_CAME
    unused_windows: tuple[str, ...] = ()
    versions_now: VersionsNow | None = None
    scores: Mapping[str, ScoreSkill] = field(default_factory=dict)
    classes: Mapping[str, ClassReport] = field(default_factory=dict)

    @property
    def mature_until(self) -> int | None:
        """Moment up to which outcomes are mature, epoch milliseconds; None if unknown."""
        judged = self.watched.judged_age_ms
        age = self.maturity_ms if judged is None else judged
        return None if self.now_ms is None or age is None else self.now_ms - age

    @property
    def latest_versions(self) -> tuple[tuple[str, int], ...]:
        """The versions that began last, at most `NAMED_VERSIONS`, as in `versions`."""
        return self.versions[-NAMED_VERSIONS:]

    @property
    def taken_back(self) -> int:
        """Number of predictions that the counters include and that no longer count."""
        counted = self.counters.predicted_positive + self.counters.predicted_negative
        return counted - self.predictions_positive - self.predictions_negative


class SourceProgress(NamedTuple):
    """Progress of one source of `counts` records, such as a Spark job.

    Attributes:
        name: the `source` of its records.
        records: `counts` records accepted from it, redeliveries included.
        watermark_ms: event time that it reports to have reached, epoch milliseconds;
            None where it reports none.
        late: labels that it reports to have dropped as too late.
    """

    name: str
    records: int
    watermark_ms: int | None
    late: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state of the monitor at one moment.

    Attributes:
        series: model and segment value that each element of the arrays stands for.
        windows: the configured windows, in their order.
        lifetime: everything ever counted, as a window named "all".
        models: every model that is configured or was seen.
        labels: label totals over all models.
        lost_audits: audits without effect, of all models; None without any.
        records: records read, accepted or not.
        events: events accepted, by "prediction", "label", "outcome" and "counts"; an
            outcome with an id counts as a prediction and a label.
        rejected: records rejected, by reason; every reason is present, also with 0.
        watermark_ms: time of the model that is furthest, epoch milliseconds, or None.
        now_ms: the latest moment by which windows of a model end, epoch milliseconds; None
            where the watermark is None.
        pending_bytes: memory of the join's tables, bytes.
        delay_edges: upper edges of the delay bins, seconds; the last is infinite.
        overflowed_values: predictions whose segment value counts under `OTHER_VALUE`.
        sources: progress of each named source of counts.
        forgotten: sums over the models that were forgotten.
        hidden_series: series that are counted, and that this part of a snapshot leaves out.
        numbers: of each series in the whole of which this is a part; none in a whole one.
        score_metrics: whether all metrics of scores have series.
    """

    series: tuple[Series, ...] = ()
    windows: tuple[Window, ...] = ()
    lifetime: Window
    models: tuple[ModelState, ...] = ()
    labels: LabelTotals = field(default_factory=LabelTotals)
    lost_audits: LostAudits | None = None
    records: int = 0
    events: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[RejectReason, int] = field(default_factory=dict)
    watermark_ms: int | None = None
    now_ms: int | None = None
    pending_bytes: int = 0
    delay_edges: FloatArray = field(default_factory=lambda: np.array([np.inf]))
    overflowed_values: int = 0
    sources: tuple[SourceProgress, ...] = ()
    forgotten: Forgotten = field(default_factory=Forgotten)
    hidden_series: int = 0
    numbers: tuple[int, ...] = ()
    score_metrics: bool = False

    def windows_of(self, model: ModelState) -> tuple[Window, ...]:
        """Return the windows that one of this snapshot's models uses, in their order."""
        return tuple(one for one in self.windows if one.name not in model.unused_windows)

    def precision_at_reference(self, window: Window) -> Estimate:
        """Precision of each series at the class ratio of its model's reference.

        This is what precision would be had prevalence stayed as in the reference. The
        interval takes the class ratio as known, as with `Window.precision_at`.

        Args:
            window: one of this snapshot's windows.

        Returns:
            Ratios in [0, 1]; NaN for models whose reference is not known or lacks a class.

        Source:
            Williams 2021, eq. 2: logit(precision at r0) = log r0 + log LR+.
        """
        of_model = {model.name: model.watched.log_class_ratio for model in self.models}
        shift = np.array([of_model.get(series.model, np.nan) for series in self.series])
        return Estimate(*(expit(shift + ends) for ends in window.metrics["log_likelihood_ratio"]))

    def precision_of_model_at_reference(self, model: ModelState, window: Window) -> Estimate:
        """Return `precision_at_reference` of one model's totals, with one element.

        Args:
            model: one of this snapshot's models.
            window: one of this snapshot's windows.
        """
        shift, own = model.watched.log_class_ratio, slice(model.row, model.row + 1)
        skill = window.metrics["log_likelihood_ratio"]
        return Estimate(*(expit(shift + ends[own]) for ends in skill))
