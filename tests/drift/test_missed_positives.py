"""Wrong labels add the scores of negatives to those of positives; a worse model slides them."""

import numpy as np
import pytest
from scipy.special import logit, ndtr, ndtri

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.day_scatter import DayScatter
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import judge_on_curve
from monitor.drift.label_quality import LabelChange
from monitor.drift.missed_positives import SETTLED, label_support
from monitor.drift.verdict import DEGRADED
from monitor.metrics.histogram import ScoreHistogram

BINS, THRESHOLD, DAYS, A_DAY = 1_000, 500, 28, 5_000
FALSE = 0.02
_EDGES = logit(np.arange(1, BINS) / BINS) / 1.5


def shares(rate, sd=1.0):
    """Shares of normal scores by bin, of which `rate` reach the threshold."""
    below = ndtr((_EDGES - ndtri(rate) * sd) / sd)
    return np.diff(np.concatenate([[0.0], below, [1.0]]))


def scores(rng, *, prevalence=0.02, recall=0.8, flips=0.0, unseen=0.0, sd=1.0, days=DAYS):
    """Labelled scores by day; a share of the positives scores like negatives (`unseen`)."""
    positive = rng.binomial(A_DAY, prevalence, days)
    hidden = rng.binomial(positive, unseen)
    of_positives = rng.multinomial(positive - hidden, shares(recall, sd))
    of_positives += rng.multinomial(hidden, shares(FALSE))
    of_negatives = rng.multinomial(A_DAY - positive, shares(FALSE))
    lost, wrong = rng.binomial(of_positives, flips), rng.binomial(of_negatives, flips)
    labelled = of_positives - lost + wrong
    return ScoreHistogram(
        positive=labelled,
        negative=of_negatives - wrong + lost,
        unlabelled=np.zeros_like(labelled),
    )


def outcomes(histogram, threshold=THRESHOLD):
    positive, negative = histogram.positive, histogram.negative
    return ConfusionCounts(
        tp=positive[:, threshold:].sum(axis=-1),
        fp=negative[:, threshold:].sum(axis=-1),
        fn=positive[:, :threshold].sum(axis=-1),
        tn=negative[:, :threshold].sum(axis=-1),
    )


def judged(before, after, *, scored=True, threshold=THRESHOLD):
    both = ComparedOutcomes(outcomes(before), outcomes(after, threshold))
    between = DayScatter.learn([*both]).between(DAYS, len(after.positive))
    judgement, _ = judge_on_curve(
        both,
        Dispersion.of(1.0),
        between=between,
        scores=before if scored else None,
        scores_after=lambda: after,
        days=both,
    )
    return judgement


@pytest.mark.parametrize("prevalence", [0.01, 0.02, 0.1])
@pytest.mark.parametrize("flips", [(0.0, 0.005), (0.0, 0.01), (0.01, 0.02)])
def test_wrong_labels_are_scattered(prevalence, flips):
    rng = np.random.default_rng(1)
    before, after = (scores(rng, prevalence=prevalence, flips=share) for share in flips)
    assert label_support(before, after) >= SETTLED


@pytest.mark.parametrize("prevalence", [0.01, 0.02, 0.1])
@pytest.mark.parametrize("flips", [0.0, 0.01])
@pytest.mark.parametrize("now", [{"recall": 0.6}, {"recall": 0.6, "sd": 2.0}])
def test_positives_of_a_worse_model_slid_also_beside_wrong_labels(prevalence, flips, now):
    rng = np.random.default_rng(2)
    before = scores(rng, prevalence=prevalence, flips=flips)
    after = scores(rng, prevalence=prevalence, flips=flips, **now)
    assert label_support(before, after) <= -SETTLED


def test_nothing_that_changed_is_open():
    rng = np.random.default_rng(3)
    before, after = (scores(rng, flips=0.01) for _ in range(2))
    assert abs(label_support(before, after)) < SETTLED


def test_few_days_few_positives_and_no_negatives_are_open():
    rng = np.random.default_rng(4)
    before, wrong = scores(rng), scores(rng, flips=0.01)
    assert label_support(before, wrong) >= SETTLED
    few = scores(rng, flips=0.01, days=2)
    assert abs(label_support(before, few)) < SETTLED
    assert abs(label_support(_none(3), wrong)) < SETTLED
    alone = ScoreHistogram(
        positive=before.positive,
        negative=np.zeros_like(before.negative),
        unlabelled=before.unlabelled,
    )
    assert abs(label_support(alone, wrong)) < SETTLED


@pytest.mark.parametrize("seed", [8, 9, 11, 14])
def test_wrong_labels_of_one_day_say_less_than_those_of_a_week(seed):
    """The same wrong labels, spread evenly over the week or all on one day."""
    rng = np.random.default_rng(seed)
    before, after = scores(rng), scores(rng, days=7)
    wrong = rng.choice(BINS, 28, p=shares(FALSE))
    found = []
    for day in (np.arange(28) % 7, np.full(28, 3)):
        positive = after.positive.copy()
        np.add.at(positive, (day, wrong), 1)
        week = ScoreHistogram(
            positive=positive, negative=after.negative, unlabelled=after.unlabelled
        )
        found.append(label_support(before, week))
    assert found[0] >= SETTLED
    assert 0 < found[1] < found[0] / 2


def test_nothing_that_changed_among_many_cases_supports_neither():
    """A grid of slides and spreads must hold what was: many cases show the smallest of them."""
    rng = np.random.default_rng(15)
    before = scores(rng, prevalence=0.5)
    after = scores(rng, prevalence=0.5, days=14)
    assert abs(label_support(before, after)) < SETTLED
    assert abs(label_support(before.mirrored(), after.mirrored())) < SETTLED


def test_a_worse_model_pays_for_the_slide_and_the_spread_that_labels_do_not_have():
    """Two free numbers fit the noise of every week a little better than one does."""
    rng = np.random.default_rng(17)
    found = [label_support(scores(rng), scores(rng, days=7)) for _ in range(20)]
    assert np.count_nonzero(np.array(found) < 0) <= 1


@pytest.mark.parametrize("seed", [200, 203, 204, 206])
def test_scores_rule_out_labels_that_explain_a_change_without_a_verdict(seed):
    """Else labels hold back the page of a longer stretch, though the scores show none wrong."""
    rng = np.random.default_rng(seed)
    before = scores(rng, prevalence=0.1)
    after = scores(rng, prevalence=0.104, recall=0.775, sd=1.3, days=7)
    by_rates, found = judged(before, after, scored=False), judged(before, after)
    assert not by_rates.labels_may_explain
    assert by_rates.label_change is LabelChange.FALSE_POSITIVES
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert found.label_change is LabelChange.NONE


def test_scores_settle_what_the_rates_leave_open():
    rng = np.random.default_rng(6)
    before, wrong = scores(rng), scores(rng, flips=0.01)
    assert judged(before, wrong, scored=False).verdict is Verdict.INSUFFICIENT_EVIDENCE
    found = judged(before, wrong)
    assert found.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert found.label_errors_changed
    better = judged(wrong, before)
    assert better.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert better.change["recall"] > 0


def test_a_fall_that_labels_could_explain_is_the_model_where_scores_slid():
    """Prevalence rises by as much as wrong labels would raise it, and recall falls as much."""
    rng = np.random.default_rng(7)
    before = scores(rng)
    after = scores(rng, prevalence=0.0298, recall=0.5459)
    assert judged(before, after, scored=False).labels_may_explain
    found = judged(before, after)
    assert found.verdict in DEGRADED
    assert not found.labels_may_explain


def test_positives_that_the_model_sees_no_more_are_a_worse_model():
    """They score like negatives, as wrong labels do, but prevalence is as before."""
    rng = np.random.default_rng(8)
    before, after = scores(rng), scores(rng, unseen=0.26)
    assert label_support(before, after) >= SETTLED
    assert judged(before, after).verdict in DEGRADED


@pytest.mark.parametrize("threshold", [350, 700])
def test_scores_show_wrong_labels_beside_another_threshold(threshold):
    rng = np.random.default_rng(9)
    before, after = scores(rng, prevalence=0.1), scores(rng, prevalence=0.1, flips=0.02)
    assert judged(before, after, threshold=threshold).verdict not in DEGRADED


def _none(days):
    empty = np.zeros((days, BINS), dtype=np.int64)
    return ScoreHistogram(positive=empty, negative=empty, unlabelled=empty)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prevalence", [0.02, 0.1])
def test_a_fall_of_recall_beside_rarer_positives_is_the_model(prevalence, seed):
    """Scores of negatives are as before, so that no labels of positives are missing."""
    rng = np.random.default_rng(seed)
    before = scores(rng, prevalence=prevalence)
    after = scores(rng, prevalence=prevalence / 2, recall=0.6, days=7)
    assert judged(before, after).verdict in DEGRADED
