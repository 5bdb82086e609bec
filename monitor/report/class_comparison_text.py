"""Two stretches of time of a model of many classes in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap

import numpy as np

from monitor.config.quantities import format_time
from monitor.diagnosis.class_comparison import ClassComparison, moved_confusions
from monitor.drift.class_attribution import Contributions
from monitor.report.diagnosis_text import COLUMNS
from monitor.report.label_words import distrusted_text
from monitor.report.points import in_points
from monitor.report.printable import one_line
from monitor.report.terminal_columns import columns_of, padded

_SHOWN = 10
_UNDEFINED = "—"


def class_comparison_text(found: ClassComparison) -> str:
    """Return the comparison as text."""
    return "\n".join(_lines(found))


def class_headline(found: ClassComparison) -> str:
    """Return whether the model is worse, in one sentence: by a pair, else by a class's recall.

    Args:
        found: the comparison.
    """
    changes, told = found.changes, {True: "", False: ""}
    cells = moved_confusions(found)
    for predicted, actual in (*reversed(recalls_of(cells)), *reversed(pairs_of(cells))):
        worse = bool(changes.worse[predicted, actual])
        told[worse] = confusion_sentence(found, predicted, actual)
    if changes.is_worse and changes.is_better:
        return f"Confusions moved both ways: {told[True]}, and {told[False]}."
    if changes.is_worse:
        return f"The model is worse: {told[True]}."
    if changes.is_better:
        return f"The model is better: {told[False]}."
    if found.label_faults:
        return f"Is the model worse? Cannot be known: {distrusted_text(found.label_faults)}."
    return "Is the model worse? Not shown: no class is certainly recognised less often."


def pairs_of(cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cells of two different classes."""
    return [(predicted, actual) for predicted, actual in cells if predicted != actual]


def recalls_of(cells: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the cells of a class predicted as itself, each its recall."""
    return [(predicted, actual) for predicted, actual in cells if predicted == actual]


def confusion_sentence(found: ClassComparison, predicted: int, actual: int) -> str:
    """Return how often cases of a class are predicted as a class, before and after.

    Args:
        found: the comparison.
        predicted: number of the predicted class.
        actual: number of the actual class.
    """
    names = [one_line(name) for name in found.names]
    before, after = (
        f"{100 * float(rates[predicted, actual]):.1f} %"
        for rates in (found.changes.before, found.changes.after)
    )
    verb = (
        "rose"
        if found.changes.after[predicted, actual] > found.changes.before[predicted, actual]
        else "fell"
    )
    if predicted == actual:
        return f"recall of {names[actual]} {verb} from {before} to {after}"
    return f"{names[actual]} taken for {names[predicted]} {verb} from {before} to {after}"


def _lines(found: ClassComparison) -> Iterator[str]:
    before, after = found.ranges
    yield from wrap(class_headline(found), COLUMNS)
    if found.label_faults:
        yield from wrap(
            f"CAUTION: {distrusted_text(found.label_faults)}. Missing labels of a class look like "
            "rarer cases of it, and move the precision of the others.",
            COLUMNS,
        )
    if moved := _most_moved(found):
        yield from wrap(f"What moved precision? {moved}.", COLUMNS)
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
        moved = f"{_ratio(sides[0])} → {_ratio(sides[1])}"
        points = "".join(f"{_point(float(part.points[number])):>16}" for part in parts)
        yield f"{padded(one_line(name), wide)}{moved:>17}{points}"
        if limits := "".join(f"{_limits(part, number):>16}" for part in parts).rstrip():
            yield " " * (wide + 17) + limits
    yield (
        "points of precision, and their 95 % intervals; prevalence of all classes, recall of the "
        "class, leaks of the others"
    )
    cells = moved_confusions(found)
    yield from _moved("Confusions that certainly changed", found, pairs_of(cells))
    yield from _moved("Recall that certainly changed", found, recalls_of(cells))


def _most_moved(found: ClassComparison) -> str:
    """Return the class whose precision certainly moved most, with its parts; "" without any."""
    of = found.attribution
    points, certain = of.change.points, of.change.lower_points * of.change.upper_points > 0
    if not certain.any():
        return ""
    number = int(np.argmax(np.where(certain, np.abs(points), -1.0)))
    leaks = of.leaks.points[number]
    most = int(np.argmax(np.abs(leaks)))
    is_certain = of.leaks.lower_points[number, most] * of.leaks.upper_points[number, most] > 0
    from_one = f", of {one_line(found.names[most])} most ({_point(leaks[most])})"
    verb = "rose" if points[number] > 0 else "fell"
    return (
        f"That of {one_line(found.names[number])} {verb} most, by {_point(points[number])[1:]} "
        f"points: prevalence of all classes {_point(of.prevalence.points[number])}, its recall "
        f"{_point(of.recall.points[number])}, leaks of the others "
        f"{_point(of.leaked.points[number])}{from_one if is_certain else ''}"
    )


def _moved(title: str, found: ClassComparison, cells: list[tuple[int, int]]) -> Iterator[str]:
    if not cells:
        return
    yield ""
    yield f"{title}, by actual class (99 %, all pairs together)"
    yield from (f"- {confusion_sentence(found, *cell)}" for cell in cells[:_SHOWN])
    if len(cells) > _SHOWN:
        yield f"- and {len(cells) - _SHOWN} more (--json has all)"


def _limits(part: Contributions, number: int) -> str:
    """Return the 95 % interval of a part; nothing where it is undefined."""
    ends = [float(end[number]) for end in (part.lower_points, part.upper_points)]
    return " to ".join(map(_point, ends)) if all(map(math.isfinite, ends)) else ""


def _point(points: float) -> str:
    return f"{in_points(points):+.1f}" if math.isfinite(points) else _UNDEFINED


def _ratio(ratio: float) -> str:
    return f"{ratio:.3f}" if math.isfinite(ratio) else _UNDEFINED
