"""Score histograms and their curves, against scikit-learn and on the flights."""

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.special import expit, logit, ndtr

from monitor import ConfusionCounts, metrics
from monitor.events.score_bins import bin_of
from monitor.metrics import ScoreHistogram
from monitor.metrics.curves import (
    area_under_gain_curve,
    area_under_roc,
    average_precision,
    precision_recall_curve,
    rising,
    roc_curve,
    tied_pairs,
)

BINS = 20
sampled = settings(max_examples=100, deadline=None, derandomize=True)
scores = st.lists(st.floats(0, 1), max_size=30)
some = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def labelled(positive: list[float], negative: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and scores as coarse as the bins make them."""
    truth = np.repeat([1, 0], [len(positive), len(negative)])
    return truth, bin_of([*positive, *negative], BINS) / BINS


@sampled
@given(scores, scores, scores)
def test_counts_at_each_threshold_are_those_of_the_scores(
    positive: list[float], negative: list[float], unlabelled: list[float]
) -> None:
    histogram = ScoreHistogram.from_scores(
        positive=positive, negative=negative, unlabelled=unlabelled, bins=BINS
    )
    expected = [
        [
            sum(score >= threshold for score in positive),
            sum(score >= threshold for score in negative),
            sum(score < threshold for score in positive),
            sum(score < threshold for score in negative),
        ]
        for threshold in histogram.thresholds
    ]
    assert histogram.counts == ConfusionCounts.from_cells(expected)
    assert histogram.unlabelled.sum() == len(unlabelled)


@pytest.mark.parametrize("bins", [1, 3, 100, 1000, 1024])
def test_bins_are_exact_at_their_edges(bins: int) -> None:
    edges = np.arange(bins + 1) / bins
    places = np.minimum(np.arange(bins + 1), bins - 1)
    np.testing.assert_array_equal(bin_of(edges, bins), places)
    below = np.nextafter(edges[1:-1], 0)
    np.testing.assert_array_equal(bin_of(below, bins), places[1:-1] - 1)


def test_scores_outside_of_0_to_1_are_refused() -> None:
    for score in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match=r"scores must lie in \[0, 1\]"):
            bin_of(score)


@sampled
@given(some, some)
def test_curves_are_those_of_scikit_learn_on_scores_as_coarse(
    positive: list[float], negative: list[float]
) -> None:
    histogram = ScoreHistogram.from_scores(positive=positive, negative=negative, bins=BINS)
    truth, coarse = labelled(positive, negative)
    area = sklearn.metrics.roc_auc_score(truth, coarse)
    assert area_under_roc(histogram) == pytest.approx(area, rel=1e-12, abs=1e-14)
    mean = sklearn.metrics.average_precision_score(truth, coarse)
    assert average_precision(histogram) == pytest.approx(mean, rel=1e-12)
    precision, recall, thresholds = sklearn.metrics.precision_recall_curve(truth, coarse)
    curve = precision_recall_curve(histogram)
    places = np.searchsorted(curve.threshold, thresholds)
    np.testing.assert_allclose(curve.precision[places], precision[:-1], rtol=1e-12)
    np.testing.assert_allclose(curve.recall[places], recall[:-1], rtol=1e-12)
    alarms, found, thresholds = sklearn.metrics.roc_curve(truth, coarse, drop_intermediate=False)
    places = np.searchsorted(curve.threshold, thresholds)
    np.testing.assert_allclose(roc_curve(histogram).recall[places], found, rtol=1e-12)
    np.testing.assert_allclose(roc_curve(histogram).false_positive_rate[places], alarms, rtol=1e-12)


@sampled
@given(some, some)
def test_the_curve_carried_to_its_own_class_ratio_is_itself(
    positive: list[float], negative: list[float]
) -> None:
    histogram = ScoreHistogram.from_scores(positive=positive, negative=negative, bins=BINS)
    r = len(positive) / len(negative)
    here = precision_recall_curve(histogram)
    carried = precision_recall_curve(histogram, class_ratio=r)
    np.testing.assert_allclose(carried.precision, here.precision, rtol=1e-12)
    for area in (average_precision, area_under_gain_curve):
        assert area(histogram, class_ratio=r) == pytest.approx(area(histogram), rel=1e-9, abs=1e-9)


@sampled
@given(some, some, st.integers(2, 20))
def test_a_carried_curve_is_that_of_negatives_counted_so_many_times(
    positive: list[float], negative: list[float], times: int
) -> None:
    few = ScoreHistogram.from_scores(positive=positive, negative=negative, bins=BINS)
    many = ScoreHistogram.from_scores(positive=positive, negative=negative * times, bins=BINS)
    r = len(positive) / len(negative) / times
    carried = precision_recall_curve(few, class_ratio=r)
    np.testing.assert_allclose(
        carried.precision, precision_recall_curve(many).precision, rtol=1e-12
    )
    assert average_precision(few, class_ratio=r) == pytest.approx(average_precision(many), rel=1e-9)
    assert area_under_gain_curve(few, class_ratio=r) == pytest.approx(
        area_under_gain_curve(many), rel=1e-9, abs=1e-9
    )


def gain_area_by_fine_steps(histogram: ScoreHistogram) -> float:
    """The gain curve integrated numerically, its counts interpolated finely."""
    counts = histogram.counts
    tp, fp = counts.tp[::-1].astype(float), counts.fp[::-1].astype(float)
    positives, negatives = tp[-1], fp[-1]
    first = np.flatnonzero(np.diff(tp, prepend=-1.0))
    last = np.flatnonzero(np.diff(tp, append=np.inf))
    start = positives * positives / (positives + negatives)
    area = 0.0
    for left, right in zip(last[:-1], first[1:], strict=True):
        found = np.linspace(max(tp[left], start), tp[right], 4_001)
        if tp[right] <= start:
            continue
        alarms = np.interp(found, [tp[left], tp[right]], [fp[left], fp[right]])
        recall_gain = 1 - positives / negatives * (positives - found) / found
        precision_gain = 1 - alarms / negatives * positives / found
        area += trapezoid(precision_gain, recall_gain)
    return area


@settings(max_examples=30, deadline=None, derandomize=True)
@given(some, some)
def test_the_area_under_the_gain_curve_is_its_integral(
    positive: list[float], negative: list[float]
) -> None:
    histogram = ScoreHistogram.from_scores(positive=positive, negative=negative, bins=BINS)
    expected = gain_area_by_fine_steps(histogram)
    assert area_under_gain_curve(histogram) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_the_area_under_the_gain_curve_is_that_of_its_authors_package() -> None:
    """The example of pyprg 0.1.1b7, which needs a NumPy of before 1.23; its `calc_auprg`."""
    labels = [1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1]
    scores = [rank / 25 for rank in range(25, 0, -1)]
    example = ScoreHistogram.from_scores(
        positive=[score for score, label in zip(scores, labels, strict=True) if label],
        negative=[score for score, label in zip(scores, labels, strict=True) if not label],
    )
    assert area_under_gain_curve(example) == pytest.approx(0.43246210357422326, rel=1e-12)


def test_a_perfect_ranking_has_every_area_1() -> None:
    perfect = ScoreHistogram.from_scores(positive=[0.9, 0.8], negative=[0.1, 0.2, 0.3])
    for area in (area_under_roc, average_precision, area_under_gain_curve):
        assert area(perfect) == pytest.approx(1, rel=1e-15)
    assert average_precision(perfect, class_ratio=1e-6) == pytest.approx(1, rel=1e-15)


def test_a_class_without_cases_has_no_curve() -> None:
    positives = ScoreHistogram.from_scores(positive=[0.9, 0.8])
    assert np.isnan(area_under_roc(positives))
    assert np.isnan(area_under_gain_curve(positives))
    assert np.isnan(average_precision(positives, class_ratio=0.1))
    assert np.isnan(average_precision(ScoreHistogram.from_scores(negative=[0.5])))
    assert np.isnan(precision_recall_curve(positives, class_ratio=0.1).precision).all()


def test_histograms_merge_like_the_scores_and_along_axes() -> None:
    morning = ScoreHistogram.from_scores(positive=[0.9], negative=[0.1, 0.2], bins=BINS)
    evening = ScoreHistogram.from_scores(positive=[0.7], unlabelled=[0.5], bins=BINS)
    day = ScoreHistogram.from_scores(
        positive=[0.9, 0.7], negative=[0.1, 0.2], unlabelled=[0.5], bins=BINS
    )
    panes = ScoreHistogram(
        positive=np.stack([morning.positive, evening.positive]),
        negative=np.stack([morning.negative, evening.negative]),
        unlabelled=np.stack([morning.unlabelled, evening.unlabelled]),
    )
    for merged in (morning + evening, panes.sum(), ScoreHistogram.zeros(bins=BINS) + day):
        for name in ("positive", "negative", "unlabelled"):
            np.testing.assert_array_equal(getattr(merged, name), getattr(day, name))
    areas = average_precision(panes)
    assert areas.tolist() == [average_precision(morning), average_precision(evening)]
    assert area_under_gain_curve(panes, class_ratio=[0.5, 0.1]).shape == (2,)


def test_histograms_of_unequal_bins_are_refused() -> None:
    with pytest.raises(ValueError, match="bins of one shape are needed"):
        ScoreHistogram(positive=np.zeros(3), negative=np.zeros(4), unlabelled=np.zeros(3))


@pytest.fixture(scope="module")
def flights(flight_rows: dict[str, np.ndarray]) -> ScoreHistogram:
    """Scores of the bundled flights, late ones and those in time."""
    late, score = flight_rows["label"] == 1, flight_rows["score"]
    return ScoreHistogram.from_scores(positive=score[late], negative=score[~late], bins=100)


@pytest.mark.parametrize("keep", [0.05, 0.2, 0.5])
def test_a_carried_curve_predicts_the_other_half_with_positives_thinned(
    flights: ScoreHistogram, keep: float
) -> None:
    """A hundred times over: half of the flights foretell the others, thinned."""
    rng = np.random.default_rng(20_130_301)
    shape = (100, flights.bins)
    positive, negative = (rng.binomial(f, 0.5, shape) for f in (flights.positive, flights.negative))
    nothing = np.zeros(shape, dtype=np.int64)
    known = ScoreHistogram(positive=positive, negative=negative, unlabelled=nothing)
    thinned = ScoreHistogram(
        positive=rng.binomial(flights.positive - positive, keep),
        negative=flights.negative - negative,
        unlabelled=nothing,
    )
    r = metrics.class_ratio(thinned.counts[:, 0])
    used = (slice(None), slice(1, 70))
    predicted = logit(precision_recall_curve(known, class_ratio=r).precision[used])
    band = metrics.intervals(known.counts[used], "precision_at", class_ratio=r[:, None])
    measured = logit(precision_recall_curve(thinned).precision[used])
    limits = metrics.intervals(thinned.counts[used], "precision_at", class_ratio=r[:, None])
    below = np.hypot(predicted - logit(band[0]), logit(limits[1]) - measured)
    above = np.hypot(logit(band[1]) - predicted, measured - logit(limits[0]))
    inside = (measured >= predicted - below) & (measured <= predicted + above)
    assert 0.93 <= inside.mean() <= 0.97
    assert inside.mean(axis=0).min() >= 0.88
    unmoved = logit(precision_recall_curve(known).precision[used])
    assert np.abs(measured - unmoved).mean() > 5 * np.abs(measured - predicted).mean()


@pytest.mark.parametrize(("prevalence", "off"), [(0.002, 0.01), (0.0002, 0.1)])
def test_the_area_of_rare_positives_lies_within_what_ties_hide(
    prevalence: float, off: float
) -> None:
    """Calibrated scores of normal classes 1.84 apart: the area under the curve is .903."""
    apart, z = 1.84, np.linspace(-6, 8, 200_001)
    score = expit(logit(prevalence) + apart * z - apart**2 / 2)
    bins = np.minimum((score * 1000).astype(int), 999)
    densities = (np.exp(-((z - mean) ** 2) / 2) for mean in (apart, 0))
    positive, negative = (
        np.rint(1e6 * np.bincount(bins, one, 1000) / one.sum()).astype(np.int64)
        for one in densities
    )
    found = ScoreHistogram(
        positive=positive, negative=negative, unlabelled=np.zeros(1000, dtype=np.int64)
    )
    area, hidden = float(area_under_roc(found)), float(tied_pairs(found)) / 2
    true = float(ndtr(apart / 2**0.5))
    assert true == pytest.approx(0.903, abs=5e-4)
    assert true - area > off
    assert area - hidden < true < area + hidden


def test_tied_pairs_are_those_that_count_half() -> None:
    rng = np.random.default_rng(2)
    positive, negative = rng.integers(0, 9, 60), rng.integers(0, 9, 80)
    found = ScoreHistogram.from_scores(positive=positive / 9, negative=negative / 9, bins=9)
    assert tied_pairs(found) == (positive[:, None] == negative).mean()
    for_ties = (positive[:, None] >= negative).mean()
    assert area_under_roc(found) + tied_pairs(found) / 2 == pytest.approx(for_ties)
    assert np.isnan(tied_pairs(ScoreHistogram.zeros()))


@sampled
@given(st.lists(st.floats(-50, 50), min_size=1, max_size=30), st.floats(0, 100))
def test_points_of_a_curve_never_fall_and_rising_ones_stay(
    points: list[float], last: float
) -> None:
    given = np.array([*points, last])
    found = rising(given)
    assert (np.diff(found) >= 0).all()
    assert found[-1] == last
    assert found[0] >= 0
    sums = np.cumsum(np.abs(given))
    np.testing.assert_array_equal(rising(sums), sums)
    np.testing.assert_array_equal(rising(np.stack([given, given]))[1], found)
