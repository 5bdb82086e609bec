"""Estimates ahead of the labels in words: what they rest on, and why they are withheld."""

from __future__ import annotations

from monitor.drift.checked_estimate import LABELS_ALONE, CheckedEstimate, Withheld
from monitor.report.points import in_points
from monitor.verdicts import COVARIATE_SHIFT, LABEL_SHIFT, LABEL_SHIFT_BY_SEGMENT

_YOUNGER = "from mature labels, and for younger cases {weight:.0%} from their "
_ONLY_PREVALENCE = f"{_YOUNGER}predictions, as if only prevalence had changed"
_FURTHER = "; today predictions point further from labels than on any of these days"
METHODS = {
    LABELS_ALONE: "from mature labels",
    LABEL_SHIFT: _ONLY_PREVALENCE,
    LABEL_SHIFT_BY_SEGMENT: f"{_ONLY_PREVALENCE} within each segment",
    COVARIATE_SHIFT: f"{_YOUNGER}calibrated scores",
}
"""Words for what an estimate rests on."""

WITHHELD = {
    Withheld.NO_MATURE_WINDOW: "no window of its length is mature yet",
    Withheld.LABELS_NOT_TRUSTWORTHY: "its labels cannot be trusted",
    Withheld.RECORD_TOO_SHORT: "too few past estimates have met their labels",
    Withheld.WORSE_THAN_LAST_MATURE: "past estimates were worse than the last mature window",
    Withheld.INTERVALS_MISSED: "the intervals of past estimates missed too often",
    Withheld.INTERVAL_TOO_WIDE: "its interval would hold over two thirds of all values",
    Withheld.NOTHING_FLAGGED: "no case in it is flagged, so that it is undefined",
    Withheld.LABELS_REACH_AS_FAR: "its mature labels reach further than the last whole day",
    Withheld.MODEL_DEAD: "the model's predictions say nothing any more",
}
"""Words for why an estimate is withheld."""


def rests_on(found: CheckedEstimate) -> str:
    """Return in one line what an estimate rests on, or why there is none.

    >>> rests_on(CheckedEstimate(
    ...     method=LABEL_SHIFT, weight=0.8, comparisons=38, days=40, median_error=0.021,
    ...     withheld=None))
    'from mature labels, and for younger cases 80 % from their predictions, as if only \
prevalence had changed; over the last 40 days such estimates were off by 2.1 points in the median'
    >>> rests_on(CheckedEstimate(comparisons=38, days=40, median_error=0.021, withheld=None,
    ...     moved_further=True)).partition("median; ")[2]
    'today predictions point further from labels than on any of these days'
    >>> rests_on(CheckedEstimate())
    'no estimate: no window of its length is mature yet'
    """
    if found.withheld is not None:
        return f"no estimate: {WITHHELD[found.withheld]}"
    method = METHODS[found.method].format(weight=found.weight).replace("%", " %")
    further = (
        "; today predictions point further from labels than on any of these days"
        if found.moved_further
        else ""
    )
    return (
        f"{method}; over the last {found.days} days such estimates were off by "
        f"{in_points(found.median_error):.1f} points in the median{further}"
    )
