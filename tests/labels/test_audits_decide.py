"""Audits of a window decide between a worse model and labels that are wrong more often."""

import numpy as np
import pytest
from audited_cases import DAY, FPR, WRONG, Cases, fed, steady

from monitor.counts import ConfusionCounts
from monitor.diagnosis.comparison import compared_live
from monitor.drift import Verdict
from monitor.drift.label_quality import WrongLabels
from monitor.drift.verdict import DEGRADED
from monitor.exporter.api.compare import compared, recall
from monitor.labels.audits_decide import Blamed, blamed_by_audits, changed_since
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_errors import AuditedLabels
from monitor.metrics.label_errors import UNKNOWN_ERRORS, ErrorRates
from monitor.report.diagnosis_text import diagnosis_text

SINCE, DAYS, A_DAY = 35, 42, 4_000
SHARE = 0.05
LABELLED = np.array([[9_000, 90], [20, 190]])


def unseen():
    """A third more positives from a day on, which the model flags as seldom as negatives."""
    cases = Cases(DAYS, A_DAY, 3, lambda day: SHARE * (4 / 3 if day >= SINCE else 1))
    drawn = cases.rng.random((2, len(cases.day)))
    new = cases.actual & (cases.day >= SINCE) & (drawn[0] < 1 / 4)
    cases.called = np.where(new, drawn[1] < FPR, cases.called)
    return cases


def mislabelled(since=SINCE, worse=0.02):
    """Labels of 2 % of negatives, or `worse`, are wrong from a day on, of 1 % before."""
    worse = ErrorRates(worse, 0.05)
    return Cases(DAYS, A_DAY, 3, steady(SHARE), rates=lambda day: WRONG if day < since else worse)


def judged(cases, each, audited=DAYS):
    """Of so many audits of each stratum of the window's days before `audited`."""
    monitor = fed(cases, 250, range(SINCE))
    monitor = fed(cases, each, range(SINCE, DAYS), monitor, audit_days=range(SINCE, audited))
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    ends = [f"1970-02-{day:02d}" for day in (SINCE - 30, DAYS - 30)]
    asked = compared_live(snapshot, model, "1970-01-02..1970-01-29", "..".join(ends))
    found = compared(model, asked, recall(monitor, asked, LabelRegime.now(model)))
    assert found.after.closes == DAYS * DAY
    return model.watched.verdicts["7d"], found


@pytest.mark.parametrize("world", [unseen, mislabelled])
def test_without_audits_of_the_window_both_are_named(world):
    window, found = judged(world(), 0)
    for one in (window, found):
        assert one.verdict is Verdict.INSUFFICIENT_EVIDENCE
        assert one.judgement.labels_may_explain


def test_positives_that_the_model_does_not_find_are_laid_to_the_model():
    window, found = judged(unseen(), 100)
    for one in (window, found):
        assert one.verdict in DEGRADED
        assert "recall" in one.judgement.fell
        assert not one.judgement.labels_may_explain


@pytest.mark.parametrize("each", [10, 100])
def test_labels_that_are_wrong_more_often_are_never_laid_to_the_model(each):
    """Few audits name the labels; with more, the window is corrected for its own rates."""
    window, found = judged(mislabelled(), each)
    if each < 100:
        shown = diagnosis_text(found)
        assert "audits of these days show it" in " ".join(shown.split())
        assert "Scores that slid" not in shown
        assert "looked at again" not in shown
    for one in (window, found):
        assert one.verdict in {Verdict.LABELS_NOT_TRUSTWORTHY, Verdict.INSUFFICIENT_EVIDENCE}
        corrected = one.judgement is not None and not one.judgement.labels_may_explain
        assert corrected is (each == 100)


def audits(right, wrong):
    """Audits of cases labelled 1 that are not flagged."""
    found = np.zeros((2, 2, 2), dtype=np.int64)
    found[0, 1] = wrong, right
    return AuditedLabels(found, LABELLED)


@pytest.mark.parametrize(
    ("right", "wrong", "blamed"),
    [(20, 0, Blamed.MODEL), (2, 18, Blamed.LABELS), (1, 1, None), (0, 0, None)],
)
def test_what_is_blamed_by_how_many_labels_are_right(right, wrong, blamed):
    known = ErrorRates.within((0.0, 0.002), (0.0, 0.02))
    explains = WrongLabels(0.009, 0.0, more=True)
    assert blamed_by_audits(audits(right, wrong), known, explains) is blamed
    assert blamed_by_audits(audits(right, wrong), UNKNOWN_ERRORS, explains) is None


def test_labels_that_are_wrong_less_often_are_told_by_audits_as_well():
    known = ErrorRates.within((0.009, 0.011), (0.0, 0.02))
    explains = WrongLabels(0.009, 0.0, more=False)
    assert blamed_by_audits(audits(30, 0), known, explains) is Blamed.LABELS
    assert blamed_by_audits(audits(0, 30), known, explains) is Blamed.MODEL


@pytest.mark.parametrize(("lost", "blamed"), [(0, Blamed.MODEL), (12, Blamed.LABELS)])
def test_labels_that_are_wrong_both_ways_are_known_by_positives_labelled_0(lost, blamed):
    found = np.zeros((2, 2, 2), dtype=np.int64)
    found[1, 0] = 60 - lost, lost
    labelled = np.array([[8_750, 340], [200, 2_000]])
    known = ErrorRates.within((0.01, 0.02), (0.0, 0.002))
    explains = WrongLabels(0.02, 0.02, more=True)
    assert blamed_by_audits(AuditedLabels(found, labelled), known, explains) is blamed


@pytest.mark.parametrize(("lost", "blamed"), [(0, Blamed.MODEL), (13, Blamed.LABELS)])
def test_labels_that_miss_positives_are_known_by_flagged_cases_labelled_0(lost, blamed):
    found = np.zeros((2, 2, 2), dtype=np.int64)
    found[1, 0] = 60 - lost, lost
    labelled = np.array([[8_750, 340], [1_000, 2_000]])
    known = ErrorRates.within((0.0, 0.002), (0.0, 0.002))
    explains = WrongLabels(0.0, 0.1, more=True)
    assert blamed_by_audits(AuditedLabels(found, labelled), known, explains) is blamed


def test_audits_of_days_before_the_labels_changed_say_nothing_of_the_model():
    """Labels are worse from the third day of the window on, and only earlier days are audited."""
    audited = SINCE + 2
    window, found = judged(mislabelled(audited, 0.035), 100, audited)
    for one in (window, found):
        assert one.verdict is Verdict.INSUFFICIENT_EVIDENCE
        assert one.judgement.labels_may_explain


def test_a_change_is_dated_by_labels_of_flagged_and_of_other_cases():
    before = ConfusionCounts(tp=160, fp=98, fn=40, tn=9_702)
    fallen = ConfusionCounts(tp=[16, 16, 10, 10], fp=[10] * 4, fn=[4, 4, 10, 10], tn=[970] * 4)
    missed = ConfusionCounts(tp=[16, 16, 16, 8], fp=[10, 10, 10, 18], fn=[4] * 4, tn=[970] * 4)
    assert [changed_since(before, one) for one in (fallen, missed)] == [2, 3]
