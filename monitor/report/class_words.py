"""The words for the metrics that all classes of a model have together."""

from __future__ import annotations

from typing import Literal, NamedTuple

from monitor.counts import Outcome
from monitor.metrics.class_report import ClassReport, Limits

POOLED_CELLS = {"right": Outcome.TP, "wrong": Outcome.FP}
"""Cells of the outcomes of all classes together, and what they count; the others are empty."""


class AllClassesWords(NamedTuple):
    """A metric of all classes together.

    Attributes:
        title: its name with a capital letter.
        short: for the head of a narrow column.
        meaning: one sentence.
        metric: its name in `ClassReport.whole`, or in `ClassReport.averages`.
        average: kind of the average over the classes; None where it is none.
    """

    title: str
    short: str
    meaning: str
    metric: Literal["accuracy", "cohen_kappa", "precision", "recall", "f1"]
    average: Literal["macro"] | None = None

    def expression(self, of: str) -> str:
        """Return the expression of its estimate for Prometheus.

        Args:
            of: labels of the model and the window.

        >>> WHOLE_WORDS[1].expression('model="mail",window="7d"')
        'classifier_class_average_ratio{model="mail",window="7d",average="macro",metric="precision"}'
        """
        if self.average is not None:
            more = f'{of},average="{self.average}",metric="{self.metric}"'
            return f"classifier_class_average_ratio{{{more}}}"
        unit = "_ratio" if self.metric == "accuracy" else ""
        return f"classifier_{self.metric}{unit}{{{of}}}"

    def of(self, classes: ClassReport) -> Limits:
        """Return the metric of a window.

        Args:
            classes: of the window.
        """
        if self.average is None:
            return classes.whole[self.metric]
        return classes.averages[self.average, self.metric]


ACCURACY = AllClassesWords(
    "Accuracy", "accuracy", "Share of cases whose predicted class is the actual one.", "accuracy"
)
WHOLE_WORDS = (
    ACCURACY,
    AllClassesWords(
        "Macro precision",
        "macro prec.",
        "Mean over the classes of each one's precision.",
        "precision",
        "macro",
    ),
    AllClassesWords(
        "Macro recall",
        "macro recall",
        "Mean over the classes of each one's recall: prevalence cancels out.",
        "recall",
        "macro",
    ),
    AllClassesWords(
        "Macro F1", "macro F1", "Mean over the classes of each one's F1.", "f1", "macro"
    ),
    AllClassesWords(
        "Cohen's kappa",
        "kappa",
        "Agreement beyond chance, over the largest possible.",
        "cohen_kappa",
    ),
)
"""In the order of the tables."""
