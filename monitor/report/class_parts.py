"""The parts of a change of a class's precision in JSON answers."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from monitor.drift.class_attribution import ClassAttribution, Contributions
from monitor.report.answer_parts import defined


class ClassPart(Struct, frozen=True, kw_only=True):
    """A part of the change of a class's precision.

    Attributes:
        logit: of the change of logit(precision), exact; null where it is undefined.
        points: of the change of precision, a fraction; null likewise.
        lower_points: lower limit of the 95 % interval; null likewise.
        upper_points: upper limit; null likewise.
    """

    logit: float | None
    points: float | None
    lower_points: float | None
    upper_points: float | None


class ClassParts(Struct, frozen=True, kw_only=True):
    """The change of a class's precision, and its parts, which add up to it.

    Attributes:
        change: the whole.
        prevalence: how frequent all classes are.
        recall: of the class itself.
        leaks: of each other class into it, by name.
    """

    change: ClassPart
    prevalence: ClassPart
    recall: ClassPart
    leaks: dict[str, ClassPart]


def class_parts(found: ClassAttribution, names: Sequence[str], number: int) -> ClassParts:
    """Return what moved the precision of a class.

    Args:
        found: what moved that of every class.
        names: of the classes.
        number: of the class.
    """
    others = [other for other in range(len(names)) if other != number]
    return ClassParts(
        change=_part(found.change, number),
        prevalence=_part(found.prevalence, number),
        recall=_part(found.recall, number),
        leaks={names[other]: _part(found.leaks, (number, other)) for other in others},
    )


def _part(found: Contributions, place: int | tuple[int, int]) -> ClassPart:
    logit, points, lower, upper = (defined(float(array[place])) for array in found)
    return ClassPart(logit=logit, points=points, lower_points=lower, upper_points=upper)
