"""Labels and scores that are drawn, and their histograms by day."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from monitor.metrics import ScoreHistogram
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.score_words import SCORE_WORDS

BIN = 1 / 1000
"""Width of a bin of scores."""

METRICS: dict[str, Callable[[ScoreSkill], Interval]] = {
    **{name: words.of for name, words in SCORE_WORDS.items()},
    "calibration_intercept": lambda found: found.calibration.intercept,
}
"""All metrics of scores, by name."""


def drawn(seed: int, cases: int = 20_000, sharpness: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores; the scores are calibrated where sharpness is 1."""
    rng = np.random.default_rng(seed)
    true = rng.normal(-2, 1.5, cases)
    return rng.random(cases) < expit(true), expit(sharpness * true)


def counted(truth: np.ndarray, score: np.ndarray) -> ScoreHistogram:
    return ScoreHistogram.from_scores(positive=score[truth], negative=score[~truth])


def by_day(truth: np.ndarray, score: np.ndarray, days: int) -> ScoreHistogram:
    return stacked([counted(truth[day::days], score[day::days]) for day in range(days)])


def stacked(parts: list[ScoreHistogram]) -> ScoreHistogram:
    return ScoreHistogram(
        positive=np.stack([part.positive for part in parts]),
        negative=np.stack([part.negative for part in parts]),
        unlabelled=np.stack([part.unlabelled for part in parts]),
    )


def wrong_labels(actual: ScoreHistogram, rates: ErrorRates, seed: int) -> ScoreHistogram:
    """The cases by labels of which each is wrong by itself, at the middle of the rates."""
    rng = np.random.default_rng([5, seed])
    wrong = rng.binomial(actual.negative, rates.false_positive)
    missed = rng.binomial(actual.positive, rates.false_negative)
    return ScoreHistogram(
        positive=actual.positive - missed + wrong,
        negative=actual.negative - wrong + missed,
        unlabelled=actual.unlabelled,
    )
