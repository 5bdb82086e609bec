"""Chooses windows by volume: under `windows: auto`, and where none are listed."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.clock import DAY_MS
from monitor.verdicts import ReferenceOutcomes

_ALWAYS_MS = 7 * DAY_MS
_FILLED = 20
"""Actual positives and flagged cases that a shorter window must hold on average, each."""
_ENOUGH = 200
"""Actual positives and flagged cases, each, from which on a week is long enough."""


def windows_in_use(
    lengths: Mapping[str, int], reference: ReferenceOutcomes | None
) -> tuple[str, ...]:
    """Return the windows that a model uses, by the volume of its reference.

    Windows of a week or more are always used, so that alerts and verdicts have the same
    windows for every model. A shorter one is used where it holds 20 actual positives and 20
    flagged cases on average: the 95 % intervals of its recall and precision are then at most
    .45 wide.

    Args:
        lengths: length of each window by its name, milliseconds.
        reference: of the model; None while it is not known.

    Returns:
        Names in the order of `lengths`; all of them without a reference that has a length in
        time, and all where none is a week long.

    >>> from monitor.counts import ConfusionCounts
    >>> hours = {"1h": 1, "1d": 24, "7d": 168, "28d": 672}
    >>> lengths = {name: 3_600_000 * length for name, length in hours.items()}
    >>> week = ReferenceOutcomes(
    ...     source="first", opens=0, closes=7 * 86_400_000,
    ...     counts=ConfusionCounts(tp=320, fp=200, fn=80, tn=4_300),
    ... )
    >>> windows_in_use(lengths, week)
    ('1d', '7d', '28d')
    """
    rate = None if reference is None else _rarer_a_day(reference)
    if rate is None or max(lengths.values()) < _ALWAYS_MS:
        return tuple(lengths)
    return tuple(
        name
        for name, length in lengths.items()
        if length >= _ALWAYS_MS or rate * length / DAY_MS >= _FILLED
    )


def uses_longer(reference: ReferenceOutcomes) -> bool:
    """Return whether a model needs a longer window than the default ones.

    It does where a week holds fewer than 200 actual positives or 200 flagged cases on
    average. A week of 170 positives, at a recall of .8, excludes a fall by a quarter in only
    three quarters of all looks.

    Args:
        reference: of the model; False for one without a length in time.

    >>> from monitor.counts import ConfusionCounts
    >>> week = ReferenceOutcomes(
    ...     source="first", opens=0, closes=7 * 86_400_000,
    ...     counts=ConfusionCounts(tp=320, fp=200, fn=80, tn=4_300),
    ... )
    >>> uses_longer(week)
    False
    """
    rate = _rarer_a_day(reference)
    return rate is not None and rate * _ALWAYS_MS / DAY_MS < _ENOUGH


def _rarer_a_day(reference: ReferenceOutcomes) -> float | None:
    """Return the fewer of actual positives and flagged cases a day; None without a length."""
    if reference.opens is None or reference.closes is None:
        return None
    counts, days = reference.counts, (reference.closes - reference.opens) / DAY_MS
    return float(min(counts.actual_positive, counts.predicted_positive)) / days
