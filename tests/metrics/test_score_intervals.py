"""Intervals of metrics of scores: influences against differences, and coverage."""

import numpy as np
import pytest
from drawn_scores import METRICS, by_day, counted, drawn, stacked
from scipy.special import expit, logit, stdtrit

from monitor import ConfusionCounts
from monitor.metrics import ScoreHistogram, score_statistics
from monitor.metrics.score_intervals import ScoredDays, Statistic, interval
from monitor.metrics.score_skill import ScoreSkill

REFERENCE = ConfusionCounts(tp=300, fn=100, fp=100, tn=1500)


def coarse(bins: int = 50) -> ScoreHistogram:
    truth, score = drawn(1, cases=4_000, sharpness=1.4)
    return ScoreHistogram.from_scores(positive=score[truth], negative=score[~truth], bins=bins)


def statistics(whole: ScoreHistogram) -> dict[str, Statistic]:
    by = score_statistics
    return {
        "roc_auc": by.AREA_UNDER_ROC,
        "average_precision": by.AVERAGE_PRECISION,
        "precision_recall_gain": by.GAIN_AREA,
        "average_precision_at": by.average_precision_at(0.4),
        "mean_recall": by.mean_recall_around(0.1),
        "brier_score": by.brier(),
        "balanced_brier_score": by.brier(balanced=True),
        "log_loss": by.log_likelihood(),
        "balanced_log_loss": by.log_likelihood(balanced=True),
        "reliability": by.distance_from_rates(whole),
        "balanced_reliability": by.distance_from_rates(whole, balanced=True),
        **{f"brier.{k}": v for k, v in by.parts_of_brier(whole)._asdict().items()},
        **{f"line.{k}": v for k, v in by.calibration(whole)._asdict().items()},
    }


def one_more(whole: ScoreHistogram, positive: float, negative: float) -> ScoreHistogram:
    """The cases with a little more in each bin in turn, (bins, bins)."""
    step = np.eye(whole.bins)
    return ScoreHistogram(
        positive=whole.positive + positive * step,
        negative=whole.negative + negative * step,
        unlabelled=np.zeros((whole.bins, whole.bins), dtype=np.int64),
    )


@pytest.mark.parametrize("name", statistics(coarse()))
def test_an_influence_is_what_a_part_of_a_case_changes(name: str) -> None:
    """But for a bin at the end of a range, and the bias that reliability is rid of."""
    whole = coarse()
    statistic = statistics(whole)[name]
    influence, part = statistic.influence(whole), 1e-4
    for found, more in ((influence.positive, (part, 0.0)), (influence.negative, (0.0, part))):
        changes = statistic.value(one_more(whole, *more)) - statistic.value(whole)
        off = np.abs(changes / part - found) / np.abs(found).max()
        assert off.max() < 0.06
        assert np.median(off) < 0.01


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.6])
def test_the_variance_of_recall_at_a_rate_is_that_of_drawn_rows(rate: float) -> None:
    statistic = score_statistics.recall_at_rate(rate)
    found = [counted(*drawn(seed, cases=3_000)) for seed in range(200)]
    stated = np.mean([statistic.influence(one).variance(one) for one in found])
    seen = np.var([float(statistic.value(one)) for one in found], ddof=1)
    assert stated == pytest.approx(seen, rel=0.3)


def test_where_days_agree_the_interval_is_that_of_independent_rows() -> None:
    """DeLong, DeLong and Clarke-Pearson 1988 on each pair of a positive and a negative."""
    one = coarse()
    days = stacked([one] * 7)
    whole = days.sum()
    bins = np.arange(whole.bins)
    positive, negative = (np.repeat(bins, n) for n in (one.positive, one.negative))
    wins = (positive[:, None] > negative) + (positive[:, None] == negative) / 2
    area = wins.mean()
    parts = (wins.mean(axis=1).var() / len(positive), wins.mean(axis=0).var() / len(negative))
    half = stdtrit(6, 0.975) * np.sqrt(sum(parts) / 7) / (area * (1 - area))
    found = interval(ScoredDays.of(days), score_statistics.AREA_UNDER_ROC)
    assert found.estimate == pytest.approx(area)
    ends = expit(logit(area) - half), expit(logit(area) + half)
    assert found[1:] == pytest.approx(ends, abs=1e-6)


def test_every_metric_has_an_interval_about_its_estimate() -> None:
    found = ScoreSkill(by_day=by_day(*drawn(2, cases=7_000, sharpness=1.5), 7), reference=REFERENCE)
    for name, of in METRICS.items():
        one = of(found)
        assert one.lower < one.estimate < one.upper, name


def independent(seed: int) -> ScoreHistogram:
    return by_day(*drawn(1_000 + seed, cases=1_400, sharpness=1.3), 7)


def differing(seed: int, days: int = 14) -> ScoreHistogram:
    """Days of 1,000 cases with calibrated scores, whose mean score varies."""
    rng, parts = np.random.default_rng([11, seed]), []
    for _ in range(days):
        true = rng.normal(-2 + rng.normal(0, 0.3), 1.5, 1_000)
        parts.append(counted(rng.random(1_000) < expit(true), expit(true)))
    return stacked(parts)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "brier_score"])
def test_intervals_hold_the_truth_of_independent_rows(name: str) -> None:
    statistic = statistics(coarse())[name]
    truth = float(statistic.value(counted(*drawn(10, cases=1_000_000, sharpness=1.3))))
    found = [interval(ScoredDays.of(independent(seed)), statistic) for seed in range(250)]
    assert np.mean([one.lower <= truth <= one.upper for one in found]) >= 0.93


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "brier_score"])
def test_intervals_allow_for_days_that_differ(name: str) -> None:
    statistic = statistics(coarse())[name]
    found = [interval(ScoredDays.of(differing(seed)), statistic) for seed in range(250)]
    truth = np.mean([one.estimate for one in found])
    assert np.mean([one.lower <= truth <= one.upper for one in found]) >= 0.92


def test_a_metric_within_rounding_of_an_end_of_its_range_has_no_limits() -> None:
    """One positive lies among negatives: without its day the area is 1, less 1e-16 by rounding."""
    rng = np.random.default_rng(2)
    days = []
    for day in range(28):
        positives, negatives = rng.integers(60, 130), rng.integers(650, 750)
        positive, negative = 0.5 + 0.4 * rng.random(positives), 0.4 * rng.random(negatives)
        if day == 7:
            negative[0], positive[0] = 0.6, 0.55
        days.append(ScoreHistogram.from_scores(positive=positive, negative=negative))
    scored = ScoredDays.of(stacked(days))
    found = interval(scored, score_statistics.AREA_UNDER_ROC)
    assert 0 < 1 - score_statistics.AREA_UNDER_ROC.value(scored.others).max() < 1e-15
    assert 0.99 < found.estimate < 1
    assert np.isnan(found.lower)
    assert np.isnan(found.upper)
