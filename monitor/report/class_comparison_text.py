"""Two stretches of time of a model of many classes in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from textwrap import wrap

import numpy as np
from scipy.special import ndtri

from monitor.config.quantities import format_time
from monitor.diagnosis.class_comparison import ClassComparison
from monitor.drift.class_attribution import Contributions
from monitor.drift.class_confusions import Confusion
from monitor.events.columns import OTHER_VALUE
from monitor.report.class_findings import ClassFindings, found_on
from monitor.report.class_text import OTHER_CLASS
from monitor.report.diagnosis_text import COLUMNS
from monitor.report.label_words import distrusted_text
from monitor.report.points import in_points
from monitor.report.printable import one_line
from monitor.report.table_cells import ratio_text, signed
from monitor.report.terminal_columns import columns_of, padded

_SHOWN = 10
_CHANCE = 0.025
"""Of each end of the intervals."""


def class_comparison_text(found: ClassComparison) -> str:
    """Return the comparison as text."""
    return "\n".join(_lines(found))


def comparison_findings(found: ClassComparison) -> ClassFindings:
    """Return what was found, in the words of a live window.

    Args:
        found: the comparison.
    """
    before, after = (side.matrix for side in found.sides)
    changes = found.changes.named(found.names)
    matrices = before, after
    return found_on(found.verdict, found.verdicts, changes, matrices, paging=found.paging)


def _lines(found: ClassComparison) -> Iterator[str]:
    before, after = found.ranges
    answer = comparison_findings(found)
    most = "" if found.verdict.label_fault else _most_moved(found)
    yield from wrap(f"What moved precision? {answer.moved}.{most}", COLUMNS)
    yield from wrap(f"Is the model worse? {answer.why}.", COLUMNS)
    if found.label_faults:
        yield from wrap(
            f"CAUTION: {distrusted_text(found.label_faults)}. Labelled are "
            f"{'; '.join(_labelled(found, name) for name in found.label_faults)}. Missing labels "
            "of a class look like rarer cases of it, and move the precision of the others.",
            COLUMNS,
        )
    yield ""
    yield f"{one_line(found.model)}: {before} and {after} (UTC, days)"
    if found.mature_until is not None and found.mature_until < after.closes:
        yield f"CAUTION: labels of predictions after {format_time(found.mature_until)} still come."
    yield ""
    wide = max(5, *(columns_of(one_line(name)) for name in found.names))
    heads = ("change", "prevalence", "recall", "leaks")
    yield f"{'class':<{wide}}{'precision':>17}" + "".join(f"{head:>16}" for head in heads)
    of = found.attribution
    parts = of.change, of.prevalence, of.recall, of.leaked
    for number, name in enumerate(found.names):
        sides = [side.metrics["precision"].estimate[number] for side in found.sides]
        moved = f"{ratio_text(sides[0])} → {ratio_text(sides[1])}"
        points = "".join(f"{_point(float(part.points[number])):>16}" for part in parts)
        yield f"{padded(one_line(name), wide)}{moved:>17}{points}"
        if limits := "".join(f"{_limits(part, number):>16}" for part in parts).rstrip():
            yield " " * (wide + 17) + limits
    yield (
        "points of precision, and their 95 % intervals; prevalence of all classes, recall of the "
        "class, leaks of the others"
    )
    if OTHER_VALUE in found.names:
        yield from wrap(OTHER_CLASS, COLUMNS)
    for name, day in found.lone_days.items():
        yield from wrap(
            f"{one_line(name)} has no interval: one day has every {day.predictions} prediction "
            f"{day.side}, so that no error between days is known; take more days",
            COLUMNS,
        )
    changes = found.changes.named(found.names)
    pairs = [one for one in changes if not one.is_recall]
    yield from _moved("Confusions that certainly changed", pairs)
    yield from _moved("Recall that certainly changed", [one for one in changes if one.is_recall])


def _labelled(found: ClassComparison, name: str) -> str:
    """Return the share of the predictions of a class that have a label, before and after."""
    number = found.names.index(name)
    before, after = (
        f"{100 * int(side.matrix[number].sum()) / max(int(side.predictions[number]), 1):.1f} %"
        for side in found.sides
    )
    return f"{after} of the predictions of {one_line(name)}, {before} before"


def _most_moved(found: ClassComparison) -> str:
    """Return the class whose precision certainly moved most, with its parts; "" without any.

    Certain is what holds for all classes together (Bonferroni 1936).
    """
    of = found.attribution
    points = of.change.points
    half = (of.change.upper_points - of.change.lower_points) / 2
    certain = np.abs(points) > half * ndtri(1 - _CHANCE / len(points)) / ndtri(1 - _CHANCE)
    if not certain.any():
        return ""
    number = int(np.argmax(np.where(certain, np.abs(points), -1.0)))
    leaks = of.leaks.points[number]
    most = int(np.argmax(np.abs(leaks)))
    is_certain = of.leaks.lower_points[number, most] * of.leaks.upper_points[number, most] > 0
    from_one = f", of {one_line(found.names[most])} most ({_point(leaks[most])})"
    verb = "rose" if points[number] > 0 else "fell"
    return (
        f" That of {one_line(found.names[number])} {verb} most, by {_point(points[number])[1:]} "
        f"points: prevalence of all classes {_point(of.prevalence.points[number])}, its recall "
        f"{_point(of.recall.points[number])}, leaks of the others "
        f"{_point(of.leaked.points[number])}{from_one if is_certain else ''}."
    )


def _moved(title: str, changes: Sequence[Confusion]) -> Iterator[str]:
    if not changes:
        return
    yield ""
    yield f"{title}, by actual class (99 %, all pairs together)"
    yield from (f"- {one_line(one.text)}" for one in changes[:_SHOWN])
    if len(changes) > _SHOWN:
        yield f"- and {len(changes) - _SHOWN} more (--json has all)"


def _limits(part: Contributions, number: int) -> str:
    """Return the 95 % interval of a part; nothing where it is undefined."""
    ends = [float(end[number]) for end in (part.lower_points, part.upper_points)]
    return " to ".join(map(_point, ends)) if all(map(math.isfinite, ends)) else ""


def _point(points: float) -> str:
    return signed(in_points(points), 1)
