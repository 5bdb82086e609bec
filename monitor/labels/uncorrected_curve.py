"""Why no curve over thresholds, and no threshold, is given for a model.

Score histograms count labels as they came. Where outcomes are estimates, or most cases have no
label, a curve of these counts has another precision and another recall than the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitor.config import Labelling

if TYPE_CHECKING:
    from monitor.labels.regime import LabelRegime

_ERRORS = (
    "labels have errors (label_errors), and scores are counted by labels as they came: precision "
    "and recall at a threshold would be wrong. Check the labels of predictions drawn at random, "
    "and run `precision-monitor threshold` on these alone, without label_errors"
)
_RANDOM = (
    "Have predictions drawn at random labelled, and run `precision-monitor threshold` on these "
    "alone, with labelling complete"
)
_BY_LABELLING = {
    Labelling.SAMPLED: "labels are a sample in which flagged cases are more frequent than among "
    "all predictions, and scores are counted as labelled: precision and recall at a threshold "
    f"would be wrong. {_RANDOM}",
    Labelling.WEIGHTED: "labels are a sample drawn with unequal probabilities, and scores are "
    "counted without these: precision and recall at a threshold would be wrong. "
    f"{_RANDOM}",
    Labelling.FLAGGED_ONLY: "only flagged cases are labelled, so that recall at a threshold "
    f"cannot be known. {_RANDOM}",
    Labelling.NEGATIVES_BY_TIMEOUT: "scores are counted of cases with a label alone, and cases "
    "that count as negative because no label came have none: precision at a threshold would be "
    "wrong. Write these labels into the records, and run `precision-monitor threshold` on them, "
    "with labelling complete",
}


def curve_refused_because(regime: LabelRegime) -> str | None:
    """Return why no curve and no threshold is given, and what to do; None where they are.

    Args:
        regime: how labels of the model come, and how often they are wrong.

    Returns:
        Sentences in lower case without a full stop at the end.

    >>> from monitor.labels.regime import LabelRegime
    >>> curve_refused_because(LabelRegime())
    >>> curve_refused_because(LabelRegime(Labelling.FLAGGED_ONLY)).split(". ")[0]
    'only flagged cases are labelled, so that recall at a threshold cannot be known'
    """
    return _ERRORS if regime.has_errors else _BY_LABELLING.get(regime.labelling)
