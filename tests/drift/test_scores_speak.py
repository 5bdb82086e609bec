"""Where scores come, they are asked before a model is blamed: thresholds by day, wrong labels."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import norm

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift import Verdict
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import BetweenDays
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import judge_on_curve
from monitor.drift.label_quality import LABEL_CHANGES, LabelChange
from monitor.drift.missed_positives import SETTLED
from monitor.drift.verdict import DEGRADED
from monitor.metrics.histogram import ScoreHistogram
from monitor.watch.judging import Judge

GAP, A_DAY, SHARE = 2.2, 4_000, 0.1
QUIET = BetweenDays(np.full(8, 1e-6), np.full(8, 1e-6), np.full(8, 1e6))


def days_of(rng, cuts, gap=GAP, flips=0.0, *, missed=0.0, rise=0.0, share=SHARE):
    """Outcomes and scores by day, each day with its own threshold.

    A share of all labels is flipped; one of the positives is labelled 0; and negatives rise.
    """
    cells, positive, negative = [], [], []
    for cut in cuts:
        actual = rng.random(A_DAY) < share
        normal = rng.normal(0, 1, A_DAY) + np.where(actual, gap, rise)
        labelled = actual ^ (rng.random(A_DAY) < flips)
        if missed:
            labelled &= rng.random(A_DAY) >= missed
        flagged = normal >= cut
        kinds = [(flagged, labelled), (flagged, ~labelled), (~flagged, labelled)]
        kinds.append((~flagged, ~labelled))
        cells.append([np.count_nonzero(one & other) for one, other in kinds])
        bins = np.minimum((norm.cdf(normal / 2) * 1000).astype(int), 999)
        positive.append(np.bincount(bins[labelled], minlength=1000))
        negative.append(np.bincount(bins[~labelled], minlength=1000))
    scores = ScoreHistogram(
        positive=np.array(positive),
        negative=np.array(negative),
        unlabelled=np.zeros((len(cuts), 1000), dtype=np.int64),
    )
    return ConfusionCounts.from_cells(np.array(cells)), scores


def explained_by(change):
    """Stand for rates that labels explain as well as the model does, so that scores decide."""

    def rates(_before, _after, _found, support=None):
        settled = support is not None and support <= -SETTLED
        return np.int8(0 if settled else LABEL_CHANGES.index(change))

    return patch("monitor.drift.verdict_rule.labels_explain", side_effect=rates)


def judged(before, after, *, scored=True):
    both = ComparedOutcomes(before[0], after[0])
    judgement, _ = judge_on_curve(
        both,
        Dispersion.of(1.0),
        between=QUIET,
        scores=before[1] if scored else None,
        scores_after=lambda: after[1],
        days=both,
    )
    return judgement


@pytest.mark.parametrize("cuts", [(0.3,) * 7 + (2.5,) * 7, (2.0,) * 14])
def test_days_at_two_thresholds_lie_where_a_slide_leads(cuts):
    rng = np.random.default_rng(4)
    found = judged(days_of(rng, (1.0,) * 14), days_of(rng, cuts))
    assert not found.below_reference_curve
    assert abs(found.curve_z) < 2.6


@pytest.mark.parametrize(("gap", "flips", "blamed"), [(GAP, 0.05, False), (1.4, 0.0, True)])
def test_scores_that_show_wrong_labels_are_heard_though_the_rates_rule_them_out(gap, flips, blamed):
    rng = np.random.default_rng(6)
    before = days_of(rng, (1.0,) * 14)
    after = days_of(rng, (1.0,) * 14, gap, flips)
    with patch("monitor.drift.verdict_rule.labels_explain", return_value=np.int8(0)):
        found = judged(before, after)
        assert judged(before, after, scored=False).verdict in DEGRADED
    assert (found.verdict in DEGRADED) == blamed
    assert found.labels_may_explain != blamed


@pytest.mark.parametrize(("gap", "flips", "shown"), [(GAP, 0.05, True), (1.4, 0.0, False)])
def test_a_judge_says_whether_the_scores_of_some_days_show_wrong_labels(gap, flips, shown):
    rng = np.random.default_rng(7)
    (_, before), (_, after) = days_of(rng, (1.0,) * 14), days_of(rng, (1.0,) * 7, gap, flips)
    asked = []

    def scores_of(*stretch):
        asked.append(stretch)
        return lambda: after

    judge = SimpleNamespace(reference=SimpleNamespace(scores_by_day=before), _scores_of=scores_of)
    assert Judge.shows_wrong_labels(judge, 3, 10) == shown
    assert asked == [(3 * DAY_MS, 10 * DAY_MS)]


@pytest.mark.parametrize(
    ("missed", "rise", "verdict"),
    [(0.3, 0.0, Verdict.LABELS_NOT_TRUSTWORTHY), (0.0, 0.6, Verdict.MODEL_DEGRADED)],
)
def test_scores_tell_labels_that_miss_positives_from_more_false_positives(missed, rise, verdict):
    """False positives with the scores of positives, or with those of negatives that rose."""
    rng = np.random.default_rng(8)
    before = days_of(rng, (2.0,) * 14)
    after = days_of(rng, (2.0,) * 14, missed=missed, rise=rise)
    with explained_by(LabelChange.FALSE_NEGATIVES):
        found = judged(before, after)
    assert found.verdict is verdict
    assert judged(before, after).verdict is verdict


def test_labels_that_stop_missing_positives_are_no_better_model():
    rng = np.random.default_rng(9)
    before = days_of(rng, (2.0,) * 14, missed=0.3)
    after = days_of(rng, (2.0,) * 14)
    found = judged(before, after)
    assert found.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert found.label_change is LabelChange.FALSE_NEGATIVES
    assert judged(before, after, scored=False).verdict is Verdict.INSUFFICIENT_EVIDENCE


@pytest.mark.parametrize(("missed", "blamed"), [(0.3, False), (0.0, True)])
def test_scores_show_missed_labels_that_the_rates_rule_out(missed, blamed):
    """Beside rarer positives, where a share of negatives has the scores of positives or not."""
    rng = np.random.default_rng(10)
    before = days_of(rng, (2.0,) * 14)
    after = days_of(rng, (2.0,) * 14, missed=missed, rise=0.0 if missed else 0.6, share=0.09)
    with patch("monitor.drift.verdict_rule.labels_explain", return_value=np.int8(0)):
        found = judged(before, after)
    assert (found.verdict in DEGRADED) is blamed


@pytest.mark.parametrize(
    ("flips", "gap", "verdict"),
    [
        (0.05, GAP, Verdict.LABELS_NOT_TRUSTWORTHY),
        (0.01, GAP, Verdict.LABELS_NOT_TRUSTWORTHY),
        (0.0, 1.4, Verdict.MODEL_IMPROVED),
    ],
)
def test_scores_tell_fewer_wrong_labels_from_a_better_model(flips, gap, verdict):
    rng = np.random.default_rng(12)
    before, after = days_of(rng, (1.0,) * 14, gap, flips), days_of(rng, (1.0,) * 14)
    with explained_by(LabelChange.FALSE_POSITIVES):
        assert judged(before, after).verdict is verdict


@pytest.mark.parametrize(("support", "blamed"), [(-1.0, True), (0.0, True), (1.0, False)])
@pytest.mark.parametrize("flips", [0.0, 0.02])
def test_scores_that_lean_to_labels_are_weighed_with_the_rates(support, blamed, flips):
    """Where recall fell, whether positives became more frequent or not."""
    rng = np.random.default_rng(13)
    before, after = days_of(rng, (1.0,) * 14), days_of(rng, (1.0,) * 14, 1.2, flips)
    by_both = np.int8(LABEL_CHANGES.index(LabelChange.FALSE_POSITIVES))
    with (
        patch("monitor.drift.judgement_on_curve.label_support", return_value=support),
        patch(
            "monitor.drift.verdict_rule.labels_explain",
            side_effect=lambda *given: by_both if given[-1] == 1.0 else np.int8(0),
        ),
    ):
        found = judged(before, after)
    assert (found.verdict in DEGRADED) == blamed
