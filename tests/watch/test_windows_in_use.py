"""A model uses the windows of its volume, under `windows: auto` and where none are listed."""

import json
from dataclasses import replace

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families
from watch.hourly import batch_of_counts, rates, stream

from monitor.cli.top import table
from monitor.config import Config
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.all_looks import Looks
from monitor.drift.day_scatter import DayScatter
from monitor.drift.dispersion import Dispersion
from monitor.drift.recall_evidence import recall_evidence
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.metrics.rates import recall
from monitor.prometheus.collector import SnapshotCollector
from monitor.prometheus.text import TextWriter
from monitor.report.replay_json import replay_json
from monitor.report.unused_windows import unused_windows_text
from monitor.verdicts import ReferenceOutcomes
from monitor.watch.windows_in_use import uses_longer

HOURS, HOUR_MS = 24 * 40, 3_600_000
START_MS = 1_767_225_600_000
ALL, RARE = ("1h", "1d", "7d", "28d"), {"1h", "1d"}


def fed(per_hour, windows="auto", hours=HOURS):
    listed = {} if windows is None else {"windows": windows}
    monitor = Monitor(Config(defaults={"maturity": "0s"}, **listed))
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


@pytest.fixture(scope="module")
def default_few():
    """Likewise without `windows`: 84 positives a week."""
    return fed(5, windows=None)


def test_without_windows_in_the_configuration_a_model_of_few_positives_has_28_days(default_few):
    (model,) = default_few.models
    assert model.unused_windows == ()
    assert set(model.watched.verdicts) == set(ALL)
    assert windows_of(SnapshotCollector(lambda: default_few).collect()) == {*ALL, "all"}
    assert tuple(status_answer(default_few, limit=1).models[0].windows) == ALL


def test_its_28_days_are_those_of_a_listed_window(default_few):
    listed = fed(5, windows=ALL)
    for own, other in zip(default_few.windows, listed.windows, strict=True):
        assert own.name == other.name
        assert own.open.tolist() == other.open.tolist()
        assert own.counts == other.counts
    (own,), (other,) = default_few.models, listed.models
    assert own.watched.verdicts["28d"].verdict is other.watched.verdicts["28d"].verdict
    assert own.watched.detections == other.watched.detections


_DEVIATIONS = np.random.default_rng(4).normal(size=40)


def _verdicts(rates_by_hour, **settings):
    monitor = Monitor(Config(defaults={"maturity": "0s", **settings}))
    times = START_MS + HOUR_MS * np.arange(len(rates_by_hour))
    cells = stream(1_000, rates_by_hour)
    for day in range(0, len(times), 24):
        some = slice(day, day + 24)
        monitor.apply(batch_of_counts(times[some], {(): cells[some]}))
    return monitor.snapshot().models[0].watched.verdicts


def scattering(sd, *, days=28):
    """Days of 1,000 positives and 9,000 negatives whose recall scatters about .8."""
    deviations = np.random.default_rng(4).normal(size=days) * sd
    found = 1_000 / (1 + np.exp(-(np.log(4) + deviations)))
    cells = np.stack([found, np.full(days, 450.0), 1_000 - found, np.full(days, 8_550.0)], axis=-1)
    return ConfusionCounts.from_cells(np.round(cells))


@pytest.mark.parametrize(("sd", "longer"), [(0.0, False), (0.2, False), (0.7, True)])
def test_a_model_whose_days_scatter_widely_has_28_days_whatever_its_volume(sd, longer):
    days = scattering(sd)
    whole = ReferenceOutcomes(
        source="first", opens=0, closes=28 * 24 * HOUR_MS, counts=days.sum(axis=-1)
    )
    scatter = DayScatter.learn([days])
    assert uses_longer(whole, scatter) is longer
    assert not uses_longer(whole)
    assert not uses_longer(replace(whole, opens=None, closes=None), scatter)
    week = ConfusionCounts.from_cells(whole.counts.cells / 4)
    found = recall_evidence(week, Dispersion.of(1.0), scatter.between(28, 7), Looks(7))
    assert (found.excluded < 0.8 * recall(week)) == longer


def test_the_live_windows_of_a_model_follow_from_how_its_days_scatter():
    hours = 24 * 40
    wide = rates(hours)
    wide[:, 1] = np.repeat(1 / (1 + np.exp(-(np.log(4) + 0.7 * _DEVIATIONS))), 24)
    assert "28d" not in _verdicts(rates(hours))
    assert "28d" in _verdicts(wide)
    assert "28d" not in _verdicts(wide, reference={"trailing": "7d"}), "it would come and go"


def test_without_windows_a_model_of_many_positives_has_the_three_of_the_contract():
    snapshot = fed(1_000, windows=None, hours=24 * 10)
    (model,) = snapshot.models
    assert model.watched.reference is not None
    assert [window.name for window in snapshot.windows] == ["1h", "1d", "7d"]
    assert set(model.watched.verdicts) == {"1h", "1d", "7d"}
    assert model.unused_windows == ()


def test_a_longer_window_needs_a_reference_and_no_list_of_windows():
    assert [window.name for window in fed(5, windows=None, hours=24).windows] == list(ALL[:3])
    assert [window.name for window in fed(5, windows=ALL[:3]).windows] == list(ALL[:3])


def test_two_models_have_windows_of_their_own():
    monitor = Monitor(Config(defaults={"maturity": "0s"}))
    hours = 24 * 10
    for name, per_hour in (("few", 5), ("many", 1_000)):
        cells = stream(per_hour, rates(hours))
        times = START_MS + HOUR_MS * np.arange(hours)
        monitor.apply(batch_of_counts(times, {(): cells}, model=name))
    snapshot = monitor.snapshot()
    unused = {model.name: model.unused_windows for model in snapshot.models}
    assert unused == {"few": (), "many": ("28d",)}
    families = list(SnapshotCollector(lambda: snapshot).collect())
    assert windows_of(families, "few") == {*ALL, "all"}
    assert windows_of(families, "many") == {*ALL[:3], "all"}
    status = status_answer(snapshot, limit=2)
    assert status.verdict_window == "7d", "the longest that both have"
    assert {"few", "many"} <= {line.split()[0] for line in table(status) if line}
    answers = {model.name: model for model in status.models}
    assert tuple(answers["many"].windows) == ALL[:3]
    assert unused_windows_text(unused["many"]) == ""


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "longer"),
    [(160, 80, 40, False), (160, 40, 39, True), (160, 39, 40, True), (160, 40, 40, False)],
)
def test_a_week_with_fewer_than_200_of_either_is_not_enough(tp, fp, fn, longer):
    counts = ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=4_000)
    week = ReferenceOutcomes(source="first", opens=0, closes=7 * 24 * HOUR_MS, counts=counts)
    assert uses_longer(week) is longer
    assert uses_longer(replace(week, closes=14 * 24 * HOUR_MS))
    assert not uses_longer(replace(week, opens=None, closes=None))
