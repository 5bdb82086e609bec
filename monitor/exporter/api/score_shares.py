"""The distribution of a model's scores now, beside that of the reference or of earlier days."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config.quantities import count_of, format_time
from monitor.engine import Monitor
from monitor.events.columns import FloatArray, Int64Array
from monitor.events.score_bins import SCORE_BINS
from monitor.exporter.api.scores_answer import ScoresAnswer, ScoreShares
from monitor.report.points import in_points
from monitor.report.rate_changes import short
from monitor.snapshot import ModelState
from monitor.windows.days_then_weeks import DAYS

RANGES = 20
"""Ranges of the score, each as wide as the others."""
_DATE = len("2026-01-31")
_NOW_MS, _EARLIER_MS = 7 * DAY_MS, 28 * DAY_MS


class ScoreStretches(NamedTuple):
    """The whole days whose scores are compared, epoch milliseconds.

    Attributes:
        now: the last days.
        before: the days to compare them with; None without any.
        before_is: as in the answer.
    """

    now: tuple[int, int]
    before: tuple[int, int] | None
    before_is: Literal["reference", "earlier"]


class CountedScores(NamedTuple):
    """Number of predictions in each bin of the score, (bins,).

    Attributes:
        now: of the last days.
        before: of the days to compare them with; zeros without any.
        since: start of the model's first day that is stored, epoch milliseconds; 0 without any.
    """

    now: Int64Array
    before: Int64Array
    since: int


def score_stretches(model: ModelState) -> ScoreStretches | None:
    """Return the days to compare; None before any event.

    Args:
        model: the state of the model.
    """
    if model.now_ms is None:
        return None
    closes = -(-model.now_ms // DAY_MS) * DAY_MS
    opens, stored = closes - _NOW_MS, closes - (DAYS - 1) * DAY_MS
    reference = model.watched.reference
    if reference is not None and reference.opens is not None and reference.closes is not None:
        first = reference.opens // DAY_MS * DAY_MS
        last = min(-(-reference.closes // DAY_MS) * DAY_MS, opens)
        if stored <= first < last:
            return ScoreStretches((opens, closes), (first, last), "reference")
    return ScoreStretches((opens, closes), (max(stored, opens - _EARLIER_MS), opens), "earlier")


def counted_scores(monitor: Monitor, model: str, asked: ScoreStretches) -> CountedScores:
    """Read the scores of both stretches; only for the thread that feeds the monitor.

    Args:
        monitor: the running monitor.
        model: name of the model.
        asked: the days.
    """
    now, before = (
        np.zeros(SCORE_BINS, dtype=np.int64)
        if days is None
        else monitor.scores(model, *days).total.copy()
        for days in (asked.now, asked.before)
    )
    hours = monitor.history(model)
    held = hours.open[hours.cells.any(axis=1)]
    return CountedScores(now, before, int(held[0]) // DAY_MS * DAY_MS if len(held) else 0)


def scores_answer(
    model: str, asked: ScoreStretches | None, counted: CountedScores | None
) -> ScoresAnswer:
    """Return both distributions, and how far they lie apart.

    No stretch begins before the model's first day.

    Args:
        model: its name.
        asked: the days; None before any event.
        counted: their scores; None likewise.
    """
    edges = tuple(np.linspace(0, 1, RANGES + 1).round(6).tolist())
    if asked is None or counted is None:
        return ScoresAnswer(
            model=model, edges=edges, now=None, before=None, before_is="earlier", distance=None
        )
    has_before = asked.before is not None and bool(counted.before.sum())
    both = has_before and bool(counted.now.sum())
    apart = np.abs(_cumulated(counted.now) - _cumulated(counted.before)).max() if both else None
    return ScoresAnswer(
        model=model,
        edges=edges,
        now=_shares(asked.now, counted.now, counted.since),
        before=_shares(asked.before, counted.before, counted.since)
        if asked.before and has_before
        else None,
        before_is=asked.before_is,
        distance=None if apart is None else float(apart),
    )


def _cumulated(counts: Int64Array) -> FloatArray:
    return np.asarray(np.cumsum(counts) / counts.sum())


def _shares(days: tuple[int, int], counts: Int64Array, since: int) -> ScoreShares:
    scored = int(counts.sum())
    in_ranges = counts.reshape(RANGES, -1).sum(axis=1)
    opens, closes = map(format_time, (min(max(days[0], since), days[1]), days[1]))
    shares = tuple((in_ranges / scored).tolist()) if scored else ()
    return ScoreShares(open=opens, close=closes, scored=scored, shares=shares)


def scores_now(monitor: Monitor, model: ModelState) -> ScoresAnswer:
    """Read both distributions; only for the thread that feeds the monitor.

    Args:
        monitor: has counted the events.
        model: the state of the model.
    """
    asked = score_stretches(model)
    counted = None if asked is None else counted_scores(monitor, model.name, asked)
    return scores_answer(model.name, asked, counted)


def scores_text(found: ScoresAnswer) -> str:
    """Return the distribution of the scores now, beside the earlier one, in sentences.

    Args:
        found: both.

    Returns:
        "" without scores.
    """
    now, before = found.now, found.before
    if now is None or not now.scored:
        return ""
    text = f"Scores of {_scored(now)}: half are below {_below(found, now, 0.5)}, a tenth above "
    text += f"{_below(found, now, 0.9)}"
    if before is None or found.distance is None:
        return f"{text}; no earlier ones are stored."
    source = "in the reference" if found.before_is == "reference" else "before"
    return (
        f"{text}; {source}, of {_scored(before)}, {_below(found, before, 0.5)} and "
        f"{_below(found, before, 0.9)}. {distance_text(found.distance)}"
    )


def distance_text(distance: float) -> str:
    """Return how far two distributions of scores lie apart, a sentence.

    Args:
        distance: largest difference of the shares below a score, in [0, 1].

    >>> distance_text(0.0214)
    'The shares of predictions below a score differ by at most 2.1 points.'
    """
    return (
        "The shares of predictions below a score differ by at most "
        f"{in_points(distance):.1f} points."
    )


def _scored(side: ScoreShares) -> str:
    made = count_of(side.scored, "prediction")
    return f"{made} from {side.open[:_DATE]} to {side.close[:_DATE]}"


def _below(found: ScoresAnswer, side: ScoreShares, share: float) -> str:
    """Return the score below which a share of the predictions lies, between limits of ranges."""
    below = np.cumsum([0.0, *side.shares])
    return short(float(np.interp(share, below, found.edges)), 2)
