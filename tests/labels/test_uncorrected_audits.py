"""Audits that contradict labels which nothing is corrected for, and labels that may need audits."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from audited_cases import AUDITS, RECALL, Cases, fed, monitor_of, sloppier, steady
from benchmarks import following_labels
from drawn_scores import stacked
from exporter.page.pages import plain
from scipy.special import expit

from monitor.cli.replay_text import replay_text
from monitor.config import Config, Labelling
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.diagnosis.comparison import compared_live
from monitor.diagnosis.label_notes import with_audits
from monitor.drift.label_quality import LabelChange
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.exporter.api.compare import compared, recall
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.now import now_section
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected import (
    confirmations_to_audit,
    misses_by_scores,
    missing_misses,
)
from monitor.metrics import ScoreHistogram
from monitor.metrics.audited_errors import AuditedLabels, AuditFindings
from monitor.metrics.label_errors import UNKNOWN_ERRORS
from monitor.report.advice import advice
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.findings import of_diagnosis
from monitor.report.headline import headline
from monitor.report.label_quality_words import audit_advice, audited_already, cases_to_audit

DAYS = 66
BESIDE = "Audits show that labels changed, and nothing is corrected for it."
SET = "Set `label_errors: audit` before the model's owner is paged"
NOTE = "metrics are not corrected for it: label_errors: audit does so"
REPEATED = ConfusionCounts(tp=500, fp=20, fn=0, tn=9_500)


@pytest.fixture(scope="module")
def seen():
    """The last snapshot and a diagnosis by configuration of `label_errors`."""
    return {name: _seen(errors) for name, errors in (("as they come", {}), (AUDITS, AUDITS))}


def _seen(errors):
    cases, monitor = Cases(DAYS, 2_000, 4, steady(0.04), rates=sloppier), monitor_of(errors)
    for first in range(0, DAYS, 3):
        days = range(first, first + 3)
        fed(cases, 25, days, monitor, audit_days=days)
    snapshot = monitor.snapshot()
    model = snapshot.models[0]

    def diagnosed(before, after):
        asked = compared_live(snapshot, model, before, after)
        return compared(model, asked, recall(monitor, asked, LabelRegime.now(model)))

    return snapshot, diagnosed


def test_changed_labels_are_named_before_the_owner_is_paged(seen):
    snapshot, diagnosed = seen["as they come"]
    found = diagnosed("1970-01-08..1970-01-29", "1970-02-17..1970-03-04")
    assert advice(found)[0].startswith(SET)
    assert BESIDE in headline(found)
    assert any(note.endswith(NOTE) for note in found.notes)
    text = " ".join(replay_text(snapshot).split())
    assert "audits show that the rates of wrong labels changed" in text
    assert NOTE in text
    status = status_answer(snapshot, limit=1)
    assert BESIDE in status.models[0].headline
    assert status.models[0].audits.text.endswith(NOTE)


def test_cases_that_are_audited_are_not_asked_for_again(seen):
    _, diagnosed = seen["as they come"]
    found = diagnosed("1970-01-08..1970-01-29", "1970-02-17..1970-03-04")
    judgement = replace(
        found.judgement,
        label_change=LabelChange.FALSE_POSITIVES,
        change={**found.judgement.change, "recall": -0.5},
    )
    found = replace(found, judgement=judgement)
    cases = cases_to_audit(found.before.counts, found.after.counts, judgement)
    sides = found.after.opens, found.after.closes
    number = audited_already(judgement, found.audits, *sides)
    assert number >= cases
    assert audited_already(judgement, found.audits, None, None) == 0
    assert not [*audit_advice(found)]
    unchanged = replace(found, uncorrected_audits=None)
    (text,) = audit_advice(unchanged)
    assert text.startswith(f"Set `label_errors: audit`: {number:,} of the unflagged cases of after")
    (text,) = audit_advice(replace(unchanged, rates_learned=True))
    assert f"{number:,} are audited, and leave open" in text
    (text,) = audit_advice(replace(found, audits=None))
    assert text.startswith(f"Have {cases} cases looked at again")


def test_a_change_outside_both_ranges_is_none_between_them(seen):
    _, diagnosed = seen["as they come"]
    found = diagnosed("1970-01-08..1970-01-22", "1970-01-23..1970-02-06")
    assert found.uncorrected_audits is None
    assert not any(one.startswith(SET) for one in advice(found))


def test_labels_that_are_corrected_are_not_named(seen):
    snapshot, diagnosed = seen[AUDITS]
    found = diagnosed("1970-01-08..1970-01-29", "1970-02-17..1970-03-04")
    assert found.verdict not in DEGRADED
    assert BESIDE not in headline(found)
    assert NOTE not in diagnosis_text(found) + replay_text(snapshot)
    assert BESIDE not in status_answer(snapshot, limit=1).models[0].headline


def decided(cases):
    """Labels that repeat the decisions."""
    cases.label = cases.called.copy()
    return cases


def test_labels_that_repeat_decisions_are_named_without_audits():
    snapshot = fed(
        decided(Cases(40, 2_000, 4, steady(0.04))), 0, range(40), monitor_of({})
    ).snapshot()
    words = "recall and precision are not known from these labels. An audit of "
    assert words in " ".join(replay_text(snapshot).split())
    status = status_answer(snapshot, limit=1)
    assert words in status.models[0].labels_may_follow
    assert status.models[0].worse.text.endswith(", but labels may follow the decisions")
    shown = str(now_section(status, status.models[0], None, None))
    assert words in plain(shown)
    assert "and no flagged case is labelled negative" in plain(shown)
    assert '<li class="warn">Whether labels follow the decisions, as they seem to' in shown
    assert status.models[0].labels_seem_to_follow


def looked_at_where_flagged(cases):
    """Scores, and labels that are 0 of cases that are not flagged; no other label is certain."""
    rng, part = np.random.default_rng(8), np.random.default_rng(9).random(len(cases.called))
    cases.score = np.where(cases.called, 0.5 + part / 2, part / 2)
    cases.label = cases.called & (rng.random(len(part)) < 0.2 + 0.6 * part)
    return cases


def test_scores_of_a_running_monitor_show_labels_that_follow():
    cases = looked_at_where_flagged(Cases(40, 2_000, 4, steady(0.1)))
    snapshot = fed(cases, 0, range(40), monitor_of({})).snapshot()
    (model,) = status_answer(snapshot, limit=1).models
    assert model.labels_seem_to_follow
    assert "where the scores of flagged cases show about" in model.labels_may_follow
    (without,) = status_answer(without_scores(snapshot), limit=1).models
    assert not without.labels_seem_to_follow
    assert "Either recall is nearly 1, or only flagged cases" in without.labels_may_follow


def without_scores(snapshot):
    return replace(snapshot, models=tuple(replace(one, scores={}) for one in snapshot.models))


def test_audits_that_find_followed_labels_stand_beside_the_headline():
    monitor = fed(decided(Cases(40, 2_000, 4, steady(0.04))), 50, range(40), monitor_of({}))
    snapshot = monitor.snapshot()
    model = status_answer(snapshot, limit=1).models[0]
    assert model.labels_may_follow is None
    assert model.headline.endswith("Audits show that labels follow the prediction.")
    assert model.worse.text.endswith(", but audits show that labels follow the prediction")
    assert "other rates than the others" in " ".join(replay_text(snapshot).split())


def test_where_labels_follow_audits_alone_determine_metrics():
    cases = decided(Cases(40, 2_000, 4, steady(0.04)))
    snapshot = fed(cases, 50, range(40), monitor_of()).snapshot()
    (model,) = status_answer(snapshot, limit=1).models
    assert {one.status for one in model.windows.values()} == {"untrusted"}
    shown = model.audits.metrics
    assert set(shown) >= {"precision", "recall", "false_positive_rate", "prevalence"}
    assert shown["recall"].lower <= RECALL <= shown["recall"].upper
    assert shown["prevalence"].lower <= 0.04 <= shown["prevalence"].upper
    precision = shown["precision"].estimate
    words = f"without other labels taken as right, precision is {precision:.3g}"
    assert words in " ".join(replay_text(snapshot).split())
    known = fed(Cases(40, 2_000, 4, steady(0.04)), 50, range(40), monitor_of()).snapshot()
    assert not status_answer(known, limit=1).models[0].audits.metrics


def of_cells(counts):
    found = diagnose(*(Period.given(counts) for _ in range(2)))
    return found, with_audits(found, None, LabelRegime())


def test_no_missed_positive_alone_is_one_line_under_what_cannot_be_known():
    """As a recall of .999 has it, too: half of such models have no missed positive among 500."""
    found, seen = of_cells(REPEATED)
    assert "none of 9,500 unflagged cases of before" in seen.notes[-1]
    assert "Either recall is nearly 1, or only flagged cases are looked at" in seen.notes[-1]
    assert "An audit of 511 unflagged" in seen.notes[-1]
    assert not any("unflagged" in one for one in advice(seen))
    assert advice(seen) == advice(found)
    assert of_diagnosis(seen).doubted == ""


EVIDENT = {
    "and no flagged case is labelled negative": ConfusionCounts(tp=500, fp=0, fn=0, tn=9_500),
    "where even a recall of 0.999 would leave about 25 and 25": ConfusionCounts(
        tp=25_000, fp=20, fn=0, tn=9_500
    ),
}


@pytest.mark.parametrize("words", EVIDENT)
def test_evidence_of_labels_that_follow_is_in_answer_and_advice(words):
    found, seen = of_cells(EVIDENT[words])
    assert words in seen.notes[-1]
    assert "not known from these labels. An audit of" in seen.notes[-1]
    assert advice(seen)[0].startswith("Audit ")
    assert "unflagged cases, drawn at random," in advice(seen)[0]
    audits = seen.missing_misses.audits
    drawn = f"`precision-monitor audit FILE --predicted 0 --sample {audits}`"
    assert drawn in advice(seen)[0]
    assert drawn in seen.notes[-1]
    assert not any("data would settle" in one or "Wait" in one for one in advice(seen))
    assert of_diagnosis(seen).doubted == "labels may follow the decisions"
    flagged = replace(found, labelling=Labelling.SAMPLED)
    assert with_audits(flagged, None, LabelRegime()).missing_misses is None


@pytest.mark.parametrize(("unflagged", "asked"), [(510, True), (511, False)])
def test_audits_of_as_many_unflagged_cases_as_are_asked_for_answer(unflagged, asked):
    """Those of few cases, and of flagged ones, do not."""
    audited = np.zeros((2, 2, 2), dtype=np.int64)
    audited[0, 0, 0], audited[1] = unflagged, ((30, 0), (0, 60))
    audits = AuditFindings(AuditedLabels(audited, audited.sum(axis=2)), UNKNOWN_ERRORS, None)
    found = missing_misses(REPEATED, REPEATED, Labelling.COMPLETE, audits)
    assert (found is not None) is asked
    if found is not None:
        assert found.audits == 511


@pytest.mark.parametrize(
    "other",
    [
        ConfusionCounts(tp=500, fp=20, fn=1, tn=9_500),
        ConfusionCounts(tp=170, fp=20, fn=0, tn=9_500),
        ConfusionCounts(tp=500, fp=20, fn=0, tn=999),
    ],
)
def test_a_missed_positive_or_few_cases_leave_no_doubt_of_labels(other):
    sides = (REPEATED, other), (other, REPEATED)
    assert all(missing_misses(*one, Labelling.COMPLETE, None) is None for one in sides)
    many = ConfusionCounts(tp=20_000, fp=20, fn=3, tn=99_000)
    assert missing_misses(many, REPEATED, Labelling.COMPLETE, None) is not None


def test_labels_that_break_off_at_the_threshold_are_evident_by_scores():
    """Of the same counts as those of a model with a recall of .999 and as many cases."""
    model = following_labels.MODELS["rare positives"]
    followed = [
        following_labels.found(np.random.default_rng(seed), model, 0.8, follow=True)
        for seed in range(5)
    ]
    assert all(one.are_evident and not one.repeat for one in followed)
    assert all(90 < one.by_scores < 170 for one in followed)
    right = [
        following_labels.found(np.random.default_rng(seed), model, 0.999, follow=False)
        for seed in range(20)
    ]
    assert 4 < sum(one is not None for one in right) < 16
    assert not any(one is not None and one.are_evident for one in right)


def test_scores_of_the_later_cases_decide_in_a_diagnosis():
    rng = np.random.default_rng(3)
    scores = stacked([scored(rng) for _ in range(7)])
    counts = scores.sum().counts[500]
    cells = ConfusionCounts.from_cells(counts.cells)
    found = diagnose(*(replace(Period.given(cells), scores=scores) for _ in range(2)), model="m")
    seen = with_audits(found, None, LabelRegime())
    assert "where the scores of flagged cases show about" in seen.notes[-1]
    assert of_diagnosis(seen).doubted == "labels may follow the decisions"


def scored(rng):
    """A day of calibrated scores, whose cases under .5 are labelled 0."""
    score = expit(rng.normal(-2, 1.5, 3_000))
    label = (rng.random(3_000) < score) & (score >= 0.5)
    return ScoreHistogram.from_scores(positive=score[label], negative=score[~label])


@pytest.mark.parametrize(("near", "shown"), [(28, False), (56, True)])
def test_scores_show_missed_positives_where_a_third_of_them_would_hardly_all_be_missing(
    near, shown
):
    """About half of the unflagged cases next to the threshold would be positive."""
    scores = ScoreHistogram(
        positive=np.array([0, 0, 0, 0, 60, 70, 80, 90]),
        negative=np.array([9_000, 0, 0, near, 40, 30, 20, 10]),
        unlabelled=np.zeros(8, dtype=np.int64),
    )
    counts = ConfusionCounts.from_cells(scores.counts[4].cells)
    expected, labelled = misses_by_scores(scores, float(counts.predicted_positive / counts.total))
    assert expected == pytest.approx(near / 2, rel=0.1)
    assert labelled == 0
    found = missing_misses(counts, counts, Labelling.COMPLETE, None, scores)
    assert found.are_evident is shown
    assert bool(np.isnan(found.by_scores)) is not shown


def confirmed(labelling, *, one_negative=False):
    """A monitor whose labels are all of flagged cases, and positive but for one at most."""
    monitor = Monitor(Config(defaults={"labelling": labelling, "label_timeout": "1d"}))
    for i in range(4_000):
        flagged = i % 10 == 0
        monitor.predict(f"{i}", ts=60 * i, prediction=int(flagged))
        if flagged:
            monitor.label(f"{i}", ts=60 * i + 5, label=int(not (one_negative and i == 2_000)))
    monitor.flush()
    return monitor.snapshot()


@pytest.mark.parametrize("labelling", ["flagged_only", "complete"])
def test_labels_that_confirm_all_that_is_flagged_are_named(labelling):
    snapshot = confirmed(labelling)
    text = " ".join(replay_text(snapshot).split())
    assert "whether labels confirm whatever is flagged: all 3" in text
    assert "An audit of 29 flagged cases" in text
    status = status_answer(snapshot, limit=1).models[0]
    assert status.labels_seem_to_follow
    assert status.labels_may_follow in text
    other = confirmed(labelling, one_negative=True)
    assert "whether labels confirm" not in replay_text(other)
    assert not status_answer(other, limit=1).models[0].labels_seem_to_follow


def test_audits_of_flagged_cases_answer_whether_labels_confirm_them():
    counts = ConfusionCounts(tp=400, fp=0, fn=0, tn=0)
    assert confirmations_to_audit(counts, None) == 29
    assert confirmations_to_audit(ConfusionCounts(tp=299, fp=0, fn=0, tn=0), None) == 0
    assert confirmations_to_audit(ConfusionCounts(tp=400, fp=0, fn=0, tn=1), None) == 0
    cases = np.zeros((2, 2, 2), dtype=np.int64)
    for audited, needed in ((28, 29), (29, 0)):
        cases[1, 1, 1] = audited
        audits = SimpleNamespace(cases=SimpleNamespace(audited=cases))
        assert confirmations_to_audit(counts, audits) == needed
