"""What `diagnose` says where a range has no positives, and where nothing is certain."""

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.drift.recall_evidence import Because
from monitor.report.diagnosis_text import diagnosis_text

SOME = ConfusionCounts(tp=80, fp=50, fn=20, tn=850)
NO_POSITIVES = ConfusionCounts(tp=0, fp=50, fn=0, tn=950)


def text_of(before, after):
    return " ".join(diagnosis_text(diagnose(Period.given(before), Period.given(after))).split())


@pytest.mark.parametrize(("before", "where"), [(SOME, "after"), (NO_POSITIVES, "before or after")])
def test_without_positives_no_number_is_made_up(before, where):
    text = text_of(before, NO_POSITIVES)
    assert "Is the model worse? Cannot be known: there are no positives." in text
    assert f"log r and log LR+ are not known: no positives {where}." in text
    assert f"Compare ranges with positives and negatives: there are no positives {where}." in text
    for absent in ("Main driver", "times the data", "not certainly a change", "to r = 0"):
        assert absent not in text
    assert "whether these changed: the class ratio, recall, skill (log LR+); a period has" in text


def test_a_main_driver_is_named_only_where_precision_certainly_moved():
    assert "Main driver" not in text_of(SOME, ConfusionCounts(tp=79, fp=52, fn=21, tn=848))
    rarer = ConfusionCounts.from_cells(np.array([80, 500, 20, 8_500]))
    assert "Main driver: certainly prevalence" in text_of(SOME, rarer)


def test_causes_that_cancel_have_no_main_driver():
    stricter = ConfusionCounts(tp=20, fp=10, fn=80, tn=890)
    assert "Main driver" not in text_of(SOME, stricter)


FEW = ConfusionCounts(tp=0, fp=2, fn=3, tn=23)
SINCE = ConfusionCounts(tp=4, fp=7, fn=3, tn=14)


@pytest.mark.parametrize(("source", "name"), [("first", "the reference"), ("", "the range before")])
def test_too_few_cases_before_exclude_nothing(source, name):
    """Without a positive that was found, a recall below any bound is excluded."""
    found = diagnose(Period.given(FEW, source), Period.given(SINCE))
    why = f"{name} holds 3 positives and 25 negatives, too few to compare with"
    said = " ".join(diagnosis_text(found).split())
    assert f"What moved precision? Not known: {why}." in said
    assert f"Is the model worse? Cannot be known: {why}." in said
    assert "is excluded" not in said
    assert "too few outcomes to tell" in said
    assert found.because is Because.TOO_FEW
