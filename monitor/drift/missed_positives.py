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
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray

_TEN_TIMES = math.log(10)
"""Natural log of the likelihood ratio that settles the question."""
_BINS = 24
"""Most bins of scores that are compared; each holds a like share of all scores."""
_FEWEST_POSITIVES, _FEWEST_DAYS = 50, 3
_WRONG = np.concatenate([[0.0], np.geomspace(0.005, 0.95, 48)])
"""Shares of labelled positives that more are wrong."""
_SLIDES = np.linspace(-3.0, 1.0, 41)
"""Slides of positives, in standard deviations of their scores' log-odds."""
_SPREADS = np.geomspace(0.6, 2.5, 9)
_SHARES_BEFORE = np.array([0.0, 0.5, 0.8, 1.0])
"""Shares of the largest share of wrong labels that the scores of before allow."""
_LOWEST_NEGATIVES = 0.2
"""Share of the negatives, those of the lowest scores, from which on wrong labels are bounded."""


class MissedPositives(StrEnum):
    """Where the scores of the positives are that are missed more, or less, often."""

    SCATTERED = "scattered"
    """Over all scores, as those of negatives: wrong labels."""
    SLID = "slid"
    """Where slid or spread scores lead: the model."""
    OPEN = "open"
    """Neither is ten times as likely as the other."""


class _Hypotheses(NamedTuple):
    """Probabilities of the bins under the likeliest labels and the likeliest model, (bins,)."""

    labels: FloatArray
    model: FloatArray


def missed_positives(before: ScoreHistogram, after: ScoreHistogram) -> MissedPositives:
    """Compare wrong labels with a worse model as explanations of the scores of positives.

    Args:
        before: labelled scores of the stretch with fewer missed positives, (days, bins).
        after: of the stretch with more, in the same form.

    Returns:
        What is at least ten times as likely as the other, each at its best parameters. The
        log-likelihood is divided by the variance between the days of after over that of
        independent rows, and multiplied by n / (n + m) for n positives before and m after, since
        before is known no better. Open with fewer than 50 positives on a side, without
        negatives, or with fewer than 3 days after.

    Source:
        Royall 1997 (likelihood ratios as evidence); Wedderburn 1974 (division by the
        dispersion).
    """
    old, new = before.sum(), after.positive
    held = new.sum(axis=-1) > 0
    fewest = min(old.positive.sum(), new.sum())
    if fewest < _FEWEST_POSITIVES or not old.negative.any() or held.sum() < _FEWEST_DAYS:
        return MissedPositives.OPEN
    starts = _coarse(old, new.sum(axis=0))
    days = np.add.reduceat(new[held], starts, axis=-1).astype(float)
    likely = _likeliest(old, days.sum(axis=0), starts)
    found = _support(days, np.log(likely.labels / likely.model))
    found *= old.positive.sum() / (old.positive.sum() + days.sum())
    if abs(found) < _TEN_TIMES:
        return MissedPositives.OPEN
    return MissedPositives.SCATTERED if found > 0 else MissedPositives.SLID


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
    model = np.concatenate(
        [
            (1 - share) * _moved(_without(positive, negative, share), starts) + share * many
            for share in np.maximum(_SHARES_BEFORE * most, 1 / (1 + float(old.positive.sum())))
        ]
    )
    return _Hypotheses(_best(labels, new), _best(model, new))


def _best(candidates: FloatArray, cases: FloatArray) -> FloatArray:
    likely = np.log(np.maximum(candidates, np.finfo(float).tiny)) @ cases
    return np.asarray(np.maximum(candidates[np.argmax(likely)], np.finfo(float).tiny))


def _most_wrong(positive: FloatArray, negative: FloatArray) -> float:
    """Largest share of positives that can have the scores of negatives, in [0, 1)."""
    few, many = np.cumsum(positive), np.cumsum(negative)
    enough = many >= _LOWEST_NEGATIVES
    return float(np.minimum((few[enough] / many[enough]).min(), _WRONG[-1]))


def _without(positive: FloatArray, negative: FloatArray, share: float) -> FloatArray:
    return _share(np.maximum(positive - share * negative, 0.0))


def _moved(positive: FloatArray, starts: np.ndarray) -> FloatArray:
    """Probabilities of the coarse bins for slid and spread scores, (slides x spreads, bins)."""
    bins = len(positive)
    place = logit((np.arange(bins) + 0.5) / bins)
    centre = float(positive @ place)
    width = float(np.sqrt(positive @ (place - centre) ** 2)) or 1.0
    edges = logit(np.arange(1, bins) / bins)
    below = np.cumsum(positive)[:-1]
    slid, spread = (one.ravel() for one in np.meshgrid(_SLIDES * width, _SPREADS))
    asked = centre + (edges[starts[1:] - 1] - centre - slid[:, None]) / spread[:, None]
    inner = np.interp(asked, edges, below, left=0.0, right=1.0)
    ends = np.ones((len(slid), 1))
    return np.diff(np.concatenate([0 * ends, inner, ends], axis=1), axis=1)
