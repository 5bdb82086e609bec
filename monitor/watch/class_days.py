"""Reads the days of a model of many classes."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import Int64Array
from monitor.windows import Windows


def class_days(
    windows: Windows, model: int, classes: int, first: int, end: int
) -> tuple[Int64Array, Int64Array]:
    """Return the labelled predictions of days; days without a prediction are left out.

    Args:
        windows: counts.
        model: its number.
        classes: how many it has.
        first: day since 1970, UTC.
        end: day after the last one.

    Returns:
        The numbers of the days, (days,), and their matrices by predicted and actual class,
        (days, classes, classes).
    """
    entries = windows.classes.day_entries(model, first, end)
    held = np.unique(entries.at)
    days = np.zeros((len(held), classes, classes), dtype=np.int64)
    own = entries.actual >= 0
    at = np.searchsorted(held, entries.at[own])
    np.add.at(days, (at, entries.predicted[own], entries.actual[own]), entries.cases[own])
    return held, days
