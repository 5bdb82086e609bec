from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from monitor.counts import ConfusionCounts
from monitor.drift import attribute
from monitor.drift.curve_parts import curve_parts
from monitor.metrics.histogram import ScoreHistogram

EDGES = np.linspace(-6, 10, 641)
GAP = 2.2
cells = st.integers(1, 5_000)
counts = st.builds(ConfusionCounts, tp=cells, fp=cells, fn=cells, tn=cells)


def reference_of(days: int, size: int = 5_000) -> ScoreHistogram:
    positive = np.rint(np.diff(norm.cdf(EDGES, GAP)) * size)
    negative = np.rint(np.diff(norm.cdf(EDGES)) * 9 * size)
    rows = [np.tile(one, (days, 1)) for one in (positive, negative)]
    return ScoreHistogram(positive=rows[0], negative=rows[1], unlabelled=np.zeros_like(rows[0]))


def window(cut: float, gap: float = GAP, size: float = 5_000) -> ConfusionCounts:
    recall, false = norm.sf(cut - gap), norm.sf(cut)
    return ConfusionCounts(
        tp=size * recall, fn=size * (1 - recall), fp=9 * size * false, tn=9 * size * (1 - false)
    )


@settings(max_examples=200)
@given(counts, counts)
def test_both_parts_add_up_to_the_part_of_skill(
    before: ConfusionCounts, after: ConfusionCounts
) -> None:
    found = curve_parts(reference_of(1), before, after)
    assume(found is not None)
    skill = attribute(before, after)
    for unit in ("logit", "points"):
        parts = getattr(found.threshold, unit) + getattr(found.curve, unit)
        assert parts == pytest.approx(getattr(skill, unit)["skill"], abs=1e-9)


@pytest.mark.parametrize("cut", [1.2, 2.2])
def test_a_slide_is_the_thresholds_and_a_worse_model_behind_the_same_one_is_the_curves(
    cut: float,
) -> None:
    slid = curve_parts(reference_of(2), window(1.7), window(cut))
    assert abs(slid.curve.points) < 0.002 < abs(slid.threshold.points)
    worse = curve_parts(reference_of(2), window(1.7), window(1.7, gap=1.7))
    assert abs(worse.threshold.points) < 1e-9
    assert worse.curve.points < -0.02


@pytest.mark.slow
def test_intervals_hold_the_truth_between_days() -> None:
    rng, held = np.random.default_rng(0), []
    exact = reference_of(14)
    truth = curve_parts(exact, window(1.7), window(2.0, gap=2.0))
    for _ in range(200):
        days = [rng.poisson(window(2.0, gap=2.0, size=300).cells) for _ in range(7)]
        after = ConfusionCounts.from_cells(np.array(days))
        reference = ScoreHistogram(
            positive=rng.poisson(exact.positive / 10),
            negative=rng.poisson(exact.negative / 10),
            unlabelled=exact.unlabelled,
        )
        found = curve_parts(reference, window(1.7), after)
        held.append(
            [
                part.lower_points <= true.points <= part.upper_points
                for part, true in ((found.threshold, truth.threshold), (found.curve, truth.curve))
            ]
        )
    assert (np.mean(held, axis=0) >= 0.88).all()


def test_intervals_hold_where_the_days_of_the_reference_are_drawn_too() -> None:
    rng, held, at = np.random.default_rng(2), [], int(np.searchsorted(EDGES, 1.7))
    exact = reference_of(14)
    truth = curve_parts(exact, window(1.7), window(2.0, gap=2.0))
    for _ in range(120):
        drawn = ScoreHistogram(
            positive=rng.poisson(exact.positive / 10),
            negative=rng.poisson(exact.negative / 10),
            unlabelled=exact.unlabelled,
        )
        positive, negative = drawn.positive, drawn.negative
        before = ConfusionCounts(
            tp=positive[:, at:].sum(axis=1),
            fp=negative[:, at:].sum(axis=1),
            fn=positive[:, :at].sum(axis=1),
            tn=negative[:, :at].sum(axis=1),
        )
        days = [rng.poisson(window(2.0, gap=2.0, size=3_000).cells) for _ in range(7)]
        found = curve_parts(drawn, before, ConfusionCounts.from_cells(np.array(days)))
        held.append(
            [
                part.lower_points <= true.points <= part.upper_points
                for part, true in ((found.threshold, truth.threshold), (found.curve, truth.curve))
            ]
        )
    assert (np.mean(held, axis=0) >= 0.91).all()


def test_without_a_rate_or_days_nothing_is_made_up() -> None:
    assert (
        curve_parts(reference_of(2), window(1.7), ConfusionCounts(tp=0, fp=0, fn=9, tn=9)) is None
    )
    known = reference_of(2)
    of_positives = replace(known, negative=np.zeros_like(known.negative))
    assert curve_parts(of_positives, window(1.7), window(2.2)) is None
    one_day = curve_parts(reference_of(2), window(1.7), window(2.2))
    assert np.isfinite(one_day.threshold.points)
    assert np.isnan([one_day.threshold.lower_points, one_day.curve.upper_points]).all()


@pytest.mark.slow
def test_a_null_of_few_positives_is_not_split_and_one_of_more_seldom_excludes_nothing() -> None:
    assert curve_parts(reference_of(14), window(1.7, size=199), window(1.7)) is None
    rng, wrong, drawn = np.random.default_rng(1), [], reference_of(14)
    for _ in range(300):
        reference = ScoreHistogram(
            positive=rng.poisson(drawn.positive * 20 / 5_000),  # 280 in 14 days
            negative=rng.poisson(drawn.negative * 20 / 5_000),
            unlabelled=drawn.unlabelled,
        )
        days = [rng.poisson(window(1.7, size=20).cells) for _ in range(14)]
        found = curve_parts(reference, window(1.7), ConfusionCounts.from_cells(np.array(days)))
        if found is not None:
            wrong.append(found.curve.upper_points < 0 or found.curve.lower_points > 0)
    assert len(wrong) > 200
    assert np.mean(wrong) <= 0.08
