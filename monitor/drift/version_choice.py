"""Which two versions of a model are compared where nobody names them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches

from monitor.clock import HOUR_MS
from monitor.config.quantities import count_of, format_time
from monitor.drift.version_verdict import FEWEST_CASES, VersionVerdict
from monitor.drift.versions_compared import UNCOUNTED, VersionsCompared, VersionTraffic
from monitor.errors import NotComparedError, UsageError
from monitor.events.columns import MISSING_VALUE, OTHER_VALUE
from monitor.events.version_starts import is_in_use

_LISTED = 8
_MOST_EARLIER = 4
_WITHOUT = {MISSING_VALUE: " without a version"}
Pair = tuple[VersionTraffic, VersionTraffic]
"""A, the version to compare with, and B, the one to judge."""


def by_beginning(versions: Iterable[VersionTraffic]) -> tuple[VersionTraffic, ...]:
    """Return versions in the order in which they began.

    Which of those began first that predict within the first hour of all is not known, as where a
    record begins in the middle of a rollout: the one with most predictions comes first, unless all
    predictions lie in that hour.

    Args:
        versions: in any order.

    >>> canary, stable = VersionTraffic("7", 20, 0, 8 * DAY_MS), VersionTraffic("6", 80, 1, 9)
    >>> [one.name for one in by_beginning([canary, stable])]
    ['6', '7']
    """
    found = sorted(versions, key=lambda one: (one.first, one.name))
    if not found or max(one.last for one in found) < found[0].first + HOUR_MS:
        return tuple(found)
    known = found[0].first + HOUR_MS
    at_first = [one for one in found if one.first < known]
    at_first.sort(key=lambda one: -one.predictions)
    return (*at_first, *found[len(at_first) :])


def named_versions(there: Sequence[VersionTraffic], names: tuple[str, str], option: str) -> Pair:
    """Return the two versions that somebody names.

    Args:
        there: the versions, in the order of their first predictions.
        names: of A, the version to compare with, and of B, the one to judge.
        option: what they are asked for by, for the error.

    Raises:
        UsageError: a version is unknown.
    """
    by_name = {one.name: one for one in there}
    for name in names:
        if name not in by_name:
            if OTHER_VALUE in by_name:
                raise UsageError(
                    f"{option}: no version is counted by the name {name!r}; {UNCOUNTED}"
                )
            near = get_close_matches(name, by_name, n=1)
            known = f"did you mean {near[0]!r}? Known are" if near else "known are"
            raise UsageError(f"{option}: no such version, got {name!r}; {known} {_listed(there)}")
    return by_name[names[0]], by_name[names[1]]


def latest_pair(
    there: Sequence[VersionTraffic],
    option: str,
    made_since: Callable[[str, int], int],
    rarer_outcomes: Callable[[str], int],
) -> Pair:
    """Return A, the version to compare with, and B, the one to judge, where nobody names them.

    B is the version that began last, and A the one that predicted most since then, so that a
    canary that was rolled back before is passed by; where none did, A is the one before. A version
    that began last with fewer than 10 mature positives or negatives gives way to the latest that
    has as many, where that one and its A still predict beside it: a stray prediction hides no
    canary.

    Args:
        there: the versions, in the order of their first predictions.
        option: what they are asked for by, for the error.
        made_since: returns how many predictions a version made from a moment on, epoch
            milliseconds.
        rarer_outcomes: returns how many mature outcomes a version has of the class that it has
            fewer of.

    Raises:
        UsageError: there are fewer than two.
    """
    if len(there) < 2:  # noqa: PLR2004  # a comparison has two sides
        raise UsageError(
            f"{option}: a comparison needs two versions, and there is {_only(there)}; "
            "predictions name theirs in the field version"
        )
    newest = there[-1]
    for end in range(len(there), 1, -1):
        pair = _with_the_one_beside(there[:end], made_since)
        if rarer_outcomes(pair[1].name) >= FEWEST_CASES and (
            pair[1] is newest or min(one.last for one in pair) >= newest.first
        ):
            return pair
    return _with_the_one_beside(there, made_since)


def pairs_in_use(
    there: Sequence[VersionTraffic],
    option: str,
    made_since: Callable[[str, int], int],
    rarer_outcomes: Callable[[str], int],
) -> Iterator[Pair]:
    """Yield the pair that `latest_pair` returns, then those of earlier versions in use.

    These are at most four, the latest first, each with the version that predicted most since.

    Args:
        there: the versions, in the order of their first predictions.
        option: what they are asked for by, for the error.
        made_since: as `latest_pair` takes it.
        rarer_outcomes: likewise.

    Raises:
        UsageError: there are fewer than two.
    """
    chosen = latest_pair(there, option, made_since, rarer_outcomes)
    yield chosen
    latest = max(one.last for one in there)
    earlier = [
        pair
        for end in range(len(there), 1, -1)
        for pair in [_with_the_one_beside(there[:end], made_since)]
        if pair[1] is not chosen[1] and is_in_use(pair[1].last, latest)
    ]
    yield from (p for p in earlier[:_MOST_EARLIER] if rarer_outcomes(p[1].name) >= FEWEST_CASES)


def first_proven_worse(
    pairs: Iterable[Pair],
    compared: Callable[[Pair], VersionsCompared],
) -> VersionsCompared | None:
    """Return the comparison of the first pair whose B is worse; None where none is.

    So a canary that is worse is named while another one is compared.

    Args:
        pairs: of `pairs_in_use`.
        compared: compares a pair, or raises a NotComparedError.
    """
    for pair in pairs:
        with suppress(NotComparedError):
            found = compared(pair)
            if found.comparison.decided_by.found.verdict is VersionVerdict.WORSE:
                return found
    return None


def _with_the_one_beside(
    there: Sequence[VersionTraffic], made_since: Callable[[str, int], int]
) -> Pair:
    """Return the version that predicted most since the last one began, and the last one."""
    *others, judged = there
    beside = {one.name: made_since(one.name, judged.first) for one in others}
    return max(reversed(others), key=lambda one: beside[one.name]), judged


def _only(there: Sequence[VersionTraffic]) -> str:
    return f"only {_listed(there)}" if there else "none"


def _listed(there: Sequence[VersionTraffic]) -> str:
    """Return the versions that began last, with their predictions and times, for an error."""
    named = [
        f"{one.name!r} ({count_of(one.predictions, 'prediction')}{_WITHOUT.get(one.name, '')}, "
        f"{format_time(one.first)} to {format_time(one.ended)})"
        for one in there[-_LISTED:]
    ]
    more = [f"{len(there) - _LISTED} that began earlier"] if len(there) > _LISTED else []
    return "; ".join([*named, *more]) or "none"
