"""Does a model flag cases by chance, or negatives rather than positives?

Where a day has few positives and days scatter widely, a day of a model that flags at random could
also be a bad day of the model as it was; several days together could not. `log_chance_ratio`
compares both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import BetweenDays, as_blocks
from monitor.drift.components import Component, SmoothedRates
from monitor.drift.dispersion import Dispersion
from monitor.drift.odds_ratio_within import in_days, log_odds_ratio_within
from monitor.drift.skill import Z_ONE_SIDED
from monitor.metrics.ratio import FloatArray

CERTAINLY_BY_CHANCE = math.log(1_000)
"""Log likelihood ratio from which days are those of a model that flags by chance."""

_TINY = 1e-12
_MANY = 1e6


class ByChance(NamedTuple):
    """What chance alone would do to days, given how many cases were positive, and flagged.

    Attributes:
        excess: true positives less those expected by chance, summed over the days.
        variance: of the excess by chance; 0 where nothing or everything is flagged, or
            positive.
    """

    excess: float
    variance: float

    @property
    def log_odds_ratio(self) -> float:
        """One-step estimate of the log odds ratio within the days; NaN where nothing shows it."""
        return self.excess / self.variance if self.variance > 0 else math.nan

    def is_better(self, dispersion: Dispersion) -> bool:
        """Return whether the days are certainly (p < .01) better than chance."""
        widened = max(dispersion.recall, dispersion.false_positive_rate)
        return bool(self.excess > Z_ONE_SIDED * math.sqrt(self.variance * widened))


def by_chance(days: ConfusionCounts) -> ByChance:
    """Return how the true positives of days differ from those that chance gives.

    With the positives and the flagged cases of a day given, the true positives of a model that
    flags at random follow the hypergeometric distribution.

    Args:
        days: outcomes by day along one axis; fractional ones too.

    Source:
        Mantel and Haenszel 1959; Yusuf, Peto et al. 1985 (the one-step estimate).

    >>> found = by_chance(ConfusionCounts(tp=[30, 4], fn=[20, 6], fp=[20, 6], tn=[30, 4]))
    >>> round(found.excess, 6), round(found.variance, 3), round(found.log_odds_ratio, 3)
    (4.0, 7.629, 0.524)
    """
    positive, flagged, total, tp = _margins(days)
    expected = positive * flagged / np.maximum(total, _TINY)
    unflagged = (total - positive) * (total - flagged)
    variance = expected * unflagged / np.maximum(total * (total - 1), _TINY)
    counted = total > 1
    return ByChance(
        excess=float((tp - expected)[counted].sum()),
        variance=float(variance[counted].sum()),
    )


def log_chance_ratio(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion,
    between: BetweenDays,
) -> float:
    """Compare two explanations of some days: flags by chance, and the model as it was.

    By chance, the true positives of the days, with the positives and the flagged cases given,
    are hypergeometric. As it was, the log odds ratio of the days deviates from that of the
    reference by the scatter of days, the error of the reference and that of the days' rows,
    with Student's t distribution for the days that the scatter is known from. A model that
    flags negatives rather than positives is one whose log odds ratio is the reference's with
    the other sign.

    The days are compared as one table, with the odds ratio that the reference has in stretches
    of as many days. Where the days one by one, with the odds ratio that the reference has within
    days, favour the model as it was, different thresholds or prevalences of the days explain
    the table, and theirs is the answer.

    Args:
        before: outcomes of the reference, by days along one axis; a scalar where they are not
            known by days.
        after: outcomes of the days, in the same form.
        dispersion: variance of rows over that of independent ones, at least 1.
        between: what the scatter of days adds to the errors of a change from one to the other.

    Returns:
        Natural log of the likelihood by chance, or with the other sign if that is larger, over
        that of the model as it was; 0 where the days show nothing, where they certainly (p < .01)
        are better than chance, as a model is that became worse, or where the model of the
        reference did not tell the classes apart either.

    Source:
        Cornfield 1956 (the expected table for an odds ratio and given margins); Satterthwaite
        1946 (degrees of freedom of a sum of variances).

    >>> from monitor.drift.day_scatter import DayScatter
    >>> usual = ConfusionCounts(tp=[28] * 28, fn=[12] * 28, fp=[54] * 28, tn=[96] * 28)
    >>> at_random = ConfusionCounts(tp=[17] * 7, fn=[23] * 7, fp=[65] * 7, tn=[85] * 7)
    >>> between = DayScatter.learn([usual]).between(28, 7)
    >>> [round(log_chance_ratio(usual, days, Dispersion.of(1.0), between), 1)
    ...  for days in (at_random, usual[:7])]
    [42.2, -51.9]
    """
    before, after = as_blocks(before), as_blocks(after)
    stretches = in_days(before, after.shape[-1])
    error = SmoothedRates.of(before.sum(axis=-1)).variances(dispersion)[Component.ODDS_RATIO]
    whole = _log_ratio(after.sum(axis=-1)[None], stretches, float(error), dispersion, between)
    if whole <= 0:
        return whole
    if by_chance(after.sum(axis=-1)[None]).is_better(dispersion):
        return 0.0
    within = _log_ratio(after, before, float(error), dispersion, between)
    return whole if within >= 0 else within


def _log_ratio(
    days: ConfusionCounts,
    reference: ConfusionCounts,
    error: float,
    dispersion: Dispersion,
    between: BetweenDays,
) -> float:
    """Compare the explanations of days, each with its own margins; see `log_chance_ratio`."""
    usual = float(log_odds_ratio_within(reference))
    if not math.isfinite(usual):
        smoothed = SmoothedRates.of(reference.sum(axis=-1))
        usual = float(smoothed.components()[Component.ODDS_RATIO])
    chance = by_chance(days)
    if usual <= 0 or chance.variance <= 0:
        return 0.0
    widened = float(max(dispersion.recall, dispersion.false_positive_rate))
    scatter = float((between.before + between.after)[Component.ODDS_RATIO])
    freedom = float(np.broadcast_to(between.freedom, between.after.shape)[Component.ODDS_RATIO])
    likelihoods = [_log_density(chance.excess, chance.variance * widened, _MANY)]
    for log_odds_ratio in (-usual, usual):
        excess, rows = _expected(days, log_odds_ratio)
        # How much the excess changes with the log odds ratio, on the way from none to this one.
        slope = excess / log_odds_ratio
        of_days = slope**2 * scatter
        variance = of_days + slope**2 * error + rows * widened
        many = min(freedom * (variance / max(of_days, _TINY)) ** 2, _MANY)
        likelihoods.append(_log_density(chance.excess - excess, variance, many))
    at_random, inverted, as_it_was = likelihoods
    found = max(at_random, inverted) - as_it_was
    return min(found, _exact_log_ratio(days, usual) / widened) if found > 0 else found


def _exact_log_ratio(days: ConfusionCounts, usual: float) -> float:
    """Compare the explanations at the odds ratio of the reference, without scatter or errors.

    These only make what is unlikely of the model as it was likelier, so that this is the most
    that days show. The densities of `_log_ratio` claim more where a day has two or three
    positives.

    Args:
        days: outcomes by day.
        usual: log odds ratio of the reference, above 0.

    Source:
        Fisher 1935 (the noncentral hypergeometric distribution).
    """
    tp = float(days.tp.sum())
    positive, flagged, total, _ = (np.rint(one).tolist() for one in _margins(days))
    tables = [_PossibleTables.of(*day) for day in zip(positive, flagged, total, strict=True)]

    def likelihood(log_odds_ratio: float) -> float:
        """Return its log over that of flags by chance."""
        growth = math.fsum(one.log_mean_growth(log_odds_ratio) for one in tables)
        return log_odds_ratio * tp - growth

    return max(0.0, likelihood(-usual)) - likelihood(usual)


class _PossibleTables(NamedTuple):
    """The tables that a day's margins allow.

    Attributes:
        tp: true positives of each.
        chances: log of how likely each is by chance, up to a constant.
        log_sum: log of the sum of these likelihoods.
    """

    tp: FloatArray
    chances: FloatArray
    log_sum: float

    @classmethod
    def of(cls, positive: float, flagged: float, total: float) -> _PossibleTables:
        tp = np.arange(max(0.0, positive + flagged - total), min(positive, flagged) + 1)
        cells = (tp, positive - tp, flagged - tp, total - positive - flagged + tp)
        chances = -gammaln(np.stack(cells) + 1).sum(axis=0)
        return cls(tp, chances, float(logsumexp(chances)))

    def log_mean_growth(self, log_odds_ratio: float) -> float:
        """Return the log of the mean of exp(log odds ratio · TP), if flags come by chance."""
        return float(logsumexp(self.chances + log_odds_ratio * self.tp)) - self.log_sum


def _log_density(distance: float, variance: float, freedom: float) -> float:
    """Return the log density of Student's t distribution at a distance from its centre.

    The variance is the square of its scale, as for the normal distribution, which it is from
    very many degrees of freedom on.
    """
    half = (freedom + 1) / 2
    height = float(gammaln(half) - gammaln(freedom / 2)) - math.log(freedom * math.pi) / 2
    return height - math.log(variance) / 2 - half * math.log1p(distance**2 / variance / freedom)


def _expected(days: ConfusionCounts, log_odds_ratio: float) -> tuple[float, float]:
    """Return the excess of true positives at an odds ratio, over the days, and its variance.

    The expected table of a day has its margins and this odds ratio; the variance is the
    reciprocal of the sum of the reciprocals of its cells.
    """
    positive, flagged, total, _ = _margins(days)
    odds_ratio = math.exp(log_odds_ratio)
    outside = total - positive - flagged
    linear = odds_ratio * (positive + flagged) + outside
    product = odds_ratio * positive * flagged
    root = np.sqrt(np.maximum(linear**2 - 4 * (odds_ratio - 1) * product, 0))
    tp = 2 * product / np.maximum(linear + root, _TINY)
    cells = np.stack([tp, positive - tp, flagged - tp, outside + tp])
    variance = 1 / (1 / np.maximum(cells, _TINY)).sum(axis=0)
    excess = tp - positive * flagged / np.maximum(total, _TINY)
    return float(excess.sum()), float(variance.sum())


def _margins(days: ConfusionCounts) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return actual positives, flagged cases, all cases and true positives of each day."""
    parts = (days.actual_positive, days.predicted_positive, days.total, days.tp)
    positive, flagged, total, tp = (np.asarray(one, dtype=np.float64) for one in parts)
    return positive, flagged, total, tp
