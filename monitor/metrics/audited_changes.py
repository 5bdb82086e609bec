"""Changes of the rates of wrong labels over time, found by audits.

Stretches of days before and after a moment are compared: twice the log-likelihood with rates of
their own, less that with the same rates for both. Shares of actual positives may differ all the
same, so that a shift of prevalence is no change of labels. The moment with the greatest
difference is a change where this is above a limit that allows for having looked at all moments.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from monitor.counts import CountArray
from monitor.metrics.audit_likelihood import greatest_log_likelihood
from monitor.metrics.audited_errors import AuditedLabels, AuditFindings
from monitor.metrics.label_errors import UNKNOWN_ERRORS

MOST_CHANGES = 3
_LIMIT = 20.0
"""Twice the log-likelihood that a change must add. In 800 simulated half-years without a change the
most was 11; where prevalence fell to a fifth and audits to an eighth at once, 3 of 200 had more."""
_CANDIDATES = 8
"""Moments that are looked at first, with the same number of audits between them."""


class AuditedDays(NamedTuple):
    """Audited cases and all labelled ones, by day; days without an audit are left out.

    Attributes:
        days: numbers since 1970, ascending.
        audited: (days, 2, 2, 2), cases by predicted class, label and actual class.
        labelled: (days, 2, 2), cases by predicted class and label, at least the audited ones.
    """

    days: CountArray
    audited: CountArray
    labelled: CountArray

    def is_same(self, other: AuditedDays) -> bool:
        """Return whether other days have the same counts."""
        return all(map(np.array_equal, self, other))

    def of(self, start: int, end: int) -> AuditedLabels:
        """Return the cases of some of the days.

        Args:
            start: place of the first.
            end: place after the last.
        """
        return AuditedLabels(*(part[start:end].sum(axis=0) for part in self[1:]))

    def findings(self) -> AuditFindings:
        """Return what audits show: since the last change of the rates, and before each change.

        Where the rates of some stretch are undefined, the stretches are one. Where flagged cases
        have wrong labels at other rates than the others in some stretch, no rates are stated.
        """
        changes = rate_changes(self.audited, self.labelled)
        ends = [0, *changes, len(self.days)]
        *before, latest = [AuditFindings.of(self.of(*bounds)) for bounds in pairwise(ends)]
        found = [*before, latest]
        follow = any(one.follow_predictions for one in found)
        if before and not follow and all(one.rates.known for one in found):
            until = self.days[changes].tolist()
            return latest._replace(earlier=tuple(zip(until, before, strict=True)))
        whole = AuditFindings.of(self.of(0, len(self.days))) if before else latest
        if follow:
            return whole._replace(rates=UNKNOWN_ERRORS, follow_predictions=True)
        return whole


def rate_changes(audited: CountArray, labelled: CountArray) -> list[int]:
    """Return where rates of wrong labels certainly changed, by repeated division in two.

    Args:
        audited: as in `AuditedDays`.
        labelled: likewise.

    Returns:
        Places of the first days after the changes, ascending, at most `MOST_CHANGES`. Each
        stretch between them has audits enough for rates of its own, see
        `AuditedLabels.are_enough`.
    """
    changes: list[int] = []
    open_ = [(0, len(audited))]
    while open_ and len(changes) < MOST_CHANGES:
        start, end = open_.pop(0)
        place = _change(audited[start:end], labelled[start:end])
        if place is not None:
            changes.append(start + place)
            open_ += [(start, start + place), (start + place, end)]
    return _placed_again(audited, labelled, sorted(changes))


def _placed_again(audited: CountArray, labelled: CountArray, changes: list[int]) -> list[int]:
    """Return changes, each as it is found between its neighbours; those that add nothing go."""
    at = 0
    while len(changes) > 1 and at < len(changes):
        start, end = [0, *changes][at], [*changes, len(audited)][at + 1]
        place = _change(audited[start:end], labelled[start:end])
        if place is None:
            del changes[at]
            at = 0
        else:
            changes[at] = start + place
            at += 1
    return changes


def _change(audited: CountArray, labelled: CountArray) -> int | None:
    """Return the place of the most likely change of some days, where it is certain."""
    near = _possible(audited)
    while len(near):
        chosen = np.linspace(0, len(near) - 1, min(_CANDIDATES, len(near))).round().astype(np.int64)
        gains = _gains(audited, labelled, near[chosen])
        at = int(gains.argmax())
        if len(chosen) == len(near):
            return int(near[at]) if gains[at] >= _LIMIT else None
        if gains[at] < _LIMIT / 2:
            return None
        near = near[chosen[max(at - 1, 0)] : chosen[min(at + 1, len(chosen) - 1)] + 1]
    return None


def _possible(audited: CountArray) -> CountArray:
    """Return the places before and after which enough audits lie."""
    by_label = audited.sum(axis=(1, 3)).cumsum(axis=0)
    places = np.flatnonzero(audited.any(axis=(1, 2, 3)))[1:]
    before = by_label[places - 1]
    after = by_label[-1:] - before
    return places[AuditedLabels.enough(before) & AuditedLabels.enough(after)]


def _gains(audited: CountArray, labelled: CountArray, places: CountArray) -> CountArray:
    """Return what rates of their own add before and after each place: twice the log-likelihood."""
    of_parts = []
    for counts in (audited, labelled):
        sums = counts.cumsum(axis=0)
        before = sums[places - 1]
        of_parts.append(np.stack([before, sums[-1] - before], axis=1))
    apart = [part.reshape(-1, 1, *part.shape[2:]) for part in of_parts]
    alone = greatest_log_likelihood(apart[0], apart[1]).reshape(-1, 2).sum(axis=1)
    return np.asarray(2 * (alone - greatest_log_likelihood(of_parts[0], of_parts[1])))
