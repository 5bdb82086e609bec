"""A window that looks worse, while another one decides and nothing pages."""

from dataclasses import replace
from functools import cache

import pytest
from exporter.page.pages import HOUR, counts, fed
from report.one_moment import DAY, USUAL

from monitor.config import Config
from monitor.drift import Verdict
from monitor.drift.degenerate import Degeneracy
from monitor.drift.recall_evidence import FEWEST_OUTCOMES, Because
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.report.deciding_window import deciding_window
from monitor.report.findings import of_model
from monitor.report.moved_lately import lately_words, moved_lately
from monitor.report.two_answers import is_model_worse
from monitor.report.why_open import model_because
from monitor.verdicts import DegeneratePredictions

DAYS = 42
WORSE = (18, 50, 32, 400)
"""An hour's outcomes on the last day: recall .36 instead of .8, twice the false positives."""
SLID = (22, 6, 28, 444)
"""Recall .44, three tenths of the false positives: a higher threshold."""


@cache
def counted(last_day, windows=("1d", "7d"), last_hour=None, *, lasts=1):
    """The state of a model that is as ever until its last day, or days, or its last hour."""
    config = Config(models={"m": {"maturity": "1h"}}, windows=[*windows])
    records = [
        counts("m", day * DAY + hour * HOUR, [*cells, cells[0] + cells[1], cells[2] + cells[3]])
        for day in range(DAYS)
        for hour in range(0, 24, 6)
        for cells in [USUAL if day < DAYS - lasts else last_day]
    ]
    if last_hour is not None:
        then = DAYS * DAY + 6 * HOUR
        records.append(counts("m", then, [*last_hour, sum(last_hour[:2]), sum(last_hour[2:])]))
        records += [counts("m", then + 2 * HOUR + row, [0, 0, 0, 1, 0, 1]) for row in range(3)]
    return fed(Monitor(config), records).snapshot()


@cache
def seen(last_day):
    """The answer about a model that is as ever until its last day."""
    (model,) = status_answer(counted(last_day), limit=1).models
    return model


def with_verdicts(snapshot, **changed):
    """A state, and its model, with other verdicts on windows."""
    (model,) = snapshot.models
    verdicts = dict(model.watched.verdicts)
    for name, fields in changed.items():
        verdicts[name.removeprefix("w")] = replace(verdicts[name.removeprefix("w")], **fields)
    model = replace(model, watched=replace(model.watched, verdicts=verdicts))
    return replace(snapshot, models=(model,)), model


def test_nobody_says_that_nothing_points_to_a_worse_model_while_a_window_looks_worse():
    model = seen(WORSE)
    assert model.windows["1d"].verdict is Verdict.MODEL_DEGRADED
    assert model.windows["7d"].verdict_because == "steady"
    assert (model.verdict_window, model.verdict_because) == ("7d", "moved_cause_open")
    assert not model.detectors.degradation_detected
    assert model.worse.answer == "not_shown"
    assert model.worse.text == (
        "Not shown: over the last 1d recall fell from .80 to .69, over the last 7d not certainly"
    )
    assert "no sign of a change" not in model.headline


def test_a_model_as_ever_stays_steady():
    model = seen(USUAL)
    assert model.verdict_because in (None, "steady")
    assert model.worse.text.endswith("is excluded")


def test_a_window_of_few_outcomes_that_looks_worse_is_named_and_colours_nothing():
    few = {"rests_on": FEWEST_OUTCOMES - 1}
    snapshot, model = with_verdicts(counted(WORSE), w1d=few)
    assert model_because(model, model.watched.verdicts["7d"]) is Because.TOO_FEW
    found = is_model_worse(of_model(snapshot, model, "7d"))
    assert found.text == (
        "Not shown: over the last 1d recall fell from .80 to .69, over the last 7d not certainly"
    )
    (status,) = status_answer(snapshot, limit=1).models
    assert "no sign of a change" not in status.headline


@pytest.mark.parametrize(
    ("verdict", "rests_on", "because"),
    [
        (Verdict.OPERATING_POINT_MOVED, FEWEST_OUTCOMES, Because.MOVED),
        (Verdict.OPERATING_POINT_MOVED, FEWEST_OUTCOMES - 1, Because.TOO_FEW),
        (Verdict.THRESHOLD_MOVED, FEWEST_OUTCOMES, Because.MOVED),
        (Verdict.MODEL_IMPROVED, FEWEST_OUTCOMES, Because.MOVED),
        (Verdict.MODEL_IMPROVED, FEWEST_OUTCOMES - 1, Because.TOO_FEW),
    ],
)
def test_a_model_is_not_steady_while_another_window_says_that_rates_moved(
    verdict, rests_on, because
):
    slid = {"verdict": verdict, "because": None, "rests_on": rests_on}
    _, model = with_verdicts(counted(USUAL), w1d=slid, w7d=STEADY)
    assert model_because(model, model.watched.verdicts["7d"]) is because


@pytest.mark.parametrize(
    ("detected", "because"), [(True, Because.TOO_FEW), (False, Because.STEADY)]
)
def test_a_day_of_few_outcomes_on_which_positives_became_rarer_is_not_steady(detected, because):
    """The alert rests on the same two: a day that moved, and the detector of the class ratio."""
    rarer = {"verdict": Verdict.PREVALENCE_SHIFT, "because": None, "rests_on": FEWEST_OUTCOMES - 1}
    snapshot, model = with_verdicts(counted(USUAL), w1d=rarer, w7d=STEADY)
    model = replace(model, watched=replace(model.watched, prevalence_shift_detected=detected))
    assert model_because(model, model.watched.verdicts["7d"]) is because
    assert deciding_window(model, ["1d", "7d"]) == "7d"
    lately = moved_lately(snapshot, model, "7d")
    assert (lately is not None) is detected
    assert lately is None or not lately.is_worse


def test_an_operating_point_that_moved_over_a_day_leaves_the_answer_open_over_a_week():
    """Recall falls and so do false positives: at another point of the curve, or below it."""
    snapshot, model = with_verdicts(counted(SLID, lasts=2), w7d=STEADY)
    assert model.watched.verdicts["1d"].verdict is Verdict.OPERATING_POINT_MOVED
    found = is_model_worse(of_model(snapshot, model, "7d"))
    assert (found.answer, found.text) == (
        "not_shown",
        (
            "Not shown: over the last 1d recall fell from .80 to .44 and the false positive rate "
            "fell from .044 to .013, over the last 7d not certainly; threshold or scores moved"
        ),
    )


def test_a_verdict_on_a_week_stands_beside_an_operating_point_that_moved_over_a_day():
    unchanged = {"verdict": Verdict.NO_CHANGE, "because": None}
    snapshot, model = with_verdicts(counted(SLID, lasts=2), w7d=unchanged)
    assert is_model_worse(of_model(snapshot, model, "7d")).text.startswith("No: ")


def test_limits_of_recall_that_changed_are_those_of_the_window_that_changed():
    """The week excludes more than the day, but holds six days from before the fall."""
    snapshot, model = with_verdicts(counted(WORSE), w7d=STEADY)
    day, week = (model.watched.verdicts[name].recall for name in ("1d", "7d"))
    assert day.lower < week.lower
    assert day.upper < week.upper
    found = is_model_worse(of_model(snapshot, model, "1d"))
    assert (found.recall_lower, found.recall_upper) == (day.lower, day.upper)
    usual = is_model_worse(of_model(*with_verdicts(counted(USUAL)), "1d"))
    assert usual.text.endswith("over the last 7d is excluded")


STEADY = {"verdict": Verdict.INSUFFICIENT_EVIDENCE, "because": Because.STEADY}
TOO_FEW = {"verdict": Verdict.INSUFFICIENT_EVIDENCE, "because": Because.TOO_FEW}


@pytest.mark.parametrize(("excluded", "because"), [(0.7, "steady"), (0.5, "too_few_outcomes")])
def test_a_model_is_steady_where_any_window_excludes_a_fall_that_matters(excluded, because):
    """The deciding window holds too little; a longer one that is not compared holds enough."""
    snapshot = counted(USUAL)
    recall = snapshot.models[0].watched.verdicts["7d"].recall
    little = TOO_FEW | {"recall": recall._replace(excluded=0.4)}
    much = TOO_FEW | {"recall": recall._replace(excluded=excluded)}
    snapshot, _ = with_verdicts(snapshot, w1d=much, w7d=little)
    (status,) = status_answer(snapshot, limit=1).models
    assert status.verdict_window == "7d"
    assert status.verdict_because == because
    only, more = "", ""
    if because != "steady":
        only, more = "only ", "; about 2.0 times as many outcomes would exclude one below .60"
    below = f"{excluded:.2f}".removeprefix("0")
    assert status.worse.text == (
        f"Nothing points to it: {only}a fall of recall below {below} over the last 1d is "
        f"excluded{more}"
    )
    assert ("too few outcomes" in status.headline) is (because != "steady")


def test_one_hour_does_not_say_when_rates_changed():
    snapshot = counted(USUAL, ("1h", "1d", "7d"), last_hour=(6, 12, 24, 140))
    (status,) = status_answer(snapshot, limit=1).models
    assert status.windows["1h"].verdict is Verdict.MODEL_DEGRADED
    longer = [status.windows[name].verdict for name in ("1d", "7d")]
    assert longer == [Verdict.INSUFFICIENT_EVIDENCE] * 2
    assert status.change_began is None


def dead_by_predictions(snapshot):
    """The same, where predictions alone show that the model flags nothing any more."""
    (model,) = snapshot.models
    dead = DegeneratePredictions(
        known=True, kind=Degeneracy.ALWAYS_NEGATIVE, since=(DAYS * DAY + 12 * HOUR) * 1000
    )
    watched = replace(model.watched, predictions=dead)
    return replace(snapshot, models=(replace(model, watched=watched),))


@pytest.mark.parametrize("because", [Because.STEADY, Because.TOO_FEW])
def test_nothing_is_steady_while_predictions_alone_show_a_dead_model(because):
    """Labels come later than predictions: by them alone, all is as ever."""
    steady = {"verdict": Verdict.INSUFFICIENT_EVIDENCE, "because": because}
    snapshot, _ = with_verdicts(counted(USUAL), w1d=steady, w7d=steady)
    (before,) = status_answer(snapshot, limit=1).models
    assert before.worse.text.startswith("Nothing points to it")
    (status,) = status_answer(dead_by_predictions(snapshot), limit=1).models
    assert status.verdict_because == "too_few_outcomes"
    assert status.worse.answer == "not_shown"
    assert status.worse.text == (
        "Not shown: it flags nothing any more; labels do not show a worse model yet"
    )
    assert status.headline.startswith("The model flags nothing any more (since 1970-02-12 12:00). ")


def test_a_model_without_change_that_died_is_not_said_to_be_no_worse():
    unchanged = {"verdict": Verdict.NO_CHANGE, "because": None}
    snapshot, _ = with_verdicts(counted(USUAL), w1d=unchanged, w7d=unchanged)
    assert status_answer(snapshot, limit=1).models[0].worse.answer == "no"
    (status,) = status_answer(dead_by_predictions(snapshot), limit=1).models
    assert status.worse.text.startswith("Not shown: it flags nothing any more; labels do not")


@pytest.mark.parametrize("compared", [True, False])
def test_only_a_window_that_is_compared_is_said_not_to_show_it_certainly(compared):
    snapshot, model = with_verdicts(counted(WORSE))
    if not compared:
        snapshot, model = with_verdicts(counted(WORSE), w7d={"judgement": None})
    found = moved_lately(snapshot, model, "7d")
    assert (found.window, found.deciding) == ("1d", "7d" if compared else "")
    assert ("over the last 7d not certainly" in lately_words(found)) is compared
