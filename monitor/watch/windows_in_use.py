"""Chooses windows by volume: under `windows: auto`, and where none are listed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift.all_looks import Looks
from monitor.drift.day_scatter import DayScatter
from monitor.drift.dispersion import Dispersion
from monitor.drift.recall_evidence import recall_evidence
from monitor.metrics.rates import recall
from monitor.verdicts import ReferenceOutcomes

_ALWAYS_MS = 7 * DAY_MS
_FILLED = 20
"""Actual positives and flagged cases that a shorter window must hold on average, each."""
_ENOUGH = 200
"""Actual positives and flagged cases, each, from which on a week is long enough."""
_LEAST_EXCLUDED = 0.8
"""Share of the usual recall below which a week must exclude a recall to be long enough."""


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


def uses_longer(reference: ReferenceOutcomes, scatter: DayScatter | None = None) -> bool:
    """Return whether a model needs a longer window than the default ones.

    It does where a week holds fewer than 200 actual positives or 200 flagged cases on
    average. A week of 170 positives, at a recall of .8, excludes a fall by a quarter in only
    three quarters of all looks. It does, too, where days scatter so much that a week with the
    reference's rates does not exclude a fall of recall by a fifth: half of the weeks lie lower,
    and exclude less.

    Args:
        reference: of the model; False for one without a length in time.
        scatter: of its days in the reference; None where it is not known.

    >>> from monitor.counts import ConfusionCounts
    >>> week = ReferenceOutcomes(
    ...     source="first", opens=0, closes=7 * 86_400_000,
    ...     counts=ConfusionCounts(tp=320, fp=200, fn=80, tn=4_300),
    ... )
    >>> uses_longer(week)
    False
    """
    rate = _rarer_a_day(reference)
    if rate is None:
        return False
    few = rate * _ALWAYS_MS / DAY_MS < _ENOUGH
    return few or (scatter is not None and _excludes_little(reference, scatter))


def _excludes_little(reference: ReferenceOutcomes, scatter: DayScatter) -> bool:
    """Return whether a week with the reference's rates excludes no fall of recall by a fifth."""
    days, week = _days_of(reference), _ALWAYS_MS // DAY_MS
    usual = ConfusionCounts.from_cells(reference.counts.cells * (week / days))
    between = scatter.between(days, week)
    found = recall_evidence(usual, Dispersion.of(1.0), between, Looks(week))
    return found.excluded < _LEAST_EXCLUDED * float(recall(usual))


def _rarer_a_day(reference: ReferenceOutcomes) -> float | None:
    """Return the fewer of actual positives and flagged cases a day; None without a length."""
    if reference.opens is None or reference.closes is None:
        return None
    counts = reference.counts
    return float(min(counts.actual_positive, counts.predicted_positive)) / _days_of(reference)


def _days_of(reference: ReferenceOutcomes) -> float:
    """Return the length of a reference in days; NaN for one without."""
    if reference.opens is None or reference.closes is None:
        return math.nan
    return (reference.closes - reference.opens) / DAY_MS
