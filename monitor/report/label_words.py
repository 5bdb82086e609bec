"""The words for every label fault, labelling regime and window status; see `vocabulary`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from monitor.config import Labelling
from monitor.labels.faults import LabelFault
from monitor.labels.refusals import ONLY_POSITIVES, REASONS
from monitor.report.printable import first_names

_NAMED = 3
_MISSING = {LabelFault.POSITIVES_MISSING, LabelFault.NEGATIVES_MISSING, LabelFault.LABELS_MISSING}


class LabelFaultWords(NamedTuple):
    """Something wrong with the labels.

    Attributes:
        words: its name for people.
        withheld: what is wrong, and which metrics are withheld for it.
    """

    words: str
    withheld: str


LABEL_FAULTS: Mapping[LabelFault, LabelFaultWords] = {
    fault: LabelFaultWords(words=fault.replace("_", " "), withheld=REASONS[fault])
    for fault in LabelFault
}
"""By label fault, in the order of `LabelFault`."""


class LabellingWords(NamedTuple):
    """A labelling regime: how labels come, as configured.

    Attributes:
        meaning: one sentence.
        withheld: metrics that it does not allow, and why; None where it allows all.
    """

    meaning: str
    withheld: str | None


LABELLINGS: Mapping[Labelling, LabellingWords] = {
    Labelling.COMPLETE: LabellingWords(
        meaning="As configured, every prediction gets a label sooner or later, or misses it at "
        "random.",
        withheld=REASONS.get(Labelling.COMPLETE),
    ),
    Labelling.SAMPLED: LabellingWords(
        meaning="Labels are a random sample of the flagged and of the other cases; metrics are "
        "corrected for it (Begg and Greenes).",
        withheld=REASONS.get(Labelling.SAMPLED),
    ),
    Labelling.WEIGHTED: LabellingWords(
        meaning="Labels are weighted by the probability with which they were asked for.",
        withheld=REASONS.get(Labelling.WEIGHTED),
    ),
    Labelling.NEGATIVES_BY_TIMEOUT: LabellingWords(
        meaning="Only positives are reported; silence past the timeout is a negative.",
        withheld=REASONS.get(Labelling.NEGATIVES_BY_TIMEOUT),
    ),
    Labelling.FLAGGED_ONLY: LabellingWords(
        meaning=f"{ONLY_POSITIVES.capitalize()}.",
        withheld=REASONS.get(Labelling.FLAGGED_ONLY),
    ),
}
"""By labelling regime, in the order of `Labelling`."""

WINDOW_STATUSES: Mapping[str, str] = {
    "mature": "all labels that are to come have come",
    "corrected": "young: its metrics, not its counts, are corrected for labels still to come",
    "immature": "too young: too few of its labels have come for any metric",
    "untrusted": "its labels cannot be trusted: the metrics they distort are withheld, see below",
}
"""State of the labels behind a window's metrics, by `Window.status`."""


def distrusted_text(faults: Mapping[str, LabelFault], whole: str = "") -> str:
    """Return which classes have labels that cannot be trusted, and why.

    Args:
        faults: of the classes at fault, by their names; empty where no class is.
        whole: the fault of the labels of all classes together; "" without one.

    >>> distrusted_text({"cash": LabelFault.POSITIVES_MISSING})
    'labels of cash are missing'
    >>> distrusted_text({}, LabelFault.CLASSES_UNKNOWN)
    '1 % or more of the labels or predictions name a class that the model does not have'
    >>> distrusted_text({"cash": LabelFault.DELAYS_CHANGED})
    'labels of cash cannot be trusted (delays changed)'
    """
    if whole == LabelFault.CLASSES_UNKNOWN:
        return "1 % or more of the labels or predictions name a class that the model does not have"
    if not faults:
        return "labels cannot be trusted"
    named = first_names([*faults], _NAMED)
    if _MISSING.issuperset(faults.values()):
        return f"labels of {named} are missing"
    words = dict.fromkeys(LABEL_FAULTS[fault].words for fault in faults.values())
    return f"labels of {named} cannot be trusted ({', '.join(words)})"
