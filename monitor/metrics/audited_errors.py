"""Rates of wrong labels, learned from audits: a second, trusted look at some labelled cases.

Cases are audited by stratum: so many of each predicted class and label, drawn at random within
it. How many depends on what was seen of a case, never on its actual class, so that the
likelihood needs no weights. With p the share of actual positives among the cases of a predicted
class, an audited case that is actually positive and labelled 1 has the probability p (1 - fn),
one that is actually negative and labelled 1 has (1 - p) fp, and a case that is not audited and
labelled 1 has the sum of both. A rate is the same for both predicted classes. That is what lets
a few audits of flagged cases labelled 0 bound `fn` at rare positives, where audits of all cases
labelled 0 hardly find any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from monitor.clock import DAY_MS
from monitor.counts import CountArray
from monitor.metrics.audit_likelihood import HIGHEST, LOWEST, log_likelihood
from monitor.metrics.label_errors import UNKNOWN_ERRORS, ErrorRates
from monitor.metrics.ratio import FloatArray

FEWEST_AUDITS = 30
"""Audited cases of each label below which no rate is stated."""

_DROP = 1.9207294103470620
"""Half of the quantile .95 of chi squared with one degree of freedom."""
_BY_CHANCE = 0.01
"""Probability that labels seem to follow the prediction by chance, of all stretches together."""
_POINTS = 25
_ROUNDS = 8
_DIGITS = 3
_CLASSES = 2


class AuditedLabels(NamedTuple):
    """Audited cases and all labelled ones, of the same stretch of time.

    Attributes:
        audited: (2, 2, 2), cases by predicted class, label and actual class.
        labelled: (2, 2), cases by predicted class and label, at least the audited ones.
    """

    audited: NDArray[np.int64]
    labelled: NDArray[np.int64]

    @property
    def by_label(self) -> tuple[int, int]:
        """Audited cases labelled 0, and labelled 1."""
        zero, one = self.audited.sum(axis=(0, 2)).tolist()
        return zero, one

    @property
    def are_enough(self) -> bool:
        """True where rates can be learned: `FEWEST_AUDITS` cases of each label."""
        return bool(self.enough(np.array(self.by_label)))

    @staticmethod
    def enough(by_label: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return where audits are enough for rates.

        Args:
            by_label: (..., 2), audited cases labelled 0, and labelled 1.
        """
        return np.asarray(by_label.min(axis=-1) >= FEWEST_AUDITS)

    def of(self, predicted: int) -> AuditedLabels:
        """Return the cases of one predicted class alone, which are the only ones along its axis.

        Args:
            predicted: 0 or 1.
        """
        return AuditedLabels(self.audited[[predicted]], self.labelled[[predicted]])


class AuditedDays(NamedTuple):
    """Audited cases and all labelled ones, by day; days without an audit are left out.

    Attributes:
        days: numbers since 1970, ascending.
        audited: (days, 2, 2, 2), cases by predicted class, label and actual class.
        labelled: (days, 2, 2), cases by predicted class and label, at least the audited ones.
    """

    days: CountArray
    audited: CountArray
    labelled: CountArray

    def is_same(self, other: AuditedDays) -> bool:
        """Return whether other days have the same counts."""
        return all(map(np.array_equal, self, other))

    def of(self, start: int, end: int) -> AuditedLabels:
        """Return the cases of some of the days.

        Args:
            start: place of the first.
            end: place after the last.
        """
        return AuditedLabels(*(part[start:end].sum(axis=0) for part in self[1:]))

    def during(self, opens: int, closes: int) -> AuditedLabels:
        """Return the cases of the days that a stretch of time lies in.

        Args:
            opens: first moment, epoch milliseconds.
            closes: first moment after it.
        """
        start = int(np.searchsorted(self.days, opens // DAY_MS))
        end = int(np.searchsorted(self.days, -(-closes // DAY_MS)))
        return self.of(start, end)


class AuditedValue(NamedTuple):
    """What the audits of a segment value show.

    Attributes:
        segment: the key.
        value: its value.
        cases: audited and labelled ones, since the last change of the rates.
        by_stretch: rates of wrong labels between the changes, the oldest first.
    """

    segment: str
    value: str
    cases: AuditedLabels
    by_stretch: tuple[ErrorRates, ...]

    @property
    def rates(self) -> ErrorRates:
        """The rates since the last change."""
        return self.by_stretch[-1]


class AuditFindings(NamedTuple):
    """What the audits of a model show.

    Attributes:
        cases: audited and labelled ones.
        rates: of wrong labels, see `learned_rates`.
        follow_predictions: see the function of this name.
        earlier: what the cases before each change of the rates show, the oldest first, each
            after the number of the first day since 1970 that follows them; the cases above are
            those since the last change.
        by_value: segment values between which the rates differ.
        days: all cases by day; None where they are not known by days.
    """

    cases: AuditedLabels
    rates: ErrorRates
    follow_predictions: bool | None
    earlier: tuple[tuple[int, AuditFindings], ...] = ()
    by_value: tuple[AuditedValue, ...] = ()
    days: AuditedDays | None = None

    @classmethod
    def of(cls, cases: AuditedLabels, stretches: int = 1) -> Self:
        """Return what audited cases show; no rates where these follow the predictions.

        Args:
            cases: audited and labelled ones.
            stretches: of time of a model that are tested, this one included.
        """
        (likely,) = _likely([cases])
        follow = _follow(cases, likely, stretches)
        return cls(cases, UNKNOWN_ERRORS if follow else _stated(cases, likely), follow)


def learned_rates(found: AuditedLabels) -> ErrorRates:
    """Return the rates of wrong labels with their 95 % limits.

    Args:
        found: audited cases, and all labelled ones.

    Returns:
        The most likely rates, and limits by profile likelihood; both with half an audit added
        to right and to wrong labels of each actual class, and to three significant digits. A
        lower limit is 0 where no label is found to be wrong. `UNKNOWN_ERRORS` with under
        `FEWEST_AUDITS` of a label, and where the upper limits add up to 1 or more, so that
        labels may say nothing of the class.

    Source:
        Tenenbein 1970 (double sampling with misclassification); Lyles et al. 2011 (validation
        by stratum of prediction and label).

    >>> audited = np.array([[[250, 0], [197, 53]], [[245, 5], [11, 239]]])
    >>> labelled = np.array([[28_843, 360], [578, 219]])
    >>> learned_rates(AuditedLabels(audited, labelled)).ranges
    {'false_positive': (0.00879, 0.0111), 'false_negative': (0.0219, 0.111)}
    """
    return learned_rates_of([found])[0]


def learned_rates_of(found: Sequence[AuditedLabels]) -> list[ErrorRates]:
    """Return `learned_rates` of each of some cases, in the time of few.

    Args:
        found: audited cases, and all labelled ones, of each; at least one.
    """
    return [_stated(*both) for both in zip(found, _likely(found), strict=True)]


def _stated(found: AuditedLabels, likely: _Likely) -> ErrorRates:
    """Return the most likely rates as they are stated; undefined with few audits."""
    rates, limits, _ = likely
    if not found.are_enough:
        return UNKNOWN_ERRORS
    if sum(high for _, high in limits) >= 1:
        return UNKNOWN_ERRORS
    wrong = found.audited[:, 1, 0].sum(), found.audited[:, 0, 1].sum()
    (first, below, above), (second, below_second, above_second) = (
        _rounded(rate, low if seen else 0.0, high)
        for rate, (low, high), seen in zip(rates, limits, wrong, strict=True)
    )
    return ErrorRates(first, second, below, above, below_second, above_second)


def _rounded(rate: float, low: float, high: float) -> tuple[float, float, float]:
    """Return a rate, and how far its limits are from it, to a few significant digits."""
    rate, low, high = (float(f"{one:.{_DIGITS}g}") for one in (rate, low, high))
    return rate, rate - low, high - rate


def follow_predictions(found: AuditedLabels, stretches: int = 1) -> bool | None:
    """Test whether the rates of wrong labels differ between the predicted classes.

    They do where labels are fed back by the model: a flagged case is confirmed as flagged.

    Args:
        found: audited cases, and all labelled ones.
        stretches: of time that are tested, at least 1.

    Returns:
        True where the same rates for both do not fit (likelihood ratio, p < .01 over the number of
        stretches); None with
        under `FEWEST_AUDITS` of either predicted class.

    >>> labelled = np.array([[28_843, 360], [578, 219]])
    >>> audited = np.array([[[250, 0], [197, 53]], [[245, 5], [11, 239]]])
    >>> follow_predictions(AuditedLabels(audited, labelled))
    False
    >>> audited[1, 1] = 125, 125
    >>> follow_predictions(AuditedLabels(audited, labelled))
    True
    """
    return _follow(found, _likely([found])[0], stretches)


def _follow(found: AuditedLabels, likely: _Likely, stretches: int) -> bool | None:
    """Test the same against the most likely rates for both predicted classes."""
    if found.audited.sum(axis=(1, 2)).min() < FEWEST_AUDITS:
        return None
    each = _likely([found.of(predicted) for predicted in range(_CLASSES)])
    apart = sum(one.log_likelihood for one in each)
    limit = chdtri(_CLASSES, _BY_CHANCE / stretches)
    return bool(2 * (apart - likely.log_likelihood) > limit)


class _Likely(NamedTuple):
    """The most likely rates, their limits, and the greatest log-likelihood."""

    rates: tuple[float, ...]
    limits: tuple[tuple[float, float], ...]
    log_likelihood: float


def _likely(found: Sequence[AuditedLabels]) -> list[_Likely]:
    """Look for the most likely rates of each of some cases on a grid, for all at once.

    A grid contracts to the box around the rates whose log-likelihood lies within `_DROP` of
    the greatest: its sides are the profile limits.
    """
    audited, labelled = (np.stack(part)[:, None] for part in zip(*found, strict=True))
    low, high = (np.full((len(found), _CLASSES), end) for end in (LOWEST, HIGHEST))
    greatest, best = np.full(len(found), -np.inf), (low + high) / 2
    limits = np.empty((len(found), _CLASSES, 2))
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _POINTS, axis=-1)
        values = log_likelihood(audited, labelled, grid[:, 0], grid[:, 1])
        for one, value in enumerate(values):
            at = np.unravel_index(int(value.argmax()), value.shape)
            if value[at] > greatest[one]:
                greatest[one], best[one] = value[at], [grid[one, i, at[i]] for i in range(_CLASSES)]
            above = value - greatest[one] + _DROP
            for i in range(_CLASSES):
                limits[one, i] = _limits(grid[one, i], above.max(axis=1 - i), best[one, i])
        step = (high - low) / (_POINTS - 1)
        low = np.maximum(limits[..., 0] - step, LOWEST)
        high = np.minimum(limits[..., 1] + step, HIGHEST)
    return [
        _Likely(tuple(map(_rate, rates)), tuple((_rate(a), _rate(b)) for a, b in ends), likelihood)
        for rates, ends, likelihood in zip(
            best.tolist(), limits.tolist(), greatest.tolist(), strict=True
        )
    ]


def _limits(grid: FloatArray, above: FloatArray, best: float) -> tuple[float, float]:
    """Return where the profile of a rate crosses 0, around its most likely value; linear between.

    Args:
        grid: logits of the rate.
        above: the profile, by how much it lies above the limit.
        best: the most likely logit, where the profile is above it.
    """
    inside = np.flatnonzero(above >= 0)
    if not len(inside):
        return best, best
    found = []
    for at, outside in ((inside[0], inside[0] - 1), (inside[-1], inside[-1] + 1)):
        if 0 <= outside < len(grid) and np.isfinite(above[outside]):
            part = above[at] / (above[at] - above[outside])
            found.append(float(grid[at] + part * (grid[outside] - grid[at])))
        else:
            found.append(float(grid[at]))
    return min(found[0], best), max(found[1], best)


def _rate(logit: float) -> float:
    """Return a rate; 0 at the lowest logit, below which none is looked for."""
    return 0.0 if logit <= LOWEST else float(1 / (1 + np.exp(-logit)))
