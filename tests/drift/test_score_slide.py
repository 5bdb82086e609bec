"""The slide of scores against a recount of the means, and its coverage."""

import numpy as np
import pytest
from scipy import stats

from monitor.drift.score_slide import score_slide
from monitor.metrics.histogram import ScoreHistogram


def days_of(
    positive: list[np.ndarray], negative: list[np.ndarray], bins: int = 1000
) -> ScoreHistogram:
    """Scores by day as histograms."""
    parts = [
        ScoreHistogram.from_scores(positive=p, negative=n, bins=bins)
        for p, n in zip(positive, negative, strict=True)
    ]
    return ScoreHistogram(
        positive=np.stack([part.positive for part in parts]),
        negative=np.stack([part.negative for part in parts]),
        unlabelled=np.stack([part.unlabelled for part in parts]),
    )


def world(seed: int, *, slide: float = 0.0, scatter: float = 0.0, days: int = 12) -> ScoreHistogram:
    rng = np.random.default_rng(seed)
    moved = rng.normal(0, scatter, days)
    positive = [np.clip(rng.normal(0.6 + slide + m, 0.1, 60), 0, 1) for m in moved]
    negative = [np.clip(rng.normal(0.3 + m, 0.1, 300), 0, 1) for m in moved]
    return days_of(positive, negative)


def test_the_slide_is_the_change_of_the_mean_score_of_each_class() -> None:
    rng = np.random.default_rng(1)
    scores = [[rng.random(rng.integers(1, 40)) for _ in range(5)] for _ in range(4)]
    found = score_slide(days_of(scores[0], scores[1]), days_of(scores[2], scores[3]))
    for change, before, after in (
        (found.positive, scores[0], scores[2]),
        (found.negative, scores[1], scores[3]),
    ):
        expected = np.concatenate(after).mean() - np.concatenate(before).mean()
        assert change.estimate == pytest.approx(expected, abs=0.0006)
        assert change.lower < change.estimate < change.upper


def test_equal_days_give_the_interval_of_independent_rows() -> None:
    scores = np.array([0.1005, 0.3005, 0.5005, 0.9005])
    days = days_of([scores] * 6, [scores] * 6)
    found = score_slide(days, days).positive
    error = np.sqrt(2 * np.var(np.tile(scores, 6), ddof=1) / 24)
    assert found.estimate == 0
    assert found.upper == pytest.approx(stats.t.ppf(0.975, 5) * error)


@pytest.mark.parametrize("scatter", [0.0, 0.05])
def test_intervals_hold_the_true_slide(scatter: float) -> None:
    held = []
    for seed in range(150):
        before, after = (
            world(2 * seed, scatter=scatter),
            world(2 * seed + 1, slide=-0.08, scatter=scatter),
        )
        found = score_slide(before, after)
        held += [found.positive.lower <= -0.08 <= found.positive.upper]
        held += [found.negative.lower <= 0 <= found.negative.upper]
    assert np.mean(held) > 0.92


def test_a_class_without_scores_has_no_slide() -> None:
    one = days_of([np.array([0.5])], [np.array([])])
    found = score_slide(one, one)
    assert np.isnan(found.negative.estimate)
    assert found.positive.estimate == 0
    assert np.isnan(found.positive.lower)
