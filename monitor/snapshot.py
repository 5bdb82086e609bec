"""The state of the monitor at one moment, frozen: all that exporters read.

The engine makes a `Snapshot`; Prometheus, the page, `replay --json` and an
embedding program read it. Nothing here is live: it can be kept, compared,
and read from any thread. Undefined numbers are NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from monitor.counts import ConfusionCounts
from monitor.drift import Attribution, Judgement, Verdict
from monitor.drift.class_ratio import FAR, UNKNOWN_RATIO, ClassRatio
from monitor.drift.label_free import Nowcast
from monitor.events.columns import FloatArray, Int64Array, RejectReason, Series
from monitor.metrics.ratio import ratio

METRICS = (
    "precision",
    "balanced_precision",
    "recall",
    "false_positive_rate",
    "prevalence",
    "class_ratio",
    "log_likelihood_ratio",
)
"""The metrics that each window carries, by their names in `monitor.metrics`."""

CELL_NAMES = ("none", "tp", "fp", "fn", "tn")
"""Where an outcome can be; the axes of `ModelState.transitions`. None is: not labelled."""


class Estimate(NamedTuple):
    """A metric with its 95 % interval, one element a series; NaN where undefined."""

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What counts in one window now, for every series.

    Attributes:
        name: as configured, "1h"; "all" for everything ever counted.
        open: first moment inside, epoch milliseconds, one a series (models mature differently).
        close: first moment after it; [open, close).
        counts: outcomes of predictions made in the window, one element a series.
        predicted_positive: predictions made in the window and called positive, labelled or not.
        predicted_negative: the same for those called negative.
        metrics: by the names in `METRICS`.
        precision_at: precision at each configured class ratio r0; NaN in the rows
            of models that do not ask for that r0.
        status: of each series: `mature`; `corrected` where labels were still to come and
            the metrics (not the counts) allow for them; `immature` where too few had come
            for any metric; `untrusted` where labels went astray, and what they do not allow
            is withheld. No elements where nothing is said.
        label_fault: of each series: why metrics are withheld, see `LabelFault`; "" where
            none are. No elements where nothing is said.
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
        """Why metrics of a series are withheld; "" where none are."""
        return str(self.label_fault[row]) if len(self.label_fault) else ""

    def label_coverage(self) -> tuple[FloatArray, FloatArray]:
        """Share of the predictions made in the window that are labelled, one element a series.

        Returns:
            Of those called negative and of those called positive; NaN where there are
            none. Silence that counts as a negative is a label.
        """
        counts = self.counts
        return (
            ratio(counts.predicted_negative, self.predicted_negative),
            ratio(counts.predicted_positive, self.predicted_positive),
        )


class Detected(NamedTuple):
    """One detection.

    Attributes:
        at: the moment from which it could be known, epoch milliseconds: the end
            of the pane that brought it, plus the maturity.
        kind: `model_degraded` (the verdict agreed) or `prevalence_shift`.
    """

    at: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What a model's windows are compared with.

    Attributes:
        source: `first`, `window`, `trailing` or `counts`, as configured.
        opens: first moment, epoch milliseconds; None for given counts.
        closes: first moment after it; None for given counts.
        counts: its outcomes, a scalar.
        version: 1 for the first that was found; one more each time it moves on.
    """

    source: str
    opens: int | None
    closes: int | None
    counts: ConfusionCounts
    version: int = 1

    @property
    def class_ratio(self) -> float:
        """Its own r = P/N, the r0 at which precision is always published; NaN without negatives."""
        return float(ratio(self.counts.actual_positive, self.counts.actual_negative))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowVerdict:
    """What happened between the reference and one window.

    Attributes:
        verdict: `insufficient_evidence` too where there is no reference yet, or
            the window reaches back into it.
        judgement: what the verdict rests on; None where nothing could be judged.
        attribution: what each cause contributed; None likewise.
        label_fault: what is wrong with the labels where the verdict is
            `labels_not_trustworthy`, see `monitor.labels.faults.LabelFault`; else "".
        labels_in_order: it is certain that labels come as they did in the reference.
        nowcast: prevalence and precision of the predictions of the window's
            length that end now, if the model is unchanged; None without a reference.
    """

    verdict: Verdict
    judgement: Judgement | None = None
    attribution: Attribution | None = None
    nowcast: Nowcast | None = None
    label_fault: str = ""
    labels_in_order: bool = False

    @property
    def far_from_reference(self) -> bool:
        """The class ratio is at least five times below or above the reference's.

        Precision at the other's class ratio is then an extrapolation, in which a
        small error of the false positive rate weighs heavily.
        """
        return self.judgement is not None and abs(self.judgement.change["class_ratio"]) >= FAR


class MissingLabels(NamedTuple):
    """A segment value, or a range of the score, where labels are missing more than elsewhere.

    Attributes:
        segment: the segment key; "score" for a range of the score.
        value: the segment value; "0.1..0.2" for a range.
        share: of its predictions, those without a label.
        elsewhere: the same of all others.
        missing: its predictions without a label.
    """

    segment: str
    value: str
    share: float
    elsewhere: float
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What watching one model has found.

    Attributes:
        reference: None while it is not known.
        verdicts: by the name of the window.
        evidence: of the skill detectors over their threshold; NaN without a reference.
        warming_up: the reference does not suffice for the detectors, or there is none.
        degradation_detected: they have fired within the longest window.
        prevalence_shift_detected: the class ratio has left its profile within it.
        detections: all there were, in their order.
        detectors_off: why no detector runs, as a word for a machine (a labelling regime);
            "" where they do.
        judged_age_ms: age from which predictions are judged; beyond `maturity_ms` where
            that is younger than labels need. None while it is not known.
        live_class_ratio: r = P/N of mature labels, smoothed over panes: an outcome counts half
            after the length of the shortest window; NaN where it is not known, or that
            window's labels went astray.
        expected_class_ratio: r that the seasonal profile of the reference expects of the last
            pane that is mature; NaN without one.
        missing_labels: where labels are missing in the longest window, the worst first
            for each segment key and for the score; of complete labels alone.
    """

    reference: Before | None = None
    verdicts: Mapping[str, WindowVerdict] = field(default_factory=dict)
    evidence: float = float("nan")
    warming_up: bool = True
    degradation_detected: bool = False
    prevalence_shift_detected: bool = False
    detections: tuple[Detected, ...] = ()
    detectors_off: str = ""
    judged_age_ms: int | None = None
    missing_labels: tuple[MissingLabels, ...] = ()
    live_class_ratio: ClassRatio = UNKNOWN_RATIO
    expected_class_ratio: float = float("nan")

    @property
    def log_class_ratio(self) -> float:
        """Of the reference; NaN without one, or where it lacks a class."""
        if self.reference is None:
            return float("nan")
        return float(np.log(self.reference.class_ratio or np.nan))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """One model: its books, which close at every moment, and its settings that are shown.

    Predictions received = matched + pending + expired + evicted + duplicate. Labels are
    booked per model once their prediction is known, see `LabelBooks` for the rest.

    Attributes:
        name: the model's name.
        version: version of its latest prediction; "" where none came.
        row: its totals' row in the snapshot's series.
        predictions_positive: distinct predictions called positive, ever.
        predictions_negative: distinct predictions called negative, ever.
        labels: times that a label came into force, by {"positive", "negative", "retracted"};
            a revision counts again.
        labelled: predictions for which a label came in time, later retracted or not.
        matched: predictions whose label is in force and says positive or negative; where
            silence past the label timeout is a negative, those with an expired label too.
        pending: predictions that wait for a label.
        expired: predictions whose label never came in time; none where that is a negative.
        evicted: predictions dropped early, because the limit of pending ones was reached.
        duplicates: predictions that came again.
        transitions: int64 (5, 5): moves of outcomes from row to column of `CELL_NAMES`.
        maturity_ms: age at which windows end; None while it is not known.
        delay_counts: int64 (2, bins): delays of labels in force, by actual class
            (negative, positive), in the bins of `delay_edges`.
        delay_sum: float (2,): sum of these delays, seconds.
        segments: segment keys that are kept.
        labelling: how labels come, as configured.
        refused: metrics that cannot be known from such labels, each with its reason.
        refused_because: the reason in one sentence; "" where nothing is refused.
        objective: what the model is meant to reach, by the metric; only what is asked for.
        last_prediction_ms: end of the pane of its latest prediction; None where none came, or
            none for a year.
        last_label_ms: end of the hour of its latest label in force; None where none came, or
            none for 90 days.
        maturity_settled: False while the stream is too short to show long delays.
        watched: verdicts, evidence and detections.
        ever: predictions called positive and negative, and labelled ones, as counters show them:
            what was taken back since (an earlier prediction of the same id came, or counts
            were corrected) is in them until as many come again.
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
    labelling: str = "complete"
    refused: Mapping[str, str] = field(default_factory=dict)
    refused_because: str = ""
    objective: Mapping[str, float] = field(default_factory=dict)
    last_prediction_ms: int | None = None
    last_label_ms: int | None = None
    maturity_settled: bool = True
    watched: Watched = field(default_factory=Watched)
    ever: tuple[int, int, int] = (0, 0, 0)

    @property
    def taken_back(self) -> int:
        """Predictions that counters show and that do not count any more."""
        positive, negative, _ = self.ever
        return positive + negative - self.predictions_positive - self.predictions_negative


class LabelBooks(NamedTuple):
    """Where all labels ever received went; received is the sum.

    Attributes:
        applied: the label in force of a known prediction, one a prediction.
        held: came before its prediction and waits for it.
        duplicate: a further label of a prediction that has one: repeated, or superseded.
        late: came later than the label timeout or the horizon allows; changed nothing.
        orphaned: was held until the horizon, and no prediction came.
    """

    applied: int = 0
    held: int = 0
    duplicate: int = 0
    late: int = 0
    orphaned: int = 0

    @property
    def received(self) -> int:
        """Labels that decode accepted."""
        return sum(self)


class CountedBy(NamedTuple):
    """Somebody who sends counts, and how far it has come.

    Attributes:
        name: the `source` of its records.
        records: `counts` records taken from it, those delivered again included.
        watermark_ms: event time that it says it has come to; None where it does not.
        late: labels that came too late to it to count.
    """

    name: str
    records: int
    watermark_ms: int | None
    late: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state of the monitor at one moment.

    Attributes:
        series: what the rows of every array stand for.
        windows: one for each configured window, in their order.
        lifetime: everything ever counted, as a window named "all".
        models: one for each model that is configured or was seen.
        labels: the label books of all models.
        records: records read, used or not.
        events: events taken: {"prediction", "label", "outcome", "counts"}; an outcome with an
            id is a prediction and a label.
        rejected: records by reason; every reason is there, 0 included.
        watermark_ms: third-highest event time seen; None before three distinct events came.
        now_ms: the moment that windows end by; None where the watermark is.
        pending_bytes: memory of the join's tables.
        delay_edges: upper edges of the delay bins, seconds; the last is infinite.
        overflowed_values: predictions whose segment value went to `OTHER_VALUE`.
        sources: who sends counts, where they say who they are.
    """

    series: tuple[Series, ...] = ()
    windows: tuple[Window, ...] = ()
    lifetime: Window
    models: tuple[ModelState, ...] = ()
    labels: LabelBooks = field(default_factory=LabelBooks)
    records: int = 0
    events: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[RejectReason, int] = field(default_factory=dict)
    watermark_ms: int | None = None
    now_ms: int | None = None
    pending_bytes: int = 0
    delay_edges: FloatArray = field(default_factory=lambda: np.array([np.inf]))
    overflowed_values: int = 0
    sources: tuple[CountedBy, ...] = ()

    def precision_at_reference(self, window: Window) -> Estimate:
        """Precision of each series of a window at the class ratio of its model's reference.

        Had prevalence stayed as it was in the reference. The ratio is taken as
        known, as with `Window.precision_at`.

        Args:
            window: one of this snapshot's.

        Returns:
            NaN for models whose reference is not known or lacks a class.

        Source:
            Williams 2021, eq. 2: logit(precision at r0) = log r0 + log LR+.
        """
        of_model = {model.name: model.watched.log_class_ratio for model in self.models}
        shift = np.array([of_model.get(series.model, np.nan) for series in self.series])
        return Estimate(*(expit(shift + ends) for ends in window.metrics["log_likelihood_ratio"]))

    def precision_of_model_at_reference(self, model: ModelState, window: Window) -> Estimate:
        """The same of one model's totals alone, (1,)."""
        shift, own = model.watched.log_class_ratio, slice(model.row, model.row + 1)
        skill = window.metrics["log_likelihood_ratio"]
        return Estimate(*(expit(shift + ends[own]) for ends in skill))
