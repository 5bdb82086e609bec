"""The classes of a window in words: a table of them, and which are mistaken for which."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from monitor.events.columns import OTHER_VALUE
from monitor.metrics.class_report import ClassReport, Limits
from monitor.report.printable import one_line
from monitor.report.table_cells import UNDEFINED
from monitor.report.terminal_columns import columns_of, cut, padded

_WIDEST = 24
_CONFUSIONS = 5
_METRICS = ("precision", "recall", "f1")
OTHER_CLASS = (
    f"{OTHER_VALUE} has the cases whose class was not learned when their label or prediction came: "
    "it is no class in the averages; list the classes of the model to count each apart from the "
    "first record on"
)
"""What the class is that holds all names which a model has not learned."""


def classes_text(window: str, found: ClassReport) -> Iterator[str]:
    """Yield lines on the classes of a window, the last one empty.

    Args:
        window: its name.
        found: its classes.
    """
    names = [_short(name) for name in found.names]
    wide = max(len("weighted"), *map(columns_of, names))
    heads = "".join(f"{head:>24}" for head in _METRICS)
    yield f"  {window:<8}{'class':<{wide}}{'actual':>9}{'predicted':>11}{heads}"
    predicted, actual = found.matrix.sum(axis=1).tolist(), found.matrix.sum(axis=0).tolist()
    for number, name in enumerate(names):
        cells = [Limits(*(ends[number] for ends in found.metrics[m])) for m in _METRICS]
        counts = f"{actual[number]:>9,}{predicted[number]:>11,}"
        yield f"  {'':<8}{padded(name, wide)}{counts}{_row(cells)}"
    for kind in ("macro", "weighted"):
        cells = [found.averages[kind, metric] for metric in _METRICS]
        yield f"  {'':<8}{kind:<{wide}}{'':>20}{_row(cells)}"
    yield from (f"  {'':<8}{line}" for line in confusions(found))
    yield ""


def confusions(found: ClassReport) -> Iterator[str]:
    r"""Yield the most frequent confusions, a line each.

    Args:
        found: the classes of a window.

    >>> from monitor.metrics.class_report import class_report
    >>> matrix = np.array([[90, 9], [10, 1]])
    >>> print(*confusions(class_report(("card", "loan"), matrix, matrix.sum(axis=1))), sep="\n")
    10 of 100 card were taken for loan (10.0 %)
    9 of 10 loan were taken for card (90.0 %)
    """
    wrong = found.matrix * (1 - np.eye(len(found.names), dtype=np.int64))
    actual = found.matrix.sum(axis=0)
    for cell in np.argsort(-wrong, axis=None, kind="stable")[:_CONFUSIONS].tolist():
        predicted, own = divmod(cell, len(found.names))
        count, cases = int(wrong[predicted, own]), int(actual[own])
        if count:
            names = _short(found.names[own]), _short(found.names[predicted])
            share = f"{100 * count / cases:.1f} %"
            yield f"{count:,} of {cases:,} {names[0]} were taken for {names[1]} ({share})"


def _row(cells: list[Limits]) -> str:
    return "".join(f"{_limits(cell):>24}" for cell in cells)


def _limits(found: Limits) -> str:
    if not math.isfinite(found.estimate):
        return UNDEFINED
    return f"{found.estimate:.3f} ({found.lower:.3f}-{found.upper:.3f})"


def _short(name: str) -> str:
    return cut(one_line(name), _WIDEST)
