"""Outcomes estimated from labels: of a sample of the predictions, or with errors.

The effective number of labels, the expected outcomes, and the variance of their rates.
"""

from __future__ import annotations

import numpy as np

from monitor.config import Labelling
from monitor.counts import CountArray, Outcome
from monitor.drift.dispersion import Dispersion
from monitor.events.columns import FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.join.sampling import WEIGHT_UNIT
from monitor.labels.regime import SAMPLES, LabelRegime
from monitor.metrics.label_errors import ErrorRates, true_share
from monitor.metrics.ratio import ratio

_HALF = 0.5
_CELLS = len(Outcome)


def effective_labels(weights: Int64Array) -> FloatArray:
    """Return the number of equally weighted labels equivalent to weighted ones, by `Outcome`.

    Within each predicted class: the weighted shares, times the lesser of Kish's effective
    number and of the number that gives the shares the variance of weighted means. Either
    alone undercovers: the first where rare cases weigh more than others, the second with
    few cases. The lesser is conservative where rare cases were sampled more often.

    Args:
        weights: sums of weights and of squared weights, (..., 8).

    Returns:
        Fractional counts (..., 4); zeros where a stratum has no weighted labels, and where a
        weight is below 0, since a correction came before what it corrects.

    Source:
        Kish 1965, section 11.7; Särndal, Swensson and Wretman 1992, section 5.7
        (variance of a weighted mean).

    >>> effective_labels(np.array([200, 200, 0, 0, 400, 400, 0, 0]) * 256).tolist()
    [100.0, 100.0, 0.0, 0.0]
    """
    weights = _known(weights)
    total = weights[..., :_CELLS] / WEIGHT_UNIT
    squares = weights[..., _CELLS:] / WEIGHT_UNIT
    positive, negative = total[..., [0, 2]], total[..., [1, 3]]
    whole = positive + negative
    share = ratio(positive, whole)
    kish = ratio(whole**2, squares[..., [0, 2]] + squares[..., [1, 3]])
    scatter = (1 - share) ** 2 * squares[..., [0, 2]] + share**2 * squares[..., [1, 3]]
    linear = ratio(share * (1 - share) * whole**2, scatter)
    number = np.nan_to_num(np.fmin(kish, np.where(linear > 0, linear, np.nan)))
    share = np.nan_to_num(share)
    return np.stack(
        [
            share[..., 0] * number[..., 0],
            (1 - share[..., 0]) * number[..., 0],
            share[..., 1] * number[..., 1],
            (1 - share[..., 1]) * number[..., 1],
        ],
        axis=-1,
    )


def labels_by_stratum(
    labelling: Labelling, cells: Int64Array, weights: Int64Array
) -> tuple[float, float]:
    """Count labels of predicted positives and of predicted negatives; effective ones if weighted.

    Without labels of one of the two, precision alone (or nothing) can be estimated.

    Args:
        labelling: `sampled` or `weighted`.
        cells: (6,).
        weights: (8,).
    """
    weighted = labelling is Labelling.WEIGHTED
    tp, fp, fn, tn = effective_labels(weights) if weighted else cells[:_CELLS]
    return float(tp + fp), float(fn + tn)


def expected(
    regime: LabelRegime, cells: Int64Array, weights: Int64Array, opens: Int64Array
) -> tuple[CountArray, Dispersion | None]:
    """Return outcomes by blocks of time: as counted, or as expected of all predictions.

    Where labels are a sample, each predicted class is scaled by one factor in all blocks;
    where labels have errors, each block is corrected, and those that would lie below 0 count
    as 0. The blocks add up to the estimate of the whole.

    Args:
        regime: how labels come, and how often they are wrong.
        cells: (blocks, series, 6); the first series is the whole.
        weights: (blocks, series, 8).
        opens: first moment of each block, epoch milliseconds.

    Returns:
        Cells (blocks, series, 4); and for estimates how much larger the variance of the
        whole is than that of so many outcomes.

    Source:
        Begg and Greenes 1983; Rogan and Gladen 1978; delta method.
    """
    counted = cells[..., :_CELLS]
    if not regime.is_estimated:
        return counted, None
    labelled = (
        _known(weights)[..., :_CELLS] / WEIGHT_UNIT
        if regime.labelling is Labelling.WEIGHTED
        else counted.astype(float)
    )
    if regime.has_errors:
        of_blocks = regime.stretches(opens)
        for stretch in np.unique(of_blocks):
            held = of_blocks == stretch
            labelled[held] = _without_errors(labelled[held], regime.rates[stretch])
    if regime.labelling in SAMPLES:
        whole, population = labelled.sum(axis=0), cells[..., PREDICTED_POSITIVE:].sum(axis=0)
        flagged = np.nan_to_num(ratio(population[..., 0], whole[..., 0] + whole[..., 1]))
        passed = np.nan_to_num(ratio(population[..., 1], whole[..., 2] + whole[..., 3]))
        labelled = labelled * np.stack([flagged, flagged, passed, passed], axis=-1)
    whole = regime.of_blocks(opens, counted[:, 0].sum(axis=-1))
    return labelled, sampling_dispersion(whole, cells[:, 0].sum(axis=0), weights[:, 0].sum(axis=0))


def _known(weights: Int64Array) -> Int64Array:
    """Return weights with zeros where one is below 0, as `deltas.known` returns counts."""
    unknown = (weights < 0).any(axis=-1, keepdims=True)
    return np.where(unknown, 0, weights) if unknown.any() else weights


def _without_errors(labelled: FloatArray, errors: ErrorRates) -> FloatArray:
    """Return outcomes by blocks without the errors of their labels, (blocks, ..., 4).

    The blocks of each predicted class are corrected one by one, clipped, and scaled so that
    they add up to the corrected whole: clipping alone would raise it.

    >>> blocks = np.array([[70.0, 30.0, 1.0, 99.0], [70.0, 30.0, 3.0, 97.0]])
    >>> _without_errors(blocks, ErrorRates(false_positive=0.02)).round(2).tolist()
    [[69.39, 30.61, 0.0, 100.0], [69.39, 30.61, 0.0, 100.0]]
    """
    parts = []
    for one, other in ((Outcome.TP, Outcome.FP), (Outcome.FN, Outcome.TN)):
        positive, cases = labelled[..., one], labelled[..., one] + labelled[..., other]
        rates = errors.false_positive, errors.left
        whole = cases.sum(axis=0)
        due = np.nan_to_num(true_share(ratio(positive.sum(axis=0), whole), *rates)) * whole
        found = np.nan_to_num(true_share(ratio(positive, cases), *rates)) * cases
        total = found.sum(axis=0)
        fewer = found * np.nan_to_num(ratio(due, total))
        more = cases - (cases - found) * np.nan_to_num(ratio(whole - due, whole - total))
        found = np.where(total > due, fewer, more)
        parts += [found, cases - found]
    return np.stack(parts, axis=-1).clip(min=0.0)


def sampling_dispersion(
    regime: LabelRegime, cells: Int64Array, weights: Int64Array
) -> Dispersion | None:
    """Return the variance of estimated rates over that of as many outcomes.

    Args:
        regime: how labels come, and how often they are wrong.
        cells: (..., 6), any shape in front.
        weights: (..., 8), the same.

    Returns:
        Factors of the shape in front; None where outcomes are counted, not estimated.

    Source:
        Begg and Greenes 1983; Rogan and Gladen 1978; delta method on the logits of the three
        rates.
    """
    if not regime.is_estimated:
        return None
    weighted = regime.labelling is Labelling.WEIGHTED
    labelled = effective_labels(weights) if weighted else cells[..., :_CELLS]
    tp, fp, fn, tn = (labelled[..., outcome] + _HALF for outcome in Outcome)
    n_flagged, n_passed = tp + fp, fn + tn
    flagged, of_flagged = _share_of_positives(tp / n_flagged, n_flagged, regime.errors)
    missed, of_missed = _share_of_positives(fn / n_passed, n_passed, regime.errors)
    called, passed = n_flagged, n_passed
    if regime.labelling in SAMPLES:
        called = cells[..., PREDICTED_POSITIVE] + 2 * _HALF
        passed = cells[..., PREDICTED_NEGATIVE] + 2 * _HALF
    n, share = called + passed, called / (called + passed)
    cut = 1 / (share * (1 - share) * n)
    positive = share * flagged + (1 - share) * missed
    prevalence = (
        share**2 * of_flagged
        + (1 - share) ** 2 * of_missed
        + (flagged - missed) ** 2 * share * (1 - share) / n
    ) / (positive * (1 - positive)) ** 2
    recall = of_flagged / flagged**2 + cut + of_missed / missed**2
    false = of_flagged / (1 - flagged) ** 2 + cut + of_missed / (1 - missed) ** 2
    of_tp, of_fp = called * flagged, called * (1 - flagged)
    of_fn, of_tn = passed * missed, passed * (1 - missed)
    return Dispersion(
        class_ratio=np.maximum(prevalence / (1 / (of_tp + of_fn) + 1 / (of_fp + of_tn)), 1.0),
        recall=np.maximum(recall / (1 / of_tp + 1 / of_fn), 1.0),
        false_positive_rate=np.maximum(false / (1 / of_fp + 1 / of_tn), 1.0),
    )


def _share_of_positives(
    labelled: FloatArray, labels: FloatArray, errors: ErrorRates
) -> tuple[FloatArray, FloatArray]:
    """Return the share of actual positives behind a share of positive labels, and its variance."""
    least = _HALF / labels
    share = np.clip(true_share(labelled, errors.false_positive, errors.left), least, 1 - least)
    return share, labelled * (1 - labelled) / (labels * errors.left**2)
