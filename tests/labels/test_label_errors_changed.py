"""Labels that become wrong more often are named everywhere, and a worse model is still found."""

from dataclasses import replace

import numpy as np
import pytest
from exporter.page.pages import plain
from scipy.special import expit, ndtri

from monitor.config import Config
from monitor.diagnosis import Period, block_ms_of, diagnose
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.why import why_section
from monitor.labels.faults import LabelFault
from monitor.metrics.audited_errors import AuditedDays, AuditFindings
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.replay_json import replay_answer

DAY, A_DAY, CHANGED, DAYS = 86_400_000, 5_000, 35, 66
FALSE = 0.02
RANGES = ((0, 28 * DAY), (36 * DAY, 64 * DAY))


def day_of(rng, day, *, prevalence, recall, flips):
    """Outcomes of a day: normal scores of both classes, and labels of which a share is wrong."""
    actual = rng.random(A_DAY) < prevalence
    score = expit(1.5 * (rng.standard_normal(A_DAY) + ndtri(np.where(actual, recall, FALSE))))
    moment = day * DAY + np.sort(rng.integers(0, DAY, A_DAY))
    return EventBatch(
        outcomes=Outcomes(
            time=moment,
            label_time=moment,
            predicted_positive=score >= 0.5,
            actual_positive=actual ^ (rng.random(A_DAY) < flips),
            score=score,
            group=np.zeros(A_DAY, dtype=np.int64),
        ),
        groups=(Group("m"),),
        records=A_DAY,
    )


def watched(before, after, seed):
    """A monitor that saw both, and the diagnosis of 28 days of each."""
    rng = np.random.default_rng(seed)
    config = Config(models={"m": {"label_timeout": "2d"}}, windows=["1d", "7d", "28d"])
    monitor = Monitor(config)
    counted = [monitor.count_range(*asked, block_ms_of(*asked)) for asked in RANGES]
    scored = [monitor.count_scores(*asked) for asked in RANGES]
    for day in range(DAYS):
        monitor.apply(day_of(rng, day, **(before if day < CHANGED else after)))
    periods = [
        replace(Period.counted(counts, "m", *asked), scores=scores.days("m", *asked))
        for counts, scores, asked in zip(counted, scored, RANGES, strict=True)
    ]
    return monitor.snapshot(), diagnose(*periods, model="m")


AS_EVER = {"prevalence": 0.02, "recall": 0.8, "flips": 0.0}


@pytest.fixture(scope="module")
def flipped():
    """A monitor of a model that stays, with one label in a hundred wrong from a day on."""
    return watched(AS_EVER, AS_EVER | {"flips": 0.01}, seed=1)


@pytest.mark.slow
def test_label_errors_that_changed_are_named_everywhere_and_page_nobody(flipped):
    snapshot, found = flipped
    assert found.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    answer, text = diagnosis_answer(found), " ".join(diagnosis_text(found).split())
    assert answer.label_errors_changed
    assert answer.moved_precision.text.startswith("It did not certainly move: ")
    assert answer.attribution.prevalence.said == "rose, labels as before"
    assert answer.attribution.recall.said == "fell, labels as before"
    assert answer.certainties.startswith("Certainly fell, if labels are as before: recall")
    assert "Recall fell from .80 to .53, if labels are as before" in text
    page = plain(str(why_section(answer)))
    assert "Labels are wrong more, or less, often than before." in page
    assert "not representative of the missing ones" not in page
    assert answer.answers.model_worse == "unknown"
    words = "more labels are wrong, or positives of a new kind came: missed positives are spread"
    assert words in text
    assert "Have 20 cases looked at again, drawn at random from the unflagged cases of" in text

    model = snapshot.models[0]
    month = model.watched.verdicts["28d"]
    assert month.label_fault == LabelFault.LABEL_ERRORS_CHANGED
    assert not {one.verdict for one in model.watched.verdicts.values()} & DEGRADED
    assert "model_degraded" not in [one.kind for one in model.watched.detections]
    status = status_answer(snapshot, limit=1).models[0]
    assert (status.verdict, status.label_fault) == (
        Verdict.LABELS_NOT_TRUSTWORTHY,
        LabelFault.LABEL_ERRORS_CHANGED,
    )
    assert status.windows["28d"].judgement.label_errors_changed
    assert words in status.headline
    assert "Audit 20 unflagged cases that are labelled positive." in status.headline
    assert words in status.worse.text
    assert status.moved_precision.text.startswith("It did not certainly move: ")
    replayed = replay_answer(snapshot).models["m"].windows["28d"]
    assert replayed.label_fault == LabelFault.LABEL_ERRORS_CHANGED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("day", "number", "asked"),
    [(60, 19, True), (60, 20, False), (CHANGED - 7, 20, True)],
)
def test_a_headline_asks_for_no_audits_of_cases_that_are_audited(flipped, day, number, asked):
    """Twenty unflagged cases of the window that are labelled positive, or one less, or earlier."""
    snapshot, _ = flipped
    audited = np.zeros((1, 2, 2, 2), dtype=np.int64)
    audited[0, 0, 1, 1] = number
    days = AuditedDays(np.array([day]), audited, audited.sum(axis=3))
    findings = AuditFindings.of(days.of(0, 1))._replace(days=days)
    model = replace(snapshot.models[0], audits=findings)
    headline = status_answer(replace(snapshot, models=(model,)), limit=1).models[0].headline
    assert ("Audit 20 unflagged cases that are labelled positive." in headline) is asked
    assert "more labels are wrong" in headline


@pytest.mark.slow
def test_a_fall_that_labels_could_explain_is_paged_where_scores_slid():
    """Prevalence rises by as much as wrong labels would raise it, and recall falls as much."""
    snapshot, found = watched(AS_EVER, AS_EVER | {"prevalence": 0.0298, "recall": 0.546}, seed=2)
    assert found.verdict in DEGRADED
    model = snapshot.models[0]
    assert model.watched.verdicts["28d"].verdict in DEGRADED
    assert "model_degraded" in [one.kind for one in model.watched.detections]
