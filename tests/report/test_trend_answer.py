"""A trend in words and in JSON."""

from dataclasses import replace

import pytest
from msgspec import to_builtins

from monitor.cli.replay_text import replay_text
from monitor.drift.trend import Trend, Weekly
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.report.replay_json import replay_answer
from monitor.report.trend_answer import trend_answer, trend_text

DAY = 20_729
FALLS = Trend(
    since=DAY,
    earliest=DAY - 14.0,
    latest=DAY + 7.0,
    change=-0.5,
    odds_ratio=Weekly(-0.07, -0.1, -0.04),
    recall=Weekly(-0.0123, -0.0161, -0.0084),
    false_positive_rate=Weekly(0.001, -0.0004, 0.0021),
    p_value=0.0002,
    shape="slope",
)
SPEED = "recall -1.2 (-1.6 to -0.8), false-positive rate +0.1 (-0.0 to +0.2)"
WHEN = "about 2026-10-03 (2026-09-19 to 2026-10-10)"


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({}, f"Since {WHEN} the model separates the classes worse every week, in points: {SPEED}."),
        (
            {"shape": "unknown", "change": 0.5},
            (
                f"Since {WHEN} the model separates the classes better every week, "
                f"in points: {SPEED}. A step at one moment fits about as well."
            ),
        ),
        (
            {"shape": "step"},
            f"At one step, {WHEN}, the model came to separate the classes worse.",
        ),
        (
            {"shape": "step", "earliest": DAY, "latest": DAY},
            "At one step, about 2026-10-03, the model came to separate the classes worse.",
        ),
    ],
)
def test_a_trend_is_one_sentence(changed, text):
    assert trend_text(replace(FALLS, **changed)) == text


def test_the_answer_holds_moments_and_changes_a_week():
    found = to_builtins(trend_answer(FALLS))
    assert found["since"] == "2026-10-03T00:00:00Z"
    assert (found["earliest"], found["latest"]) == ("2026-09-19T00:00:00Z", "2026-10-10T00:00:00Z")
    assert found["recall_per_week"] == {"estimate": -0.0123, "lower": -0.0161, "upper": -0.0084}
    assert found["shape"] == "slope"
    assert found["text"] == trend_text(FALLS)


def test_no_trend_is_null():
    assert trend_answer(None) is None


@pytest.fixture
def sliding():
    monitor = Monitor()
    monitor.predict("a", ts=0, prediction=True)
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    return replace(snapshot, models=(replace(model, watched=replace(model.watched, trend=FALLS)),))


def test_replay_and_the_api_show_it(sliding):
    (replayed,) = replay_answer(sliding).models.values()
    (shown,) = status_answer(sliding, limit=1).models
    assert replayed.trend == shown.trend == trend_answer(FALLS)
    assert f"trend: Since {WHEN}" in " ".join(replay_text(sliding).split())
