"""Which two versions of a model are compared where nobody names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from math import inf

from monitor.clock import HOUR_MS
from monitor.config.quantities import count_of, format_time
from monitor.drift.version_verdict import FEWEST_CASES, VersionVerdict
from monitor.drift.versions_compared import UNCOUNTED, Pair, VersionsCompared, VersionTraffic
from monitor.errors import NotComparedError, UsageError
from monitor.events.columns import MISSING_VALUE, OTHER_VALUE
from monitor.events.version_starts import is_in_use

_LISTED = 8
_MOST_IN_USE, _MOST_SHADOWS = 5, 4
_WITHOUT = {MISSING_VALUE: " without a version"}


def by_beginning(versions: Iterable[VersionTraffic]) -> tuple[VersionTraffic, ...]:
    """Return versions in the order in which they began.

    Which of those began first that predict within the first hour of all is not known, as where a
    record begins in the middle of a rollout: the one that makes its 32nd prediction first was there
    before. That stays so while a canary outgrows the other. Where all predictions have one time, as
    those of a table without times, versions are in the order of their names.

    Args:
        versions: in any order.

    >>> canary = VersionTraffic("7", 980, 0, 200 * HOUR_MS, settled=9e6)
    >>> stable = VersionTraffic("6", 20, 1, 200 * HOUR_MS, settled=2e5)
    >>> [one.name for one in by_beginning([canary, stable])]
    ['6', '7']
    """
    found = sorted(versions, key=lambda one: (one.first, one.name))
    if not found or all(one.last == found[0].first for one in found):
        return tuple(found)
    known = found[0].first + HOUR_MS
    at_first = [one for one in found if one.first < known]
    at_first.sort(key=lambda one: inf if one.settled is None else one.settled)
    return (*at_first, *found[len(at_first) :])


def named_versions(there: Sequence[VersionTraffic], names: tuple[str, str], option: str) -> Pair:
    """Return the two versions that somebody names.

    Args:
        there: the versions, in the order of their first predictions.
        names: of A, the version to compare with, and of B, the one to judge.
        option: what they are asked for by, for the error.

    Raises:
        NotComparedError: a version has no prediction.
        UsageError: no prediction names a version, or versions are not counted by their names.
    """
    by_name = {one.name: one for one in there}
    for name in names:
        if name not in by_name:
            if OTHER_VALUE in by_name:
                raise UsageError(
                    f"{option}: no version is counted by the name {name!r}; {UNCOUNTED}"
                )
            if not by_name.keys() - {MISSING_VALUE}:
                raise UsageError(
                    f"{option}: no prediction names its version, got {name!r}; predictions name "
                    "theirs in the field version"
                )
            near = get_close_matches(name, by_name, n=1)
            known = f"did you mean {near[0]!r}? Known are" if near else "known are"
            raise NotComparedError(
                f"{option}: version {name!r} has no prediction yet; {known} {_listed(there)}"
            )
    return by_name[names[0]], by_name[names[1]]


class VersionChoice:
    """Which versions of a model are compared where nobody names them.

    Args:
        there: the versions, in the order of `by_beginning`.
        is_shadow: returns whether a version scores ids that another one decides on.
        made_since: returns how many predictions a version made from a moment on, epoch
            milliseconds.
        rarer_outcomes: returns how many mature outcomes a version has of the class that it has
            fewer of.
    """

    def __init__(
        self,
        there: Sequence[VersionTraffic],
        *,
        is_shadow: Callable[[str], bool],
        made_since: Callable[[str, int], int],
        rarer_outcomes: Callable[[str], int],
    ) -> None:
        self._there = there
        self._deciding = [one for one in there if not is_shadow(one.name)]
        self._shadows = [one for one in there if is_shadow(one.name)]
        self._made_since = made_since
        self._rarer_outcomes = rarer_outcomes

    def latest(self, option: str) -> Pair:
        """Return A, the version to compare with, and B, the one to judge.

        B is the version that began last, and A the one that predicted most since then, so that a
        canary that was rolled back before is passed by; where none did, A is the one before. A
        version that began last with fewer than 10 mature positives or negatives gives way to the
        latest that has as many, where that one and its A still predict beside it: a stray
        prediction hides no canary. A shadow version is judged where it began last, and where no
        two versions that decide can be compared.

        Args:
            option: what they are asked for by, for the error.

        Raises:
            NotComparedError: there is one.
            UsageError: no prediction names a version.
        """
        shadow = next((pair for pair in self.of_shadows() if self._suffices(pair[1])), None)
        if shadow is not None and shadow[1] is self._there[-1]:
            return shadow
        if len(self._deciding) < 2:  # noqa: PLR2004  # a comparison has two sides
            if found := [*([shadow] if shadow else []), *self.of_shadows()]:
                return found[0]
            needs = f"{option}: a comparison needs two versions"
            if all(one.name == MISSING_VALUE for one in self._there):
                raise UsageError(
                    f"{needs}, and no prediction names its version; predictions name theirs in the "
                    "field version"
                )
            raise NotComparedError(
                f"{needs}, and there is only {_listed(self._there)}; predictions name theirs in "
                "the field version"
            )
        newest = self._pair(len(self._deciding))
        for end in range(len(self._deciding), 1, -1):
            if self._deciding[end - 1].last < newest[1].first:
                continue
            pair = self._pair(end)
            beside = pair == newest or pair[0].last >= newest[1].first
            if beside and self._suffices(pair[1]) and (shadow is None or _met(pair)):
                return pair
        return newest if shadow is None else shadow

    def too_new(self, pair: Pair) -> VersionTraffic | None:
        """Return the version that began last, where it has too few outcomes to be compared.

        Args:
            pair: that is compared.

        Returns:
            None where it is one of the pair, or has enough.
        """
        newest = self._there[-1]
        return None if newest in pair or self._suffices(newest) else newest

    def of_shadows(self) -> list[Pair]:
        """Return each shadow version with the one that decides now, the latest four first.

        Of several that decide now, it is the one that predicted most since the shadow began.
        """
        latest = max((one.last for one in self._deciding), default=0)
        now = [one for one in self._deciding if is_in_use(one.last, latest)]
        shadows = reversed(self._shadows[-_MOST_SHADOWS:] if now else [])
        return [(self._most_since(now, one.first), one) for one in shadows]

    def in_use(self) -> Iterator[Pair]:
        """Yield the latest five versions that decide and still predict, each with its A.

        Versions with fewer than 10 mature positives or negatives are left out.
        """
        latest = max((one.last for one in self._deciding), default=0)
        ends = range(len(self._deciding), 1, -1)
        used = [end for end in ends if is_in_use(self._deciding[end - 1].last, latest)]
        pairs = (self._pair(end) for end in used[:_MOST_IN_USE])
        yield from (pair for pair in pairs if self._suffices(pair[1]))

    def _pair(self, end: int) -> Pair:
        """Return the last of the first versions that decide, after the one beside it."""
        *others, judged = self._deciding[:end]
        return self._most_since(others, judged.first), judged

    def _most_since(self, versions: Sequence[VersionTraffic], moment: int) -> VersionTraffic:
        made = {one.name: self._made_since(one.name, moment) for one in versions}
        return max(reversed(versions), key=lambda one: made[one.name])

    def _suffices(self, version: VersionTraffic) -> bool:
        return self._rarer_outcomes(version.name) >= FEWEST_CASES


def those_compared(
    pairs: Iterable[Pair], compared: Callable[[Pair], VersionsCompared]
) -> tuple[VersionsCompared, ...]:
    """Return the comparisons of those pairs that can be compared.

    Args:
        pairs: of `VersionChoice.of_shadows`.
        compared: compares a pair, or raises a NotComparedError.
    """
    found = []
    for pair in pairs:
        with suppress(NotComparedError):
            found.append(compared(pair))
    return tuple(found)


def first_proven_worse(
    pairs: Iterable[Pair],
    compared: Callable[[Pair], VersionsCompared],
) -> VersionsCompared | None:
    """Return the comparison of the first pair whose B is worse; None where none is.

    So a canary that is worse is named while another one is compared.

    Args:
        pairs: of `VersionChoice.in_use`.
        compared: compares a pair, or raises a NotComparedError.
    """
    for pair in pairs:
        with suppress(NotComparedError):
            found = compared(pair)
            if found.comparison.decided_by.found.verdict is VersionVerdict.WORSE:
                return found
    return None


def _met(pair: Pair) -> bool:
    """Return whether two versions predicted at the same time."""
    return min(one.last for one in pair) >= max(one.first for one in pair)


def _listed(there: Sequence[VersionTraffic]) -> str:
    """Return the versions that began last, with predictions and known times, for an error."""
    is_timed = len({moment for one in there for moment in (one.first, one.last)}) > 1
    named = [
        f"{one.name!r} ({count_of(one.predictions, 'prediction')}{_WITHOUT.get(one.name, '')}"
        + f", {format_time(one.first)} to {format_time(one.ended)}" * is_timed
        + ")"
        for one in there[-_LISTED:]
    ]
    more = [f"{len(there) - _LISTED} that began earlier"] if len(there) > _LISTED else []
    return "; ".join([*named, *more]) or "none"
