"""The object that `/api/v1/curve` answers."""

from __future__ import annotations

from msgspec import Struct

from monitor.exporter.api.series_answer import Numbers
from monitor.report.answer_parts import Count, MetricInterval, Share


class ChosenThreshold(Struct, frozen=True, kw_only=True):
    """The threshold that reaches the objective with the highest recall.

    Attributes:
        threshold: the score from which on a case is flagged; null where none can be given.
        precision: at this threshold.
        recall: at this threshold.
        certain: the lower limit of precision reaches the objective.
        labelled_scores: labelled cases at or above the threshold.
    """

    threshold: float | None
    precision: MetricInterval
    recall: MetricInterval
    certain: bool
    labelled_scores: Count


class CurveAnswer(Struct, frozen=True, kw_only=True):
    """Precision against recall, by rising threshold; all lists have equal length.

    Where labels are a sample, or are missing for most cases, there is no curve: it would be that of
    labels as they came, beside metrics that are corrected. Where labels have errors of known rates,
    all numbers but `labelled_scores` are corrected for them.

    Attributes:
        labelled_scores: labelled cases with a score.
        class_ratio: their positives per negative; null where undefined, and where there is no
            curve.
        reference_class_ratio: the class ratio of before; null where it is not known.
        threshold: the scores from which on a case is flagged.
        recall: at each threshold.
        precision: at each threshold; null where undefined.
        precision_at_reference: the same at the class ratio of before; null where that is not
            known.
        objective: precision to reach; null where none is known.
        choice: the threshold that reaches it at today's class ratio; null where none does, and
            where there is no curve.
        refused_because: why there is no curve and no choice, and what to do; null where there is
            a curve.
        corrected: for wrong labels, taken to be as frequent at every score.
    """

    labelled_scores: Count
    class_ratio: float | None
    reference_class_ratio: float | None
    threshold: Numbers
    recall: Numbers
    precision: Numbers
    precision_at_reference: Numbers | None
    objective: Share | None
    choice: ChosenThreshold | None
    refused_because: str | None = None
    corrected: bool = False
