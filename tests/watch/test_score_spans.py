"""The narrowest scores of the past, whenever and however often they are asked for."""

import numpy as np

from monitor.clock import DAY_MS
from monitor.drift.score_spread import ScoreSpan
from monitor.watch.score_spans import NarrowestSpans

HALF_HOUR = DAY_MS // 48


def test_the_narrowest_scores_are_those_of_the_days_whatever_was_asked_before():
    chance, spans, found = np.random.default_rng(1), NarrowestSpans(), []
    at = 0
    for _ in range(600):
        at += HALF_HOUR * int(chance.choice([1, 5, 40, 400], p=[0.3, 0.4, 0.29, 0.01]))
        anew = NarrowestSpans.restored(spans.state())
        found.append(spans.before(at))
        assert found[-1] == anew.before(at)
        if chance.random() < 0.8:
            width, different = chance.integers(1, 1000, 2).tolist()
            spans.see(at, [ScoreSpan(30, width, different)] * 3)
    assert len(set(found)) > 20
