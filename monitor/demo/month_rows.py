"""Table of the months: one row each, with a picture on wide terminals."""

from __future__ import annotations

from monitor import metrics
from monitor.demo.months import Month

_LOW, _HIGH = 0.2, 0.7
"""Range of ratios that the picture shows."""
_PICTURE = 28
PICTURE_NEEDS_COLUMNS = 100
"""Minimum terminal width for the picture."""
PRECISION_MARK, BALANCED_MARK = "●", "○"


def header(*, picture: bool) -> str:
    """Return the column titles."""
    titles = (
        f"{'month':<7}{'flights':>8}{'prevalence':>11}{'r':>7}{'recall':>8}{'FPR':>7}"
        f"{'precision':>11}{'balanced':>10}"
    )
    axis = f".2 {PRECISION_MARK} precision {BALANCED_MARK} balanced .7"
    return f"{titles}   {axis}" if picture else titles


def row(month: Month, *, picture: bool) -> str:
    """Return the row of a month.

    Args:
        month: the month.
        picture: append the picture.
    """
    counts = month.counts
    precision = float(metrics.precision(counts))
    balanced = float(metrics.balanced_precision(counts))
    numbers = (
        f"{month.start:%Y-%m}{int(counts.total):>8,}"
        f"{float(metrics.prevalence(counts)):>11.3f}{float(metrics.class_ratio(counts)):>7.3f}"
        f"{float(metrics.recall(counts)):>8.3f}{float(metrics.false_positive_rate(counts)):>7.3f}"
        f"{precision:>11.3f}{balanced:>10.3f}"
    )
    return f"{numbers}   {_picture(precision, balanced)}" if picture else numbers


def _picture(precision: float, balanced: float) -> str:
    dots = ["·"] * _PICTURE
    for ratio, mark in ((precision, PRECISION_MARK), (balanced, BALANCED_MARK)):
        place = round((ratio - _LOW) / (_HIGH - _LOW) * (_PICTURE - 1))
        dots[min(max(place, 0), _PICTURE - 1)] = mark
    return "".join(dots)
