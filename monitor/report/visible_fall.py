"""The fall of recall that a steady window would have shown, in one sentence."""

from __future__ import annotations

from monitor.drift.recall_evidence import MATTERS, Because
from monitor.report.rate_changes import short
from monitor.report.two_answers import WorseAnswer


def visible_fall(because: str | None, worse: WorseAnswer) -> str:
    """Return which fall of recall a steady window would have shown with 80 % probability.

    Args:
        because: why there is no verdict; None where there is one.
        worse: the answer to "Is the model worse?".

    Returns:
        A sentence; "" where the window is not steady, nothing was compared, or the answer is not
        that no fall is shown.
    """
    visible = worse.recall_visible
    if because != Because.STEADY or visible is None or worse.answer != "not_shown":
        return ""
    text = f"all of recall to {short(visible, 2)} would have been shown with 80 % probability"
    excluded = worse.recall_excluded
    if excluded is not None and visible < (1 - MATTERS) * excluded:
        return f"Only a f{text}: a verdict counts the errors of the reference as well."
    return f"A f{text}."
