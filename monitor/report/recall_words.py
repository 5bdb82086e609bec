"""What the outcomes say of recall, in phrases of the answer to "Is the model worse?"."""

from __future__ import annotations

import math

from scipy.special import logit

from monitor.drift.recall_evidence import MATTERS, Because, RecallEvidence, excludes_much
from monitor.report.compared import Compared
from monitor.report.rate_changes import both_known, short

_LEAST_EXCLUDED = 0.005
"""A recall that is excluded below this reads as .00, which is nothing, and above 1 less it as 1."""
_HIGHEST = 0.999
"""A recall that is excluded beyond this is given as this, since below 1 all is excluded."""
_FEW_TIMES, _MOST_TIMES = 10, 100
"""Below the first, a number of times is rounded up to a tenth; above the second, it is left out."""
_MANY_MORE = 1.25
"""A false positive rate of so many times the usual one is named beside a recall that is lower."""
_NOT_KNOWN = "not known"


def between(recall: RecallEvidence) -> str:
    """Return the limits of recall, a phrase behind "recall is".

    Args:
        recall: its limits, not NaN. One that says nothing is left out.

    >>> between(RecallEvidence(.46, .71, .4)), between(RecallEvidence(.46, 1.0, .4))
    ('between .46 and .71', 'at least .46')
    >>> between(RecallEvidence(0.0, .71, 0.0)), between(RecallEvidence(0.0, 1.0, 0.0))
    ('at most .71', 'not known')
    """
    lower, upper = (short(limit, 2) for limit in (recall.lower, recall.upper))
    open_below = recall.lower < _LEAST_EXCLUDED
    if recall.upper > 1 - _LEAST_EXCLUDED:
        return _NOT_KNOWN if open_below else f"at least {lower}"
    return f"at most {upper}" if open_below else f"between {lower} and {upper}"


def open_by_range(found: Compared) -> str:
    """Return what the range of `label_errors` leaves open, a clause; "" where it leaves nothing.

    Args:
        found: what was found.
    """
    if found.because is not Because.LABEL_ERRORS or not math.isfinite(found.recall.lower):
        return ""
    limits = f"{short(found.recall.lower, 2)} to {short(found.recall.upper, 2)}"
    left = "it open" if between(found.recall) == _NOT_KNOWN else limits
    return f"{recall_of(found)} is not known: the range of label_errors leaves {left}"


def recall_so_far(found: Compared) -> str:
    """Return recall while there is no reference; "" where it is not known.

    Args:
        found: what was found.
    """
    if found.because is not Because.NO_REFERENCE or not math.isfinite(found.recall.lower):
        return ""
    return f"; so far recall is {between(found.recall)}"


def recall_now(found: Compared) -> str:
    """Return recall by the window that says most, and false positives where these are worse.

    Args:
        found: what was found, on a model that pages.
    """
    if not math.isfinite(found.recall.lower) or not both_known(found.rates):
        return ""
    before, recall = found.rates["recall"]
    was, now = found.rates["false_positive_rate"]
    false = f"the false positive rate is {short(now, 3)}, was {short(was, 3)}"
    if recall >= before and now > was:
        return f": {false}; recall is not lower"
    usual = f"was {short(before, 2)}" + (f"; {false}" if now > _MANY_MORE * was else "")
    if range_open := open_by_range(found):
        return f": {range_open}, {usual}"
    return f": {recall_of(found)} is {between(found.recall)}, {usual}"


def what_is_excluded(found: Compared) -> str:
    """Return which fall of recall the outcomes exclude, a clause.

    Args:
        found: what was found.
    """
    if not math.isfinite(found.recall.excluded):
        return "there are no positives to tell by"
    if range_open := open_by_range(found):
        return range_open
    stretch = f" {found.stretch}" if found.stretch else ""
    if found.recall.excluded < _LEAST_EXCLUDED:
        return f"the outcomes{stretch} exclude no fall of recall"
    little = "" if excludes_a_fall(found) else "only "
    what = "a recall" if found.recall.excluded > found.rates["recall"][0] else "a fall of recall"
    nearly_one = found.recall.excluded > 1 - _LEAST_EXCLUDED
    limit = short(min(found.recall.excluded, _HIGHEST), 3 if nearly_one else 2)
    return f"{little}{what} below {limit}{stretch} is excluded{_with_more(found)}"


def _with_more(found: Compared) -> str:
    """Return how many more outcomes would exclude a fall that matters, a clause.

    The distance from recall to its limit, in log-odds, falls with the root of their number.

    Returns:
        "" where a fall that matters is excluded, or recall is so low that more would not exclude
        it, or over a hundred times as many would.
    """
    usual, now = found.rates["recall"]
    if excludes_a_fall(found) or not 0 < now < 1:
        return ""
    least = (1 - MATTERS) * usual
    reach = float(logit(now) - logit(found.recall.excluded))
    needed = float(logit(now) - logit(least))
    times = (reach / needed) ** 2 if needed > 0 else math.inf
    if times > _MOST_TIMES:
        return ""
    many = f"{math.ceil(times * 10) / 10:.1f}" if times < _FEW_TIMES else f"{math.ceil(times)}"
    return f"; about {many} times as many outcomes would exclude one below {short(least, 2)}"


def excludes_a_fall(found: Compared) -> bool:
    """Return True where a fall of recall that matters is excluded.

    Args:
        found: what was found.
    """
    return excludes_much(found.recall.excluded, found.rates["recall"][0])


def recall_of(found: Compared) -> str:
    """Return what limits of recall are about, such as "recall over the last 7d".

    Args:
        found: what was found.
    """
    return f"recall {found.stretch}" if found.stretch else "recall"
