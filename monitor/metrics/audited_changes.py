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
from monitor.metrics.audited_errors import AuditedDays, AuditedLabels, AuditFindings
from monitor.metrics.label_errors import UNKNOWN_ERRORS

MOST_CHANGES = 6
"""Changes that are looked for in a year of audits."""
_LIMIT = 20.0
"""Twice the log-likelihood that a change must add. In 800 simulated half-years without a change the
most was 11; where prevalence fell to a fifth and audits to an eighth at once, 3 of 200 had more."""
_CANDIDATES = 8
"""Moments that are looked at first, with the same number of audits between them."""


def audit_findings(days: AuditedDays) -> AuditFindings:
    """Return what audits show: since the last change of the rates, and before each change.

    No rates are stated where those of some stretch are undefined: a change is certain, and
    the rates of all together would be right for none.

    Args:
        days: audited cases, and all labelled ones, by day.
    """
    changes = rate_changes(days.audited, days.labelled)
    ends = [0, *changes, len(days.days)]
    *before, latest = [
        AuditFindings.of(days.of(*bounds), stretches=len(ends) - 1) for bounds in pairwise(ends)
    ]
    until = days.days[changes].tolist()
    found = latest._replace(earlier=tuple(zip(until, before, strict=True)), days=days)
    if all(one.rates.known for one in (*before, latest)):
        return found
    follow = any(one.follow_predictions for one in before) or latest.follow_predictions
    return found._replace(rates=UNKNOWN_ERRORS, follow_predictions=follow)


class _Change(NamedTuple):
    """A change of the rates: what it adds to twice the log-likelihood, and where it is."""

    gain: float
    place: int


def rate_changes(audited: CountArray, labelled: CountArray) -> list[int]:
    """Return where rates of wrong labels certainly changed, by repeated division in two.

    Args:
        audited: as in `AuditedDays`.
        labelled: likewise.

    Returns:
        Places of the first days after the changes, ascending: those that add most, at most
        `MOST_CHANGES`. Each stretch between them has audits enough for rates of its own, see
        `AuditedLabels.are_enough`.
    """
    return _Search(audited, labelled).places()


class _Search:
    """Looks for changes of the rates of some days; each stretch is divided once.

    Args:
        audited: as in `AuditedDays`.
        labelled: likewise.
    """

    def __init__(self, audited: CountArray, labelled: CountArray) -> None:
        self._audited, self._labelled = audited, labelled
        self._known: dict[tuple[int, int], _Change | None] = {}

    def places(self) -> list[int]:
        """Return the places of the first days after the changes, ascending."""
        found: list[int] = []
        while len(found) < MOST_CHANGES:
            changes = [self._change(*bounds) for bounds in pairwise(self._ends(found))]
            certain = [one for one in changes if one is not None]
            if not certain:
                break
            found = sorted([*found, max(certain).place])
        for _ in range(MOST_CHANGES):
            before, found = found, self._joined(self._placed_again(found))
            if found == before:
                break
        return found

    def _ends(self, places: list[int]) -> list[int]:
        return [0, *places, len(self._audited)]

    def _placed_again(self, places: list[int]) -> list[int]:
        """Return changes, each as it is found between its neighbours; those that add nothing go.

        A change that is found while others are not yet lies where these pull it.
        """
        at = 0
        while at < len(places):
            ends = self._ends(places)
            found = self._change(ends[at], ends[at + 2])
            moved = [] if found is None else [found.place]
            places = [*places[:at], *moved, *places[at + 1 :]]
            at += len(moved)
        return places

    def _joined(self, places: list[int]) -> list[int]:
        """Return changes, one for each two in a row where one leaves nothing certain beside it.

        A place is not exact, and what is left of its change beside it may be certain, too. That is
        shorter than the stretches around it.
        """
        at = 0
        while at + 1 < len(places):
            start, first, last, end = self._ends(places)[at : at + 4]
            is_short = last - first < min(first - start, end - last) / 2
            between = _spread(np.arange(first, last + 1)).tolist() if is_short else []
            one = next((place for place in between if self._is_all(start, place, end)), None)
            if one is None:
                at += 1
            else:
                places = [*places[:at], one, *places[at + 2 :]]
        return places

    def _is_all(self, start: int, place: int, end: int) -> bool:
        """Return whether there is no certain change on either side of a place."""
        return self._change(start, place) is None and self._change(place, end) is None

    def _change(self, start: int, end: int) -> _Change | None:
        """Return the most likely change of the days at the places [start, end), if certain."""
        if (start, end) not in self._known:
            cases = self._audited[start:end], self._labelled[start:end]
            found = _change(*cases)
            moved = None if found is None else found._replace(place=start + found.place)
            self._known[start, end] = moved
        return self._known[start, end]


def _change(audited: CountArray, labelled: CountArray) -> _Change | None:
    """Return the most likely change of some days, where it is certain."""
    near = _possible(audited)
    while len(near):
        chosen = _spread(near)
        gains = _gains(audited, labelled, chosen)
        at = int(gains.argmax())
        if len(chosen) == len(near):
            found = _Change(float(gains[at]), int(chosen[at]))
            return found if found.gain >= _LIMIT else None
        if gains[at] < _LIMIT / 2:
            return None
        first, last = chosen[max(at - 1, 0)], chosen[min(at + 1, len(chosen) - 1)]
        near = near[(near >= first) & (near <= last)]
    return None


def _spread(places: CountArray) -> CountArray:
    """Return at most `_CANDIDATES` of some places, the first and the last of them included."""
    chosen = np.linspace(0, len(places) - 1, min(_CANDIDATES, len(places)))
    return np.asarray(places[chosen.round().astype(np.int64)])


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
