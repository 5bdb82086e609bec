"""The bundled sample of the flights, by blocks of days: never the opposite of what happened."""

import numpy as np
import pytest
from benchmarks.recorded_stream import Stream
from benchmarks.verdicts import EPISODES, FLIGHTS

from monitor.drift import Verdict, attribute, judge
from monitor.drift.roc import below_reference_curve

NEVER_OPPOSITE = {
    ("2013-07-01", "2013-09-01"): {Verdict.PREVALENCE_SHIFT, Verdict.OPERATING_POINT_MOVED},
    ("2013-08-01", "2013-09-01"): {Verdict.PREVALENCE_SHIFT, Verdict.INSUFFICIENT_EVIDENCE},
    ("2013-11-01", "2013-12-01"): {
        Verdict.PREVALENCE_SHIFT,
        Verdict.OPERATING_POINT_MOVED,
        Verdict.INSUFFICIENT_EVIDENCE,
    },
    ("2013-03-01", "2013-12-01"): {
        Verdict.MODEL_DEGRADED,
        Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED,
        Verdict.INSUFFICIENT_EVIDENCE,
    },
    ("2013-03-01", "2013-11-01"): {Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE},
}


@pytest.fixture(scope="module")
def flights() -> Stream:
    return Stream(FLIGHTS)


def test_september_is_rarer_delays_and_a_slide_but_no_worse_model(flights: Stream) -> None:
    july = flights.blocks("2013-07-01", "2013-08-01")
    september = flights.blocks("2013-09-01", "2013-10-01")
    found = judge(july, september)
    assert found.operating_point_moved
    assert found.fell == ("class_ratio", "recall", "false_positive_rate")
    assert found.main_driver.cause == "prevalence"
    assert found.main_driver.certain
    assert found.change["log_likelihood_ratio"] == pytest.approx(0, abs=0.05)
    # One flight in five leaves log LR+ at ± .10, too wide to be clean: of the
    # whole stream, ± .08, the verdict is prevalence_shift (see the benchmark).
    assert found.status["log_likelihood_ratio"] == "unknown"
    assert found.verdict is Verdict.OPERATING_POINT_MOVED


def test_rows_of_one_day_are_not_independent(flights: Stream) -> None:
    july = flights.blocks("2013-07-01", "2013-08-01")
    september = flights.blocks("2013-09-01", "2013-10-01")
    by_day, plain = judge(july, september), judge(july.sum(), september.sum())
    for name, factor in (("class_ratio", 3.5), ("recall", 2), ("log_likelihood_ratio", 1.5)):
        assert by_day.standard_error[name] > factor * plain.standard_error[name]


def test_points_of_september_are_prevalence_with_an_interval_that_says_so(flights: Stream) -> None:
    found = attribute(
        flights.blocks("2013-07-01", "2013-08-01"), flights.blocks("2013-09-01", "2013-10-01")
    )
    assert found.points["prevalence"] == pytest.approx(found.change_points, abs=0.03)
    assert found.upper_points["prevalence"] < -0.1
    assert found.lower_points["skill"] < 0 < found.upper_points["skill"]


@pytest.mark.parametrize("episode", EPISODES["flights"], ids=lambda e: f"{e[0]} to {e[2]}")
def test_no_pair_of_months_gets_the_opposite_verdict(flights: Stream, episode: tuple) -> None:
    start, end, later, last = episode
    before, after = flights.blocks(start, end), flights.blocks(later, last)
    assert judge(before, after).verdict in NEVER_OPPOSITE[start, later]
    below = below_reference_curve(flights.scores(start, end), after)
    found = judge(before, after, below_reference_curve=below)
    assert found.verdict in NEVER_OPPOSITE[start, later]


def test_blocks_are_hours_in_a_short_window(flights: Stream) -> None:
    week = flights.blocks("2013-07-01", "2013-07-08")
    assert week.shape == (7 * 24,)
    assert flights.blocks("2013-07-01", "2013-08-01").shape == (31,)
    assert int(week.total.sum()) == int(np.sum(flights.blocks("2013-07-01", "2013-07-08").total))
