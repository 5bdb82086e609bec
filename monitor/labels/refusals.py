"""Metrics that labels do not allow, with the reason: a labelling regime or a label fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from monitor.config import Labelling
from monitor.labels.faults import LabelFault
from monitor.metrics.audited_errors import FEWEST_AUDITS
from monitor.metrics.label_sensitivity import LabelSensitivity
from monitor.snapshot import METRIC_NAMES


class _Setting(Protocol):
    @property
    def labelling(self) -> Labelling: ...
    @property
    def has_many_classes(self) -> bool: ...


_ALL = (*METRIC_NAMES, "precision_at")

KEEPS_PRECISION: frozenset[str] = frozenset(
    {str(Labelling.FLAGGED_ONLY), str(LabelFault.ONE_SIDE_LABELLED), "many_classes"}
)
"""Reasons that refuse every metric but precision; every other reason refuses it too."""

REFUSED: Mapping[Labelling, Mapping[str, str]] = {
    Labelling.FLAGGED_ONLY: dict.fromkeys(
        (name for name in _ALL if name != "precision"), str(Labelling.FLAGGED_ONLY)
    ),
}
"""Metrics refused under a labelling regime, each with its reason code."""

MANY_CLASSES = "many_classes"
"""Reason code of a model of many classes: with these pooled, precision alone means something."""

WITHOUT_DETECTORS: Mapping[Labelling, str] = {
    Labelling.FLAGGED_ONLY: "flagged_only",
}
"""Labelling regimes under which no detector runs, each with its reason code."""

ONLY_POSITIVES = "only predicted positives are ever labelled"
"""Meaning of labelling `flagged_only`, in the words of every text."""

REASONS: Mapping[str, str] = {
    "flagged_only": f"{ONLY_POSITIVES}, so precision alone can be known: recall, "
    "false-positive rate, prevalence and balanced precision are refused, not guessed, "
    "and why precision moved cannot be known",
    MANY_CLASSES: "the model has more than two classes, so of the metrics of two the whole has "
    "precision alone, which is its accuracy: what all classes have together, and every metric by "
    "class, is under classes",
    LabelFault.ONE_SIDE_LABELLED: "predicted positives get labels and predicted negatives do not, "
    "so precision alone is shown: recall, false-positive rate, prevalence and balanced precision "
    "would be far off",
    LabelFault.FLAGGED_UNLABELLED: "predicted negatives get labels and predicted positives do not, "
    "so nothing is shown: precision would rest on the few that have one, and recall is far off",
    LabelFault.POSITIVES_MISSING: "labels are missing as if those of actual positives were lost, "
    "so nothing is shown: precision and prevalence would read too low, or recall would",
    LabelFault.NEGATIVES_MISSING: "labels are missing as if those of actual negatives were lost, "
    "so nothing is shown: precision and prevalence would read too high, or false positives wrong",
    LabelFault.LABELS_MISSING: "far fewer predictions have a label than before though they are "
    "old enough, so nothing is shown: the labels that came need not stand for the others",
    LabelFault.DELAYS_CHANGED: "labels come faster or slower than before, so nothing is shown: "
    "how many of either class are still to come is not known",
    LabelFault.REPORTS_STOPPED: "reports have stopped, so nothing is shown: a missing label no "
    "longer means a negative",
    LabelFault.LABEL_ERRORS_CHANGED: "labels are wrong more, or less, often than in the reference: "
    "missed positives are spread over all scores, as wrong labels are; metrics are shown by labels "
    "as they came, and nobody knows whether the model changed until some cases are audited",
    LabelFault.LABEL_ERRORS_TOO_HIGH: "label_errors says that more labels are wrong than can be: "
    "among flagged cases, or among the others, fewer labels are 1 than false_positive alone gives, "
    "or fewer are 0 than false_negative alone gives, and not by chance; so nothing is shown: lower "
    "the rates, or have cases audited (label_errors: audit)",
    LabelFault.AUDITS_TOO_FEW: "label_errors: audit, and too few labels are audited to know how "
    f"many are wrong, so nothing is shown: send at least {FEWEST_AUDITS} audits of cases labelled "
    "0, and of cases labelled 1, drawn at random",
    LabelFault.CLASSES_UNKNOWN: "1 % or more of the labels or predictions name a class that the "
    "model does not have, so nothing is shown: their cases are left out; write the class as "
    "configured, or add it to `classes`",
    LabelFault.LABELS_FOLLOW_PREDICTIONS: "label_errors: audit, and audits show that flagged cases "
    "have wrong labels at other rates than the others, as where a label follows the prediction, so "
    "no window has metrics: no correction by one rate for both is right; `replay` and the API "
    "(`audits.metrics`) have what audits alone determine; have cases labelled by people who do not "
    "see the prediction",
}
"""The sentence for each reason code."""


_TOO_FEW = (
    "have fewer {label} labels than wrong ones alone would give, so that none of them counts as "
    "{label}: by chance, or because label_errors.{rate} is too high"
)


def clipped_texts(positive: Iterable[str], negative: Iterable[str]) -> tuple[str, ...]:
    """Return which predictions have a correction for wrong labels that ends at 0 or 1, in words.

    Args:
        positive: predicted classes with too few positive labels, such as `predicted_negative`.
        negative: those with too few negative labels.

    >>> clipped_texts(["predicted_negative"], [])[0].partition(",")[0]
    'predicted negatives have fewer positive labels than wrong ones alone would give'
    """
    sides = (positive, "positive", "false_positive"), (negative, "negative", "false_negative")
    return tuple(
        f"{one.replace('_', ' ')}s {_TOO_FEW.format(label=label, rate=rate)}"
        for found, label, rate in sides
        for one in found
    )


UNAUDITED = (
    "Whether labels follow the prediction, as where a flagged case is confirmed as flagged: audits "
    "of flagged and of other cases test it."
)
"""What cannot be known without audits."""
UNAUDITED_CLASSES = "Whether labels follow the prediction, as where a predicted class is confirmed."
"""The same of a model of more than two classes."""


def if_labels_wrong(found: LabelSensitivity) -> str:
    """Return what a share of wrong labels would do, as a clause.

    Args:
        found: see `monitor.metrics.label_sensitivity`.

    >>> from monitor.metrics.label_sensitivity import WouldBe
    >>> moved = WouldBe("recall", 0.403, 0.8), WouldBe("prevalence", 0.0194, 0.00959)
    >>> if_labels_wrong(LabelSensitivity(0.01, moved)).partition(", prevalence")[0]
    'if 1 % of labels were wrong, recall would be 0.8 and not 0.403'
    """
    first, *others = (
        (one.metric.replace("_", " "), f"{one.would_be:.3g} and not {one.stated:.3g}")
        for one in found.moved
    )
    rest = "".join(f", {name} {values}" for name, values in others)
    return f"if {100 * found.share:g} % of labels were wrong, {first[0]} would be {first[1]}{rest}"


CAUSE_UNKNOWN = f"Why precision moved cannot be known: {ONLY_POSITIVES}."
"""The limit of labelling `flagged_only`, in one sentence."""


def refused(reason: str) -> dict[str, str]:
    """Return the metrics that a reason refuses, each with the reason; none for "".

    >>> sorted(set(_ALL) - set(refused("one_side_labelled"))), len(refused("delays_changed"))
    (['precision'], 8)
    """
    keeps = reason in KEEPS_PRECISION
    return {name: reason for name in _ALL if reason and not (keeps and name == "precision")}


def refused_by(setting: _Setting) -> Mapping[str, str]:
    """Return the metrics that the configuration of a model refuses, each with the reason.

    Args:
        setting: of the model.
    """
    if setting.has_many_classes:
        return refused(MANY_CLASSES)
    return REFUSED.get(setting.labelling, {})


def detectors_off(setting: _Setting) -> str:
    """Return why a model is not compared with its past, as a reason code; "" where it is.

    Args:
        setting: of the model.
    """
    return WITHOUT_DETECTORS.get(setting.labelling, "")


def because(reason: str) -> str:
    """Return the sentence for a reason code; "" for none."""
    return REASONS[reason] if reason else ""
