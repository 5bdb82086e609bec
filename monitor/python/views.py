"""A model and its windows as objects to look at: plain floats, short `repr`s, frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from textwrap import shorten
from typing import Any

from msgspec import structs

from monitor.config.quantities import count_of
from monitor.counts import ConfusionCounts, Outcome
from monitor.diagnosis import Estimated
from monitor.drift import Verdict
from monitor.exporter.api.selection import Selection
from monitor.exporter.api.status import status_answer
from monitor.exporter.api.status_answer import ModelStatus
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill
from monitor.python.class_views import ClassesView, classes_view
from monitor.python.frames import frame, metric_columns, plain_table, plain_value
from monitor.python.source_tables import LabelSourcesView
from monitor.report.class_words import POOLED_CELLS
from monitor.report.deciding_window import verdict_on
from monitor.report.label_answer import IfLabelsWrong, labels_wrong_answer, window_sensitivity
from monitor.report.metric_words import MetricValues
from monitor.report.score_words import SCORE_WORDS, ScoreWords
from monitor.report.vocabulary import JSON_METRICS, METRIC_WORDS
from monitor.snapshot import METRIC_NAMES, ModelState, Snapshot, Window

_LINES, _ENDS = 8, ("estimate", "lower", "upper")
"""Rows of a table that its `repr` shows."""
_LONGEST_LINE = 140


class WindowView(MetricValues[Estimated], frozen=True):
    """One window of a model, or of one of its segment values.

    Each metric is an attribute as well: `week.recall` is `week.metrics["recall"]`.

    Attributes:
        name: of the window, such as "7d"; "all" for everything ever counted.
        opens: first moment, UTC; None for "all" and before event time began.
        closes: first moment after it, likewise.
        counts: its labelled outcomes, scalars.
        predictions: made in it, labelled or not.
        metrics: estimates by the names in `monitor.snapshot.METRIC_NAMES`.
        verdict: what happened since the reference; None for "all" and for segment values.
        segments: the same window for each segment value, by segment key.
        log_likelihood_ratio: log TPR - log FPR, the skill of the classifier.
        roc_auc: area under the ROC curve; NaN without scores, as both below.
        average_precision: mean over the positives of the precision at their own score.
        brier_score: mean squared distance of the scores from the labels.
        scores: all metrics of its scores, of the whole days (UTC) inside; None without scores,
            and for "all" and segment values.
        classes: of a model of more than two; None for two, and for segment values.
        if_labels_wrong: what wrong labels would do to its metrics; None where too little, where
            rates of wrong labels are known, and for "all" and segment values.
    """

    name: str
    opens: datetime | None
    closes: datetime | None
    counts: ConfusionCounts
    predictions: int
    metrics: Mapping[str, Estimated]
    verdict: Verdict | None
    segments: Mapping[str, WindowViews]
    log_likelihood_ratio: Estimated
    roc_auc: Estimated
    average_precision: Estimated
    brier_score: Estimated
    scores: ScoreSkill | None
    classes: ClassesView | None
    if_labels_wrong: IfLabelsWrong | None = None

    def by(self, key: str) -> WindowViews:
        """Return this window for each value of a segment key.

        Args:
            key: one of the keys that the configuration of the model keeps.

        Raises:
            ValueError: the model does not keep this key, or no prediction came yet.
        """
        if key not in self.segments:
            known = ", ".join(self.segments) or "none; name keys under `segments`"
            raise ValueError(f"segment: no such key, got {key!r}; the model has {known}")
        return self.segments[key]

    def to_dict(self) -> dict[str, Any]:
        """Return one flat row of plain values: bounds, counts, and each metric with its limits.

        As in JSON, times are RFC 3339, and None stands for what is undefined.
        """
        return {name: plain_value(value) for name, value in self.row().items()}

    def row(self) -> dict[str, Any]:
        """Return the row with its times as `datetime`, and NaN for what is undefined."""
        row: dict[str, Any] = {"window": self.name, "opens": self.opens, "closes": self.closes}
        row["predictions"] = self.predictions
        row |= metric_columns(self.counts, self.metrics)
        wrong = self.if_labels_wrong
        row["if_labels_wrong"] = None if wrong is None else wrong.text
        return row | {"verdict": None if self.verdict is None else str(self.verdict)}

    def to_frame(self) -> Any:
        """Return the row as a frame of pandas, or of polars where pandas is not installed.

        Raises:
            ImportError: neither is installed.
        """
        return frame({name: [value] for name, value in self.row().items()})

    def __repr__(self) -> str:
        ends = f" [{_time(self.opens)}, {_time(self.closes)})" if self.opens else ""
        names = {cell.name.lower(): cell for cell in Outcome}
        shown: Mapping[str, Estimated] = {
            METRIC_WORDS[name].words: found for name, found in self.metrics.items()
        }
        more = []
        if self.classes is not None:
            names, shown = POOLED_CELLS, self.classes.whole
            more = [f"  classes: the matrix and each of {len(self.classes.names)} classes"]
        cells = ", ".join(f"{name} {self.counts.cells[c].item():,}" for name, c in names.items())
        rows = [f"  {words:<22} {found}" for words, found in shown.items()]
        return "\n".join([f"{self.name}{ends}: {cells}", *rows, *more])


class WindowViews(Mapping[str, WindowView]):
    """Windows by name, or one window by segment value: a table.

    Args:
        column: what the names are: `window`, or a segment key.
        rows: the windows by name.
    """

    def __init__(self, column: str, rows: Mapping[str, WindowView]) -> None:
        self._column = column
        self._rows = dict(rows)

    def __getitem__(self, name: str) -> WindowView:
        if name not in self._rows:
            raise KeyError(f"no {self._column} {name!r}; there are {', '.join(self._rows)}")
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the table as lists of plain values by column, a row for each window."""
        return plain_table(self.columns())

    def to_frame(self) -> Any:
        """Return the table as a frame of pandas, or of polars where pandas is not installed.

        Raises:
            ImportError: neither is installed.
        """
        return frame(self.columns())

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns, with times as `datetime` and NaN for what is undefined."""
        rows = [{self._column: name} | row.row() for name, row in self._rows.items()]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def __repr__(self) -> str:
        many = any(row.classes is not None for row in self._rows.values())
        heads = "accuracy / Cohen's kappa" if many else "precision / balanced precision"
        lines = [f"{self._column:<16}{'outcomes':>12}   {heads}"]
        for name, row in list(self._rows.items())[:_LINES]:
            total = f"{row.counts.total.item():,}"
            found = row.precision, row.balanced_precision
            if row.classes is not None:
                found = row.classes.accuracy, row.classes.cohen_kappa
            lines.append(f"{name:<16}{total:>12}   {found[0]} / {found[1]}")
        left = len(self._rows) - _LINES
        return "\n".join([*lines, f"… and {left} more"] if left > 0 else lines)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelVerdict:
    """Verdict on a model since its reference.

    Attributes:
        verdict: in one word.
        window: the window that decides.
        headline: in one line.
        because: the evidence that is missing; None where the verdict says something.
    """

    verdict: Verdict
    window: str
    headline: str
    because: str | None

    def __str__(self) -> str:
        return str(self.verdict)

    def __repr__(self) -> str:
        return self.in_one_line("")

    def in_one_line(self, start: str) -> str:
        """Return it in at most 140 columns; `headline` has all of it.

        Args:
            start: what stands before it.
        """
        text = f"{start}{self.verdict} ({self.window}): {self.headline}"
        return shorten(text, _LONGEST_LINE, placeholder=" …")


class ModelView:
    """One model as of one snapshot; it does not change when more events come.

    Args:
        snapshot: the state.
        model: one of its models.

    Attributes:
        name: of the model.
        windows: its windows by name, "all" first.
        verdict: its own verdict, of the window that decides.
        status: everything that `/api/v1/status` answers for it.
        label_sources: how sources label the same cases.
    """

    def __init__(self, snapshot: Snapshot, model: ModelState) -> None:
        self.name = model.name
        found = status_answer(snapshot, Selection(names=(model.name,)), limit=1)
        self.status: ModelStatus = found.models[0]
        self.label_sources = LabelSourcesView(self.status.label_sources)
        self.verdict = ModelVerdict(
            verdict=self.status.verdict,
            window=self.status.verdict_window,
            headline=self.status.headline,
            because=self.status.verdict_because,
        )
        windows = (snapshot.lifetime, *snapshot.windows_of(model))
        self.windows = WindowViews(
            "window", {window.name: _window(snapshot, model, window) for window in windows}
        )

    def __getitem__(self, window: str) -> WindowView:
        return self.windows[window]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the table of the windows as lists of plain values by column."""
        return self.windows.to_dict()

    def to_frame(self) -> Any:
        """Return the table of the windows as a frame of pandas or polars.

        Raises:
            ImportError: neither is installed.
        """
        return self.windows.to_frame()

    def __repr__(self) -> str:
        status = self.status
        books = (
            f"{count_of(status.predictions, 'prediction')}, {status.labelled:,} labelled, "
            f"{status.pending:,} pending"
        )
        rows = repr(self.windows).splitlines()
        shown = rows if len(rows) <= _LINES else [*rows[: _LINES - 1], "…"]
        return "\n".join([self.verdict.in_one_line(f"{self.name}: "), books, *shown])


def columns_of_models(models: Iterable[ModelView]) -> dict[str, list[Any]]:
    """Return the columns of one table of all windows of some models, with the model first.

    Args:
        models: each has the same windows.
    """
    found: dict[str, list[Any]] = {}
    for model in models:
        columns = model.windows.columns()
        for name, column in {"model": [model.name] * len(model.windows), **columns}.items():
            found.setdefault(name, []).extend(column)
    return found


def _window(snapshot: Snapshot, model: ModelState, window: Window) -> WindowView:
    by_key: dict[str, dict[str, WindowView]] = {key: {} for key in model.segments}
    for row, series in enumerate(snapshot.series):
        if series.model == model.name and series.segment in by_key and series.value is not None:
            by_key[series.segment][series.value] = _row(snapshot, window, row, None, {})
    segments = {key: WindowViews(key, rows) for key, rows in by_key.items()}
    judged = window.name in model.watched.verdicts
    verdict = verdict_on(model, window.name).verdict if judged else None
    scores = model.scores.get(window.name)
    classes = classes_view(model.classes.get(window.name))
    timed = window is not snapshot.lifetime
    wrong = labels_wrong_answer(window_sensitivity(model, window)) if timed else None
    found = _row(snapshot, window, model.row, verdict, segments, scores=scores, classes=classes)
    return structs.replace(found, if_labels_wrong=wrong)


def _row(
    snapshot: Snapshot,
    window: Window,
    row: int,
    verdict: Verdict | None,
    segments: Mapping[str, WindowViews],
    *,
    scores: ScoreSkill | None = None,
    classes: ClassesView | None = None,
) -> WindowView:
    timed = window is not snapshot.lifetime and snapshot.now_ms is not None
    metrics = {
        name: Estimated(**{end: float(getattr(window.metrics[name], end)[row]) for end in _ENDS})
        for name in METRIC_NAMES
    }
    return WindowView(
        name=window.name,
        opens=_moment(window.open[row]) if timed else None,
        closes=_moment(window.close[row]) if timed else None,
        counts=window.counts[row],
        predictions=int(window.predicted_positive[row] + window.predicted_negative[row]),
        metrics=metrics,
        verdict=verdict,
        segments=segments,
        log_likelihood_ratio=metrics["log_likelihood_ratio"],
        scores=scores,
        classes=classes,
        if_labels_wrong=None,
        **{n: _scored(words, scores) for n, words in SCORE_WORDS.items() if words.has_series},
        **{name: metrics[name] for name in JSON_METRICS},
    )


def _scored(words: ScoreWords, scores: ScoreSkill | None) -> Estimated:
    found = Interval(math.nan) if scores is None else words.of(scores)
    return Estimated(**found._asdict())


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


def _time(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"
