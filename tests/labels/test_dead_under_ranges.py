"""Whether a model is dead where rates of wrong labels are known as ranges."""

import pytest

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, judge
from monitor.drift.dispersion import Dispersion
from monitor.labels.error_ranges import Corner, certain_at

BEFORE = ConfusionCounts(tp=1_600, fp=1_400, fn=400, tn=96_600)
ROWS = Dispersion.of(1.0)


def found_at(*missed, by_chance=False):
    """Return the judgement in the middle, and what holds at all rates, by missed positives."""
    windows = [ConfusionCounts(tp=10, fp=290, fn=one, tn=9_700 - one) for one in missed]
    middle = judge(BEFORE, windows[0], by_chance=by_chance)
    return middle, certain_at(middle, [Corner(BEFORE, one, ROWS) for one in windows[1:]], None)


@pytest.mark.parametrize(("fewest", "dead"), [(150, True), (5, False)])
def test_a_model_is_dead_where_it_is_at_all_possible_rates(fewest, dead):
    """Where the other positive labels may all be wrong, hardly a positive is missed."""
    middle, certain = found_at(200, 300, fewest)
    assert middle.dead
    assert certain.dead is dead
    assert (certain.verdict is Verdict.INSUFFICIENT_EVIDENCE) is not dead
    assert len(certain.at_rates) == 2


def test_a_model_that_flags_by_chance_does_at_all_rates():
    """The labels that are wrong are flagged by chance as well."""
    middle, certain = found_at(200, 300, 5, by_chance=True)
    assert middle.dead
    assert certain.dead
