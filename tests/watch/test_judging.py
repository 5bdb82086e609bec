"""What windows are compared with, and which limit bounds their recall.

A window that reaches back into the reference has the limit of a stretch that grows.
"""

import numpy as np
import pytest
from watch.hourly import DAY, HOUR, rates, stream
from watch.test_watch import fed, watched

from monitor.config import Config
from monitor.drift.recall_evidence import Because
from monitor.engine import Monitor

QUIET_HOURS, FOUR_WEEKS = 4, 28


def reaching_back(kind):
    """The verdict on a week that begins before the end of a reference of a day."""
    found = watched(fed({(): stream(2000, rates(60))}, reference={kind: "1d"}))
    assert found.reference.closes == DAY
    assert found.verdicts["7d"].beyond is not None
    return found.verdicts["7d"].recall


def test_the_stretch_since_a_trailing_reference_is_bounded_like_a_window_that_moves_on():
    trailing, first = reaching_back("trailing"), reaching_back("first")
    assert (trailing.lower, trailing.upper) == pytest.approx((first.lower, first.upper))
    assert trailing.excluded < first.excluded - 1e-4


def of_four_weeks():
    """A monitor of windows of four weeks, whose stream falls silent when one has passed."""
    days = FOUR_WEEKS + 7
    rows = stream(2000, rates(24 * days))
    rows[-QUIET_HOURS:] = 0
    settings = {"maturity": "0s", "reference": {"first": "7d"}}
    monitor = Monitor(Config(defaults=settings, windows=[f"{FOUR_WEEKS}d"]))
    fed({(): rows}, monitor=monitor)
    return monitor, days * DAY


def verdict(monitor, now):
    return monitor.snapshot(now).models[0].watched.verdicts[f"{FOUR_WEEKS}d"]


def test_a_window_that_reaches_back_no_more_takes_its_own_limit_though_its_counts_are_the_same():
    monitor, at = of_four_weeks()
    back, alone = (verdict(monitor, now) for now in (at - HOUR, at))
    assert (back.beyond is None, alone.beyond is None) == (False, True)
    assert alone.recall.excluded > back.recall.excluded + 1e-4
    fresh, _ = of_four_weeks()
    assert alone.recall == verdict(fresh, at).recall


@pytest.mark.parametrize("detector", [{}, {"river_detector": {"name": "ADWIN"}}])
@pytest.mark.parametrize(("missed", "compared"), [(1, False), (2, True)])
def test_a_reference_of_nine_positives_compares_nothing_and_pages_nobody(
    missed, compared, detector
):
    few = {"counts": {"tp": 8, "fp": 40, "fn": missed, "tn": 800}}
    dies = np.concatenate([rates(24 * 5), rates(24 * 4, recall=0.05)])
    found = watched(fed({(): stream(2000, dies)}, reference=few, **detector))
    whys = {one.because for one in found.verdicts.values()}
    assert (whys != {Because.NO_REFERENCE}) is compared
    judged = any(one.judgement is not None for one in found.verdicts.values())
    assert judged is bool(found.detections) is compared
