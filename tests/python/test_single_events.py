"""`predict` and `label` take the values that Python programs have, and refuse others at once."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

from monitor import ConfusionCounts, Monitor

MOMENT = datetime(2026, 11, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "ts",
    [
        MOMENT,
        MOMENT.astimezone(timezone(timedelta(hours=2))),
        pd.Timestamp(MOMENT),
        MOMENT.timestamp(),
        int(MOMENT.timestamp()),
        np.float64(MOMENT.timestamp()),
        np.datetime64("2026-11-01T10:00:00.000000000"),
        np.datetime64("2026-11-01T10", "h"),
        "2026-11-01T11:00:00+01:00",
    ],
    ids=repr,
)
def test_any_form_of_a_moment_is_that_moment(ts):
    monitor = Monitor()
    for name in "abc":
        monitor.predict(name, ts=ts, prediction=1)
    assert monitor.snapshot().models[0].last_prediction_ms == MOMENT.timestamp() * 1000 + 60_000


@pytest.mark.parametrize("number", [int, np.int64, np.uint8, np.bool_, bool, np.float32, float])
def test_classes_of_any_number_type_count(number):
    monitor = Monitor()
    monitor.predict("a", ts=0, prediction=number(1), score=np.float32(0.5))
    monitor.label("a", ts=1, label=number(0))
    assert monitor.snapshot().lifetime.counts == ConfusionCounts(tp=[0], fp=[1], fn=[0], tn=[0])


def test_an_integer_id_is_its_text():
    monitor = Monitor()
    monitor.predict(17, ts=0, prediction=1)
    monitor.predict(np.int64(18), ts=0, prediction=1)
    monitor.label("17", ts=1, label=1)
    monitor.label(18, ts=1, label=1)
    assert monitor.snapshot().models[0].matched == 2


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"ts": datetime(2026, 11, 1)}, "ts"),  # noqa: DTZ001  # the point
        ({"ts": pd.Timestamp("2026-11-01")}, "ts"),
        ({"ts": np.datetime64("NaT")}, "ts"),
        ({"ts": 1_780_000_000_000}, "ts"),
        ({"id": 1.5}, "id"),
        ({"id": True}, "id"),
        ({"id": None}, "id"),
        ({"prediction": 0.5}, "prediction"),
        ({"prediction": "yes"}, "prediction"),
        ({"score": np.float64("nan")}, "score"),
        ({"score": 1.1}, "score"),
        ({"model": 7}, "model"),
        ({"version": 7}, "version"),
    ],
    ids=repr,
)
def test_what_does_not_fit_is_refused_with_the_name_of_the_field(changed, field):
    monitor = Monitor()
    fields = {"id": "a", "ts": 0, "prediction": 1} | changed
    with pytest.raises(ValueError, match=f": {field}: "):
        monitor.predict(fields.pop("id"), **fields)
    assert monitor.snapshot().records == 0


def test_events_count_alike_however_many_come_between_two_snapshots():
    at_once, one_by_one = Monitor(), Monitor()
    for n in range(2_500):
        for monitor in (at_once, one_by_one):
            monitor.predict(n, ts=60 * n, prediction=n % 3 == 0, score=n % 7 / 7)
            monitor.label(n, ts=60 * n + 30, label=n % 2)
        if n % 100 == 0:
            one_by_one.snapshot()
    assert at_once.snapshot().lifetime.counts == one_by_one.snapshot().lifetime.counts
    assert at_once.snapshot().records == 5_000
