"""`predict` and `label` take the values that Python programs have, and refuse others at once."""

import sys
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from monitor import ConfusionCounts, Monitor
from monitor.config import Config

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
        np.array("2026-11-01T10", dtype="datetime64[ns]"),
        np.array("2026-11-01T10", dtype="datetime64[s]"),
        MOMENT.replace(tzinfo=None),
        pd.Timestamp(MOMENT.replace(tzinfo=None)),
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


def test_arrays_without_a_dimension_are_their_value():
    """A model compiled for another library gives one in place of a scalar."""
    monitor = Monitor()
    monitor.predict(np.array(7), ts=np.array(0.0), prediction=np.array(True), score=np.array(0.25))
    monitor.label(7, ts=60, label=np.array(1))
    assert monitor["default"]["all"].counts == ConfusionCounts(tp=1, fp=0, fn=0, tn=0)
    with pytest.raises(ValueError, match="prediction: must be 0, 1, true or false"):
        monitor.predict(8, ts=0, prediction=np.array([1]))


def test_bytes_are_no_id_and_the_error_says_how_to_decode_them():
    with pytest.raises(ValueError, match=r"id: .*; decode it, as pandas does with \.str\.decode"):
        Monitor().predict(b"7", ts=0, prediction=1)


def test_an_integer_id_is_its_text():
    monitor = Monitor()
    monitor.predict(17, ts=0, prediction=1)
    monitor.predict(np.int64(18), ts=0, prediction=1)
    monitor.label("17", ts=1, label=1)
    monitor.label(18, ts=1, label=1)
    assert monitor.snapshot().models[0].matched == 2


def test_an_integer_model_version_and_segment_value_is_its_text():
    monitor = Monitor(Config.model_validate({"defaults": {"segments": ["version", "shop"]}}))
    for i, number in enumerate([int, np.int64, str]):
        names = {"model": number(7), "version": number(3), "segment": {"shop": number(12)}}
        monitor.predict(i, ts=0, prediction=1, **names)
    found = {(s.model, s.segment, s.value) for s in monitor.snapshot().series}
    assert found == {("7", None, None), ("7", "version", "3"), ("7", "shop", "12")}
    with pytest.raises(ValueError, match=r"version: must be a string .* got 1\.2; make it text"):
        monitor.predict("z", ts=0, prediction=1, version=1.2)


def test_a_uuid_is_its_text():
    monitor, name = Monitor(), UUID(int=17)
    monitor.predict(name, ts=0, prediction=1)
    monitor.label(str(name), ts=1, label=1)
    assert monitor.snapshot().models[0].matched == 1


NAIVE = MOMENT.replace(tzinfo=None)
WITHOUT_ZONE = {
    "datetime": NAIVE,
    "date": NAIVE.date(),
    "Timestamp": pd.Timestamp(NAIVE),
    "datetime64": np.datetime64(NAIVE),
}


@pytest.mark.parametrize("name", WITHOUT_ZONE)
def test_a_time_without_a_zone_is_utc_in_single_events_and_in_tables(name):
    moment = WITHOUT_ZONE[name]
    single, table, in_zone = Monitor(), Monitor(), Monitor()
    for number in range(3):
        single.predict(number, ts=moment, prediction=1)
        single.label(number, ts=moment, label=1)
    rows = {"ts": [moment] * 3, "prediction": [1] * 3, "label": [1] * 3}
    table.feed(rows)
    in_zone.feed(rows, time={"zone": "Europe/Berlin"})
    last = [m.snapshot().models[0].last_prediction_ms for m in (single, table, in_zone)]
    assert last == [last[0], last[0], last[0] - 3_600_000]


def test_a_text_without_a_zone_is_refused_in_single_events_and_in_tables():
    text = NAIVE.isoformat()
    message = "ts: must be epoch seconds or ISO 8601 with Z or an offset"
    with pytest.raises(ValueError, match=message):
        Monitor().predict("a", ts=text, prediction=1)
    with pytest.raises(ValueError, match=message):
        Monitor().label("a", ts=text, label=1)
    rows = {"ts": [text], "prediction": [1], "label": [1]}
    with pytest.raises(ValueError, match=message):
        Monitor().feed(rows)
    assert Monitor().feed(rows, time={"zone": "UTC"}).rejected == {}


def test_segment_values_are_texts_as_in_tables():
    monitor = Monitor(Config(defaults={"segments": ["shop"]}))
    for number in range(3):
        monitor.predict(number, ts=number, prediction=1, segment={"shop": np.int64(7)})
        monitor.label(number, ts=number, label=1)
    assert set(monitor["default"]["all"].by("shop")) == {"7"}


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"ts": "2026-11-01T10:00:00"}, "ts"),
        ({"ts": pd.NaT}, "ts"),
        ({"ts": np.datetime64("NaT")}, "ts"),
        ({"ts": 1_780_000_000_000}, "ts"),
        ({"id": 1.5}, "id"),
        ({"id": True}, "id"),
        ({"id": None}, "id"),
        ({"prediction": 0.5}, "prediction"),
        ({"prediction": "yes"}, "prediction"),
        ({"score": np.float64("nan")}, "score"),
        ({"score": 1.1}, "score"),
        ({"model": 7.0}, "model"),
        ({"version": True}, "version"),
        ({"segment": ["region"]}, "segment"),
        ({"segment": 5}, "segment"),
        ({"segment": "region"}, "segment"),
    ],
    ids=repr,
)
def test_what_does_not_fit_is_refused_with_the_name_of_the_field(changed, field):
    monitor = Monitor()
    fields = {"id": "a", "ts": 0, "prediction": 1} | changed
    with pytest.raises(ValueError, match=f": {field}: "):
        monitor.predict(fields.pop("id"), **fields)
    assert monitor.snapshot().records == 0


@pytest.mark.parametrize("nothing", [float("nan"), np.float32("nan"), pd.NA, pd.NaT], ids=repr)
def test_nothing_as_a_label_is_no_label_in_a_table_and_is_refused_with_what_to_do(nothing):
    monitor = Monitor()
    rows = {"id": ["a", "b"], "ts": [0, 0], "prediction": [1, 1], "label": [1, nothing]}
    assert monitor.feed(rows).rejected == {}
    with pytest.raises(ValueError, match=r"label 'a': label: must be .*; leave the event out"):
        monitor.label("a", ts=1, label=nothing)
    assert monitor["default"].status.labelled == 1
    monitor.label("a", ts=1, label=None)
    assert monitor["default"].status.labelled == 0


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


def test_a_single_event_costs_few_calls_of_python():
    """A call costs some 0.13 microseconds, and an event is to cost less than 15."""
    monitor, calls, events = Monitor(), Counter(), 4_000
    monitor.snapshot()
    sys.setprofile(lambda *about: calls.update([about[1]]))
    for n in range(events // 2):
        monitor.predict(f"claim-{n}", ts=1.75e9 + 5 * n, prediction=n % 3 == 0, score=0.25)
        monitor.label(f"claim-{n}", ts=1.75e9 + 5 * n, label=n % 2)
    monitor.flush()
    sys.setprofile(None)
    assert (calls["call"] + calls["c_call"]) / events < 80
    assert monitor.snapshot().models[0].matched == events // 2


def test_a_configuration_that_is_none_is_a_clear_error():
    with pytest.raises(TypeError, match=r"config: must be a Config, got dict; Monitor.from_yaml"):
        Monitor({"models": {}})


def test_settings_outside_of_a_configuration_are_answered_with_one():
    said = (
        r"^Monitor: takes its settings in a Config, got windows=\['7d'\]; write Monitor\(Config\("
    )
    with pytest.raises(TypeError, match=said):
        Monitor(windows=["7d"])
    with pytest.raises(AttributeError, match=r"^'Monitor' object has no attribute 'window'"):
        Monitor().window  # noqa: B018  # the attribute is the test
