"""The answer to "What moved precision?", by the attribution of its change."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from typing import NamedTuple

from msgspec import Struct

from monitor.report.points import in_points, points_text
from monitor.report.vocabulary import ADDITIVE_CAUSES

_CANCELS = 2.0
"""From this multiple of the change on, a cause is mostly cancelled by others."""
_HALF = 0.5
"""A further cause is named from this share of the first one on, and an uncertain first one is
only from this share of the change on."""
_COUNTERED = 1.0
"""Points by which a cause moved precision more than all together: others countered it."""
_STAYED = 0.02
"""Precision stayed where the interval of its change lies within two points of none."""

_NOT_CERTAIN = "It did not certainly move: {}"


class PrecisionAnswer(Struct, frozen=True, kw_only=True):
    """Answer to "What moved precision?".

    Attributes:
        cause: `prevalence`, `recall` or `false_positives`, the one with the largest part in
            the direction of the change; null where no change is certain, where others
            cancel most of that part, and of a model of many classes.
        certain: the 95 % interval of that part leaves out 0.
        text: the answer in one line, without a full stop.
    """

    cause: str | None
    certain: bool
    text: str


class Points(NamedTuple):
    """A part of a change of precision, as a fraction, with its 95 % interval."""

    estimate: float
    lower: float
    upper: float

    @property
    def certain(self) -> bool:
        """Return True where the interval excludes 0."""
        return self.lower > 0 or self.upper < 0


def moved_precision(
    change: Points,
    parts: Mapping[str, Points],
    recall: tuple[float, float],
    likely: Container[str] = (),
) -> PrecisionAnswer:
    """Return the cause with the largest part in the change of precision, and its part.

    Causes that certainly moved it in the same direction by at least half as much stand beside it.
    Where precision did not certainly move, that comes first, and its causes are likely at most.

    Args:
        change: of precision, finite.
        parts: of the change, by additive cause.
        recall: before and after; NaN where there are no positives.
        likely: causes that the verdict is not sure of, whose interval may leave out 0 all the same.
    """
    whole = _whole(change)
    known = {name: one for name, one in parts.items() if math.isfinite(one.estimate)}
    if len(known) < len(parts):
        return _no_cause(_undivided(whole, recall))
    way = math.copysign(1.0, change.estimate)
    cause = max(known, key=lambda name: way * known[name].estimate)
    size = abs(known[cause].estimate)
    if change.certain and size < _CANCELS * abs(change.estimate):
        if not known[cause].certain and size < _HALF * abs(change.estimate):
            return _no_cause(f"No single cause is certain: {whole}")
        text = _with_its_part(cause, known, change, likely)
        return PrecisionAnswer(cause=cause, certain=known[cause].certain, text=text)
    certain = {name: part for name, part in parts.items() if part.certain}
    if certain:
        unsure = likely if change.certain else ()  # else all of them are likely at most
        effects = ", ".join(
            f"{_effect(name, one, unsure)} {points_text(one.estimate)}"
            for name, one in certain.items()
        )
        if change.certain:
            text = f"{_capital(effects)}; in all {whole}"
        else:
            text = f"{_NOT_CERTAIN.format(whole)}; likely {effects}"
        return _no_cause(text)
    return _stayed(change) or _no_cause(f"Nothing certain: {whole}")


def did_not_move(change: Points) -> PrecisionAnswer | None:
    """Return that precision did not certainly move; None where it did, or is not known.

    Args:
        change: of precision.
    """
    if change.certain or not math.isfinite(change.lower + change.upper):
        return None
    return _stayed(change) or _no_cause(_NOT_CERTAIN.format(_whole(change)))


def _stayed(change: Points) -> PrecisionAnswer | None:
    if max(-change.lower, change.upper) < _STAYED:
        return _no_cause(f"Nothing: it stayed ({_ends(change)})")
    return None


def _whole(change: Points) -> str:
    return f"{points_text(change.estimate)} points ({_ends(change)})"


def _undivided(whole: str, recall: tuple[float, float]) -> str:
    """Return that the causes of a change cannot be divided, and which positives are missing."""
    lacks_before, lacks_after = map(math.isnan, recall)
    if lacks_before and lacks_after:
        return "Not known: before and after there are no positives"
    why = ""
    if lacks_before or lacks_after:
        why = f", as there are no positives {'before' if lacks_before else 'any more'}"
    return f"Precision moved by {whole}; its causes cannot be divided{why}"


def _no_cause(text: str) -> PrecisionAnswer:
    return PrecisionAnswer(cause=None, certain=False, text=text)


def _effect(cause: str, part: Points, likely: Container[str]) -> str:
    words = ADDITIVE_CAUSES[cause].effect(part.estimate)
    if not part.certain:
        return f"probably {words}"
    return f"likely {words}" if cause in likely else words


def _with_its_part(
    cause: str, known: Mapping[str, Points], change: Points, likely: Container[str]
) -> str:
    """Return the first cause with its part, and those that did at least half as much."""
    first = known[cause]
    words = _effect(cause, first, likely)
    further = (
        f"; {_effect(name, one, likely)}: {points_text(one.estimate)} ({_ends(one)})"
        for name, one in known.items()
        if name != cause and one.certain and one.estimate / first.estimate >= _HALF
    )
    part, whole = in_points(first.estimate), in_points(change.estimate)
    size = f"{points_text(first.estimate)} of {points_text(change.estimate)} points"
    others = ""
    if abs(part) >= abs(whole) + _COUNTERED:  # "-11.0 of -8.1" would be more than the whole
        size = f"{points_text(first.estimate)} points"
        rest = points_text((whole - part) / 100)
        others = f"; other causes {rest}, in all {points_text(change.estimate)}"
    return _capital(f"{words}: {size} ({_ends(first)}){''.join(further)}{others}")


def _ends(part: Points) -> str:
    if not math.isfinite(part.lower):
        return "nothing is excluded"
    return f"{points_text(part.lower)} to {points_text(part.upper)}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
