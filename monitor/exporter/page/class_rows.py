"""Rows of the metrics table for a model of many classes: what holds for all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import htpy as h
from msgspec import UNSET

from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.api.status_answer import ModelStatus
from monitor.exporter.api.window_answer import WindowStatus
from monitor.exporter.page.formats import interval, percent, ratio
from monitor.exporter.page.sparkline import sparkline
from monitor.exporter.page.window_cells import window_cells
from monitor.report.answer_parts import LabelStatus
from monitor.report.class_words import ACCURACY, WHOLE_WORDS, AllClassesWords


def has_many_classes(windows: Sequence[WindowStatus]) -> bool:
    """Return whether windows are those of a model of more than two classes."""
    return any(window.classes is not UNSET for window in windows)


def class_rows(
    windows: Sequence[WindowStatus], model: ModelStatus, trend: SeriesAnswer | None
) -> Iterator[h.Element]:
    """Yield the rows of the metrics over all classes.

    Args:
        windows: of a model of many classes, in the order of the columns.
        model: with the windows.
        trend: metrics by days; None where the history cannot be read.
    """
    # Over all classes together, each wrong prediction is a false positive of one of them.
    days = () if trend is None else trend.metrics.metric("precision").estimate
    for words in WHOLE_WORDS:
        line = sparkline(days, "precision") if words is ACCURACY else None
        yield _row(words, windows, model, line)


def coverage(window: WindowStatus) -> list[h.Node]:
    """Return the share of the predictions of a window that have a label.

    Args:
        window: of a model of two classes, for which flagged cases and the others have a share
            each; or of one of many, each of whose predictions counts as flagged.
    """
    shares, status = window.label_coverage, window.status
    whole = [percent(shares.predicted_positive)]
    if window.classes is UNSET:
        whole = [f"{whole[0]};", percent(shares.predicted_negative)]
    return [
        [[h.span(".whole")[text], " "] for text in whole],
        h.small["" if status in (None, LabelStatus.MATURE) else status],
    ]


def _row(
    words: AllClassesWords,
    windows: Sequence[WindowStatus],
    model: ModelStatus,
    line: h.Element | None,
) -> h.Element:
    return h.tr[
        h.th(scope="row")[words.title, h.small[words.meaning]],
        h.td(".trend")[line],
        window_cells(model, (_number(words, window) for window in windows)),
    ]


def _number(words: AllClassesWords, window: WindowStatus) -> list[h.Node]:
    if window.classes is UNSET:
        return [h.strong[ratio(None)]]
    found = window.classes.together(words)
    return [h.strong[ratio(found.estimate)], h.small[interval(found)]]
