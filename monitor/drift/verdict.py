"""What a judgement of two windows says: the verdict, and the tests it rests on.

`verdict_rule` makes it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from scipy.special import stdtrit

from monitor.drift.label_quality import LabelChange
from monitor.drift.main_driver import MainDriver


class Verdict(StrEnum):
    """Verdict on the change from one window to another; `monitor/drift/README.md` explains each."""

    NO_CHANGE = "no_change"
    PREVALENCE_SHIFT = "prevalence_shift"
    MODEL_DEGRADED = "model_degraded"
    MODEL_IMPROVED = "model_improved"
    PREVALENCE_SHIFT_AND_MODEL_DEGRADED = "prevalence_shift_and_model_degraded"
    PREVALENCE_SHIFT_AND_MODEL_IMPROVED = "prevalence_shift_and_model_improved"
    OPERATING_POINT_MOVED = "operating_point_moved"
    THRESHOLD_MOVED = "threshold_moved"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    LABELS_NOT_TRUSTWORTHY = "labels_not_trustworthy"


DEGRADED = frozenset({Verdict.MODEL_DEGRADED, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED})
"""Verdicts by which the model separates the classes worse."""
IMPROVED = frozenset({Verdict.MODEL_IMPROVED, Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED})
"""Verdicts by which the model separates the classes better."""
OF_THE_MODEL = DEGRADED | IMPROVED
"""Verdicts by which skill changed."""
MOVED_RATES = OF_THE_MODEL | {Verdict.OPERATING_POINT_MOVED, Verdict.THRESHOLD_MOVED}
"""Verdicts by which recall or the false-positive rate changed."""
NOT_OF_THE_MODEL = frozenset(
    {
        Verdict.NO_CHANGE,
        Verdict.PREVALENCE_SHIFT,
        Verdict.OPERATING_POINT_MOVED,
        Verdict.THRESHOLD_MOVED,
    }
)
"""Verdicts that attribute no change to skill."""


class Status(StrEnum):
    """Result of testing one component, see `skill.statuses`."""

    CLEAN = "clean"
    CHANGED = "changed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on two windows, with the tests it rests on.

    Attributes:
        verdict: what changed.
        status: of `class_ratio`, `recall`, `false_positive_rate`, `log_likelihood_ratio`.
        change: of each of these, of `negative_log_likelihood_ratio` and of `odds_ratio`, after
            minus before: of the logit of a rate, of the log of a ratio; always finite.
        standard_error: of each change.
        freedom: degrees of freedom behind each error; very many where no scatter of days is in it.
        operating_point_moved: True where TPR and FPR moved in one direction, as after a change of
            the threshold; beside a degradation, both happened.
        main_driver: the cause with the largest share of the change of precision.
        fell: components whose status is changed, and that fell.
        rose: those that rose.
        unknown: those of unknown status.
        below_reference_curve: see `verdict_rule.judge`.
        label_change: wrong labels that explain the changes, whatever the verdict.
        curve_z: recall minus that of the reference's curve, in standard errors; NaN for unknown.
        on_reference_curve: the point slid along the reference's ROC curve (`threshold_moved`).
        dead: True where the model does not tell the classes apart any more (see `no_skill`).
        labels_may_explain: True where skill changed, unless labels did; where scores or audits
            show it, the verdict is `labels_not_trustworthy`.
        by_audits: True where audits show it.
        by_chance: see `verdict_rule.judge`.
        at_rates: judgements at the ends of the ranges of wrong labels.
    """

    verdict: Verdict
    status: Mapping[str, Status]
    change: Mapping[str, float]
    standard_error: Mapping[str, float]
    operating_point_moved: bool
    main_driver: MainDriver
    fell: tuple[str, ...]
    rose: tuple[str, ...]
    unknown: tuple[str, ...]
    below_reference_curve: bool | None = None
    on_reference_curve: bool = False
    dead: bool = False
    freedom: Mapping[str, float] = field(default_factory=dict)
    labels_may_explain: bool = False
    label_change: LabelChange = LabelChange.NONE
    curve_z: float = math.nan
    by_audits: bool = False
    by_chance: bool = False
    at_rates: tuple[Judgement, ...] = ()

    @property
    def label_errors_changed(self) -> bool:
        """True where labels certainly changed, and not the model, by scores or audits."""
        return self.labels_may_explain and self.verdict is Verdict.LABELS_NOT_TRUSTWORTHY

    def interval(self, component: str, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of a change.

        Args:
            component: a key of `change`.
            level: coverage, in (0, 1).

        Returns:
            Lower and upper limit, by Student's t.
        """
        half = float(stdtrit(self.freedom[component], (1 + level) / 2))
        half *= self.standard_error[component]
        return self.change[component] - half, self.change[component] + half
