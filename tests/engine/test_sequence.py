"""The state of the monitor is a function of the sequence of records, wherever batches end."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences
from sequences import known_by, monitor_of

from monitor.config import Config
from monitor.engine import CountingMonitor
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings

DAY, HOUR = 86_400, 3_600
CONFIG = Config(
    models={
        "a": {"segments": ["region"], "label_timeout": "2d", "max_segment_values": 2},
        "b": {"label_timeout": "6h", "horizon": "12h"},
    },
    windows=["1h", "1d"],
)
WEEKS = Config(models={"m": {"label_timeout": "9d"}})


def record(kind, number, ts, choice, model, *, more=0.0, region="eu", share=None):
    fields = {"type": kind, "ts": ts}
    if kind != "label":
        fields["model"] = model
    if kind in ("label", "prediction") or (kind == "outcome" and number is not None):
        fields["id"] = f"i{number}"
    if kind in ("prediction", "outcome"):
        fields |= {"prediction": choice % 2, "score": 0.25 + choice / 10}
        if model == "a":
            fields["segment"] = {"region": region}
    if kind in ("label", "outcome"):
        fields["label"] = [0, 1, None][choice % 3] if kind == "label" else choice // 2 % 2
        if share is not None and kind == "label":
            fields["sampling_probability"] = share
    if kind == "outcome":
        fields["label_ts"] = ts + more
    if kind == "counts":
        fields |= {"tp": choice, "fp": 1, "fn": 0, "tn": 2, "source": "s", "batch": str(number)}
        if choice == 3:
            fields["watermark"] = ts
    return fields


times = st.one_of(
    st.integers(0, 30), st.integers(0, 8 * DAY), st.sampled_from([DAY, 2 * DAY, 12 * HOUR])
)
records = st.lists(
    st.one_of(
        st.builds(
            record,
            st.sampled_from(["prediction", "prediction", "label", "label", "outcome"]),
            st.integers(0, 5),
            times,
            st.integers(0, 5),
            st.sampled_from("ab"),
            more=times,
            region=st.sampled_from(["eu", "us", "asia"]),
            share=st.sampled_from([None, 0.5]),
        ),
        st.builds(
            record,
            st.sampled_from(["outcome", "counts"]),
            st.none(),
            times,
            st.integers(0, 3),
            st.sampled_from("ab"),
            more=times,
        ),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=25, deadline=None)
@given(records, st.lists(st.integers(0, 30), max_size=6), st.booleans())
def test_the_state_is_a_function_of_the_sequence_of_records(events, cuts, in_order):
    if in_order:
        events.sort(key=lambda event: event["ts"])
    lines = [json.dumps(event).encode() for event in events]
    one_by_one = monitor_of(lines, range(len(lines)), CONFIG)
    assert not [*differences(known_by(monitor_of(lines, cuts, CONFIG)), known_by(one_by_one))]


def outcomes(n, *, median=5 * DAY, step=10.0, seed=1):
    """Outcomes with labels far ahead, some later than the label timeout."""
    rng = np.random.default_rng(seed)
    delay = np.exp(rng.normal(np.log(median), 1, n))
    return [
        {
            "type": "outcome",
            "id": f"o{i}",
            "ts": 1_700_000_000 + step * i,
            "label_ts": round(1_700_000_000 + step * i + delay[i], 3),
            "prediction": int(rng.integers(2)),
            "label": int(rng.integers(2)),
            "model": "m",
        }
        for i in range(n)
    ]


def counted(monitor):
    snapshot = monitor.snapshot()
    model = snapshot.models[0]
    cells = snapshot.lifetime.counts[0].cells.tolist()
    return cells, model.pending, model.expired, snapshot.watermark_ms


@pytest.mark.parametrize("size", [1, 7, 100, 5_000, 100_000])
def test_outcomes_with_labels_days_ahead_all_count_in_batches_of_any_size(size):
    events = outcomes(20_000 if size >= 100 else 600 * size)
    lines = [json.dumps(event).encode() for event in events]
    config = Config(models={"m": {}})
    found = counted(monitor_of(lines, range(0, len(lines), size), config, kind=CountingMonitor))
    assert sum(found[0]) == len(events)
    assert found[1:] == (0, 0, round(events[-3]["ts"] * 1000))
    whole = counted(monitor_of(lines, (), config, kind=CountingMonitor))
    assert found == whole


def test_a_label_is_late_if_it_is_dated_after_the_timeout_and_not_otherwise():
    config = Config(models={"m": {"label_timeout": "30d"}})
    events = [record("prediction", i, i, 1, "m") for i in range(10)]
    there = [record("prediction", 100 + i, 30 * DAY + 43_200 + i, 1, "m") for i in range(9)]
    labels = [record("label", i, i + 30 * DAY + (0.001 if i % 2 else 0), 1, "m") for i in range(10)]
    lines = [json.dumps(event).encode() for event in (*events, *there, *labels)]
    for cuts in ((), range(len(lines))):
        snapshot = monitor_of(lines, cuts, config).snapshot()
        assert snapshot.lifetime.counts[0].cells.tolist() == [5, 0, 0, 0]
        assert snapshot.labels.late == 5


def test_a_day_of_disorder_costs_no_label_at_the_end_of_its_timeout():
    config = Config(models={"m": {"label_timeout": "30d"}})
    first = record("prediction", 0, DAY, 1, "m")
    ahead = [record("prediction", 1 + i, 32 * DAY - 1 + i / 10, 1, "m") for i in range(3)]
    label = record("label", 0, 31 * DAY, 1, "m")
    lines = [json.dumps(event).encode() for event in (first, *ahead, label)]
    assert sum(counted(monitor_of(lines, range(5), config))[0]) == 1


def written(events, path):
    """The same rows in the format of the ending of the name."""
    if path.suffix == ".ndjson":
        path.write_text("\n".join(map(json.dumps, events)))
    elif path.suffix == ".csv":
        text = io.StringIO()
        rows = csv.DictWriter(text, list(events[0]))
        rows.writeheader()
        rows.writerows(events)
        path.write_text(text.getvalue())
    else:
        table = pa.Table.from_pylist(events)
        if path.suffix == ".parquet":
            pa.parquet.write_table(table, path, row_group_size=900)
        else:
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
                out.write_table(table, max_chunksize=700)
    return str(path)


@pytest.fixture(scope="module")
def rows_of_weeks():
    """Outcomes, and the state of a monitor that took them by hundreds."""
    events = outcomes(6_000, step=1_000.0)
    lines = [json.dumps(event).encode() for event in events]
    cuts = range(0, len(lines), 500)
    return events, known_by(monitor_of(lines, cuts, WEEKS, kind=CountingMonitor))


@pytest.mark.parametrize("form", ["ndjson", "csv", "parquet", "arrow"])
def test_the_same_rows_count_the_same_in_every_format(form, rows_of_weeks, tmp_path):
    events, expected = rows_of_weeks
    monitor, decoder = CountingMonitor(WEEKS), Decoder(DecodeSettings.from_config(WEEKS))
    for batch in files.read([written(events, tmp_path / f"rows.{form}")], decoder):
        monitor.apply(batch)
    assert not [*differences(known_by(monitor), expected)]


def test_labels_that_models_have_reached_leave_no_trace_however_batches_are_cut():
    def outcome(ts, delay, choice=0):
        return record("outcome", None, ts, choice, "a", more=delay)

    events = [
        *(outcome(0, 2), outcome(DAY, 2), outcome(0, 1)),
        *(record("counts", None, ts, choice, "a") for ts, choice in ((0, 3), (0, 1), (2 * DAY, 0))),
        *(outcome(0, 0, 1), outcome(0, 0), outcome(1, 0)),
        *(record("prediction", number, 0, 0, "a") for number in (2, 0)),
        *(record("prediction", 0, ts, 0, "a") for ts in (1, 2, 4)),
        *(record("label", 0, 0, 0, "a"), record("prediction", 0, 3, 0, "a")),
    ]
    lines = [json.dumps(event).encode() for event in events]
    whole = monitor_of(lines, [], CONFIG)
    one_by_one = monitor_of(lines, range(len(lines)), CONFIG)
    assert whole.state()["times"]["heard"] == one_by_one.state()["times"]["heard"] == []
