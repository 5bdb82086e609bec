import numpy as np
import pytest
from scipy.stats import norm

from monitor.counts import ConfusionCounts
from monitor.drift.roc import (
    CurvePosition,
    below_reference_curve,
    decides_flags,
    mixing_loss,
    place_on_curve,
)
from monitor.metrics.histogram import ScoreHistogram

EDGES = np.linspace(-4, 6, 201)
GAP = 2.2


def reference_of(size: int, shift: np.ndarray | float = 0.0) -> ScoreHistogram:
    """A binormal reference, by blocks where the shift has them."""
    shifts = np.atleast_1d(shift)[:, None]
    positive = np.diff(norm.cdf(EDGES - GAP - shifts)) * size * 0.1
    negative = np.diff(norm.cdf(EDGES - shifts)) * size * 0.9
    cells = [np.rint(rows) for rows in (positive, negative)]
    if np.ndim(shift) == 0:
        cells = [rows[0] for rows in cells]
    return ScoreHistogram(positive=cells[0], negative=cells[1], unlabelled=np.zeros_like(cells[0]))


def window(rng: np.random.Generator, size: int, cut: float, gap: float) -> ConfusionCounts:
    tp = rng.binomial(size // 10, norm.sf(cut - gap))
    fp = rng.binomial(size * 9 // 10, norm.sf(cut))
    return ConfusionCounts(tp=tp, fp=fp, fn=size // 10 - tp, tn=size * 9 // 10 - fp)


@pytest.mark.parametrize("cut", [0.5, 1.0, 1.7, 2.5])
def test_a_slide_along_the_curve_is_rarely_called_below_it(cut: float) -> None:
    rng = np.random.default_rng(0)
    reference = reference_of(100_000)
    called = [below_reference_curve(reference, window(rng, 10_000, cut, GAP)) for _ in range(300)]
    assert np.mean(called) <= 0.03


@pytest.mark.parametrize("cut", [0.5, 1.0, 1.7, 2.5])
def test_a_point_off_the_curve_is_found_wherever_the_threshold_went(cut: float) -> None:
    rng = np.random.default_rng(1)
    reference = reference_of(100_000)
    called = [below_reference_curve(reference, window(rng, 30_000, cut, 1.6)) for _ in range(50)]
    assert np.mean(called) == 1


@pytest.mark.parametrize("cut", [1.0, 1.5, 2.5])
@pytest.mark.parametrize("scatter", [0.6, 1.0, 1.6])
def test_a_slide_is_on_the_curve_however_the_classes_scatter(cut: float, scatter: float) -> None:
    rng, edges = np.random.default_rng(4), np.linspace(-6, 10, 641)
    positive = np.rint(np.diff(norm.cdf(edges, GAP, scatter)) * 10_000)
    negative = np.rint(np.diff(norm.cdf(edges)) * 90_000)
    reference = ScoreHistogram(
        positive=positive, negative=negative, unlabelled=np.zeros_like(positive)
    )
    old, new = ((norm.sf(at, GAP, scatter), norm.sf(at)) for at in (1.7, cut))
    before = ConfusionCounts(
        tp=10_000 * old[0], fn=10_000 * (1 - old[0]), fp=90_000 * old[1], tn=90_000 * (1 - old[1])
    )
    found = []
    for _ in range(200):
        tp, fp = rng.binomial(3_000, new[0]), rng.binomial(27_000, new[1])
        now = ConfusionCounts(tp=tp, fn=3_000 - tp, fp=fp, tn=27_000 - fp)
        found.append(place_on_curve(reference, now, before=before).position)
    assert np.mean([one is CurvePosition.ON for one in found]) >= 0.95
    assert np.mean([one is CurvePosition.BELOW for one in found]) <= 0.03


def at_cuts(
    rng: np.random.Generator, cuts: tuple[float, ...], gap: float, size: int = 4_000
) -> ConfusionCounts:
    """Outcomes of days, each at its own threshold."""
    days = [window(rng, size, cut, gap).cells for cut in cuts]
    return ConfusionCounts.from_cells(np.stack(days))


def placed(reference: ScoreHistogram, days: ConfusionCounts, before: ConfusionCounts) -> float:
    """Standard errors from the curve, with what mixing thresholds costs now and cost before."""
    mixed = max(0.0, mixing_loss(reference, days) - mixing_loss(reference, before))
    return place_on_curve(reference, days, before=before, mixed=mixed).z


STEADY, CHANGED = (1.0,) * 14, (0.5,) * 7 + (2.3,) * 7
WEEKENDS = (0.9,) * 5 + (1.9,) * 2


def test_days_at_two_thresholds_are_not_below_the_curve_that_both_lie_on() -> None:
    rng, reference = np.random.default_rng(8), reference_of(100_000)
    before = at_cuts(rng, STEADY, GAP)
    apart, together = [], []
    for _ in range(100):
        days = at_cuts(rng, CHANGED, GAP)
        apart.append(placed(reference, days, before))
        together.append(place_on_curve(reference, days.sum(axis=-1), before=before).z)
    assert np.mean(np.array(together) < -2.6) > 0.9
    assert np.mean(np.array(apart) < -2.6) <= 0.03


def test_a_worse_model_is_found_though_its_thresholds_differ_by_day_as_before() -> None:
    rng, reference = np.random.default_rng(9), reference_of(100_000)
    before = at_cuts(rng, WEEKENDS * 4, GAP)
    found = [placed(reference, at_cuts(rng, WEEKENDS * 4, 1.8), before) for _ in range(20)]
    assert max(found) < -5


def test_few_cases_a_day_are_no_mixture_of_thresholds() -> None:
    rng, reference = np.random.default_rng(10), reference_of(100_000)
    before = at_cuts(rng, STEADY * 2, GAP, 100)
    worse = [at_cuts(rng, STEADY * 2, 1.6, 100) for _ in range(60)]
    plain = [place_on_curve(reference, one, before=before).z for one in worse]
    by_day = [placed(reference, one, before) for one in worse]
    assert np.median(by_day) < 0.85 * np.median(plain) < -3


def test_a_better_model_is_not_on_the_curve_and_without_a_class_it_is_open() -> None:
    rng = np.random.default_rng(5)
    better = window(rng, 30_000, 1.5, 3.0)
    assert place_on_curve(reference_of(100_000), better).position is CurvePosition.OPEN
    none = ConfusionCounts(tp=0, fp=500, fn=0, tn=9_500)
    assert place_on_curve(reference_of(100_000), none).position is CurvePosition.OPEN
    few = ConfusionCounts(tp=7, fp=40, fn=3, tn=860)
    assert place_on_curve(reference_of(100_000), few).position is CurvePosition.OPEN


def test_a_better_model_is_never_below() -> None:
    rng = np.random.default_rng(2)
    assert not below_reference_curve(reference_of(100_000), window(rng, 30_000, 1.5, 3.0))


def test_days_that_scatter_widen_the_error() -> None:
    rng = np.random.default_rng(3)
    below = {True: 0, False: 0}
    for _ in range(60):
        gaps = GAP + 0.5 * rng.normal(size=30)
        days = [window(rng, 2_000, 1.7, gap).cells for gap in gaps]
        now = ConfusionCounts.from_cells(np.stack(days))
        for by_day, counts in ((True, now), (False, now.sum())):
            below[by_day] += below_reference_curve(reference_of(100_000), counts)
    assert below[True] <= 6 < below[False]


def test_blocks_of_the_reference_widen_the_error_too() -> None:
    low = ConfusionCounts(tp=620, fp=405, fn=380, tn=8_595)
    steady = reference_of(3_000, np.zeros(30))
    moves = np.where(np.arange(30) % 2, -8, 8)
    rows = [np.roll(row, move) for row, move in zip(steady.positive, moves, strict=True)]
    scattered = ScoreHistogram(
        positive=np.stack(rows), negative=steady.negative, unlabelled=steady.unlabelled
    )
    assert below_reference_curve(steady.sum(axis=0), low)
    assert below_reference_curve(steady, low)
    assert below_reference_curve(scattered.sum(axis=0), low)
    assert not below_reference_curve(scattered, low)


def test_a_missing_class_is_never_below() -> None:
    nothing = ScoreHistogram.zeros(bins=10)
    some = ConfusionCounts(tp=1, fp=50, fn=99, tn=50)
    assert not below_reference_curve(nothing, some)
    assert not below_reference_curve(reference_of(1_000), ConfusionCounts(tp=0, fp=5, fn=0, tn=5))


def of_the_other_class(scores: ScoreHistogram) -> ScoreHistogram:
    return ScoreHistogram(
        positive=scores.positive[..., ::-1],
        negative=scores.negative[..., ::-1],
        unlabelled=scores.unlabelled,
    )


def all_alike(scores: ScoreHistogram) -> ScoreHistogram:
    """The same cases, all in the first bin."""
    first = np.arange(scores.positive.shape[-1]) == 0
    sides = (scores.positive, scores.negative)
    positive, negative = (np.where(first, one.sum(axis=-1, keepdims=True), 0) for one in sides)
    return ScoreHistogram(positive=positive, negative=negative, unlabelled=scores.unlabelled)


@pytest.mark.parametrize("made", [of_the_other_class, all_alike])
@pytest.mark.parametrize("cut", [0.5, 1.7, 2.5])
def test_scores_that_do_not_decide_the_predictions_place_no_point(made, cut: float) -> None:
    """A worse model lies above their curve, too, so that a page would never start."""
    rng = np.random.default_rng(9)
    scores, usual = reference_of(100_000), window(rng, 100_000, cut, GAP)
    worse = window(rng, 30_000, cut, 1.2)
    assert decides_flags(scores, usual)
    assert place_on_curve(scores, worse, before=usual).z < -5
    assert not decides_flags(made(scores), usual)
    found = place_on_curve(made(scores), worse, before=usual)
    assert found.position is CurvePosition.OPEN
    assert np.isnan(found.z)


@pytest.mark.parametrize("bins", [2, 5, 20])
def test_scores_of_few_values_decide_the_predictions_all_the_same(bins: int) -> None:
    rng, scores = np.random.default_rng(10), reference_of(100_000)
    starts = np.linspace(0, 200, bins, endpoint=False).astype(int)
    cells = [np.add.reduceat(one, starts) for one in (scores.positive, scores.negative)]
    few = ScoreHistogram(positive=cells[0], negative=cells[1], unlabelled=np.zeros(bins))
    for cut in EDGES[starts[1:]]:
        assert decides_flags(few, window(rng, 100_000, float(cut), GAP))
