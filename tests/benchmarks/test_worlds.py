"""Streams with known truth: faults keep the classes, weeks stay whole, tables run."""

import json

import numpy as np
import pytest
from benchmarks import real_streams, worlds
from benchmarks.worlds import DAY, DEAD, FN, FP, TN, TP, WORSE, Resampled, Simulated

RNG_SEED = 5
STREAM = Simulated("as ever", sd=0.2, rho=0.5).hours(60, np.random.default_rng(RNG_SEED))


def rates(hours):
    cells = hours.sum(axis=0)
    return cells[TP] / (cells[TP] + cells[FN]), cells[FP] / (cells[FP] + cells[TN])


@pytest.mark.parametrize("fault", [*WORSE.values(), *DEAD.values()], ids=[*WORSE, *DEAD])
def test_a_fault_keeps_the_classes_of_every_hour(fault):
    changed = fault(STREAM, np.random.default_rng(1))
    assert (changed >= 0).all()
    for cells in ([TP, FN], [FP, TN]):
        assert (changed[:, cells].sum(axis=1) == STREAM[:, cells].sum(axis=1)).all()


def test_faults_do_what_they_are_called():
    recall, false_positive = rates(STREAM)
    rng = np.random.default_rng(1)
    assert rates(WORSE["recall x .75"](STREAM, rng))[0] == pytest.approx(0.75 * recall, rel=0.03)
    added = rates(WORSE["FPR + .05"](STREAM, rng))[1] - false_positive
    assert added == pytest.approx(0.05, rel=0.05)
    assert rates(DEAD["always negative"](STREAM, rng)) == (0, 0)
    opposite = (1 - recall, 1 - false_positive)
    assert rates(DEAD["inverted"](STREAM, rng)) == pytest.approx(opposite)
    at_random = rates(DEAD["random at the old rate"](STREAM, rng))
    assert at_random[0] == pytest.approx(at_random[1], rel=0.1)


def test_a_fault_begins_at_its_hour_and_a_ramp_ends_at_its_share():
    rng = np.random.default_rng(2)
    start = 20 * DAY
    late = worlds.from_hour(STREAM, start, DEAD["always negative"], rng)
    assert (late[:start] == STREAM[:start]).all()
    assert late[start:, TP].sum() == 0
    ramped = worlds.ramp(STREAM, start, 10, 0.25, rng)
    assert (ramped[:start] == STREAM[:start]).all()
    after = slice(start + 10 * DAY, None)
    assert rates(ramped[after])[0] == pytest.approx(0.75 * rates(STREAM[after])[0], rel=0.05)


def test_days_scatter_and_hang_together_as_much_as_asked():
    stream = Simulated("x", a_day=200_000, sd=0.3, rho=0.6).hours(2_000, np.random.default_rng(3))
    days = stream.reshape(-1, DAY, 4).sum(axis=1)
    deviation = np.log(days[:, TP] / days[:, FN])
    deviation -= deviation.mean()
    assert deviation.std() == pytest.approx(0.3, rel=0.1)
    assert np.corrcoef(deviation[1:], deviation[:-1])[0, 1] == pytest.approx(0.6, abs=0.07)


def test_a_recorded_stream_is_counted_by_the_hour_and_drawn_by_whole_weeks(tmp_path):
    path = tmp_path / "events.ndjson"
    events = [
        {"type": "prediction", "id": "a", "ts": 0, "prediction": 1},
        {"type": "prediction", "id": "b", "ts": 3_600, "prediction": 0},
        {"type": "prediction", "id": "c", "ts": 3_601, "prediction": 1},
        {"type": "label", "id": "a", "ts": 10, "label": 1},
        {"type": "label", "id": "b", "ts": 4_000, "label": 1},
        {"type": "label", "id": "b", "ts": 5_000, "label": 0},
    ]
    path.write_text("\n".join(map(json.dumps, events)))
    assert worlds.recorded(path).tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]
    weeks = worlds.in_weeks(np.arange(3 * worlds.WEEK * 4).reshape(-1, 4)[:-1])
    drawn = Resampled("x", weeks).hours(20, np.random.default_rng(0))
    assert len(weeks) == 2
    assert drawn.shape == (20 * DAY, 4)
    assert {tuple(week[0]) for week in drawn[: 2 * worlds.WEEK].reshape(2, -1, 4)} <= {
        tuple(week[0]) for week in weeks
    }


@pytest.mark.slow
def test_a_dead_model_pages_and_one_that_is_as_ever_does_not():
    world = Simulated("independent")
    run = real_streams.Run(world, 1, 12, {"first": "7d"}, 7, 1, "inverted", 4)
    assert real_streams.looks(run).since(run.fault_look + 4).pages.all()
    assert not real_streams.looks(run).pages[: run.fault_look].any()
