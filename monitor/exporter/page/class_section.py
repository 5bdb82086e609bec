"""The section "Classes": the matrix before and after, what changed, and a table of classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import htpy as h
import numpy as np
from msgspec import UNSET

from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.events.columns import FloatArray, Int64Array
from monitor.exporter.api.status_answer import ModelStatus
from monitor.exporter.page.drawing import sign
from monitor.exporter.page.formats import UNDEFINED, coded, count, interval, points, ratio
from monitor.exporter.page.heat_map import (
    MOST_ON_A_PHONE,
    MOST_WITH_NUMBERS,
    HeatMap,
    difference_range,
    heat_map,
)
from monitor.metrics.ratio import ratio as quotient
from monitor.report.class_answer import (
    ClassesAnswer,
    OneClass,
    classes_to_look_at,
    ranked_classes,
)
from monitor.report.printable import one_line
from monitor.report.verdict_words import VERDICTS

_METRICS = ("precision", "recall", "f1")
_TITLES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
_PARTS = {"prevalence": "prevalence", "recall": "recall"}
_NAMED = 8
_FEW = 4
"""So few more classes stand with the others."""


def class_section(model: ModelStatus) -> h.Element | None:
    """Return the section; None for a model of two classes.

    Args:
        model: its state; the window that decides is shown.
    """
    window = model.windows[model.verdict_window]
    classes = window.classes
    if classes is UNSET:
        return None
    return h.section("#classes", aria_labelledby="classes-title")[
        h.h2(id="classes-title")["Classes"],
        None
        if window.label_fault is None
        else h.p(".fault")[
            f"Labels of the last {model.verdict_window} cannot be trusted. The matrices and the "
            "table show only those that count."
        ],
        _confusions(classes, model.verdict_window),
        _maps(classes, model.verdict_window),
        h.h3[f"Each class against the others, last {model.verdict_window}"],
        _tables(classes),
        _explained(classes),
    ]


def _confusions(classes: ClassesAnswer, window: str) -> h.Node:
    found = classes.confusions
    if found is UNSET:
        return h.p(".muted")["Nothing is compared yet: the reference is not complete."]
    if not found:
        return h.p(".muted")[f"No confusion certainly changed in the last {window}."]
    more = len(found) - _NAMED
    return h.ul[
        (h.li[h.strong[coded(one_line(one.text))]] for one in found[:_NAMED]),
        h.li(".muted")[f"and {more} more"] if more > 0 else None,
    ]


def _maps(classes: ClassesAnswer, window: str) -> h.Node:
    after = _rates(np.array(classes.matrix, dtype=np.int64))
    now = HeatMap(f"Last {window}", "after", after)
    if classes.reference_matrix is UNSET:
        return [h.div(".heats")[heat_map(classes.names, now)], _legend(None, len(classes.names))]
    before = _rates(np.array(classes.reference_matrix, dtype=np.int64))
    place = {name: number for number, name in enumerate(classes.names)}
    certain = np.zeros(after.shape, dtype=np.bool_)
    for one in () if classes.confusions is UNSET else classes.confusions:
        certain[place[one.actual], place[one.predicted]] = True
    maps = (
        HeatMap("Reference", "before", before),
        now,
        HeatMap("Difference, points", "", after - before, certain),
    )
    return [
        h.div(".heats")[(heat_map(classes.names, one) for one in maps)],
        _legend(maps[-1], len(classes.names)),
    ]


def _rates(matrix: Int64Array) -> FloatArray:
    """Return the shares of each actual class (rows) that are predicted as each class."""
    cases = matrix.sum(axis=0)
    return quotient(matrix, np.broadcast_to(cases, matrix.shape)).T


def _legend(difference: HeatMap | None, size: int) -> h.Element:
    return h.p(".muted")[
        "Rows are actual classes and add up to 100 %, columns are predicted classes. ",
        "Columns have the numbers of the rows; a cell shows its share under the pointer. "
        if size > MOST_WITH_NUMBERS
        else None,
        "On a narrow screen the maps scroll. " if size > MOST_ON_A_PHONE else None,
        None
        if difference is None
        else "In the difference, orange is for the worse: less is right, or more is confused; "
        "green is for the better. Outlined cells certainly changed, others are pale. The deepest "
        f"colour is {100 * difference_range(difference):.1f} points.",
    ]


def _tables(classes: ClassesAnswer) -> h.Node:
    """Return the classes that need a look, eight at least, and the others behind a summary."""
    ranked = ranked_classes(classes)
    shown = max(_NAMED, len(classes_to_look_at(classes)))
    more = len(ranked) - shown
    if more < _FEW:
        shown, more = len(ranked), 0
    none_worse = "" if classes.reference_matrix is UNSET else ", none certainly worse"
    first = h.div(".scroll", tabindex="0", role="region", aria_label="Classes")
    rest = h.div(".scroll", tabindex="0", role="region", aria_label="More classes")
    return [
        first[_table(classes, ranked[:shown], "Classes with their verdicts and metrics.")],
        h.details(id="more-classes")[
            h.summary[f"The other classes ({more}){none_worse}"],
            rest[_table(classes, ranked[shown:], "More classes with their verdicts and metrics.")],
        ]
        if more
        else None,
    ]


def _table(classes: ClassesAnswer, names: Sequence[str], caption: str) -> h.Element:
    compared = classes.reference_matrix is not UNSET
    return h.table(".segments.classes.stacked")[
        h.caption(".unseen")[caption],
        h.thead[
            h.tr[
                h.th(scope="col")["Class"],
                h.th(scope="col")["Verdict"] if compared else None,
                h.th(".number", scope="col")["Actual"],
                (h.th(".number", scope="col")[_TITLES[name]] for name in _METRICS),
                h.th(".number", scope="col")["Precision moved", h.small["points"]]
                if compared
                else None,
            ]
        ],
        h.tbody[(_row(classes, name) for name in names)],
    ]


def _row(classes: ClassesAnswer, name: str) -> h.Element:
    one = classes.by_class[name]
    cases = one.outcomes.tp + one.outcomes.fn
    return h.tr[
        h.th(scope="row")[one_line(name)],
        _verdict(classes, name),
        h.td(".number", {"data-title": "Actual"})[count(cases)],
        (
            h.td(".number", {"data-title": _TITLES[metric]})[
                ratio(getattr(one.metrics, metric).estimate),
                h.small[interval(getattr(one.metrics, metric))],
            ]
            for metric in _METRICS
        ),
        _moved(one),
    ]


def _verdict(classes: ClassesAnswer, name: str) -> h.Node:
    change, words = classes.by_class[name].change, classes.words_of(name)
    if change is UNSET or words is None:
        return None
    if not change.paging:
        return h.td(".verdict-cell")[sign(words), " ", words.title]
    pages = VERDICTS[Verdict.MODEL_DEGRADED]
    is_worse = change.verdict in DEGRADED
    return h.td(".verdict-cell")[
        sign(words if is_worse else pages, "bad"),
        " ",
        words.title if is_worse else "Not certainly recovered",
        h.small["pages"],
    ]


def _moved(one: OneClass) -> h.Node:
    if one.change is UNSET:
        return None
    found, parts = one.change.precision, enumerate(_parts(one))
    return h.td(".number", {"data-title": "Precision moved"})[
        points(found.change.points) if found.change.points is not None else UNDEFINED,
        h.small[[[", " if number else "", h.span(".whole")[part]] for number, part in parts]],
    ]


def _parts(one: OneClass) -> Iterator[str]:
    """Yield the parts of the change, the leaks of all other classes as one."""
    if one.change is UNSET or one.change.precision.change.points is None:
        return
    found = one.change.precision
    for name, title in _PARTS.items():
        yield f"{title} {points(getattr(found, name).points)}"
    leaks = [leak.points for leak in found.leaks.values() if leak.points is not None]
    yield f"leaks {points(sum(leaks))}"


def _explained(classes: ClassesAnswer) -> h.Node:
    if classes.reference_matrix is UNSET:
        return None
    return h.p(".muted")[
        "Verdicts hold within the actual classes: where only the shares of the classes move, no "
        "class is worse. Prevalence is that of all classes; leaks are what the others leak in."
    ]
