"""Reports that stop, where silence is a negative: no news is then no good news.

Under `negatives_by_timeout` only positives are reported. If the reports stop, all
that was not reported becomes a negative once it has timed out: prevalence falls and
false positives rise, as with a worse model. What cannot be known is why reports
become fewer; what is hardly possible is that they end all at once, since what is
reported today stems from many days. So a silence is a stretch, up to half of what
is kept, with under a tenth of the reports of the quietest stretch of that length
before it, scaled to its predictions, and under a twentieth in its first quarter.
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
_MADE_GOOD = 0.8
_MOST = 0.9


class Silence(NamedTuple):
    """A stretch [opens, closes) of time without reports, in numbers of panes."""

    opens: int
    closes: int


def silences(told: Int64Array, made: FloatArray, timeout: int) -> list[Silence]:
    """Stretches in which reports had all but stopped; not those that were made good since.

    Args:
        told: reports by pane of the time of the report.
        made: predictions by pane, of the same panes.
        timeout: panes for which a prediction is waited for.

    Returns:
        In order of time, apart from each other. One that ends with the last pane
        goes on. A stretch is one only where chance would leave so few reports, at
        a tenth of the usual, at most once in ten thousand times.

    >>> told = np.array([100] * 30 + [0] * 5 + [90] * 5)
    >>> silences(told, np.full(40, 1000.0), timeout=5)
    [Silence(opens=30, closes=35)]
    """
    inside = np.zeros(len(told), dtype=np.bool_)
    usual = np.zeros(len(told))
    for length in range(1, len(told) // 2 + 1):
        least = _least_before(told, made, length, timeout)
        if not len(least):
            break
        count = len(least)
        for end in np.flatnonzero(_is_quiet(told, least, length)).tolist():
            close = len(told) - count + end + 1
            stretch = slice(close - length, close)
            inside[stretch] = True
            usual[stretch] = np.maximum(usual[stretch], least[end] / length)
    return [s for s in _runs(inside) if not _is_made_good(s, told, usual)]


def _is_quiet(told: Int64Array, least: FloatArray, length: int) -> BoolArray:
    """Whether reports stopped from the first pane to the last of each stretch that ends last.

    Its first quarter has a twentieth at most: what becomes less bit by bit has not stopped.
    """
    count, quarter = len(least), -(-length // 4)
    sums, last = _sums(told, length)[-count:], told[-count:]
    first = told[: len(told) - length + 1][-count:]
    early = _sums(told, quarter)[: len(told) - length + 1][-count:]
    abrupt = early * length < _TENTH / 2 * least * quarter
    edges = np.maximum(first, last) * length <= least / 2
    few = (sums < _TENTH * least) & (pdtr(sums, _TENTH * least) < _CHANCE)
    return np.asarray(abrupt & edges & few)


def _sums(values: Int64Array | FloatArray, length: int) -> FloatArray:
    """Sum of each stretch of that length, by its last pane from length - 1 on."""
    whole = np.cumsum(np.append(0.0, values))
    return np.asarray(whole[length:] - whole[:-length])


def _least_before(told: Int64Array, made: FloatArray, length: int, timeout: int) -> FloatArray:
    """Fewest reports that were usual for the stretches that end last, given their predictions."""
    reports, predictions = _sums(told, length), _sums(made, length)
    needed = max(length, _FEWEST_BEFORE - length + 1)
    before = slice(needed - 1, len(reports) - length)
    least = np.minimum.accumulate(reports)[before]
    if not len(least):
        return least
    mean = (np.cumsum(predictions) / np.arange(1, len(predictions) + 1))[before]
    padded = np.concatenate([np.full(timeout, np.inf), predictions])
    fewest = sliding_window_view(padded, timeout + 1)[-len(least) :].min(axis=1)
    return np.asarray(least * np.minimum(fewest / np.maximum(mean, 1), 1.0))


def _runs(inside: BoolArray) -> list[Silence]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(np.int8)))
    return [Silence(a, b) for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]


def _is_made_good(silence: Silence, told: Int64Array, usual: FloatArray) -> bool:
    """Whether what was due in it has come since, on top of what is usual."""
    due = usual[silence.opens : silence.closes].sum()
    since = told[silence.closes :]
    level = due / (silence.closes - silence.opens)
    return bool((since - level).clip(min=0).sum() >= _MADE_GOOD * due) if due else False


class Reports:
    """Whether the predictions of a stretch of time can have been reported on.

    Args:
        model: its number.
        windows: where predictions are counted.
        delays: where reports are.
        timeout_ms: the label timeout.
    """

    def __init__(self, model: int, windows: Windows, delays: LabelDelays, timeout_ms: int) -> None:
        self._model = model
        self._windows = windows
        self._delays = delays
        self._timeout_ms = timeout_ms
        self._known: tuple[Int64Array, int, list[Silence]] = (np.zeros(0, np.int64), 0, [])

    def are_missing(self, opens: int, closes: int, now: int) -> bool:
        """Whether reports on predictions of [opens, closes), or any of late, were not made.

        Args:
            opens: first moment of prediction, epoch milliseconds.
            closes: first moment after them.
            now: up to which reports have come.
        """
        width = self._delays.width_ms
        first, told = self._delays.reports(self._model, now)
        ramp = self._timeout_ms // width  # the first reports are of few days' predictions
        first, told = first + ramp, told[ramp:]
        quiet = self._silences(first, told)
        if not quiet:
            return False
        if first + quiet[-1].closes == now // width:
            return True
        reach = self._usual_delay_ms(now)
        return any(
            opens < (first + s.closes) * width and closes > (first + s.opens) * width - reach
            for s in quiet
        )

    def _silences(self, first: int, told: Int64Array) -> list[Silence]:
        known, at, found = self._known
        if at != first or not np.array_equal(known, told):
            width = self._delays.width_ms
            found = silences(told, self._made(first, len(told)), self._timeout_ms // width)
            self._known = (told, first, found)
        return found

    def _made(self, first: int, panes: int) -> FloatArray:
        """Predictions by pane."""
        history = self._windows.past.history(self._model)
        pane = history.open // self._delays.width_ms - first
        inside = (pane >= 0) & (pane < panes)
        made = history.cells[inside, PREDICTED_POSITIVE:].sum(axis=1)
        return np.bincount(pane[inside], weights=made, minlength=panes).astype(np.float64)

    def _usual_delay_ms(self, now: int) -> int:
        age = float(self._delays.curves_by_class(self._model, now).age(_MOST)[POSITIVE])
        return self._timeout_ms if np.isnan(age) else min(int(age * 1000), self._timeout_ms)
