"""`windows: auto`: a model uses the windows that its volume fills."""

import json

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families
from watch.hourly import batch_of_counts, rates, stream

from monitor.config import Config
from monitor.counts import Outcome
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.prometheus.collector import SnapshotCollector
from monitor.prometheus.text import TextWriter
from monitor.report.replay_json import replay_json
from monitor.report.unused_windows import unused_windows_text

HOURS, HOUR_MS = 24 * 40, 3_600_000
START_MS = 1_767_225_600_000
ALL, RARE = ("1h", "1d", "7d", "28d"), {"1h", "1d"}


def fed(per_hour, windows="auto", hours=HOURS):
    monitor = Monitor(Config(defaults={"maturity": "0s"}, windows=windows))
    cells = stream(per_hour, rates(hours))
    times = START_MS + HOUR_MS * np.arange(hours)
    for day in range(0, hours, 24):
        some = slice(day, day + 24)
        monitor.apply(batch_of_counts(times[some], {(): cells[some]}))
    return monitor.snapshot()


@pytest.fixture(scope="module")
def few():
    """120 predictions a day, twelve of them positive: a day holds fewer than 20."""
    return fed(5)


def windows_of(families, model="m"):
    """Names of the windows that some samples of a model have."""
    samples = [sample.labels for family in families for sample in family.samples]
    return {
        labels["window"]
        for labels in samples
        if labels.get("model") == model and "window" in labels
    }


def test_short_windows_of_a_model_with_few_positives_are_not_used(few):
    (model,) = few.models
    assert set(model.unused_windows) == RARE
    assert set(model.watched.verdicts) == {"7d", "28d"}
    assert set(json.loads(replay_json(few))["models"]["m"]["windows"]) == {"7d", "28d"}
    (status,) = status_answer(few, limit=1).models
    assert tuple(status.windows) == ("7d", "28d")
    assert status.unused_windows == ("1h", "1d")
    assert status.verdict_window in status.windows


def test_they_have_no_series_by_either_encoder(few):
    text = text_string_to_metric_families(TextWriter().write(few).decode())
    assert windows_of(text) == {"7d", "28d", "all"}
    assert windows_of(SnapshotCollector(lambda: few).collect()) == {"7d", "28d", "all"}


def test_a_writer_follows_as_windows_come_into_use(few):
    writer, many = TextWriter(), fed(1_000)
    for snapshot, seen in ((few, {"7d", "28d"}), (many, set(ALL)), (few, {"7d", "28d"})):
        text = text_string_to_metric_families(writer.write(snapshot).decode())
        assert windows_of(text) == {*seen, "all"}


def test_a_model_with_many_positives_uses_every_window():
    (model,) = fed(1_000, hours=24 * 10).models
    assert model.unused_windows == ()


def test_without_a_reference_every_window_is_used():
    (model,) = fed(5, hours=24).models
    assert model.watched.reference is None
    assert model.unused_windows == ()


def test_windows_that_are_listed_are_always_used():
    (model,) = fed(5, windows=["1h", "7d"]).models
    assert model.unused_windows == ()


def test_the_counts_of_used_windows_are_those_of_listed_ones(few):
    listed = fed(5, windows=ALL)
    for own, other in zip(few.windows, listed.windows, strict=True):
        assert own.counts == other.counts
        assert own.counts.cells.shape[-1] == len(Outcome)


def test_what_is_not_shown_is_one_sentence():
    assert unused_windows_text(()) == ""
    assert unused_windows_text(("1h",)) == (
        "The window 1h is not shown: at the volume of the reference it holds fewer than 20 "
        "positives or 20 flagged cases."
    )
    assert unused_windows_text(("1h", "1d")).startswith("The windows 1h and 1d are not shown: ")
