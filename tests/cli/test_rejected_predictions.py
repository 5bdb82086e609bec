"""`diagnose` and `replay` of what is left where many predictions are rejected."""

import json
from dataclasses import replace

import numpy as np
import pytest
from cli.commands import ran

from monitor.cli.rejected_predictions import RejectedPredictions
from monitor.clock import DAY_MS
from monitor.config.quantities import format_time
from monitor.counts import ConfusionCounts
from monitor.diagnosis import diagnose
from monitor.diagnosis.periods import Period
from monitor.events.columns import EventBatch, Outcomes
from monitor.events.reject_reasons import Rejection, RejectReason

DAYS, DAILY, CHANGE = 28, 200, 14
RANGES = "--before", "1970-01-01..1970-01-15", "--after", "1970-01-15..1970-01-29"
NO_SAMPLE = "what is left is no random sample"


@pytest.fixture
def recorded(tmp_path):
    """Predictions and labels; scores are percentages up to a limit, from a day on."""

    def of(limit, since=0):
        rng, path = np.random.default_rng(5), tmp_path / "events.ndjson"
        with path.open("w") as file:
            for day in range(DAYS):
                scores = rng.beta(1, 3, DAILY)
                labels = rng.random(DAILY) < scores
                for i in range(DAILY):
                    percent = day >= since and scores[i] <= limit
                    case = {"id": f"{day}-{i}", "ts": format_time(day * DAY_MS + i * 60_000)}
                    score = {"score": float(scores[i]) * (100 if percent else 1)}
                    made = {"type": "prediction", "prediction": int(scores[i] > 0.5)}
                    rows = made | case | score, {"type": "label", "label": int(labels[i])} | case
                    file.writelines(f"{json.dumps(row)}\n" for row in rows)
        return path

    return of


def test_what_is_left_of_the_predictions_is_no_random_sample(recorded, capsys):
    """Labels are not rejected, so that it is less than half of all records."""
    path = recorded(0.4)
    text = " ".join(ran(capsys, "diagnose", path, *RANGES).out.split())
    assert text.startswith("Of the predictions 7")
    assert NO_SAMPLE in text[:120]
    assert "Corrections of the scores" not in text
    assert "set the threshold anew" not in text
    ending = " ".join(ran(capsys, "replay", path).out.split())
    assert "Not judged: " in ending
    assert "predictions were rejected, and those that are left are no random sample" in ending
    assert "Judged: " not in ending


def test_less_than_half_is_told_beside_what_is_judged(recorded, capsys):
    path = recorded(0.2, since=CHANGE)
    assert NO_SAMPLE in " ".join(ran(capsys, "diagnose", path, *RANGES).out.split())
    ending = " ".join(ran(capsys, "replay", path).out.split())
    assert "Not counted: " in ending
    assert "Judged: " in ending


def test_a_few_rejected_predictions_leave_the_answer_as_it_is(recorded, capsys):
    path = recorded(0.015)
    found = ran(capsys, "diagnose", path, *RANGES)
    assert "were rejected" in found.err
    assert NO_SAMPLE not in found.out
    assert "no random sample" not in ran(capsys, "replay", path).out


def test_rejected_predictions_count_in_the_period_of_those_beside_them():
    """A batch that is rejected as a whole counts where the last one ends."""
    bad = (Rejection(RejectReason.BAD_VALUE, "f:1", "score: must be a number", b""),)
    rejected, counts = RejectedPredictions(), ConfusionCounts(tp=80, fp=45, fn=20, tn=855)
    for day, number in ((0, 0), (1, 30), (None, 70)):
        times = np.full(0 if day is None else 100, (day or 0) * DAY_MS, dtype=np.int64)
        one = EventBatch(outcomes=Outcomes(time=times), rejected=bad * number)
        rejected.add(one)
    sides = [
        replace(Period.given(counts), opens=d * DAY_MS, closes=(d + 1) * DAY_MS) for d in (0, 1)
    ]
    told = rejected.beside(diagnose(*sides)).rejected_predictions
    assert told == f"Of the predictions 0 % before and 50 % after were rejected: {NO_SAMPLE}"
