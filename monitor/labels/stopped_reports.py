"""Tests for reports that stop, where silence is a negative.

Under `negatives_by_timeout` only positives are reported. If the reports stop, every
prediction without a report becomes a negative after the timeout: prevalence falls and
false positives rise, as with a worse model. Reports may become fewer for many reasons,
but they rarely end abruptly, since the reports of one day stem from predictions of many
days. A silence is therefore a stretch, up to half of the stored time, with under a tenth
of the reports of the quietest earlier stretch of that length, scaled to its
predictions, and under a twentieth in its first quarter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import pdtr

from monitor.events.columns import BoolArray, FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.labels.delays import POSITIVE, LabelDelays
from monitor.windows import Windows

_TENTH = 0.1
_CHANCE = 1e-4
_FEWEST_BEFORE = 7
_CAUGHT_UP = 0.8
_MOST = 0.9


class ReportGap(NamedTuple):
    """A stretch [opens, closes) of time without reports, in numbers of panes."""

    opens: int
    closes: int


def silences(reports: Int64Array, predictions: FloatArray, timeout: int) -> list[ReportGap]:
    """Return the stretches in which reports had nearly stopped and have not been caught up.

    Args:
        reports: reports by pane of the time of the report.
        predictions: predictions by pane, of the same panes.
        timeout: label timeout in panes.

    Returns:
        Disjoint stretches in order of time; one that ends with the last pane is still
        open. So few reports occur by chance, at a tenth of the usual rate, with a
        probability of at most 1e-4.

    >>> reports = np.array([100] * 30 + [0] * 5 + [90] * 5)
    >>> silences(reports, np.full(40, 1000.0), timeout=5)
    [ReportGap(opens=30, closes=35)]
    """
    inside = np.zeros(len(reports), dtype=np.bool_)
    usual = np.zeros(len(reports))
    for length in range(1, len(reports) // 2 + 1):
        least = _least_before(reports, predictions, length, timeout)
        if not len(least):
            break
        count = len(least)
        for end in np.flatnonzero(_is_quiet(reports, least, length)).tolist():
            close = len(reports) - count + end + 1
            stretch = slice(close - length, close)
            inside[stretch] = True
            usual[stretch] = np.maximum(usual[stretch], least[end] / length)
    return [s for s in _runs(inside) if not _is_caught_up(s, reports, usual)]


def _is_quiet(reports: Int64Array, least: FloatArray, length: int) -> BoolArray:
    """Return whether reports stopped abruptly in each of the last stretches of a length.

    The first quarter has at most a twentieth of the usual reports, which excludes a
    gradual decrease.
    """
    count, quarter = len(least), -(-length // 4)
    sums, last = _sums(reports, length)[-count:], reports[-count:]
    first = reports[: len(reports) - length + 1][-count:]
    early = _sums(reports, quarter)[: len(reports) - length + 1][-count:]
    abrupt = early * length < _TENTH / 2 * least * quarter
    edges = np.maximum(first, last) * length <= least / 2
    few = (sums < _TENTH * least) & (pdtr(sums, _TENTH * least) < _CHANCE)
    return np.asarray(abrupt & edges & few)


def _sums(values: Int64Array | FloatArray, length: int) -> FloatArray:
    """Return the sum of each stretch of a length, by its last pane from length - 1 on."""
    whole = np.cumsum(np.append(0.0, values))
    return np.asarray(whole[length:] - whole[:-length])


def _least_before(
    reports: Int64Array, predictions: FloatArray, length: int, timeout: int
) -> FloatArray:
    """Return the fewest usual reports of the last stretches, scaled to their predictions."""
    sums, volume = _sums(reports, length), _sums(predictions, length)
    needed = max(length, _FEWEST_BEFORE - length + 1)
    before = slice(needed - 1, len(sums) - length)
    least = np.minimum.accumulate(sums)[before]
    if not len(least):
        return least
    mean = (np.cumsum(volume) / np.arange(1, len(volume) + 1))[before]
    padded = np.concatenate([np.full(timeout, np.inf), volume])
    fewest = sliding_window_view(padded, timeout + 1)[-len(least) :].min(axis=1)
    return np.asarray(least * np.minimum(fewest / np.maximum(mean, 1), 1.0))


def _runs(inside: BoolArray) -> list[ReportGap]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return [ReportGap(a, b) for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]


def _is_caught_up(silence: ReportGap, reports: Int64Array, usual: FloatArray) -> bool:
    """Return whether the reports due in a silence have come since, beyond the usual ones."""
    due = usual[silence.opens : silence.closes].sum()
    since = reports[silence.closes :]
    level = due / (silence.closes - silence.opens)
    return bool((since - level).clip(min=0).sum() >= _CAUGHT_UP * due) if due else False


class Reports:
    """Tests whether reports on the predictions of a stretch of time are missing.

    Args:
        model: its number.
        windows: counts of predictions.
        delays: reports by time.
        timeout_ms: the label timeout.
    """

    def __init__(self, model: int, windows: Windows, delays: LabelDelays, timeout_ms: int) -> None:
        self._model = model
        self._windows = windows
        self._delays = delays
        self._timeout_ms = timeout_ms
        self._known: tuple[Int64Array, int, list[ReportGap]] = (np.zeros(0, np.int64), 0, [])

    def are_missing(self, opens: int, closes: int, now: int) -> bool:
        """Return whether reports on predictions of [opens, closes), or recent ones, are missing.

        Args:
            opens: first moment of prediction, epoch milliseconds.
            closes: first moment after them.
            now: up to which reports have come, epoch milliseconds.
        """
        width = self._delays.width_ms
        first, reports = self._delays.reports(self._model, now)
        ramp = self._timeout_ms // width  # the first reports stem from the predictions of few days
        first, reports = first + ramp, reports[ramp:]
        quiet = self._silences(first, reports)
        if not quiet:
            return False
        if first + quiet[-1].closes == now // width:
            return True
        reach = self._usual_delay_ms(now)
        return any(
            opens < (first + s.closes) * width and closes > (first + s.opens) * width - reach
            for s in quiet
        )

    def _silences(self, first: int, reports: Int64Array) -> list[ReportGap]:
        known, at, found = self._known
        if at != first or not np.array_equal(known, reports):
            width = self._delays.width_ms
            found = silences(reports, self._made(first, len(reports)), self._timeout_ms // width)
            self._known = (reports, first, found)
        return found

    def _made(self, first: int, panes: int) -> FloatArray:
        """Count predictions by pane."""
        history = self._windows.past.history(self._model)
        pane = history.open // self._delays.width_ms - first
        inside = (pane >= 0) & (pane < panes)
        predictions = history.cells[inside, PREDICTED_POSITIVE:].sum(axis=1)
        return np.bincount(pane[inside], weights=predictions, minlength=panes).astype(np.float64)

    def _usual_delay_ms(self, now: int) -> int:
        age = float(self._delays.curves_by_class(self._model, now).age(_MOST)[POSITIVE])
        return self._timeout_ms if np.isnan(age) else min(int(age * 1000), self._timeout_ms)
