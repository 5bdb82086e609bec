"""`diagnose` of cases some of which have no score, or one that decides no prediction."""

import json
import re

import numpy as np
import pytest
from cli.commands import ran

from monitor.clock import DAY_MS
from monitor.config.quantities import format_time

DAYS, DAILY, CHANGE = 28, 500, 14
RANGES = "--before", "1970-01-01..1970-01-15", "--after", "1970-01-15..1970-01-29"


def outcomes(score_of, gap=2.0):
    """Outcomes by day; classes are `gap` apart in the second half."""
    rng, rows = np.random.default_rng(8), []
    for day in range(DAYS):
        later = day >= CHANGE
        actual = rng.random(DAILY) < 0.15
        logit = rng.normal(size=DAILY) + (gap if later else 2) * actual - 1.5
        chance = rng.random(DAILY)
        for i in range(DAILY):
            time = format_time(day * DAY_MS + i * DAY_MS // DAILY)
            case = {"ts": time, "prediction": int(logit[i] >= 0), "label": int(actual[i])}
            found = score_of(1 / (1 + np.exp(-logit[i])), bool(actual[i]), later, chance[i])
            scored = {} if found is None else {"score": float(found)}
            rows.append({"type": "outcome", **case, **scored})
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def told(capsys, tmp_path):
    def of(score_of, *options, gap=2.0):
        path = tmp_path / "events.ndjson"
        path.write_text(outcomes(score_of, gap))
        found = ran(capsys, "diagnose", path, *RANGES, *options).out
        return json.loads(found) if "--json" in options else " ".join(found.split())

    return of


def rarely(score, _actual, later, chance):
    return None if later and chance < 0.0005 else score


def at_random(score, _actual, later, chance):
    return None if later and chance < 0.3 else score


class OnlyOtherDays:
    """No score on the last two days; asked for the cases in order."""

    def __init__(self):
        self.asked = 0

    def __call__(self, score, *_):
        day, self.asked = self.asked // DAILY, self.asked + 1
        return None if day >= DAYS - 2 else score


def of_positives(score, actual, later, chance):
    return None if later and actual and chance < 0.5 else score


def of_the_other_class(score, *_):
    return 1 - score


def constant(*_):
    return 0.5


def test_a_few_cases_without_a_score_are_not_worth_a_word(told):
    found = told(rarely)
    assert "without a score" not in found
    assert "Cases are flagged from a score of about 0." in found


def test_the_share_of_cases_without_a_score_is_said(told):
    found = told(at_random)
    assert "cases without a score: 0.0 % before, 30." in found
    assert "scores of after are missing" not in found
    assert "Corrections of the scores" in found


def test_days_without_any_score_count_as_cases_without_one(told):
    found = told(OnlyOtherDays())
    assert "cases without a score: 0.0 % before, 14.3 % after" in found  # 2 of 14 days


def test_no_correction_is_advised_from_scores_that_one_class_lacks(told):
    """The class ratio of the scored cases would pass for another one of all."""
    found = told(of_positives)
    assert re.search(
        r"missing for (4|5)\d\.\d % of the positives and 0\.0 % of the negatives", found
    )
    assert "so that no threshold and no correction is advised" in found
    assert "correct their log-odds" not in found
    scores = told(of_positives, "--json")["scores"]
    assert (scores["recalibration"], scores["threshold"]) == (None, None)


@pytest.mark.parametrize("score_of", [of_the_other_class, constant])
def test_scores_that_decide_no_prediction_are_named_and_give_no_threshold(told, score_of):
    found = told(score_of, gap=1.2)
    assert "the scores of before do not decide its predictions: at a false positive rate" in found
    assert "Cases are flagged from a score" not in found
    assert "movement along the ROC curve" not in found
    assert "m: model_degraded" in found or "default: model_degraded" in found


def test_no_correction_is_advised_from_scores_of_the_other_class(told):
    """The fitted line of log-odds falls: it would repair what should be sent otherwise."""
    found = told(of_the_other_class)
    assert "No correction is advised: positives do not have the higher scores." in found
    assert "if they are those of the other one, send 1 - score" in found
    assert "correct their log-odds" not in found
    advice = told(of_the_other_class, "--json")["scores"]["recalibration"]
    assert advice["platt"]["slope"] < 0 < advice["platt"]["gain"]["lower"]
    assert advice["advised"] is None


def test_scores_of_the_predictions_are_not_doubted(told):
    assert "do not decide" not in told(lambda score, *_: score, gap=1.2)


def test_scores_that_decide_no_prediction_hold_no_page_back(capsys, tmp_path):
    path, pages = tmp_path / "events.ndjson", []
    for score_of in (of_the_other_class, lambda *_: None):
        path.write_text(outcomes(score_of, gap=0.9))
        found = json.loads(ran(capsys, "replay", "--json", path).out)
        pages.append(found["models"]["default"]["detections"])
    assert pages[0] == pages[1] != []
