"""The classes of a window of a model of more than two, as objects to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Estimated
from monitor.events.columns import Int64Array
from monitor.metrics.class_report import ClassReport, Limits
from monitor.python.frames import frame, metric_columns, plain_table
from monitor.report.class_words import WHOLE_WORDS
from monitor.report.printable import one_line
from monitor.report.terminal_columns import columns_of, padded

_PREDICTED = "predicted"
_LINES = 8
"""Classes that the `repr` of a window shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneClassView:
    """One class, as if the others were one class.

    Attributes:
        predictions: predictions of it, labelled or not.
        counts: its outcomes, scalars.
        metrics: estimates by the names in `monitor.snapshot.METRIC_NAMES`, and `f1`.
    """

    predictions: int
    counts: ConfusionCounts
    metrics: Mapping[str, Estimated]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClassesView:
    """The classes of one window.

    Attributes:
        names: in the configured order, which rows and columns of the matrix have, too.
        matrix: labelled predictions, a row for each predicted class and a column for each
            actual class.
        by_class: each class by its name.
        averages: over the classes, by kind (`macro`, `weighted`) and then by metric
            (`precision`, `recall`, `f1`); micro averages are the accuracy.
        accuracy: share of the cases whose predicted class is the actual one.
        cohen_kappa: agreement beyond chance, over the largest possible agreement beyond it.
    """

    names: tuple[str, ...]
    matrix: Int64Array
    by_class: Mapping[str, OneClassView]
    averages: Mapping[str, Mapping[str, Estimated]]
    accuracy: Estimated
    cohen_kappa: Estimated

    @property
    def whole(self) -> Mapping[str, Estimated]:
        """The metrics of all classes together that a `repr` shows, by their titles."""
        of_whole = {"accuracy": self.accuracy, "cohen_kappa": self.cohen_kappa}
        return {
            words.title: of_whole[words.metric]
            if words.average is None
            else self.averages[words.average][words.metric]
            for words in WHOLE_WORDS
        }

    def to_dict(self) -> dict[str, list[Any]]:
        """Return a table as lists of plain values by column, a row for each class.

        Columns are those of a window, without its times: `class`, `predictions`, the outcomes of
        the class against the others, and each metric with its limits, None where undefined.
        """
        return plain_table(self.columns())

    def to_frame(self) -> Any:
        """Return the table of `to_dict` as a frame of pandas, or of polars without pandas.

        Raises:
            ImportError: neither is installed.
        """
        return frame(self.columns())

    def matrix_to_frame(self) -> Any:
        """Return the matrix as a frame: a row for each predicted class, named in `predicted`.

        The other columns are the actual classes. A class called `predicted` is in the column
        `predicted (actual)`.

        Raises:
            ImportError: neither pandas nor polars is installed.
        """
        columns: dict[str, list[Any]] = {_PREDICTED: [*self.names]}
        for name, cases in zip(self.names, self.matrix.T.tolist(), strict=True):
            columns[f"{name} (actual)" if name == _PREDICTED else name] = cases
        return frame(columns)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of the table, with NaN for what is undefined."""
        rows = []
        for name, one in self.by_class.items():
            row: dict[str, Any] = {"class": name, "predictions": one.predictions}
            rows.append(row | metric_columns(one.counts, one.metrics))
        return {name: [row[name] for row in rows] for name in rows[0]}

    def __repr__(self) -> str:
        actual, predicted = self.matrix.sum(axis=0).tolist(), self.matrix.sum(axis=1).tolist()
        shown = [one_line(name) for name in self.names[:_LINES]]
        wide = max(16, *(columns_of(name) + 1 for name in shown))
        lines = [f"{'class':<{wide}}{'actual':>10}{'predicted':>12}   precision / recall"]
        for number, name in enumerate(shown):
            found = self.by_class[self.names[number]].metrics
            cases = f"{actual[number]:>10,}{predicted[number]:>12,}"
            lines.append(f"{padded(name, wide)}{cases}   {found['precision']} / {found['recall']}")
        left = len(self.names) - len(shown)
        return "\n".join([*lines, f"… and {left} more"] if left > 0 else lines)


def classes_view(found: ClassReport | None) -> ClassesView | None:
    """Return the classes of a window; None for a model of two classes."""
    if found is None:
        return None
    averages: dict[str, dict[str, Estimated]] = {}
    for (kind, metric), limits in found.averages.items():
        averages.setdefault(kind, {})[metric] = _estimated(limits)
    return ClassesView(
        names=found.names,
        matrix=found.matrix.copy(),
        by_class={name: _one(found, number) for number, name in enumerate(found.names)},
        averages=averages,
        **{name: _estimated(limits) for name, limits in found.whole.items()},
    )


def _one(found: ClassReport, number: int) -> OneClassView:
    return OneClassView(
        predictions=int(found.predictions[number]),
        counts=found.counts[number],
        metrics={
            name: _estimated(Limits(*(ends[number] for ends in limits)))
            for name, limits in found.metrics.items()
        },
    )


def _estimated(limits: Limits) -> Estimated:
    estimate, lower, upper = map(float, limits)
    return Estimated(estimate=estimate, lower=lower, upper=upper)
