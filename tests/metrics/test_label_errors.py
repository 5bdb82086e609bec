"""Labels with errors at known rates: corrected counts are the true ones, and intervals cover."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.metrics.intervals import WINDOW_METRICS
from monitor.metrics.label_errors import ErrorRates, true_share
from monitor.metrics.sampled import SampledCounts, estimate, intervals

CELLS = st.integers(1, 10**6)
CASES = st.builds(ConfusionCounts, tp=CELLS, fp=CELLS, fn=CELLS, tn=CELLS)
RATES = st.floats(0, 0.45)


def mislabelled(truth, false_positive, false_negative):
    """Outcomes by wrong labels in expectation: written out case by case."""
    tp, fp, fn, tn = truth.cells.tolist()
    return ConfusionCounts(
        tp=tp * (1 - false_negative) + fp * false_positive,
        fp=tp * false_negative + fp * (1 - false_positive),
        fn=fn * (1 - false_negative) + tn * false_positive,
        tn=fn * false_negative + tn * (1 - false_positive),
    )


def corrected(labelled, false_positive, false_negative):
    return SampledCounts(
        labelled=labelled,
        predicted_positive=labelled.predicted_positive,
        predicted_negative=labelled.predicted_negative,
        false_positive=false_positive,
        false_negative=false_negative,
    )


@given(CASES, RATES, RATES)
def test_known_errors_are_undone_exactly(truth, false_positive, false_negative):
    labelled = mislabelled(truth, false_positive, false_negative)
    found = corrected(labelled, false_positive, false_negative)
    scale = float(truth.total)
    np.testing.assert_allclose(found.cases.cells, truth.cells, atol=1e-9 * scale)
    np.testing.assert_allclose(found.expected.cells, truth.cells, atol=1e-9 * scale)


@settings(max_examples=40)
@given(CASES, RATES, RATES)
@example(ConfusionCounts(tp=1, fp=1, fn=1, tn=1), 0.375, 0.0)
@example(ConfusionCounts(tp=5, fp=10, fn=9, tn=11), 0.0, 0.011)
def test_every_metric_is_that_of_the_true_table_and_lies_in_its_interval(cases, a, b):
    assume(cases.cells.min() > 1e-3 * cases.cells.max())
    found, truth = corrected(mislabelled(cases, a, b), a, b), corrected(cases, 0, 0)
    for metric in WINDOW_METRICS:
        stated = float(estimate(found, metric))
        assert stated == pytest.approx(float(estimate(truth, metric)), rel=1e-5, abs=1e-7)
        lower, upper = intervals(found, metric)
        assert lower <= stated <= upper
        own = intervals(truth, metric)
        if a + b > 0.01 and cases.cells.min() > 1:  # .93 of it was seen where a cell has one case
            assert upper - lower > 0.98 * (own[1] - own[0])


def test_a_share_below_that_of_wrong_labels_alone_is_zero_with_an_upper_limit():
    few = corrected(ConfusionCounts(tp=70, fp=30, fn=20, tn=3980), 0.01, 0.05)
    assert few.cases.fn == 0
    assert estimate(few, "recall") == 1
    lower, upper = intervals(few, "recall")
    assert 0.8 < lower < 1
    assert upper == 1


def test_no_rates_change_nothing():
    counts = ConfusionCounts(tp=81, fp=67, fn=38, tn=339)
    assert corrected(counts, 0, 0).cases is counts
    assert not ErrorRates().false_positive


@pytest.mark.parametrize(("false_positive", "false_negative"), [(0.5, 0.5), (-0.1, 0), (0, -0.1)])
def test_rates_that_say_nothing_are_refused(false_positive, false_negative):
    with pytest.raises(ValueError, match="rates of wrong labels"):
        corrected(ConfusionCounts(tp=1, fp=1, fn=1, tn=1), false_positive, false_negative)


def test_an_undefined_share_stays_undefined():
    assert np.isnan(true_share(np.nan, 0.01, 0.94))


@pytest.mark.parametrize("prevalence", [0.01, 0.02, 0.1])
@pytest.mark.parametrize(("a", "b"), [(0.01, 0.01), (0.01, 0.05), (0.005, 0.0)])
def test_intervals_cover_the_truth(prevalence, a, b):
    """20,000 cases, recall .8, false positives 2 %, labels flipped one by one."""
    rng, draws, cases, recall, false = np.random.default_rng(3), 2_000, 20_000, 0.8, 0.02
    p = rng.binomial(cases, prevalence, draws)
    tp, fp = rng.binomial(p, recall), rng.binomial(cases - p, false)
    called_right, passed_right = rng.binomial(tp, 1 - b), rng.binomial(p - tp, 1 - b)
    called_wrong, passed_wrong = rng.binomial(fp, a), rng.binomial(cases - p - fp, a)
    positive, missed = called_right + called_wrong, passed_right + passed_wrong
    labelled = ConfusionCounts(
        tp=positive, fp=tp + fp - positive, fn=missed, tn=cases - tp - fp - missed
    )
    found = corrected(labelled, a, b)
    called = recall * prevalence + false * (1 - prevalence)
    truths = {
        "recall": recall,
        "false_positive_rate": false,
        "prevalence": prevalence,
        "precision": recall * prevalence / called,
        "balanced_precision": recall / (recall + false),
    }
    for metric, truth in truths.items():
        lower, upper = intervals(found, metric)
        assert ((lower <= truth) & (truth <= upper)).mean() >= 0.93, metric


@settings(max_examples=30)
@given(CASES, st.tuples(RATES, RATES), st.tuples(RATES, RATES), st.floats(0, 1), st.floats(0, 1))
@example(ConfusionCounts(tp=2, fp=1, fn=6, tn=1), (0.0, 0.0), (0.0, 0.25), 0.0, 1.0)
def test_intervals_of_ranges_hold_at_every_rate_within(cases, first, second, at, other):
    """Each interval at a rate within the ranges lies within that of the ranges."""
    ranges = [tuple(sorted(one)) for one in (first, second)]
    errors = ErrorRates.within(*ranges)
    assume(errors.false_positive + errors.false_negative + sum(errors[2:]) < 0.9)
    within = ErrorRates(
        *(low + part * (high - low) for (low, high), part in zip(ranges, (at, other), strict=True))
    )
    ranged = SampledCounts(
        labelled=cases,
        predicted_positive=cases.predicted_positive,
        predicted_negative=cases.predicted_negative,
        **errors._asdict(),
    )
    known = corrected(cases, within.false_positive, within.false_negative)
    for metric in ("precision", "recall", "false_positive_rate", "prevalence"):
        lower, upper = intervals(ranged, metric)
        inner = intervals(known, metric)
        assert lower <= inner[0] + 1e-9
        assert upper >= inner[1] - 1e-9
        middle = estimate(ranged, metric)
        assert np.isnan(middle) or lower <= middle <= upper


def test_corners_are_the_ends_of_each_range():
    assert ErrorRates.within(0.01, 0.05).corners == (ErrorRates(0.01, 0.05),)
    corners = ErrorRates.within((0.01, 0.03), (0.0, 0.1)).corners
    assert corners == tuple(ErrorRates(a, b) for a in (0.01, 0.03) for b in (0.0, 0.1))
    assert ErrorRates.within((0.005, 0.02), 0.05).ranges == {"false_positive": (0.005, 0.02)}
