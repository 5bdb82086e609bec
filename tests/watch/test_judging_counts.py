"""The quick look that spares judging: it must never miss what starts a page."""

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import ReferenceCounts
from monitor.labels.regime import LabelRegime
from monitor.watch.cuts import Cuts
from monitor.watch.judged_counts import Counts
from monitor.watch.judging_counts import CountsJudge
from monitor.watch.model_days import LearnedScatter
from monitor.watch.page import SUDDEN_LEVEL, ModelPage
from monitor.watch.reference import MatureReference

DRAWN = 400


def in_order(*_):
    """No fault of the labels."""


def drawn(rng):
    """A judge of some reference, and counts of a day: as ever, worse, dead, few."""
    positives = int(rng.choice([50, 300, 3_000]))
    negatives = positives * int(rng.choice([2, 10, 100]))
    recall, false = rng.uniform(0.1, 0.95), rng.uniform(0.001, 0.3)
    hits, alarms = int(positives * recall) + 1, int(negatives * false) + 1
    given = ReferenceCounts(tp=hits, fn=positives - hits + 2, fp=alarms, tn=negatives - alarms + 2)
    reference = MatureReference.given(given)
    learned = LearnedScatter(reference, LabelRegime())
    p = int(rng.choice([2, 10, 60, 600]))
    n = p * int(rng.choice([2, 10, 100]))
    tp = rng.binomial(p, min(recall * rng.uniform(0, 1.1), 1))
    fp = rng.binomial(n, min(false * rng.choice([0, 0.3, 1, 1, 2, 5]), 1))
    cells = np.array([[[tp, fp, p - tp, n - fp, tp + fp, p + n - tp - fp]]])
    counts = Counts(cells, np.zeros((1, 1, 8), np.int64), DAY_MS, np.zeros(1, np.int64))
    return CountsJudge(reference, LabelRegime(), learned, in_order), counts


def test_what_would_start_a_page_is_always_judged_and_much_else_is_not():
    rng, page = np.random.default_rng(1), ModelPage()
    sudden, judged, first = [], [], []
    for _ in range(DRAWN):
        judge, counts = drawn(rng)
        found = judge.tested(counts, Cuts(0, ()))
        sudden.append(page.is_sudden(found.judgement))
        judged.append(judge.may_have_fallen(counts))
        first.append(judge.may_have_fallen_at(counts, SUDDEN_LEVEL))
    sudden, judged, first = map(np.array, (sudden, judged, first))
    assert sudden.sum() > DRAWN // 8
    assert first[sudden].all()
    assert judged[first].all()
    assert first[~sudden].sum() < judged[~sudden].sum() < 0.7 * (~sudden).sum()
