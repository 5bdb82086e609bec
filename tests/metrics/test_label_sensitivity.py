"""What wrong labels would do to metrics that take labels as right."""

import pytest

from monitor.counts import ConfusionCounts
from monitor.metrics.intervals import METRICS, intervals
from monitor.metrics.label_sensitivity import SENSITIVE_METRICS, label_sensitivity
from monitor.metrics.sampled import SampledCounts
from monitor.snapshot import Estimate


def found(*, tp, fp, fn, tn):
    counts = ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn)
    stated = {
        name: Estimate(METRICS[name].value(counts), *intervals(counts, name))
        for name in SENSITIVE_METRICS
    }
    whole = SampledCounts(
        labelled=counts,
        predicted_positive=counts.predicted_positive,
        predicted_negative=counts.predicted_negative,
    )
    return label_sensitivity(whole, stated)


def flipped(share, *, positives, negatives, recall, false):
    """Outcomes of a true model with a share of all labels flipped, case by case."""
    tp, fp = positives * recall, negatives * false
    fn, tn = positives - tp, negatives - fp
    right, wrong = 1 - share, share
    return {
        "tp": round(tp * right + fp * wrong),
        "fp": round(fp * right + tp * wrong),
        "fn": round(fn * right + tn * wrong),
        "tn": round(tn * right + fn * wrong),
    }


def test_one_wrong_label_in_a_hundred_would_double_recall_at_rare_positives():
    sensitivity = found(
        **flipped(0.01, positives=10_000, negatives=990_000, recall=0.8, false=0.005)
    )
    assert sensitivity.share == 0.01
    moved = {one.metric: one for one in sensitivity.moved}
    assert moved["recall"].stated == pytest.approx(0.403, abs=0.001)
    assert moved["recall"].would_be == pytest.approx(0.8, abs=0.001)
    assert moved["prevalence"].would_be == pytest.approx(0.01, abs=1e-5)


def test_frequent_positives_and_few_cases_are_not_sensitive():
    assert found(tp=4_000, fp=500, fn=1_000, tn=4_500) is None
    assert found(tp=8, fp=4, fn=12, tn=976) is None


@pytest.mark.parametrize(("missed", "share"), [(1_500, 0.01), (600, 0.005), (150, 0.001)])
def test_the_share_is_one_that_the_labels_allow(missed, share):
    """Wrong labels alone would give more positive ones among the unflagged than there are."""
    assert found(tp=8_000, fp=4_000, fn=missed, tn=100_000 - missed).share == share


def test_without_missed_positives_no_label_of_an_unflagged_case_can_be_wrong():
    assert found(tp=800, fp=400, fn=0, tn=100_000) is None


def test_prevalence_alone_says_nothing_of_the_model():
    """It would move by .0075, more than its interval is wide, and recall by less than its own."""
    assert found(tp=1_040, fp=460, fn=4_160, tn=34_340) is None
    more = found(tp=10_400, fp=4_600, fn=41_600, tn=343_400)
    assert {one.metric for one in more.moved} == {"recall", "prevalence"}


def test_undefined_metrics_are_left_out():
    counts = ConfusionCounts(tp=50, fp=50, fn=0, tn=0)
    whole = SampledCounts(labelled=counts, predicted_positive=100, predicted_negative=900)
    nothing = Estimate(float("nan"), float("nan"), float("nan"))
    assert label_sensitivity(whole, dict.fromkeys(SENSITIVE_METRICS, nothing)) is None
    assert label_sensitivity(whole, {"recall": Estimate(None, None, None)}) is None
