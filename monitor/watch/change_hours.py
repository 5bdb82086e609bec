"""The hour in which the rates of a model changed."""

from __future__ import annotations

from monitor.clock import HOUR_MS
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.change_news import ChangeBegan
from monitor.drift.change_point import change_point
from monitor.drift.dispersion import Dispersion
from monitor.windows.history import History


def when_rates_changed(
    history: History, before: ConfusionCounts, hours: tuple[int, int], dispersion: Dispersion
) -> ChangeBegan | None:
    """Return when the rates changed within whole hours.

    Args:
        history: totals of a model by hour.
        before: outcomes from before these hours, a scalar.
        hours: end of `before`, 0 where no time is known of it, and end of the last hour, epoch
            milliseconds.
        dispersion: variance of rows over that of independent ones.

    Returns:
        None without an outcome, and where outcomes without a time are compared with hours that
        may differ from the first one on: no moment of a change is known then.
    """
    opens, cells = history
    outcomes = cells[:, : len(Outcome)]
    judged = (opens >= hours[0]) & (opens + HOUR_MS <= hours[1])
    opens = opens[judged]
    found = change_point(
        ConfusionCounts.from_cells(outcomes[judged]),
        before,
        recall_dispersion=float(dispersion.recall),
        false_positive_dispersion=float(dispersion.false_positive_rate),
    )
    if found is None or not (found.earliest or hours[0]):
        return None
    return ChangeBegan.in_steps(found, opens, HOUR_MS)
