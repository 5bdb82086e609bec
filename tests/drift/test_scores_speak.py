"""Where scores come, they are asked before a model is blamed: thresholds by day, wrong labels."""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import norm

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import BetweenDays
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import ComparedOutcomes, judge_on_curve
from monitor.drift.verdict import DEGRADED
from monitor.metrics.histogram import ScoreHistogram
from monitor.watch.judging import Judge

GAP, A_DAY, SHARE = 2.2, 4_000, 0.1
QUIET = BetweenDays(np.full(8, 1e-6), np.full(8, 1e-6), np.full(8, 1e6))


def days_of(rng, cuts, gap=GAP, flips=0.0):
    """Outcomes and scores by day, each day with its own threshold."""
    cells, positive, negative = [], [], []
    for cut in cuts:
        actual = rng.random(A_DAY) < SHARE
        normal = rng.normal(0, 1, A_DAY) + gap * actual
        labelled = actual ^ (rng.random(A_DAY) < flips)
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
    with patch("monitor.drift.verdict.labels_explain", return_value=False):
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
