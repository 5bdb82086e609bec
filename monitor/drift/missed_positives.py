"""Whether missed positives are spread over all scores, as wrong labels are, or their scores slid.

A negative that is labelled 1 by mistake has the score of a negative, wherever that is. The
positives that a worse model misses have scores that slid below the threshold or spread across
it. So among the scores of labelled positives, wrong labels add a share of the scores of
negatives:

    labels   (1 - w) f+ + w f-                 w: share of labelled positives that is wrong
    model    (1 - v) slid, spread g + v f-     f+ = (1 - v) g + v f-: wrong labels of before

where f+ and f- are the distributions of the scores of positives and negatives before. Positives
of a new kind that the model does not tell from negatives look like wrong labels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray

SETTLED = math.log(10)
"""Natural log of the likelihood ratio that settles the question."""
_BINS = 24
"""Most bins of scores that are compared; each holds a like share of all scores."""
_FEWEST_POSITIVES, _FEWEST_DAYS = 50, 3
_WRONG = np.concatenate([[0.0], np.geomspace(0.005, 0.95, 48)])
"""Shares of labelled positives that more are wrong."""
_STEPS = np.array([0.1, math.log(1.25)])
_MOVES = np.array([(i, j) for i in range(-30, 11) for j in range(-2, 5)]) * _STEPS
"""Slides of positives, in standard deviations of their scores' log-odds, and logs of the factors of
that standard deviation, (moves, 2); as they were is among them."""
_FINER = 4
"""Rounds in which both are looked for at half the distance, around the likeliest so far."""
_AROUND = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
_SHARES_BEFORE = np.array([0.0, 0.5, 0.8, 1.0])
"""Shares of the largest share of wrong labels that the scores of before allow."""
_LOWEST_NEGATIVES = 0.2
"""Share of the negatives, those of the lowest scores, from which on wrong labels are bounded."""


class _Hypotheses(NamedTuple):
    """Probabilities of the bins under the likeliest labels and the likeliest model, (bins,)."""

    labels: FloatArray
    model: FloatArray


def label_support(before: ScoreHistogram, after: ScoreHistogram) -> float:
    """Compare wrong labels with a worse model as explanations of the scores of positives.

    A worse model has a slide and a spread where wrong labels have a share alone. So it counts
    only as far as it is likelier by n as well, for n positives after: two parameters more, at half
    the logarithm of n each.

    Args:
        before: labelled scores of the stretch with fewer missed positives, (days, bins).
        after: of the stretch with more, in the same form.

    Returns:
        The natural logarithm of how many times likelier wrong labels are than the model, each at
        its best parameters: from `SETTLED` on, missed positives are spread over all scores; up to
        -`SETTLED`, scores slid or spread. The log-likelihood is divided by the variance between
        the days of after over that of independent rows, and multiplied by n / (n + m) for n
        positives before and m after, since before is known no better. 0 with fewer than 50
        positives on a side, without negatives, or with fewer than 3 days after.

    Source:
        Royall 1997 (likelihood ratios as evidence); Schwarz 1978 (the price of a parameter);
        Wedderburn 1974 (division by the dispersion).
    """
    old, new = before.sum(), after.positive
    held = new.sum(axis=-1) > 0
    fewest = min(old.positive.sum(), new.sum())
    if fewest < _FEWEST_POSITIVES or not old.negative.any() or held.sum() < _FEWEST_DAYS:
        return 0.0
    starts = _coarse(old, new.sum(axis=0))
    days = np.add.reduceat(new[held], starts, axis=-1).astype(float)
    likely = _likeliest(old, days.sum(axis=0), starts)
    known = float(old.positive.sum())
    found = _support(days, np.log(likely.labels / likely.model)) * known / (known + days.sum())
    return float(found if found > 0 else min(found + math.log(days.sum()), 0.0))


def _support(days: FloatArray, each: FloatArray) -> float:
    """Log-likelihood ratio over all days, divided by its dispersion between days, at least 1.

    Args:
        days: positives, (days, bins).
        each: log-likelihood ratio of a case, (bins,).
    """
    cases, total = days.sum(axis=-1), days.sum()
    mean = float(days.sum(axis=0) @ each / total)
    rows = float(days.sum(axis=0) @ (each - mean) ** 2 / total)
    between = float(((days @ (each - mean)) ** 2 / cases).sum() / (len(days) - 1))
    return mean * float(total) / max(between / rows, 1.0) if rows > 0 else 0.0


def _coarse(old: ScoreHistogram, new: FloatArray) -> np.ndarray:
    """First bins of coarse ones that hold like shares of the scores of all that is compared."""
    shares = sum(_share(one) for one in (old.positive, old.negative, new)) / 3
    edges = np.searchsorted(np.cumsum(shares), np.arange(1, _BINS) / _BINS) + 1
    return np.unique(np.concatenate([[0], edges[edges < old.bins]]))


def _share(cases: np.ndarray) -> FloatArray:
    return np.asarray(cases / max(float(cases.sum()), 1.0), dtype=np.float64)


def _likeliest(old: ScoreHistogram, new: FloatArray, starts: np.ndarray) -> _Hypotheses:
    """Both hypotheses at their likeliest parameters, for the positives of after (bins,)."""
    negative = _share(old.negative)
    # one case more, with the score of a negative: no probability is 0
    positive = _share(old.positive + negative)
    few, many = (np.add.reduceat(one, starts) for one in (positive, negative))
    labels = (1 - _WRONG[:, None]) * few + _WRONG[:, None] * many
    most = _most_wrong(positive, negative)
    shares = np.maximum(_SHARES_BEFORE * most, 1 / (1 + float(old.positive.sum())))
    model = np.array([_likeliest_move(positive, negative, share, new, starts) for share in shares])
    return _Hypotheses(_best(labels, new), _best(model, new))


def _likeliest_move(
    positive: FloatArray, negative: FloatArray, share: float, new: FloatArray, starts: np.ndarray
) -> FloatArray:
    """Probabilities of the coarse bins under the likeliest slide and spread, (bins,).

    A coarse grid alone would leave the model so far from what many cases show that labels were
    likelier even where nothing changed.

    Args:
        positive: shares of the scores of labelled positives before, by fine bins.
        negative: of negatives.
        share: of the positives that had wrong labels before.
        new: positives after, by coarse bins.
        starts: first fine bins of the coarse ones.
    """
    right, wrong = _without(positive, negative, share), share * np.add.reduceat(negative, starts)

    def moved(moves: FloatArray) -> FloatArray:
        slides, spreads = moves.T
        return (1 - share) * _moved(right, starts, slides, np.exp(spreads)) + wrong

    moves, steps = _MOVES, _STEPS
    for _ in range(_FINER):
        steps = steps / 2
        moves = moves[np.argmax(_log_likelihood(moved(moves), new))] + steps * _AROUND
    return _best(moved(moves), new)


def _log_likelihood(candidates: FloatArray, cases: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(candidates, np.finfo(float).tiny)) @ cases)


def _best(candidates: FloatArray, cases: FloatArray) -> FloatArray:
    likeliest = candidates[np.argmax(_log_likelihood(candidates, cases))]
    return np.asarray(np.maximum(likeliest, np.finfo(float).tiny))


def _most_wrong(positive: FloatArray, negative: FloatArray) -> float:
    """Largest share of positives that can have the scores of negatives, in [0, 1)."""
    few, many = np.cumsum(positive), np.cumsum(negative)
    enough = many >= _LOWEST_NEGATIVES
    return float(np.minimum((few[enough] / many[enough]).min(), _WRONG[-1]))


def _without(positive: FloatArray, negative: FloatArray, share: float) -> FloatArray:
    return _share(np.maximum(positive - share * negative, 0.0))


def _moved(
    positive: FloatArray, starts: np.ndarray, slides: FloatArray, spreads: FloatArray
) -> FloatArray:
    """Probabilities of the coarse bins for slid and spread scores, (moves, bins).

    Args:
        positive: shares of the scores before, by fine bins.
        starts: first fine bins of the coarse ones.
        slides: in standard deviations of the log-odds of the scores, (moves,).
        spreads: factors of that standard deviation, (moves,).
    """
    bins = len(positive)
    place = logit((np.arange(bins) + 0.5) / bins)
    centre = float(positive @ place)
    width = float(np.sqrt(positive @ (place - centre) ** 2)) or 1.0
    edges = logit(np.arange(1, bins) / bins)
    below = np.cumsum(positive)[:-1]
    far = edges[starts[1:] - 1] - centre - slides[:, None] * width
    inner = np.interp(centre + far / spreads[:, None], edges, below, left=0.0, right=1.0)
    ends = np.ones((len(slides), 1))
    return np.diff(np.concatenate([0 * ends, inner, ends], axis=1), axis=1)
