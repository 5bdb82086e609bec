"""Whether labels that are wrong more often explain a change as well as a worse model does.

Few wrong labels among many negatives look like missed positives: prevalence and missed
positives rise together, while precision and the share of flagged cases stay. A worse model
misses positives that it found before, so that fewer of the flagged cases are positive. Two
rates and a class ratio tell these apart; they do not tell more wrong labels from new
positives of a kind that the model does not find.

Labels that miss positives are the other kind: labels stop coming for some of them, and each of
these counts as a negative. Then recall stays, while prevalence and precision fall together, as do
those of a model with more false positives whose positives became rarer as well. So these count
only where log r moved against the false-positive rate; where labels would move it by less than two
or three errors, both stay open.

Wrong labels may come beside another threshold, or another class ratio. Then three changes have
two or three causes, and a worse model beside another class ratio explains them as well:

    labels alone                      a share of wrong labels
    labels and threshold              and a movement along the ROC curve
    labels and class ratio            and actual positives that are rarer, or more frequent
    labels, threshold, class ratio    a higher threshold: else they would explain everything

A change of the model alone leaves log r as it was. So these count where log r rose with the missed
positives, and where scores can decide: by rates alone, three causes explain any three changes.
Wrong labels beside positives that became rarer by as many leave log r as it was, too, and pass
for a worse model: two changes that cancel are taken for less likely than one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.component_changes import Changes
from monitor.drift.components import Component
from monitor.drift.no_skill import flags_one_way
from monitor.drift.wrong_labels import places_of, what_is_left, whitening
from monitor.metrics.ratio import FloatArray

_SHARES = tuple(np.log(np.geomspace(1e-4, 0.05, 64)).tolist())
"""Logs of the shares of actual negatives that more are labelled 1."""
_MISSED = tuple(np.log(np.geomspace(1e-2, 0.9, 64)).tolist())
"""Logs of the shares of actual positives that more are labelled 0, where nothing else is wrong."""
_STARTS = tuple(np.log([1e-3, 5e-3, 2e-2]).tolist())
"""Those from which the nearest one is looked for, beside other changes."""
_FLIPPED = ((1.0, 0.0), (1.0, 1.0))
"""How many times the share of actual negatives more are labelled 1, and of positives 0."""
_MOSTLY_LOST, _LOST = ((1.0, 5.0),), ((0.0, 1.0),)
"""The same where labels also miss a larger share of positives, and where they only miss some."""
_SLOPES = (0.5, 0.75, 1.0, 1.5)
"""Change of logit TPR over that of logit FPR along a ROC curve."""
_FARTHEST = 3.0
"""Largest movement of logit FPR by another threshold, and of log r."""
_STEPS, _TINY = 12, 1e-4
_AT_ONCE = 256
"""Series that are looked at together: their places stay in the processor's cache."""
_FITS = 9.210340371976184
"""Quantile .99 of chi squared with two degrees of freedom: three changes, one share. Where more
causes are fitted, it asks for less than p > .01, since their directions are bounded."""
_TEN_TIMES = 4.605170185988092
"""2 ln 10: distances by which one explanation is ten times as likely as the other."""
_THREE_TIMES = 2.1972245773362196
"""2 ln 3: likewise for three times, where no scores can tell."""
MOVED_ERRORS = 2.0
"""Standard errors by which a rate, the odds ratio or log r has moved, for labels to be blamed."""


class LabelChange(StrEnum):
    """Labels that are wrong more, or less, often, which explain a change."""

    NONE = "none"
    """None do."""
    FALSE_POSITIVES = "false_positives"
    """Of actual negatives more, or fewer, are labelled 1; of positives perhaps more 0, too."""
    FALSE_NEGATIVES = "false_negatives"
    """Of actual positives more, or fewer, are labelled 0."""


LABEL_CHANGES = tuple(LabelChange)
"""In the order of the numbers that `labels_explain` returns."""
_NONE, _FALSE_POSITIVES, _FALSE_NEGATIVES = range(3)


class _Beside(NamedTuple):
    """What may have changed beside labels: bounds of its movements.

    Attributes:
        threshold: least and greatest movement of logit FPR along the curve.
        class_ratio: least and greatest change of log r.
    """

    threshold: tuple[float, float] = (0.0, 0.0)
    class_ratio: tuple[float, float] = (0.0, 0.0)


_ALL_BESIDE = (
    _Beside(threshold=(-_FARTHEST, _FARTHEST)),
    _Beside(class_ratio=(-_FARTHEST, _FARTHEST)),
    _Beside(threshold=(-_FARTHEST, 0.0), class_ratio=(-_FARTHEST, _FARTHEST)),
)


class _Kind(NamedTuple):
    """A kind of wrong labels.

    Attributes:
        rate: that they move.
        sign: of its change where more of them are wrong.
        moves_ratio: log r must move against that rate.
        likelier: 2 ln of how many times likelier the model alone must be, without scores and with
            them; below 0, how many times likelier these labels must be.
        shares: logs of the shares that are looked at.
        of: see `wrong_labels.Places`.
    """

    rate: Component
    sign: int
    moves_ratio: bool
    likelier: tuple[float, float]
    shares: tuple[float, ...]
    of: tuple[tuple[float, float], ...]

    def are_more(self, found: Changes) -> NDArray[np.bool_]:
        """Return whether more of them would be wrong after, not fewer."""
        return np.asarray(self.sign * found.change[self.rate] > 0)

    def may_explain(self, found: Changes) -> NDArray[np.bool_]:
        """Return whether anything moved that they may explain."""
        both = [self.rate, Component.ODDS_RATIO]
        moved = (np.abs(found.change[both]) > MOVED_ERRORS * found.standard_error[both]).any(axis=0)
        moved &= found.change[self.rate] != 0
        if self.moves_ratio:
            moved &= found.change[Component.CLASS_RATIO] * found.change[self.rate] < 0
        return np.asarray(moved)


_WRONG = _Kind(Component.RECALL, -1, False, (_THREE_TIMES, _TEN_TIMES), _SHARES, _FLIPPED)
_LACKING = _Kind(Component.FALSE_POSITIVE_RATE, 1, True, (_TEN_TIMES,) * 2, _MISSED, _LOST)
_KINDS = (
    (_FALSE_POSITIVES, _WRONG),
    (_FALSE_POSITIVES, _WRONG._replace(likelier=(0.0, 0.0), of=_MOSTLY_LOST)),
    (_FALSE_NEGATIVES, _LACKING),
)


class _Asked(NamedTuple):
    """Changes that a kind of wrong labels may explain.

    Attributes:
        right: cells of the outcomes with fewer wrong labels, (series, 4).
        found: the changes from before to after, (8, series).
        way: those from the outcomes with fewer wrong labels to the others.
    """

    right: CountArray
    found: Changes
    way: Changes


def _asked(
    sides: tuple[ConfusionCounts, ...], found: Changes, kind: _Kind, at: NDArray[np.bool_]
) -> _Asked:
    """Return the changes from before to after of the series that are asked for."""
    more = kind.are_more(found)[at]
    series = Changes(found.change[:, at], found.standard_error[:, at])
    right = np.where(more[:, None], *(side[at].cells for side in sides))
    way = Changes(np.where(more, series.change, -series.change), series.standard_error)
    return _Asked(right, series, way)


def labels_explain(
    before: ConfusionCounts, after: ConfusionCounts, found: Changes, support: float | None = None
) -> NDArray[np.int8]:
    """Test for a change of recall, or of false positives, that other labels explain as well.

    That labels are wrong more often predicts the changes of log r, TPR and FPR from one share. It
    explains them where the changes do not leave that prediction (p > .01), and no change of log r,
    which is what a change of the model alone predicts, is less than three times as likely; ten
    times for labels that miss positives, of which a tenth moves log r by little, and where scores
    can tell both apart; and not likelier, for labels that also miss five times that share of the
    positives. What the scores show multiplies the likelihood. Where recall rose, labels
    that are wrong less often are tested; where FPR fell, labels that miss fewer positives. Where
    both kinds explain it, the one does whose prediction is nearer to the changes.

    Where scores can tell both apart, recall certainly fell and log r rose, so that the model alone
    is ten times less likely, wrong labels beside another threshold, another class ratio, or both
    explain it as well, if they fit.

    Args:
        before: outcomes of the reference, one series for each index.
        after: outcomes of the window, same shape.
        found: the changes between them.
        support: of wrong labels by scores (`missed_positives.label_support`), 0 before these are
            asked; None without.

    Returns:
        Numbers in `LABEL_CHANGES`, in the shape of the series. `none` where neither the rate nor
        odds ratio moved by two standard errors, where a class is missing, where nothing or all
        is flagged now, and of labels that miss positives where log r moved with FPR.

    >>> from monitor.drift.component_changes import changes
    >>> before = ConfusionCounts(tp=1_600, fp=980, fn=400, tn=97_020)
    >>> more_wrong = ConfusionCounts(tp=1_594, fp=986, fn=1_366, tn=96_054)
    >>> more_missed = ConfusionCounts(tp=960, fp=1_620, fn=240, tn=97_180)
    >>> fewer_found = ConfusionCounts(tp=1_000, fp=980, fn=1_000, tn=97_020)
    >>> for one in (more_wrong, more_missed, fewer_found):
    ...     print(LABEL_CHANGES[labels_explain(before, one, changes(before, one))])
    false_positives
    false_negatives
    none
    """
    possible = _both_classes(before) & _both_classes(after) & ~flags_one_way(before, after)
    sides, explained = (before, after), np.zeros(possible.shape, dtype=np.int8)
    by_scores = 2 * (support or 0.0)
    nearest = np.full(possible.shape, np.inf)
    for number, kind in _KINDS:
        asked = possible & kind.may_explain(found)
        one = _asked(sides, found, kind, asked)
        limit = _of_model(one.found) + kind.likelier[support is not None]
        distance = _of_labels_alone(one.right, one.way, kind)
        nearer = distance < np.minimum(np.minimum(_FITS, limit + by_scores), nearest[asked])
        explained[asked] = np.where(nearer, number, explained[asked])
        nearest[asked] = np.where(nearer, distance, nearest[asked])
    if support is not None:
        asked = possible & (explained == _NONE) & _WRONG.may_explain(found)
        explained[asked] = np.where(
            _explain_beside(_asked(sides, found, _WRONG, asked), by_scores), _FALSE_POSITIVES, _NONE
        )
    return explained


class WrongLabels(NamedTuple):
    """Labels that are wrong more, or less, often, which explain a change best.

    Attributes:
        of_negatives: share of actual negatives that more, or fewer, are labelled 1.
        of_positives: share of actual positives that more, or fewer, are labelled 0.
        more: True where more labels are wrong after, False where fewer are.
    """

    of_negatives: float
    of_positives: float
    more: bool


def explaining_labels(
    before: ConfusionCounts, after: ConfusionCounts, found: Changes, change: LabelChange
) -> WrongLabels:
    """Return the share of wrong labels that alone explains a change best.

    Args:
        before: outcomes of the reference, a scalar.
        after: outcomes of the window, a scalar.
        found: the changes between them.
        change: the kind of labels that explains it, not `none`.

    >>> from monitor.drift.component_changes import changes
    >>> before = ConfusionCounts(tp=1_600, fp=980, fn=400, tn=97_020)
    >>> after = ConfusionCounts(tp=1_594, fp=986, fn=1_366, tn=96_054)
    >>> moved = changes(before, after)
    >>> found = explaining_labels(before, after, moved, LabelChange.FALSE_POSITIVES)
    >>> round(found.of_negatives, 3), found.more
    (0.01, True)
    """
    kinds = [kind for number, kind in _KINDS if LABEL_CHANGES[number] is change]
    more = bool(kinds[0].are_more(found))
    way = Changes(found.change if more else -found.change, found.standard_error)
    places = places_of(kinds[0].shares, tuple(of for kind in kinds for of in kind.of), (1.0,))
    rest = what_is_left((before if more else after).cells, way, whitening(way), places)
    nearest = int((rest**2).sum(axis=-1).argmin())
    negatives, positives = np.exp(places.at[nearest, 0]) * places.of[nearest]
    return WrongLabels(float(negatives), float(positives), more)


def _both_classes(counts: ConfusionCounts) -> NDArray[np.bool_]:
    return np.asarray((counts.actual_positive > 0) & (counts.actual_negative > 0))


def _of_model(found: Changes) -> FloatArray:
    """Distance of the changes from what a change of the model alone predicts for log r."""
    return np.asarray((found.change[0] / found.standard_error[0]) ** 2)


def _may_be_beside(found: Changes, by_scores: float) -> NDArray[np.bool_]:
    """Return whether a change of log r, and scores, say that more changed than the model."""
    ratio, recall = found.change[[Component.CLASS_RATIO, Component.RECALL]]
    certain = np.abs(recall) > MOVED_ERRORS * found.standard_error[Component.RECALL]
    return np.asarray(certain & (ratio * recall < 0) & (_of_model(found) + by_scores > _TEN_TIMES))


def _of_labels_alone(right: CountArray, found: Changes, kind: _Kind) -> FloatArray:
    """Squared distance of the changes from the nearest that a share of wrong labels predicts.

    Args:
        right: cells of the outcomes with fewer wrong labels, (series, 4).
        found: the changes from these to the others, (8, series).
        kind: of wrong labels.

    Returns:
        The distance of each series, (series,).
    """
    places = places_of(kind.shares, kind.of, (1.0,))
    nearest = np.empty(len(right))
    for start in range(0, len(right), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        changed = Changes(found.change[:, part], found.standard_error[:, part])
        rest = what_is_left(right[part], changed, whitening(changed), places)
        nearest[part] = (rest**2).sum(axis=-1).min(axis=-1)
    return nearest


def _explain_beside(asked: _Asked, by_scores: float) -> NDArray[np.bool_]:
    """Return which changes wrong labels beside others explain."""
    fits = _may_be_beside(asked.found, by_scores)
    for index in np.flatnonzero(fits):
        one = Changes(asked.way.change[:, index], asked.way.standard_error[:, index])
        fits[index] = any(_fit_beside(asked.right[index], one, beside) for beside in _ALL_BESIDE)
    return fits


def _fit_beside(right: CountArray, found: Changes, beside: _Beside) -> bool:
    """Return whether changes are as near as `_FITS` to those that labels and others predict.

    Looked for by Gauss-Newton steps from several starts at once, inside the bounds.

    Args:
        right: cells of the outcomes with fewer wrong labels, (4,).
        found: the changes from these to the others, of one series.
        beside: what changed as well.
    """
    low, high = np.array([(_SHARES[0], _SHARES[-1]), *beside]).T
    free = low < high
    places = places_of(_STARTS, _FLIPPED, _SLOPES if free[1] else (1.0,))
    at, root = places.at, whitening(found)
    tried = np.concatenate([np.zeros((1, 1, 3)), _TINY * np.eye(3)[free, None]])
    for _ in range(_STEPS):
        rest, *moved = what_is_left(right, found, root, places._replace(at=at + tried))
        if (rest**2).sum(axis=-1).min() < _FITS:
            return True
        slopes = (rest - np.stack(moved)) / _TINY
        squares = np.einsum("pnc,qnc->npq", slopes, slopes) + np.eye(free.sum())
        step = np.linalg.solve(squares, np.einsum("pnc,nc->np", slopes, rest)[..., None])
        at = at.copy()
        at[:, free] += step[..., 0]
        at = np.clip(at, low, high)
    return False
