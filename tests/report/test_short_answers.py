"""The two answers as values: which cause moved precision, and what is excluded."""

import math

import pytest

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.report.findings import of_diagnosis
from monitor.report.short_answers import short_answers, what_is_excluded

BEFORE = (80_000, 45_000, 20_000, 855_000)


def found(after):
    """What is found between BEFORE and outcomes (tp, fp, fn, tn)."""
    periods = [
        Period.given(ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn))
        for tp, fp, fn, tn in (BEFORE, after)
    ]
    return of_diagnosis(diagnose(*periods))


@pytest.mark.parametrize(
    ("after", "cause", "worse"),
    [
        pytest.param((4_000, 4_750, 1_000, 90_250), "prevalence", "no", id="rarer"),
        pytest.param((5_000, 4_500, 5_000, 85_500), "recall", "yes", id="recall fell"),
        pytest.param((8_000, 9_000, 2_000, 81_000), "false_positives", "yes", id="more false"),
        pytest.param((8, 5, 2, 85), None, "not_shown", id="few"),
        pytest.param(BEFORE, None, "no", id="unchanged"),
        pytest.param((0, 500, 0, 9_500), "open", "unknown", id="no positives"),
    ],
)
def test_the_answers_of_outcomes(after, cause, worse):
    answers = short_answers(found(after))
    assert answers.precision_moved_by == cause
    assert answers.model_worse == worse


def test_precision_that_moved_for_causes_that_cancel_is_open():
    """Prevalence takes 20 points and false positives give 17 back."""
    answers = short_answers(found((20_000, 10_500, 5_000, 464_500)))
    assert answers.precision_moved_by == "open"


def test_what_is_excluded_holds_the_rates_that_came():
    limits = what_is_excluded(found((310, 180, 80, 3_600)))
    assert limits.recall_below < 310 / 390
    assert limits.false_positive_rate_above > 180 / 3_780
    assert limits.recall_below == pytest.approx(0.73, abs=0.005)


def test_without_positives_only_false_positives_are_limited():
    limits = what_is_excluded(found((0, 500, 0, 9_500)))
    assert limits.recall_below is None
    assert math.isclose(limits.false_positive_rate_above, 0.058, abs_tol=0.002)
