"""Why no curve over thresholds, and no threshold, is given for a model.

Score histograms count labels as they came. Where most cases have no label, a curve of these counts
has another precision and another recall than the model. Where labels have errors at known rates,
the curve is corrected for them; without the rates, or with no more labels of a class than wrong
ones alone may give, there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitor.config import Labelling
from monitor.labels.error_words import too_high_text
from monitor.metrics.possible_rates import (
    NO_LIMITS,
    limits_at_thresholds,
    possible_at_thresholds,
)
from monitor.metrics.threshold import has_both_classes

if TYPE_CHECKING:
    from monitor.counts import ConfusionCounts
    from monitor.labels.regime import LabelRegime

_UNKNOWN = (
    "how often labels are wrong is not known (label_errors: audit, with too few audits, or labels "
    "that follow the prediction), and scores are counted by labels as they came: precision and "
    "recall at a threshold would be wrong. Audit cases that `precision-monitor audit` draws"
)
_TOO_HIGH = (
    "label_errors says that more labels are wrong than can be: fewer labels of a predicted class "
    "are 1, or 0, than wrong ones alone give, and not by chance. Lower the rates, or have cases "
    "audited (label_errors: audit)"
)
_ONE_CLASS = (
    "once corrected for wrong labels (label_errors), cases of one class alone may be left: there "
    "are no more labels of the other than wrong ones alone may give. Audit more cases, or give the "
    "rates more exactly"
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


def excluded_by_scores(regime: LabelRegime, labelled: ConfusionCounts) -> str:
    """Return which configured rates labels of some scores exclude, a known one or a whole range.

    Of a range that audits show, the lowest rate holds where all of it is excluded.

    Args:
        regime: how labels of the model come, and how often they are wrong.
        labelled: as for `curve_refused_because`.

    Returns:
        A sentence without its full stop; "" where none is excluded.
    """
    if regime.limits == NO_LIMITS or not regime.errors.known:
        return ""
    limits = limits_at_thresholds(labelled)
    return too_high_text(regime.errors, limits, "labels of some range of scores")


def curve_refused_because(regime: LabelRegime, labelled: ConfusionCounts) -> str | None:
    """Return why no curve and no threshold is given, and what to do; None where they are.

    Args:
        regime: how labels of the model come, and how often they are wrong; the same for all cases.
        labelled: the cases with a score, as labelled, at each threshold, the lowest first.

    Returns:
        Sentences in lower case without a full stop at the end.

    >>> from monitor.labels.regime import LabelRegime
    >>> from monitor.counts import ConfusionCounts
    >>> cases = ConfusionCounts(tp=[50, 40], fp=[450, 10], fn=[0, 10], tn=[0, 440])
    >>> curve_refused_because(LabelRegime(), cases)
    >>> curve_refused_because(LabelRegime(Labelling.FLAGGED_ONLY), cases).split(". ")[0]
    'only flagged cases are labelled, so that recall at a threshold cannot be known'
    """
    if regime.labelling in _BY_LABELLING or not regime.has_errors:
        return _BY_LABELLING.get(regime.labelling)
    if not regime.errors.known:
        return _TOO_HIGH if any(regime.configured) else _UNKNOWN
    if text := excluded_by_scores(regime, labelled):
        return f"{text}. Lower the rates, or have cases audited (label_errors: audit)"
    errors = possible_at_thresholds(regime.errors, labelled)
    return None if has_both_classes(labelled[0], errors) else _ONE_CLASS
