"""Verdicts on the windows of a model, and everything they rest on, frozen.

`monitor.watch` makes a `Watched` for each model; a `Snapshot` carries it to the
exporters. Undefined numbers are NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift import Attribution, Judgement, Verdict
from monitor.drift.label_free import Nowcast
from monitor.drift.live_class_ratio import FAR_LOG_RATIO, UNKNOWN_RATIO, ClassRatio
from monitor.drift.trend import Trend
from monitor.metrics.ratio import ratio


class Detected(NamedTuple):
    """One detection.

    Attributes:
        at: the earliest moment at which the data allow it, epoch milliseconds: the
            end of the pane that triggered it, plus the maturity.
        kind: `model_degraded` (only where the verdict agrees) or `prevalence_shift`.
    """

    at: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceOutcomes:
    """Outcomes of the reference that the windows of a model are compared with.

    Attributes:
        source: `first`, `window`, `trailing` or `counts`, as configured.
        opens: first moment, epoch milliseconds; None for configured counts.
        closes: first moment after it; None for configured counts.
        counts: its outcomes, a scalar.
        version: 1 for the first reference of the model, one more for each that replaces it.
    """

    source: str
    opens: int | None
    closes: int | None
    counts: ConfusionCounts
    version: int = 1

    @property
    def class_ratio(self) -> float:
        """R = P/N of the reference, at which precision is always published; NaN where N is 0."""
        return float(ratio(self.counts.actual_positive, self.counts.actual_negative))


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowVerdict:
    """Verdict on one window against the reference, with what it rests on.

    Attributes:
        verdict: the verdict; `insufficient_evidence` also where there is no reference
            yet, or where the window overlaps it.
        judgement: statuses and changes that the verdict rests on; None where nothing
            could be judged.
        attribution: contribution of each cause; None where nothing could be judged.
        label_fault: what is wrong with the labels where the verdict is
            `labels_not_trustworthy`, a `monitor.labels.faults.LabelFault`; else "".
        labels_in_order: True where the labels certainly come as in the reference.
        nowcast: prevalence and precision of the latest predictions, over the length
            of the window, if the model is unchanged; None without a reference.
    """

    verdict: Verdict
    judgement: Judgement | None = None
    attribution: Attribution | None = None
    nowcast: Nowcast | None = None
    label_fault: str = ""
    labels_in_order: bool = False

    @property
    def far_from_reference(self) -> bool:
        """True where the class ratio is at least five times above or below the reference's.

        Precision at the other class ratio is then an extrapolation, and a small error
        of the false-positive rate weighs heavily in it.
        """
        if self.judgement is None:
            return False
        return abs(self.judgement.change["class_ratio"]) >= FAR_LOG_RATIO


class MissingLabels(NamedTuple):
    """A segment value, or a range of the score, that lacks more labels than the others.

    Attributes:
        segment: the segment key; "score" for a range of the score.
        value: the segment value; for a range of the score, "0.1..0.2".
        share: share of its predictions without a label, in [0, 1].
        elsewhere: the same share over all other predictions.
        missing: number of its predictions without a label.
    """

    segment: str
    value: str
    share: float
    elsewhere: float
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Reference, verdicts and detections of one model.

    Attributes:
        reference: None until it is known.
        verdicts: verdict of each window, by the name of the window.
        evidence: the larger statistic of the skill detectors, by pane and by days, over its
            threshold, an alarm from 1 on; NaN without a reference.
        warming_up: True where there is no reference, or it is too small for the detectors
            by pane.
        degradation_detected: True while the model pages: from a certain degradation that a
            detector found, until the model is certainly back.
        prevalence_shift_detected: True where the class ratio left its seasonal profile
            within the longest window; None where no detector watches the class ratio.
        detections: all detections, in order of time.
        detectors_off: why no detector runs, the name of a labelling regime; "" where
            detectors run.
        judged_age_ms: age at which predictions are judged, milliseconds; above
            `maturity_ms` where labels need longer than that. None while unknown.
        missing_labels: where labels are missing in the longest window, the largest excess
            first for each segment key and for the score; only under `complete`.
        live_class_ratio: r = P/N of mature labels, smoothed over panes: an outcome
            counts half after the length of the shortest window. NaN where it is not
            known, or where the labels of that window are not trustworthy.
        expected_class_ratio: r that the reference's seasonal profile expects of the
            last mature pane; NaN without a profile.
        trend: slope of the model's skill over weeks, looked at once a week; None where none
            is certain.
    """

    reference: ReferenceOutcomes | None = None
    verdicts: Mapping[str, WindowVerdict] = field(default_factory=dict)
    evidence: float = float("nan")
    warming_up: bool = True
    degradation_detected: bool = False
    prevalence_shift_detected: bool | None = False
    detections: tuple[Detected, ...] = ()
    detectors_off: str = ""
    judged_age_ms: int | None = None
    missing_labels: tuple[MissingLabels, ...] = ()
    live_class_ratio: ClassRatio = UNKNOWN_RATIO
    expected_class_ratio: float = float("nan")
    trend: Trend | None = None

    @property
    def log_class_ratio(self) -> float:
        """Log r of the reference; NaN without a reference, or where it lacks a class."""
        if self.reference is None:
            return float("nan")
        return float(np.log(self.reference.class_ratio or np.nan))
