"""Days close one by one, however many of them a batch spans."""

import json
import random
from itertools import pairwise

import numpy as np
import pytest
from same import differences

from monitor.config import Config
from monitor.engine import Monitor
from monitor.engine.day_cuts import DayCuts, judged_times
from monitor.engine.label_quarters import LabelQuarters
from monitor.events.columns import NO_TIME, EventBatch, Labels
from monitor.events.crossings import TimePath, common_steps
from monitor.events.parts import in_plans, in_slices
from monitor.feeds.decode import Decoder, DecodeSettings

DAY = 86_400
START = 20_700 * DAY
DAYS = {"segments": ["region"], "label_timeout": "20d", "horizon": "20d"}
CONFIG = Config(defaults=DAYS)
SEVERAL = Config(
    defaults=DAYS,
    models={
        "hours": {"label_timeout": "5d"},
        "days": {},
        "given": {"maturity": "50h", "label_timeout": "10d"},
        "rare": {},
    },
)
OF_MODELS = {
    "hours": (40, [1, 5]),
    "days": (100, [1, 20, 60]),
    "given": (60, [1, 30]),
    "rare": (9, [1, 2, 3]),
}
"""Predictions a day, and mean delays of labels in hours."""


def lines_of(models, days=45, seed=0):
    """Records of these models in the order of their arrival; labels come hours or days late.

    Args:
        models: predictions a day, and mean delays of labels in hours, by model.
        days: of predictions.
        seed: of all that is drawn.
    """
    rng, records = random.Random(seed), []
    for model, (per_day, delays) in models.items():
        for i in range(days * per_day):
            at = START + (i + rng.random()) * DAY / per_day
            flagged = rng.random() < 0.3
            records.append(
                (
                    at + (rng.random() * 7200 if rng.random() < 0.1 else 0),
                    {
                        "type": "prediction",
                        "id": f"{model}-{i}",
                        "ts": round(at, 3),
                        "prediction": int(flagged),
                        "model": model,
                        "score": round(rng.uniform(0.5, 1) if flagged else rng.uniform(0, 0.5), 3),
                        "segment": {"region": rng.choice("abc")},
                    },
                )
            )
            if rng.random() < 0.9:
                came = at + rng.expovariate(1 / 3600 / rng.choice(delays))
                label = int(rng.random() < (0.7 if flagged else 0.05))
                record = {"type": "label", "id": f"{model}-{i}", "ts": round(came, 3)}
                records.append((came, {**record, "label": label}))
    records.sort(key=lambda one: one[0])
    return [json.dumps(record).encode() + b"\n" for _, record in records]


def until(lines, day):
    """The records that come before the first label of a day, and after them no prediction."""
    times = [json.loads(line)["ts"] for line in lines]
    return lines[: next(i for i, ts in enumerate(times) if ts >= START + day * DAY)]


def monitor_of(lines, size, config=CONFIG):
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    for start in range(0, len(lines), size):
        monitor.apply(decoder.decode_lines(b"".join(lines[start : start + size]), source="t"))
    return monitor


def state_of(lines, size):
    return monitor_of(lines, size).state()


def by_day(watch):
    """What is decided by days: references, levels, detectors by days, pages; not by panes.

    Args:
        watch: state of what watches models.
    """
    watching = {
        model: {key: one[key] for key in one if key != "detection"}
        for model, one in watch["watching"].items()
    }
    return {"references": watch["references"], "watching": watching}


@pytest.fixture(scope="module")
def lines():
    return lines_of({"m": (60, [1, 20, 60])})


@pytest.fixture(scope="module")
def in_small_batches(lines):
    return state_of(lines, 13)


@pytest.fixture(scope="module")
def in_thousands(lines):
    return state_of(lines, 1_000)


@pytest.mark.parametrize("size", [pytest.param(100, marks=pytest.mark.slow), 1_000_000])
def test_what_is_decided_by_days_does_not_depend_on_the_size_of_batches(
    size, lines, in_small_batches
):
    assert_decided_alike(state_of(lines, size), in_small_batches)


def test_what_is_decided_by_days_is_the_same_in_batches_of_a_thousand(
    in_thousands, in_small_batches
):
    assert_decided_alike(in_thousands, in_small_batches)


def assert_decided_alike(state, in_small_batches):
    assert state["watch"]["watching"]
    found, expected = (by_day(one["watch"]) for one in (state, in_small_batches))
    assert not [*differences(found, expected)]


@pytest.fixture(scope="module")
def several():
    lines = until(lines_of(OF_MODELS, days=22, seed=4), 22)
    return lines, monitor_of(lines, 23, SEVERAL)


@pytest.mark.parametrize("size", [pytest.param(300, marks=pytest.mark.slow), 100_000])
def test_days_of_several_models_do_not_depend_on_the_size_of_batches(size, several):
    lines, expected = several
    found, state = monitor_of(lines, size, SEVERAL), expected.state()
    ages = [age for _, age, *_ in state["day_cuts"]]
    assert len(set(ages)) == len(OF_MODELS), "each closes its days at another moment"
    assert len(state["watch"]["watching"]) >= 3
    assert not [*differences(by_day(found.state()["watch"]), by_day(state["watch"]))]
    assert found.state()["day_cuts"] == state["day_cuts"]
    for one, other in zip(found.snapshot().models, expected.snapshot().models, strict=True):
        assert not [*differences(one.watched.verdicts, other.watched.verdicts)]


@pytest.mark.parametrize("part", ["windows", "scores", "delays"])
def test_counts_are_stored_alike_without_empty_panes(part, in_thousands, in_small_batches):
    assert not [*differences(in_thousands[part], in_small_batches[part])]


def test_the_moments_at_which_days_close_are_part_of_the_state(in_small_batches):
    state = Monitor(CONFIG, in_small_batches).state()
    assert state["day_cuts"] == in_small_batches["day_cuts"]
    assert state["day_cuts"][0][0] > 0


def test_a_state_without_maturities_restores_the_moments_alone(in_small_batches):
    older = {**in_small_batches, "day_cuts": [7_200_000]}
    assert [row[0] for row in Monitor(CONFIG, older).state()["day_cuts"]] == [7_200_000]


class Maturity:
    """A maturity that is what it is given last."""

    def judged(self, _model, _now):
        return self.age


def test_a_maturity_becomes_shorter_at_midnight_alone():
    maturity, hour = Maturity(), 3_600_000
    cuts, found = DayCuts(maturity, hour), []
    for hours, at in [(None, 1), (9, 2), (5, 3), (12.5, 5), (7, 23), (7, 24), (6, 25)]:
        maturity.age = hours and round(hours * hour)
        age = cuts.age_at(0, at * hour)
        found.append(age and age / hour)
    assert found == [None, 9, 9, 12.5, 12.5, 7, 7]
    assert [row[:3] for row in cuts.state()] == [[7 * hour, 7 * hour, 1]]


def test_days_close_in_the_hour_in_which_midnight_is_as_old_as_the_maturity():
    maturity = Maturity()
    cuts, maturity.age = DayCuts(maturity, 3_600_000), 26 * 3_600_000 + 1
    cuts.age_at(0, 0)
    assert cuts.outdated
    assert cuts.state()[0][0] == 3 * 3_600_000


NOTHING = np.zeros(0, dtype=np.int64)


class Times:
    """Times of models that no labels carry."""

    def __init__(self, *hours):
        self.settled = self.now = self.at_most = np.array(hours) * 3_600_000


def test_behind_a_cut_only_models_whose_day_begins_or_closes_are_judged():
    maturity, hour = Maturity(), 3_600_000
    cuts = DayCuts(maturity, hour)
    for model, maturity.age in enumerate([2 * hour, 5 * hour]):
        cuts.age_at(model, 24 * hour)

    def judged(*hours, whole=False):
        due = cuts.due(Times(*hours), hour, NOTHING, whole=whole)
        return (
            due if due is None else [None if at == NO_TIME else at // hour for at in due.tolist()]
        )

    assert judged(25, 25, whole=True) == [25, 25]
    assert judged(27, 28) == [27, None]
    assert judged(28, 29) == [None, 29]
    assert judged(47, 47) is None
    assert judged(48, 47) == [48, None]
    assert judged(48, 47, whole=True) == [48, 47]


def test_the_rest_of_a_batch_is_planned_anew_where_the_plan_is_outdated():
    batch, planned, outdated = labels_at(*range(10)), [], [False, True, False, False, False]

    def plan(rest, rows, predictions):
        planned.append((rest.labels.row.tolist(), rows, predictions))
        return in_slices(rest, 3)

    parts = [*in_plans(batch, (100, 50), plan, lambda: outdated.pop(0))]
    assert [part.labels.row.tolist() for part in parts] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
    assert planned == [([*range(10)], 100, 50), ([6, 7, 8, 9], 106, 50)]


def test_the_path_of_a_model_through_the_rest_of_a_batch():
    times, reached = np.array([7, 8, 9, 10, 11]), np.array([6, 8, 9, 10, 11])
    model, place, time, known = TimePath(4, np.array([0, 3, 5, 9]), times, reached).behind(4)
    assert (model, place.tolist(), time.tolist()) == (4, [1, 5], [9, 10, 11])
    assert known.tolist() == [9, 10, 11]


def test_labels_carry_what_is_judged_to_a_day_before_them_and_no_further():
    monitor = Monitor(CONFIG)
    for i in range(30):
        monitor.predict(f"p{i}", ts=START + 60 * i, prediction=1)
    monitor.flush()
    times = monitor._stages.times
    own = times.settled.tolist()
    for n, days in enumerate([0.5, 0.9, 1, 1.25, 1.3, 1.4]):
        monitor.label(f"p{n}", ts=START + days * DAY, label=1)
        monitor.flush()
        judged = judged_times(times, 3_600_000).tolist()
        assert times.settled.tolist() == own
        assert judged == (own if n < 5 else [(START + DAY // 4) * 1000])


def test_panes_are_judged_as_their_hour_begins_however_late_in_it_an_event_comes():
    monitor, asked = Monitor(CONFIG), []
    monitor.predict("p", ts=START, prediction=1)
    monitor.flush()
    time = np.array([(START + 5 * 3600 + 1000) * 1000])
    [*monitor._watch.steps(time, lambda model, now: asked.append((model, now)))]
    assert asked == [(0, (START + 5 * 3600) * 1000)]


def labels_at(*days):
    time = np.array([round(day * DAY * 1000) for day in days], dtype=np.int64)
    some = np.zeros(len(days), dtype=np.int64)
    columns = dict.fromkeys(Labels.__dataclass_fields__, some)
    return EventBatch(labels=Labels(**{**columns, "time": time, "row": np.arange(len(days))}))


def test_the_third_label_of_a_quarter_of_a_day_carries_what_is_judged():
    batch, furthest = labels_at(5.1, 6.6, 6.3, 6.7, 6.6, 7.1, 7.2, 7.6, 7.0, 9.0), 5 * DAY * 1000
    assert LabelQuarters().places(batch, furthest) == [4, 8]
    assert LabelQuarters().places(batch, furthest + DAY * 500) == [8]
    assert LabelQuarters().places(batch, 10 * DAY * 1000) == []


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_labels_of_a_quarter_are_counted_across_batches_and_restarts(size):
    days, furthest, found = [6.6, 6.3, 6.7, 9.1, 6.6, 9.2, 9.9, 9.0, 6.6], 5 * DAY * 1000, []
    quarters = LabelQuarters()
    for start in range(0, len(days), size):
        batch = labels_at(*days[start : start + size])
        places = quarters.places(batch, furthest)
        ends = sorted({*(place + 1 for place in places), len(batch.labels)})
        for first, end in pairwise([0, *ends]):
            if quarters.hear(batch.labels.time[first:end], furthest, furthest):
                found.append(start + end - 1)
        state, quarters = quarters.state(), LabelQuarters()
        quarters.restore(state)
    assert found == [4, 7]


def test_the_common_step_is_the_second_highest():
    assert common_steps([(3, 0, 8), (5, 1, 7), (9, 1, 8)], {0: 6, 1: 6}, 6) == [5, 9]
