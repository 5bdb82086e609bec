"""A backfill has the samples that the exporter would have shown at the time."""

import json
from collections import defaultdict

import pytest
from cli.commands import ran
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from recount import Recount
from streams import FLIGHTS, batch_of

from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.backfill import Moments
from monitor.prometheus.collector import SnapshotCollector

HOUR = 3600
DAY = 24 * HOUR
TARGET = {"job": "precision-monitor", "instance": "127.0.0.1:9108"}
HISTOGRAM = "classifier_label_delay_seconds"


def stream(days=3, *, version=lambda _: "1"):
    """A prediction every half an hour, each labelled five hours later."""
    events = []
    for number in range(days * 48):
        ts, positive, late = number * HOUR // 2, number % 3 == 0, number % 7 == 0
        made = {"type": "prediction", "id": f"p{number}", "ts": ts, "prediction": int(positive)}
        events.append({**made, "version": version(number)})
        label = int(positive != late)
        events.append({"type": "label", "id": f"p{number}", "ts": ts + 5 * HOUR, "label": label})
    return sorted(events, key=lambda event: event["ts"])


def config():
    return Config(
        models={"default": {"label_timeout": "1d", "maturity": "6h", "reference": {"first": "1d"}}},
        pane="1h",
        windows=["6h", "1d"],
    )


def moments(events, *, step=HOUR, batch=50, monitor=None):
    monitor = monitor or Monitor(config())
    found = Moments(monitor, step * 1000)
    for first in range(0, len(events), batch):
        for at, snapshot in found.feed(batch_of(events[first : first + batch])):
            yield at // 1000, snapshot
    found.finish()


def shown(snapshot):
    """Samples of a scrape, without the histogram."""
    families = SnapshotCollector(lambda: snapshot).collect()
    return {
        (sample.name, *sorted((k, v) for k, v in sample.labels.items() if v)): sample.value
        for family in families
        if family.name != HISTOGRAM
        for sample in family.samples
    }


def parsed(text):
    """Samples by their moment, without the labels of the target.

    The library takes the second point of a histogram for a repetition of its first, and says
    that buckets are missing: the histogram is left to Prometheus itself.
    """
    lines = [line for line in text.splitlines(keepends=True) if HISTOGRAM not in line]
    found = defaultdict(dict)
    for family in text_string_to_metric_families("".join(lines)):
        for sample in family.samples:
            labels = {k: v for k, v in sample.labels.items() if v}
            assert {name: labels.pop(name, None) for name in TARGET} == TARGET
            found[float(sample.timestamp)][(sample.name, *sorted(labels.items()))] = sample.value
    return dict(found)


def write(path, events):
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return path


def test_each_moment_has_the_events_before_it_and_no_other():
    events, seen = stream(), 0
    for at, snapshot in moments(events):
        before = [event for event in events if event["ts"] < at]
        assert snapshot.records == len(before)
        assert snapshot.now_ms == (at * 1000 if len(before) > 2 else None)
        cells = Recount(before, DAY).counts(since=at - 30 * HOUR, before=at - 6 * HOUR)
        (counted,) = snapshot.windows[1].counts.cells.tolist()
        assert counted == [cells[cell] for cell in ("tp", "fp", "fn", "tn")]
        seen += 1
    assert seen == events[-3]["ts"] // HOUR


def test_batches_and_late_events_change_nothing_in_the_end():
    events = stream()
    events.insert(60, events.pop(10))
    monitor, plain = Monitor(config()), Monitor(config())
    plain.apply(batch_of(events))
    assert len(list(moments(events, batch=7, monitor=monitor))) == len(list(moments(events)))
    assert shown(monitor.snapshot()) == shown(plain.snapshot())


@pytest.mark.parametrize("ts", [-50 * 365 * DAY, 200 * 365 * DAY])
def test_a_stray_makes_few_moments(ts):
    stray = {"type": "prediction", "id": "stray", "ts": ts, "prediction": 1}
    events = [stray, *stream(days=2)]
    plain = [at for at, _ in moments(stream(days=2))]
    found = [at for at, _ in moments(events)]
    assert set(plain) <= set(found)
    assert len(found) <= len(plain) + 40


def test_silence_is_shown_until_every_window_is_empty():
    events, pause = stream(days=2), 400 * DAY
    later = [{**e, "id": f"later-{e['id']}", "ts": e["ts"] + pause} for e in events]
    found = [at for at, _ in moments([*events, *later])]
    silent = [at for at in found if events[-1]["ts"] < at < pause]
    assert len(silent) in range(20, 40)
    assert next(at for at in found if at > pause) == pause + HOUR


def test_the_text_is_what_would_have_been_scraped(capsys, tmp_path):
    # A new version, and a model that comes later, are other series from then on.
    events = stream(version=lambda number: str(number // 100))
    settings = tmp_path / "monitor.yaml"
    settings.write_text(
        "models:\n  default: {label_timeout: 1d, maturity: 6h, reference: {first: 1d}}\n"
        "pane: 1h\nwindows: [6h, 1d]\n"
    )
    out, path = tmp_path / "past.om", write(tmp_path / "events.ndjson", events)
    done = ran(capsys, "replay", path, "-c", settings, "--json", "--openmetrics", out)
    plain = ran(capsys, "replay", path, "-c", settings, "--json")
    assert (done.code, done.out) == (0, plain.out)
    text = out.read_text()
    expected = {float(at): shown(snapshot) for at, snapshot in moments(events)}
    assert parsed(text) == expected
    assert text.endswith("\n# EOF\n")
    assert len({key for key in expected[66 * HOUR] if key[0] == "classifier_model_info"}) == 1
    samples = sum(1 for line in text.splitlines() if not line.startswith("#"))
    assert done.err == f"{out}: {samples:,} samples at {len(expected):,} moments\n"


def test_models_that_come_later_are_series_from_then_on(capsys, tmp_path):
    events = stream(days=4)
    for event in events:
        if event["type"] == "prediction" and event["ts"] >= 2.5 * DAY:
            event["model"] = "second"
    out, path = tmp_path / "past.om", write(tmp_path / "events.ndjson", events)
    assert ran(capsys, "replay", path, "--openmetrics", out, "--step", "12h").code == 0
    found = parsed(out.read_text())
    pending = {
        at: [dict(key[1:])["model"] for key in samples if "pending_predictions" in key[0]]
        for at, samples in found.items()
    }
    assert pending[2 * DAY] == ["default"]
    assert pending[3.5 * DAY] == ["default", "second"]


def test_labels_of_the_target_can_be_chosen(capsys, tmp_path):
    out, path = tmp_path / "past.om", write(tmp_path / "events.ndjson", stream(days=1))
    words = ["--openmetrics", out, "--target", "instance=pm-0:9108", "--target", 'team=a "b"']
    assert ran(capsys, "replay", path, *words).code == 0
    (line,) = {x.rpartition(" ")[0] for x in out.read_text().splitlines() if "build_info{" in x}
    assert 'instance="pm-0:9108",job="precision-monitor"' in line
    assert 'team="a \\"b\\""' in line


def test_what_could_be_read_of_a_torn_file_is_written(capsys, tmp_path):
    torn, out = tmp_path / "torn.ndjson.gz", tmp_path / "past.om"
    torn.write_bytes(FLIGHTS.read_bytes()[:60_000])
    done = ran(capsys, "replay", torn, "--openmetrics", out, "--step", "7d")
    assert done.code == 3
    assert out.read_text().endswith("# EOF\n")


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--step", "1h"], "--step and --target need --openmetrics"),
        (["--target", "a=b"], "--step and --target need --openmetrics"),
        (["--openmetrics", "{}/om", "--step", "30s"], "at least the pane (1m), got '30s'"),
        (["--openmetrics", "{}/om", "--step", "soon"], "--step: "),
        (["--openmetrics", "{}/om", "--target", "a-b=c"], "label as NAME=VALUE, got 'a-b=c'"),
        (["--openmetrics", "{}"], "is a directory"),
        (["--openmetrics", "{}/none/om"], "No such file or directory"),
    ],
)
def test_what_does_not_fit_is_one_line(capsys, tmp_path, words, reported):
    path = write(tmp_path / "events.ndjson", stream(days=1))
    done = ran(capsys, "replay", path, *(word.format(tmp_path) for word in words))
    assert (done.code, done.out) == (2, "")
    assert reported in done.err
    assert done.err.count("\n") == 1


def test_nothing_is_written_of_what_cannot_be_read(capsys, tmp_path):
    out = tmp_path / "past.om"
    done = ran(capsys, "replay", tmp_path / "missing", "--openmetrics", out)
    assert done.code == 3
    assert list(tmp_path.iterdir()) == []
