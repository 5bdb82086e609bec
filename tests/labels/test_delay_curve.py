"""The distribution of delays, and estimates before all labels have come."""

import numpy as np
import pytest
from scipy.stats import lognorm

from monitor.labels.cohorts import Coverage, delay_curve
from monitor.labels.corrected import corrected
from monitor.labels.delay_bins import EDGES_SECONDS
from monitor.labels.pace import pace
from monitor.snapshot import METRIC_NAMES

DAY = 86_400.0
TRUTH = lognorm(s=0.5, scale=20 * DAY)


def cohorts(days, per_day, rng, *, growth=0.0, slower_from=None):
    """Labels by cohort, one kind and bin, that have come by the end of the days; and their ages."""
    counts, limits = [], []
    for day in range(days):
        number = rng.poisson(per_day * (1 + growth) ** day)
        slower = 1.5 if slower_from is not None and day >= slower_from else 1.0
        delay = slower * TRUTH.rvs(number, random_state=rng)
        age = (days - day - rng.random(number)) * DAY
        bins = np.searchsorted(EDGES_SECONDS, delay[delay <= age])
        counts.append(np.bincount(bins, minlength=len(EDGES_SECONDS))[None])
        limits.append((days - day - 1) * DAY)
    return np.array(counts), np.array(limits)


def test_young_cohorts_do_not_make_labels_look_quick():
    counts, limits = cohorts(150, 300, np.random.default_rng(1), growth=0.02)
    curve = delay_curve(counts, limits, EDGES_SECONDS)
    naive = np.cumsum(counts.sum(axis=(0, 1))) / counts.sum()
    for age in (10, 20, 40):
        at = np.searchsorted(EDGES_SECONDS, age * DAY)
        truth = TRUTH.cdf(EDGES_SECONDS[at])
        assert curve.share[0, at] == pytest.approx(truth, abs=0.02)
        assert naive[at] > truth + 0.02
    assert 0.9 < curve.age(0.99)[0] / TRUTH.ppf(0.99) < 1.25


def test_coverage_between_edges_and_over_ages():
    counts, limits = cohorts(150, 500, np.random.default_rng(2))
    curve = delay_curve(counts, limits, EDGES_SECONDS)
    for age in (3.3, 7.7, 15.1, 29.9):
        assert curve.at(age * DAY)[0] == pytest.approx(TRUTH.cdf(age * DAY), abs=0.015)
    ages = np.linspace(30, 37, 50) * DAY
    found = curve.over(ages, np.ones(50))
    assert found.share[0] == pytest.approx(TRUTH.cdf(ages).mean(), abs=0.015)


def test_the_variance_of_coverage_is_that_of_repeated_streams():
    ages, logs, variances = np.linspace(10, 17, 20) * DAY, [], []
    for seed in range(150):
        counts, limits = cohorts(100, 10, np.random.default_rng(seed))
        found = delay_curve(counts, limits, EDGES_SECONDS).over(ages, np.ones(20))
        logs.append(np.log(found.share[0]))
        variances.append(found.variance[0])
    assert np.mean(variances) == pytest.approx(np.var(logs), rel=0.35)


def test_without_labels_nothing_is_known():
    curve = delay_curve(np.zeros((0, 2, len(EDGES_SECONDS)), np.int64), np.zeros(0), EDGES_SECONDS)
    assert np.isnan(curve.share).all()
    assert np.isnan(curve.age(0.99)).all()
    assert np.isnan(curve.over(np.ones(3), np.ones(3)).share).all()
    assert np.isnan(curve.over(np.ones(3), np.zeros(3)).variance).all()


def test_a_slower_pipeline_shows_and_a_steady_or_growing_one_does_not():
    found = {}
    streams = {"steady": {}, "growing": {"growth": 0.02}, "slow": {"slower_from": 95}}
    for name, more in streams.items():
        z = []
        for seed in range(10):
            counts, limits = cohorts(130, 400, np.random.default_rng(seed), **more)
            curve = delay_curve(counts, limits, EDGES_SECONDS)
            z.append(pace(counts, limits, curve, 0).z)
        found[name] = np.array(z)
    assert (np.abs(found["steady"]) < 3).all()
    assert (np.abs(found["growing"]) < 3).all()
    assert (found["slow"] > 4).all()


def test_labels_that_stopped_show_in_the_pace():
    counts, limits = cohorts(150, 400, np.random.default_rng(4))
    # Nothing has come for the last ten days: what cohorts have is what they had then.
    before, _ = cohorts(140, 400, np.random.default_rng(4))
    nothing = np.zeros((10, *before.shape[1:]), dtype=before.dtype)
    stopped = np.concatenate([before, nothing])
    found = pace(stopped, limits, delay_curve(counts, limits, EDGES_SECONDS), 0)
    assert found.z < -4
    assert found.odds < 0.5


CELLS = np.array([960, 588, 240, 58_212])  # 60,000 predictions at 2 %, TPR .8, FPR .01


def drawn(shares, draws, rng):
    """Windows of that many cases, of whose labels these shares have come."""
    cells = rng.poisson(CELLS, (draws, 4))
    return cells, rng.binomial(cells, shares)


@pytest.mark.parametrize(
    "shares", [(0.75, 1, 0.75, 1), (0.5, 0.99, 0.5, 0.99), (0.95, 0.9, 0.55, 0.6)]
)
def test_corrected_metrics_are_unbiased_and_covered_where_coverage_is_known(shares):
    rng = np.random.default_rng(5)
    _, came = drawn(shares, 4000, rng)
    known = Coverage(np.array(shares), np.zeros(4))
    tp, fp, fn, tn = CELLS
    truths = {
        "precision": tp / (tp + fp),
        "recall": tp / (tp + fn),
        "false_positive_rate": fp / (fp + tn),
        "prevalence": (tp + fn) / CELLS.sum(),
        "class_ratio": (tp + fn) / (fp + tn),
        "log_likelihood_ratio": np.log(tp / (tp + fn)) - np.log(fp / (fp + tn)),
    }
    for name, truth in truths.items():
        found = corrected(came, known, name)
        assert found.estimate.mean() == pytest.approx(truth, abs=0.005), name
        covered = ((found.lower <= truth) & (truth <= found.upper)).mean()
        assert 0.93 <= covered <= 0.97, (name, covered)


def test_the_offset_of_precision_is_the_log_of_the_shares():
    known = Coverage(np.array([0.75, 1, 0.75, 1]), np.zeros(4))
    came = (CELLS * known.share).astype(int)
    found = corrected(came, known, "precision").estimate
    raw = came[0] / (came[0] + came[1])
    offset = np.log(found / (1 - found)) - np.log(raw / (1 - raw))
    assert offset == pytest.approx(np.log(1 / 0.75), abs=1e-9)


def test_an_uncertain_coverage_widens_the_interval():
    share, came = np.full(4, 0.5), CELLS // 2
    sure = corrected(came, Coverage(share, np.zeros(4)), "precision")
    unsure = corrected(came, Coverage(share, np.full(4, 0.01)), "precision")
    assert unsure.upper - unsure.lower > 1.5 * (sure.upper - sure.lower)


@pytest.mark.parametrize("name", METRIC_NAMES)
def test_a_corrected_window_without_outcomes_is_undefined(name):
    nothing = corrected(np.zeros(4, np.int64), Coverage(np.full(4, 0.7), np.zeros(4)), name)
    assert np.isnan(list(nothing)).all()
