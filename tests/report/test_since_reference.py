"""In a second week, windows reach back into the reference: what lies beyond it speaks."""

import re
from dataclasses import replace

import pytest
from report.one_moment import USUAL, counted

from monitor.clock import DAY_MS, HOUR_MS
from monitor.drift import Status, Verdict
from monitor.drift.recall_evidence import FEWEST_OUTCOMES, Because
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.status import status_answer
from monitor.report.findings import of_model
from monitor.report.two_answers import is_model_worse
from monitor.report.why_open import model_because

SMALL, FALLEN = (11, 5, 3, 156), (7, 5, 7, 156)
"""A quarter of a day with 14 positives, recall .79 and then .5."""
WEEK = 7


def status(*days, windows=("1d", "7d")):
    """The answer about a model at the end of some days."""
    (model,) = status_answer(counted(days, windows).snapshot(), limit=1).models
    return model


def test_a_model_is_steady_by_what_lies_beyond_its_reference():
    model = status(*[USUAL] * (WEEK + 2), windows=("7d",))
    assert model.windows["7d"].verdict_because == "no_reference"
    assert model.verdict_because == "steady"
    assert model.worse.text == (
        "Nothing points to it: a fall of recall below .66 in the 29 hours since the reference is "
        "excluded"
    )
    assert model.headline == (
        "Precision stayed, .667 → .667: within its usual scatter, no sign of a change."
    )


def test_a_model_is_not_steady_by_the_outcomes_of_its_reference():
    """The last 7 days hold 1,400 positives, of which 200 lie beyond the reference."""
    model = status(*[USUAL] * (WEEK + 1), windows=("7d",))
    assert model.verdict_because == "too_few_outcomes"
    assert model.worse.text.startswith("Nothing points to it: only a fall of recall below .54 in")
    assert model.headline.startswith("Nothing is compared: the last 7d reach back")


def test_a_fall_in_the_second_week_is_named_before_a_day_alone_shows_it():
    model = status(*[SMALL] * WEEK, *[FALLEN] * 3)
    assert model.windows["1d"].verdict_because == "moved_cause_open"
    assert (model.verdict_window, model.verdict_because) == ("1d", "moved_cause_open")
    assert model.worse.text == (
        "Not shown: in the 2.2 days since the reference recall fell from .79 to .50, over the "
        "last 1d not certainly, compared with a provisional reference, which does not page yet"
    )
    assert model.since_reference is None
    alone = status(*[SMALL] * WEEK, *[FALLEN] * 3, windows=("7d",))
    assert alone.worse.text == (
        "Not shown: in the 2.2 days since the reference recall fell from .79 to .50, compared with "
        "a provisional reference, which does not page yet"
    )


def test_all_days_since_the_reference_answer_where_a_day_has_no_verdict():
    monitor = counted([USUAL] * (WEEK + 3), windows=("1d", "7d", "28d"))
    snapshot = monitor.snapshot()
    (model,) = status_answer(snapshot, limit=1).models
    since, reference = model.since_reference, snapshot.models[0].watched.reference
    assert (model.verdict_window, model.verdict) == ("1d", "insufficient_evidence")
    assert since.seconds > 2 * DAY_MS / 1000
    assert since.outcomes.total > model.windows["1d"].outcomes.total * 2
    found = Queries(lambda: snapshot, lambda read: read(monitor)).explanation(None, None, None)
    after = found.diagnosis.after
    assert after.opens == reference.closes
    assert after.closes - after.opens == since.seconds * 1000 // HOUR_MS * HOUR_MS
    assert found.answer.headline == model.headline
    rounded = [
        points_of(text) for text in (found.answer.moved_precision.text, model.moved_precision.text)
    ]
    assert rounded[0] == pytest.approx(rounded[1], abs=0.3)


def points_of(text):
    """The numbers in an answer to what moved precision."""
    return [float(number) for number in re.findall(r"[-+][0-9.]+", text.replace("\u2212", "-"))]


@pytest.mark.parametrize("days", [[USUAL] * (WEEK + 1), [USUAL] * (4 * WEEK)])
def test_a_window_answers_where_little_or_all_lies_beyond_the_reference(days):
    model = status(*days)
    assert model.since_reference is None


def with_beyond(**fields):
    """The state of a model as ever, where outcomes since the reference say something else."""
    snapshot = counted([USUAL] * (WEEK + 2), windows=("7d",)).snapshot()
    (model,) = snapshot.models
    found = model.watched.verdicts["7d"]
    verdicts = {"7d": replace(found, beyond=found.beyond._replace(**fields))}
    model = replace(model, watched=replace(model.watched, verdicts=verdicts))
    return replace(snapshot, models=(model,)), model


@pytest.mark.parametrize(
    ("verdict", "because", "rests_on", "said"),
    [
        (Verdict.NO_CHANGE, None, FEWEST_OUTCOMES, Because.STEADY),
        (Verdict.INSUFFICIENT_EVIDENCE, Because.STEADY, FEWEST_OUTCOMES, Because.STEADY),
        (Verdict.INSUFFICIENT_EVIDENCE, Because.MOVED, FEWEST_OUTCOMES, Because.MOVED),
        (Verdict.INSUFFICIENT_EVIDENCE, Because.MOVED, FEWEST_OUTCOMES - 1, Because.TOO_FEW),
        (Verdict.PREVALENCE_SHIFT, None, FEWEST_OUTCOMES, Because.TOO_FEW),
        (Verdict.OPERATING_POINT_MOVED, None, FEWEST_OUTCOMES, Because.MOVED),
        (Verdict.MODEL_DEGRADED, None, FEWEST_OUTCOMES - 1, Because.TOO_FEW),
    ],
)
def test_no_model_is_steady_while_outcomes_since_the_reference_show_a_change(
    verdict, because, rests_on, said
):
    _, model = with_beyond(verdict=verdict, because=because, rests_on=rests_on)
    assert model_because(model, model.watched.verdicts["7d"]) is said


def test_a_rise_of_precision_since_the_reference_is_a_move_as_diagnose_says():
    """No cause certainly changed, and all of them together moved precision."""
    better = [(48, 14, 11, 427)] * 4
    monitor = counted([USUAL] * WEEK + better, windows=("1d", "7d"))
    snapshot = monitor.snapshot()
    (model,) = status_answer(snapshot, limit=1).models
    found = Queries(lambda: snapshot, lambda read: read(monitor)).explanation(None, None, None)
    assert model.since_reference is not None
    assert (model.verdict_because, found.answer.verdict_because) == ("moved_cause_open",) * 2
    assert model.headline == found.answer.headline
    assert model.headline.startswith("Precision rose .667 → .774: too little evidence to say why.")


def test_less_than_a_day_since_the_reference_makes_no_model_steady():
    _, model = with_beyond(length_ms=DAY_MS - 1)
    assert model_because(model, model.watched.verdicts["7d"]) is Because.TOO_FEW


def test_a_better_model_since_the_reference_is_no_worse_one():
    snapshot, _ = with_beyond(verdict=Verdict.MODEL_IMPROVED, because=None)
    text = is_model_worse(of_model(snapshot, snapshot.models[0], "7d")).text
    assert text.startswith("Nothing points to it: ")


def test_limits_of_a_recall_that_changed_are_those_of_all_days_since_the_reference():
    """The last day alone has wider ones, and shows no change."""
    snapshot = counted([*[SMALL] * WEEK, *[FALLEN] * 2, SMALL], ("1d", "7d")).snapshot()
    (model,) = snapshot.models
    verdicts, found = model.watched.verdicts, of_model(snapshot, model, "1d")
    assert found.judgement.status["recall"] is Status.CHANGED
    assert found.recall == verdicts["7d"].recall
    assert found.recall.upper < verdicts["1d"].recall.upper - 0.05
    assert found.stretch == ""
