"""Windows of few cases: half a count in each cell is no change by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift import Status, Verdict, judge
from monitor.drift.day_scatter import DayScatter

NAMES = ("tp", "fp", "fn", "tn")
USUAL = {
    "perfect": (56, 0, 0, 644),
    "always positive": (56, 644, 0, 0),
    "always negative": (0, 0, 56, 644),
    "no negatives": (45, 0, 11, 0),
    "no positives": (0, 30, 0, 614),
}


def counts(cells, times=1):
    tp, fp, fn, tn = (cell * times for cell in cells)
    return ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn)


def judged(cells, after):
    days = ConfusionCounts(**{name: [n] * 28 for name, n in zip(NAMES, cells, strict=True)})
    between = DayScatter.learn([days]).between(28, 1)
    return judge(counts(cells, 28), after, between=between)


@pytest.mark.parametrize("usual", USUAL)
@given(st.integers(1, 60))
def test_an_hour_as_ever_is_no_change(usual, part):
    cells = USUAL[usual]
    hour = counts([-(-cell // part) for cell in cells])
    found = judged(cells, hour)
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE, (hour, found)
    assert found.status["recall"] is not Status.CHANGED
    assert found.status["false_positive_rate"] is not Status.CHANGED


def test_a_perfect_model_that_misses_cases_is_degraded():
    found = judged(USUAL["perfect"], counts((20, 0, 36, 644)))
    assert found.verdict is Verdict.MODEL_DEGRADED
