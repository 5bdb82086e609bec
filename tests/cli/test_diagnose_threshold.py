"""`diagnose` finds by scores whether a threshold moved or all scores did."""

import json

import numpy as np
import pytest
from cli.commands import ran

from monitor.clock import DAY_MS
from monitor.config.quantities import format_time

DAYS, DAILY, CHANGE = 45, 700, 30
RANGES = "--before", "1970-01-01..1970-01-31", "--after", "1970-01-31..1970-02-15"


def outcomes(*, threshold, shift, gap):
    """Scored outcomes; the last third has another threshold, or scores that shifted."""
    rng, rows = np.random.default_rng(5), []
    for day in range(DAYS):
        later = day >= CHANGE
        actual = rng.random(DAILY) < 0.15
        logit = (
            rng.normal(size=DAILY) + (gap if later else 2) * actual - 1.5 + (shift if later else 0)
        )
        score = 1 / (1 + np.exp(-logit))
        at = threshold if later else 0.5
        for i in range(DAILY):
            time = format_time(day * DAY_MS + i * DAY_MS // DAILY)
            case = {"ts": time, "prediction": int(score[i] >= at), "label": int(actual[i])}
            rows.append({"type": "outcome", "score": float(score[i]), **case})
    return "".join(f"{json.dumps(row)}\n" for row in rows)


@pytest.fixture
def diagnosed(capsys, tmp_path):
    def of(*options, threshold=0.5, shift=0.0, gap=2.0):
        path = tmp_path / "events.ndjson"
        path.write_text(outcomes(threshold=threshold, shift=shift, gap=gap))
        return ran(capsys, "diagnose", path, *RANGES, *options).out

    return of


def test_a_threshold_that_was_raised_is_named_with_its_value(diagnosed):
    found = " ".join(diagnosed(threshold=0.7).split())
    assert "The scores show another threshold and no worse model" in found
    assert (
        "Cases are flagged from a score of about 0.700, before from 0.500: the threshold was raised"
    ) in found
    assert "See why the threshold is about 0.700, and no longer 0.500: the scores did not" in found


def test_scores_that_shifted_are_named_at_the_same_threshold(diagnosed):
    found = " ".join(diagnosed(shift=-0.8).split())
    assert "The scores show a slide of all scores and no worse model" in found
    assert "from a score of about 0.500, before and after; the scores shifted." in found
    assert "- See why all scores shifted (a deployment, a new calibration, other cases)" in found


def test_a_threshold_that_moved_beside_a_worse_model_is_set_back_as_well(diagnosed):
    found = " ".join(diagnosed(threshold=0.3, gap=1.3).split())
    assert "The scores show a worse model beside another threshold: recall" in found
    assert "the threshold was lowered, and the scores shifted as well" in found
    assert (
        "- Set the threshold back as well: it is about 0.300, and no longer 0.500, which" in found
    )


def test_a_worse_model_at_the_same_threshold_asks_for_no_other(diagnosed):
    found = " ".join(diagnosed(gap=1.3).split())
    assert "The scores show a worse model, not a slide of the threshold: recall" in found
    assert "Set the threshold back" not in found


def test_json_has_the_thresholds_with_their_intervals(diagnosed):
    found = json.loads(diagnosed("--json", threshold=0.7))["scores"]["implied_thresholds"]
    assert found["before"]["estimate"] == pytest.approx(0.5, abs=0.001)
    assert found["after"]["estimate"] == pytest.approx(0.7, abs=0.001)
    assert found["moved"]["lower"] < 0.2 < found["moved"]["upper"]
    assert found["scores_shifted"] is False
