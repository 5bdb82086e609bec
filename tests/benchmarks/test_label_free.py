"""The benchmark of estimates ahead of the labels, at small sizes and against recounts."""

import json

import numpy as np
import pytest
from benchmarks import label_free


@pytest.fixture(scope="module")
def cases():
    return label_free.simulated("scatters", 1, days=80, a_day=600)


def test_a_recount_by_days_adds_up_to_the_cases(cases):
    days = label_free.Days.of(cases)
    inside = cases.time // label_free.DAY_MS == 7
    actual, called = cases.actual[inside] == 1, cases.called[inside]
    outcomes = [actual & called, ~actual & called, actual & ~called, ~actual & ~called]
    assert days.cells[7].tolist() == [int(one.sum()) for one in outcomes]
    assert days.called[7].tolist() == [600, called.sum()]
    assert days.scores[7].sum(axis=1).tolist() == [actual.sum(), (~actual).sum(), 600]
    assert days.sums[7].tolist() == pytest.approx(
        [cases.score[inside].sum(), cases.score[inside][called].sum()]
    )


def test_simulated_scores_are_calibrated_where_prevalence_stays():
    found = label_free.simulated("stays", 2, days=20, a_day=5_000)
    near = (found.score > 0.4) & (found.score < 0.6)
    assert found.actual[near].mean() == pytest.approx(found.score[near].mean(), abs=0.02)


@pytest.mark.slow
def test_a_line_compares_each_estimate_with_the_window_that_came_true(cases):
    line = label_free.lines(cases, ["1d"], "2d")["1d", "prevalence"]
    share = label_free.Days.of(cases).cells
    truth = (share[:, 0] + share[:, 2]) / share.sum(axis=1)
    days = np.arange(80 - line.published, 80)
    last = truth[days - 3] - truth[days - 1]
    assert line.published > 30
    assert line.last_mature == pytest.approx(float(np.sqrt((last**2).mean())))
    assert line.rivals["EMQ"] < 0.5
    assert line.this < 0.5
    assert line.coverage >= 0.9


def test_a_stream_is_read_with_its_labels_and_segments(tmp_path):
    path = tmp_path / "events.ndjson"
    events = [
        {"type": "prediction", "id": "a", "ts": 1, "score": 0.7, "prediction": 1},
        {"type": "prediction", "id": "b", "ts": 2, "score": 0.2, "prediction": 0},
        {"type": "label", "id": "a", "ts": 9, "label": 1},
    ]
    events[0]["segment"] = {"kind": "x"}
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    found = label_free.recorded(path, ("kind",))
    assert (found.actual.tolist(), found.label_time.tolist()) == ([1, -1], [9_000, 0])
    assert [group.values for group in found.groups] == [("x",), ("",)]
