"""Trends of simulated days: false alarms, coverage, and what shape a fall has."""

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.drift.components import COMPONENTS
from monitor.drift.day_scatter import DayScatter
from monitor.drift.trend import FEWEST_DAYS, find_trend

DAYS, SD, RHO = 120, 0.2, 0.4
ODDS = [0, 1, 1, 0, 0, 2, 0, 0]
FIRST = 20_000


def scatter(sd=SD, rho=RHO, freedom=1e6):
    """What many days of `drawn` would teach."""
    return DayScatter(
        variance=np.array(ODDS) * sd**2,
        carry_over=np.full(COMPONENTS, rho),
        freedom=np.full(COMPONENTS, freedom),
    )


def drawn(rng, recall, *, sd=SD, rho=RHO, size=2_000, prevalence=0.1):
    """Days with this recall, an array, and FPR .05, which scatter independently."""
    days = len(recall)
    deviations = rng.standard_normal((2, days)) * sd
    for day in range(1, days):
        deviations[:, day] *= np.sqrt(1 - rho**2)
        deviations[:, day] += rho * deviations[:, day - 1]
    hit, false = (
        1 / (1 + (1 - rate) / rate * np.exp(-moved))
        for rate, moved in zip((recall, 0.05), deviations, strict=True)
    )
    positives = rng.binomial(size, prevalence, days)
    tp, fp = rng.binomial(positives, hit), rng.binomial(size - positives, false)
    return ConfusionCounts(tp=tp, fp=fp, fn=positives - tp, tn=size - positives - fp)


def ramp(start, slope, days=DAYS):
    """Recall of .8, which falls by `slope` a week from day `start` on."""
    return 0.8 - np.maximum(np.arange(days) - start, 0) * slope / 7


def found_in(counts, known=None, **options):
    first = range(FIRST, FIRST + counts.shape[0])
    return find_trend(first, counts, known or scatter(), **options)


def many(recall, runs, seed, **options):
    rng = np.random.default_rng(seed)
    return [found_in(drawn(rng, recall), **options) for _ in range(runs)]


@pytest.mark.parametrize(("sd", "rho"), [(0.0, 0.0), (0.2, 0.4), (0.4, 0.7)])
def test_p_values_hold_their_level_over_the_search_for_the_change_point(sd, rho):
    rng, level = np.random.default_rng(11), np.full(DAYS, 0.8)
    known = scatter(sd, rho)
    found = [found_in(drawn(rng, level, sd=sd, rho=rho), known, certain=0.1) for _ in range(600)]
    share = np.mean([one is not None for one in found])
    assert 0.05 < share < 0.125, "close to .1, and hardly above it"


def test_p_values_hold_their_level_where_the_scatter_is_learned_from_the_days():
    rng, level = np.random.default_rng(12), np.full(168, 0.8)
    found = []
    for _ in range(300):
        days = drawn(rng, level)
        months = [days[np.arange(start, start + 28)] for start in range(0, 168, 28)]
        found.append(found_in(days, DayScatter.learn(months), certain=0.05))
    assert np.mean([one is not None for one in found]) < 0.08


def test_intervals_cover_the_change_point_and_the_slope():
    start, slope = 50, 0.02
    found = [one for one in many(ramp(start, slope), 300, 13, certain=1.0) if one is not None]
    assert len(found) == 300
    covered = [one.earliest - FIRST <= start <= one.latest - FIRST for one in found]
    recall = [one.recall.lower <= -slope <= one.recall.upper for one in found]
    false = [one.false_positive_rate.lower <= 0 <= one.false_positive_rate.upper for one in found]
    for share in map(np.mean, (covered, recall, false)):
        assert share > 0.92
    assert np.mean([one.recall.estimate for one in found]) == pytest.approx(-slope, rel=0.15)
    assert np.median([one.since - FIRST for one in found]) == pytest.approx(start, abs=7)
    widths = [one.latest - one.earliest for one in found]
    assert np.median(widths) < 60, "the interval tells something"


def test_a_slope_of_weeks_is_certain_and_a_level_is_not():
    assert np.mean([one is not None for one in many(ramp(50, 0.02), 100, 14)]) > 0.95
    assert np.mean([one is not None for one in many(ramp(DAYS, 0.0), 200, 15)]) < 0.03


def test_a_step_is_called_a_step_and_a_slope_no_step():
    step = np.where(np.arange(DAYS) < 60, 0.8, 0.6)
    steps = [one for one in many(step, 100, 16) if one is not None]
    slopes = [one for one in many(ramp(40, 0.03), 100, 17) if one is not None]
    assert np.mean([one.shape == "step" for one in steps]) > 0.9
    assert all(one.shape != "slope" for one in steps)
    assert np.mean([one.shape == "step" for one in slopes]) < 0.05
    assert np.mean([one.shape == "slope" for one in slopes]) > 0.2
    moment = [one.earliest <= FIRST + 60 <= one.latest for one in steps if one.shape == "step"]
    assert np.mean(moment) > 0.92
    change = [one.change for one in steps if one.shape == "step"]
    assert np.median(change) == pytest.approx(-0.98, abs=0.1)


@pytest.mark.parametrize("last", [2, 3, 4, 5, 6])
def test_a_step_within_the_last_week_is_no_slope(last):
    """Slopes last two weeks at least: one begins long before such a step."""
    step = np.where(np.arange(DAYS) < DAYS - last, 0.85, 0.45)
    found = [one for one in many(step, 30, 20 + last) if one is not None]
    assert len(found) > 20
    assert all(one.shape != "slope" for one in found)
    ends = [one.latest for one in found if one.shape == "step"]
    assert np.mean([end >= FIRST + DAYS - last for end in ends]) > 0.9


def test_a_model_that_gets_better_has_a_trend_upward():
    (found,) = many(ramp(40, -0.015), 1, 18)
    assert found is not None
    assert found.change > 0
    assert found.recall.lower > 0


def test_a_change_of_the_mix_is_no_trend_within_segments():
    rng, share = np.random.default_rng(19), np.linspace(0.9, 0.1, DAYS)
    easy = drawn(rng, np.full(DAYS, 0.9), sd=0.0)
    hard = drawn(rng, np.full(DAYS, 0.5), sd=0.0)
    mixed = np.stack(
        [rng.binomial(easy.cells, share[:, None]), rng.binomial(hard.cells, 1 - share[:, None])],
        axis=1,
    )
    known = scatter(sd=0.0)
    assert found_in(ConfusionCounts.from_cells(mixed.sum(axis=1)), known) is not None
    assert found_in(ConfusionCounts.from_cells(mixed), known) is None


def test_positives_that_become_rarer_are_no_trend():
    rng = np.random.default_rng(20)
    days = drawn(rng, np.full(DAYS, 0.8), prevalence=np.linspace(0.2, 0.02, DAYS))
    assert found_in(days) is None


def test_a_shorter_record_has_no_trend():
    steep = ramp(14, 0.1, FEWEST_DAYS)
    rng = np.random.default_rng(21)
    days = drawn(rng, steep)
    assert found_in(days) is not None
    assert found_in(days[np.arange(FEWEST_DAYS - 1)]) is None


def test_days_without_positives_or_negatives_are_left_out():
    rng = np.random.default_rng(22)
    days = drawn(rng, ramp(50, 0.02))
    gaps = np.arange(DAYS) % 7 < 2
    cells = np.where(gaps[:, None], [0, 9, 0, 9], days.cells)
    kept = np.flatnonzero(~gaps)
    expected = find_trend(FIRST + kept, days[kept], scatter())
    found = found_in(ConfusionCounts.from_cells(cells))
    assert found is not None
    assert found == expected


def test_no_days_have_no_trend():
    assert find_trend([], ConfusionCounts(tp=[], fp=[], fn=[], tn=[]), scatter()) is None
