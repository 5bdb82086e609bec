"""What corrections of scores and thresholds promise, against what they bring.

    python -m tests.benchmarks.recalibration [--draws 200] [--seed 20261123]

Seeded. Scores are calibrated for 13 % positives, 28 days of 700 cases; then positives become rarer
or more frequent, scores are stretched or bent, or nothing changes, and days scatter or do not.
Each draw asks for the correction and for the threshold of a precision of .6, and compares what is
promised with 200,000 more cases. "Covers" is the share of 95 % intervals that hold the truth;
of the gains, that of the correction that is right for the change.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from monitor.metrics.calibration import middles
from monitor.metrics.expected_threshold import expected_threshold
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.precision import precision
from monitor.metrics.recalibration import Correction, Recalibration, recalibration

from .turns import table

BINS = 1000
CENTRE, SPREAD = -2.6, 1.5
_DENSE = np.random.default_rng(0).normal(CENTRE, SPREAD, 1_000_000)
_SHARE = float(expit(_DENSE).mean())
BEFORE = _SHARE / (1 - _SHARE)
"""Positives per negative that the scores are calibrated for."""


class Change(NamedTuple):
    """What happens to calibrated scores.

    Attributes:
        shift: log of the factor of the class ratio.
        slope: of the log-odds of the scores.
        power: that the scores are raised to.
        scatter: standard deviation between days of the log of the class ratio.
        days: of labelled scores.
        right: the correction that undoes it; None for nothing to undo.
    """

    shift: float = 0.0
    slope: float = 1.0
    power: float = 1.0
    scatter: float = 0.0
    days: int = 28
    right: Correction | None = None


CHANGES = {
    "nothing": Change(),
    "nothing, 7 days": Change(days=7),
    "nothing, days scatter .3": Change(scatter=0.3),
    "positives rarer by e": Change(shift=-1.0, right=Correction.PRIOR_SHIFT),
    "the same, days scatter .3": Change(shift=-1.0, scatter=0.3, right=Correction.PRIOR_SHIFT),
    "the same, 7 days": Change(shift=-1.0, days=7, right=Correction.PRIOR_SHIFT),
    "positives more frequent by e": Change(shift=1.0, right=Correction.PRIOR_SHIFT),
    "too extreme (slope 1.6)": Change(slope=1.6, right=Correction.PLATT),
    "squared": Change(power=2.0, right=Correction.PLATT),
}


def drawn(rng: np.random.Generator, change: Change, days: int, cases: int) -> ScoreHistogram:
    """Return labelled scores by day."""
    found = np.zeros((2, days, BINS), dtype=np.int64)
    for day in range(days):
        odds = np.exp(change.shift + rng.normal(0, change.scatter))
        true = rng.normal(CENTRE, SPREAD, cases)
        positive = rng.random(cases) < expit(true)
        weight = np.where(positive, odds, 1.0)
        taken = rng.choice(cases, cases, p=weight / weight.sum())
        score = expit(change.slope * true[taken]) ** change.power
        bins = np.minimum((score * BINS).astype(np.int64), BINS - 1)
        for label in (0, 1):
            found[label, day] = np.bincount(bins[positive[taken] == label], minlength=BINS)
    return ScoreHistogram(positive=found[1], negative=found[0], unlabelled=np.zeros_like(found[0]))


def corrected(found: Recalibration, correction: Correction) -> NDArray[np.float64]:
    """Return the corrected score of each bin."""
    score = middles(BINS)
    match correction:
        case Correction.PRIOR_SHIFT:
            return np.asarray(expit(logit(score) + found.prior_shift))
        case Correction.PLATT:
            return np.asarray(expit(found.platt.intercept + found.platt.slope * logit(score)))
    return np.interp(score, found.isotonic.score, found.isotonic.rate)


def brier(cases: ScoreHistogram, score: NDArray[np.float64]) -> float:
    """Return the mean squared distance of scores from labels."""
    lost = cases.positive @ (1 - score) ** 2 + cases.negative @ score**2
    return float(lost / (cases.positive + cases.negative).sum())


def row(name: str, change: Change, draws: int, seed: int) -> list[str]:
    """Return a row of the table."""
    advised: Counter[Correction | None] = Counter()
    gains, precisions, optimism = [], [], []
    for draw in range(draws):
        rng = np.random.default_rng([seed, draw])
        days = drawn(rng, change, change.days, 700)
        truth = drawn(rng, change, 100, 2_000).sum()
        found = recalibration(days, BEFORE)
        if found is None:
            raise ValueError("too few cases to fit anything")
        advised[found.advised] += 1
        if change.right is not None:
            limits = found.gain[change.right]
            gain = brier(truth, middles(BINS)) - brier(truth, corrected(found, change.right))
            gains.append(limits.lower <= gain <= limits.upper)
        chosen = expected_threshold(days, 0.6)
        if chosen is not None:
            at = round(chosen.threshold * BINS)
            true = float(precision(truth.counts[at]))
            precisions.append(chosen.precision.lower <= true <= chosen.precision.upper)
            in_sample = float(precision(days.sum().counts[at]))
            optimism.append((in_sample - true, chosen.precision.estimate - true))
    bias = np.mean(optimism, axis=0) if optimism else (np.nan, np.nan)
    return [
        name,
        f"{advised[change.right] / draws:.3f}",
        f"{np.mean(gains):.3f}" if gains else "-",
        f"{len(precisions)}",
        f"{np.mean(precisions):.3f}" if precisions else "-",
        f"{bias[0]:+.3f}",
        f"{bias[1]:+.3f}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20261123)
    args = parser.parse_args()
    heads = ["change", "rightly advised", "gain covers", "thresholds", "precision covers"]
    heads += ["bias in sample", "bias out of sample"]
    rows = [row(name, change, args.draws, args.seed) for name, change in CHANGES.items()]
    print(table(heads, rows))


if __name__ == "__main__":
    main()
