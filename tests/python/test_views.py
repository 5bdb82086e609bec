"""Results by model and window are plain numbers, short to print, and easily a frame."""

import json
import math
from datetime import datetime

import numpy as np
import pytest
from streams import flights_of, in_batches

from monitor import Monitor
from monitor.config import parse_config
from monitor.config.quantities import parse_time
from monitor.diagnosis import Estimated
from monitor.drift import Verdict
from monitor.errors import ConfigError
from monitor.metrics import intervals
from monitor.python.frames import frame
from monitor.report.vocabulary import JSON_METRICS
from monitor.snapshot import METRIC_NAMES

MODEL = "delay-hgb-v1"
CONFIG = "defaults: {segments: [carrier], label_timeout: 1d}\nwindows: [1d, 7d, 30d]\n"


@pytest.fixture(scope="module")
def monitor():
    """A monitor of the flights of three months: a reference, and windows of 30 days."""
    found = Monitor(parse_config(CONFIG, "monitor.yaml"))
    since = parse_time("2013-10-01") / 1000
    for batch in in_batches(flights_of(since, math.inf), 6_000, segments=("carrier",)):
        found.apply(batch)
    return found


def test_numbers_are_plain_floats_and_those_of_the_snapshot(monitor):
    snapshot, view = monitor.snapshot(), monitor[MODEL]
    row = snapshot.models[0].row
    for window in snapshot.windows:
        for name in METRIC_NAMES:
            found = view[window.name].metrics[name]
            wanted = tuple(float(ends[row]) for ends in window.metrics[name])
            assert (found.estimate, found.lower, found.upper) == wanted
            assert {type(value) for value in (found.estimate, found.lower)} == {float}
            if name in {*JSON_METRICS, "log_likelihood_ratio"}:
                assert getattr(view[window.name], name) == found


def test_intervals_are_those_of_the_counts(monitor):
    week = monitor[MODEL]["all"]
    lower, upper = intervals(week.counts, "precision")
    assert (week.precision.lower, week.precision.upper) == (float(lower), float(upper))
    assert float(week.precision) == week.counts.tp / (week.counts.tp + week.counts.fp)


def test_segment_values_sum_to_the_window(monitor):
    week = monitor[MODEL]["7d"]
    values = week.by("carrier").values()
    assert sum(int(value.counts.tp) for value in values) == week.counts.tp
    with pytest.raises(ValueError, match="no such key, got 'colour'; the model has carrier"):
        week.by("colour")


def test_the_verdict_has_its_headline(monitor):
    view = monitor[MODEL]
    assert isinstance(view.verdict.verdict, Verdict)
    assert view.verdict.headline == view.status.headline
    assert view["30d"].verdict is view.verdict.verdict
    assert view["all"].verdict is None
    assert repr(view.verdict).startswith(f"{view.verdict} (30d): Precision")


def test_reprs_have_one_to_ten_lines(monitor):
    view = monitor[MODEL]
    shown = [
        monitor,
        view,
        view["7d"],
        view["7d"].precision,
        view["7d"].by("carrier"),
        view.verdict,
    ]
    shown += [view.windows, Monitor(), Monitor().feed({"ts": [0], "prediction": [1], "id": ["a"]})]
    for value in shown:
        assert 1 <= len(repr(value).splitlines()) <= 10
        assert max(map(len, repr(value).splitlines())) <= 140


@pytest.mark.parametrize(
    ("ends", "shown"),
    [
        ((0.575, 0.534, 0.615), "Estimate(.575, .534 to .615)"),
        ((1.0, 0.9996, 1.0), "Estimate(1.000, 1.000 to 1.000)"),
        ((-0.25, -1.5, 0.0), "Estimate(-.250, -1.500 to .000)"),
        ((0.5, math.nan, math.nan), "Estimate(.500)"),
        ((math.nan, math.nan, math.nan), "Estimate(undefined)"),
        ((math.inf, 3.0, math.inf), "Estimate(undefined)"),
    ],
)
def test_an_estimate_prints_three_digits(ends, shown):
    estimate, lower, upper = ends
    assert repr(Estimated(estimate=estimate, lower=lower, upper=upper)) == shown


def test_tables_have_a_row_for_each_window(monitor):
    view = monitor[MODEL]
    table = view.to_frame()
    assert table["window"].tolist() == ["all", "1d", "7d", "30d"]
    assert table["precision"].tolist() == [float(w.precision) for w in view.windows.values()]
    assert view["7d"].by("carrier").to_frame()["carrier"].tolist() == list(view["7d"].by("carrier"))
    assert view["7d"].to_dict()["tp"] == int(view["7d"].counts.tp)
    wrong = view["7d"].if_labels_wrong
    assert view["7d"].to_dict()["if_labels_wrong"] == (None if wrong is None else wrong.text)
    week = view["7d"].to_frame()
    assert list(week.columns) == list(view["7d"].to_dict())
    assert week["precision"].tolist() == [view["7d"].precision.estimate]


def test_dictionaries_hold_what_json_holds_with_the_times_of_the_api(monitor):
    view = monitor[MODEL]
    week, carriers = view["7d"].to_dict(), view["7d"].by("carrier")
    api = view.status.windows["7d"]
    assert (week["opens"], week["closes"]) == (api.open, api.close)
    assert view["all"].to_dict()["opens"] is None
    for found in (week, view["all"].to_dict(), view.to_dict(), carriers.to_dict()):
        assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert view.to_dict()["closes"][2] == week["closes"]
    empty = Monitor()
    empty.predict("a", ts=0, prediction=1)
    assert empty["default"]["all"].to_dict()["recall"] is None
    assert math.isnan(empty["default"]["all"].to_frame()["recall"].item())
    assert isinstance(view["7d"].to_frame()["closes"].item(), datetime)


def test_without_pandas_and_polars_the_error_says_what_to_install():
    with pytest.raises(ImportError, match="to_frame: needs pandaz or polarz, and none"):
        frame({"a": [1]}, libraries=("pandaz", "polarz"))


def test_a_name_that_is_not_there_is_answered_with_the_nearest(monitor):
    with pytest.raises(KeyError, match="no model 'delay-hgb'; did you mean 'delay-hgb-v1'"):
        monitor["delay-hgb"]
    with pytest.raises(KeyError, match="no window '2d'; there are all, 1d, 7d, 30d"):
        monitor[MODEL]["2d"]
    assert MODEL in monitor
    assert "x" not in monitor


def test_a_view_does_not_change_when_more_events_come():
    monitor = Monitor()
    monitor.predict("a", ts=0, prediction=1)
    view = monitor["default"]
    monitor.predict("b", ts=0, prediction=1)
    assert (view["all"].predictions, monitor["default"]["all"].predictions) == (1, 2)


def test_a_configuration_file_makes_a_monitor(tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text(CONFIG)
    assert Monitor.from_yaml(path).config == parse_config(CONFIG, "monitor.yaml")
    path.write_text("windows: 5")
    with pytest.raises(ConfigError, match="windows: must be a list"):
        Monitor.from_yaml(path)


def test_what_is_printed_counts_a_retracted_label_as_pending_and_gives_all_no_bounds():
    monitor = Monitor()
    for name, label in (("a", None), ("b", 1)):
        monitor.predict(name, ts=0, prediction=1)
        monitor.label(name, ts=60, label=label)
    view = monitor["default"]
    assert repr(view).splitlines()[1] == "2 predictions, 1 labelled, 1 pending"
    assert (view.status.labelled, view.status.labels_came, view.status.pending) == (1, 2, 1)
    assert repr(view["all"]).splitlines()[0] == "all: tp 1, fp 0, fn 0, tn 0"
    assert repr(view["1d"]).startswith("1d [1969-12-30 23:58, 1969-12-31 23:58): tp 0, fp 0")


def test_a_label_that_came_and_was_retracted_is_no_label_of_the_status():
    monitor = Monitor()
    for name, label in (("a", 1), ("b", 1), ("a", None)):
        if label is not None:
            monitor.predict(name, ts=0, prediction=1)
        monitor.label(name, ts=60, label=label)
    status = monitor["default"].status
    assert (status.labelled, status.labels_came, status.pending) == (1, 2, 1)
    assert status.predictions == status.labelled + status.pending + status.expired


def test_a_monitor_is_one_table_of_the_windows_of_all_models():
    monitor = Monitor()
    assert monitor.to_dict() == {}
    rows = {"ts": [0, 60, 120], "prediction": [1, 0, 1], "label": [1, 0, 0]}
    monitor.feed({**rows, "model": ["claims", "loans", "loans"]})
    found = monitor.to_dict()
    windows = list(monitor["claims"].windows)
    assert found["model"] == ["claims"] * len(windows) + ["loans"] * len(windows)
    for name, column in monitor["loans"].to_dict().items():
        assert found[name][len(windows) :] == column
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    table = monitor.to_frame()
    assert list(table.columns) == list(found)
    assert table["opens"].notna().sum() == len(found["opens"]) - found["opens"].count(None)


def test_a_window_says_what_wrong_labels_would_do():
    """One positive in a hundred, and most of the positive labels of unflagged cases wrong."""
    rng = np.random.default_rng(1)
    actual = rng.random(20_000) < 0.01
    flagged = rng.random(20_000) < np.where(actual, 0.8, 0.005)
    label = actual ^ (rng.random(20_000) < 0.01)
    monitor = Monitor()
    table = {"ts": np.arange(20_000) * 30, "prediction": flagged, "label": label}
    monitor.feed(table, ts="ts", prediction="prediction", label="label")
    found = monitor["default"]["7d"]
    assert "of labels were wrong, recall would be" in found.to_dict()["if_labels_wrong"]
    assert found.if_labels_wrong.metrics["recall"] > float(found.recall)
