"""Labels that come to follow the decisions of the model, or no longer do."""

import numpy as np
from audited_cases import Cases, fed, monitor_of, steady

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.diagnosis.label_notes import with_audits
from monitor.drift.verdict import DEGRADED, IMPROVED
from monitor.exporter.api.status import status_answer
from monitor.labels.regime import LabelRegime
from monitor.report.advice import advice
from monitor.report.findings import of_diagnosis

REPEATED = ConfusionCounts(tp=500, fp=20, fn=0, tn=9_500)
MISSED = ConfusionCounts(tp=750, fp=250, fn=850, tn=8_150)
REPEATING = ConfusionCounts(tp=1_000, fp=0, fn=0, tn=9_000)


def between(before, after):
    return with_audits(diagnose(Period.given(before), Period.given(after)), None, LabelRegime())


def test_labels_that_come_to_follow_the_decisions_are_named():
    """The model seems to find all positives from one day to the next."""
    seen = between(MISSED, REPEATING)
    assert seen.verdict in IMPROVED
    assert (
        "whether labels of after follow the decisions, as they seem to: none of 9,000 unflagged "
        "cases of after are labelled positive, and no flagged case is labelled negative; 850 of "
        "9,000 of before are; if only flagged cases are looked at, recall and precision are not"
    ) in seen.notes[-1]
    assert "An audit of 242 unflagged cases of after, drawn at random" in seen.notes[-1]
    assert of_diagnosis(seen).doubted == "labels may follow the decisions now"
    assert advice(seen)[0].startswith("Audit 242 unflagged cases, drawn at random, before recall")
    assert not any("Nothing to repair" in one for one in advice(seen))


def test_labels_that_no_longer_follow_the_decisions_are_named():
    """The model seems to get worse as its labels become right."""
    seen = between(REPEATING, MISSED)
    assert seen.verdict in DEGRADED
    assert "none of 9,000 unflagged cases of before are labelled positive" in seen.notes[-1]
    assert "; 850 of 9,000 of after are; if only" in seen.notes[-1]
    drawn = "`precision-monitor audit FILE --predicted 0 --sample 242 --range A..B`"
    assert drawn in seen.notes[-1]
    assert of_diagnosis(seen).doubted == "labels before may have followed the decisions"
    assert advice(seen)[0].startswith(
        "Audit 242 unflagged cases of before, drawn at random, before the model's owner is paged"
    )


def test_a_high_recall_beside_one_that_is_certainly_lower_is_one_line():
    (note,) = (one for one in between(MISSED, REPEATED).notes if "follow the" in one)
    assert "850 of 9,000 of before are. Either recall of after is nearly 1, or only" in note
    assert of_diagnosis(between(MISSED, REPEATED)).doubted == ""


def test_a_running_monitor_names_labels_that_come_to_follow_the_decisions():
    cases = Cases(60, 2_000, 4, steady(0.04))
    later = cases.day >= 40
    cases.label = np.where(later, cases.called, cases.label)
    snapshot = fed(cases, 0, range(60), monitor_of({})).snapshot()
    (model,) = status_answer(snapshot, limit=1).models
    assert model.labels_seem_to_follow
    assert model.worse.text.endswith(", but labels may follow the decisions now")
    assert "of the reference are; if only flagged cases are looked at" in model.labels_may_follow
