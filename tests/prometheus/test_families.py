import math
import re
from dataclasses import replace

import numpy as np
import pytest
from prometheus.snapshots import NOON_MS, nothing, snapshot
from prometheus_client import CollectorRegistry
from prometheus_client.core import Sample

from monitor import metrics
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.reject_reasons import RejectReason
from monitor.prometheus.collector import SnapshotCollector
from monitor.prometheus.families import FAMILIES, table_of_series, table_of_series_markdown
from monitor.prometheus.family import Family, shape_of
from monitor.snapshot import METRIC_NAMES, Estimate, Snapshot

CONTRACT = {
    "classifier_precision_ratio",
    "classifier_precision_lower_ratio",
    "classifier_precision_upper_ratio",
    "classifier_balanced_precision_ratio",
    "classifier_balanced_precision_lower_ratio",
    "classifier_balanced_precision_upper_ratio",
    "classifier_recall_ratio",
    "classifier_recall_lower_ratio",
    "classifier_recall_upper_ratio",
    "classifier_false_positive_ratio",
    "classifier_false_positive_lower_ratio",
    "classifier_false_positive_upper_ratio",
    "classifier_prevalence_ratio",
    "classifier_prevalence_lower_ratio",
    "classifier_prevalence_upper_ratio",
    "classifier_reference_precision_ratio",
    "classifier_class_ratio",
    "classifier_log_likelihood_ratio",
    "classifier_window_outcomes",
    "classifier_predictions_total",
    "classifier_labels_total",
    "classifier_label_transitions_total",
    "classifier_label_coverage_ratio",
    "classifier_label_delay_seconds",
    "classifier_window_info",
    "classifier_model_info",
    "precision_monitor_events_total",
    "precision_monitor_events_rejected_total",
    "precision_monitor_pending_predictions",
    "precision_monitor_watermark_timestamp_seconds",
    "precision_monitor_series",
    "precision_monitor_build_info",
}


def registry_of(state: Snapshot) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: state))
    return registry


def samples_of(state: Snapshot, name: str) -> list[Sample]:
    metrics = SnapshotCollector(lambda: state).collect()
    return [s for metric in metrics for s in metric.samples if s.name == name]


def test_every_name_of_the_contract_is_in_the_table() -> None:
    assert {series.name for series in table_of_series()} >= CONTRACT


def test_the_table_for_people_has_a_row_for_each_family() -> None:
    rows = table_of_series_markdown().splitlines()[2:]
    assert len(rows) == len(table_of_series())
    assert all(row.count("|") == 5 for row in rows)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_names_types_and_help_are_sound(family: Family) -> None:
    assert re.fullmatch(r"(classifier|precision_monitor)_[a-z_]+", family.name)
    assert family.name.endswith("_total") == (family.kind == "counter")
    assert family.name.endswith("_info") == (family.kind == "info")
    assert not set(family.meaning) & set('"\\\n')
    assert family.meaning.endswith(".")


def test_no_name_belongs_to_two_families() -> None:
    assert len({family.metric_name for family in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("state", [snapshot(), nothing()], ids=["full", "nothing"])
def test_there_is_one_number_for_each_possible_sample(family: Family, state: Snapshot) -> None:
    lines = family.lines(shape_of(state))
    assert family.values(state).shape == (len(lines),)
    assert all(set(labels) <= {*family.labels, "le"} for labels, _ in lines)
    identities = [(suffix, *sorted(labels.items())) for labels, suffix in lines]
    assert len(set(identities)) == len(identities)


def test_a_value_stands_at_the_row_that_it_belongs_to() -> None:
    state = snapshot(models=("a", "b"), undefined=0)
    wanted = {"model": "b", "window": "1d", "segment": "region", "value": "us"}
    (sample,) = [s for s in samples_of(state, "classifier_recall_ratio") if s.labels == wanted]
    assert sample.value == state.windows[1].metrics["recall"].estimate[5]


def test_the_lifetime_is_there_for_totals_only() -> None:
    state = snapshot(models=("a", "b"), undefined=0)
    of_lifetime = {
        tuple(sorted(s.labels.items())): s.value
        for s in samples_of(state, "classifier_window_outcomes")
        if s.labels["window"] == "all" and s.labels["outcome"] == "fp"
    }
    assert of_lifetime == {
        (("model", "a"), ("outcome", "fp"), ("window", "all")): state.lifetime.counts.fp[0],
        (("model", "b"), ("outcome", "fp"), ("window", "all")): state.lifetime.counts.fp[3],
    }


def test_each_class_ratio_is_a_label_value_in_its_shortest_form() -> None:
    found = samples_of(snapshot(undefined=0), "classifier_reference_precision_ratio")
    assert {s.labels["class_ratio"] for s in found} == {"1", "0.1", "reference"}


def test_precision_is_always_published_at_the_references_own_class_ratio() -> None:
    state = snapshot(class_ratios=(), undefined=0)
    window, reference = state.windows[0], state.models[0].watched.reference
    assert reference is not None
    counts = window.counts
    rates = {name: getattr(metrics, name)(counts) for name in window.metrics}
    real = replace(window, metrics={n: Estimate(v, v, v) for n, v in rates.items()})
    state = replace(state, windows=(real,))
    found = {
        s.labels.get("value", ""): s.value
        for s in samples_of(state, "classifier_reference_precision_ratio")
        if s.labels["window"] == real.name
    }
    expected = metrics.precision_at(counts, class_ratio=reference.class_ratio)
    assert list(found.values()) == pytest.approx(expected.tolist(), rel=1e-12)
    (ratio,) = samples_of(state, "classifier_reference_class_ratio")
    assert ratio.value == pytest.approx(8_931 / 19_360)
    (version,) = samples_of(state, "classifier_reference_version")
    assert version.value == 1


def test_undefined_is_absent() -> None:
    state = snapshot(undefined=1)
    ratios = [name for name in CONTRACT if re.search("precision|recall|positive|prevalence", name)]
    for name in ratios:
        assert name.startswith("precision_monitor") or not samples_of(state, name)


def test_no_sample_is_ever_nan() -> None:
    for state in (snapshot(undefined=0.5), nothing()):
        for metric in SnapshotCollector(lambda state=state: state).collect():
            assert not any(math.isnan(sample.value) for sample in metric.samples)


def test_coverage_is_absent_where_nothing_was_predicted() -> None:
    state = snapshot()
    for window in (*state.windows, state.lifetime):
        window.predicted_positive[:] = 0
    found = samples_of(state, "classifier_label_coverage_ratio")
    assert {s.labels["predicted"] for s in found} == {"negative"}


def test_window_edges_are_absent_until_time_is_known() -> None:
    assert not samples_of(snapshot(now_ms=None), "classifier_window_close_timestamp_seconds")
    found = samples_of(snapshot(), "classifier_window_close_timestamp_seconds")
    assert {s.value for s in found} == {NOON_MS / 1000}


def test_every_counter_starts_at_zero() -> None:
    state = snapshot(events={}, rejected={})
    rejected = samples_of(state, "precision_monitor_events_rejected_total")
    assert {s.labels["reason"]: s.value for s in rejected} == dict.fromkeys(RejectReason, 0)
    events = samples_of(state, "precision_monitor_events_total")
    assert [s.value for s in events] == [0, 0, 0, 0, 0]


def test_delays_are_a_cumulative_histogram() -> None:
    state = snapshot()
    wanted = state.models[0].delay_counts[1]
    found = [
        s
        for s in samples_of(state, "classifier_label_delay_seconds_bucket")
        if s.labels["label"] == "positive"
    ]
    assert [s.value for s in found] == np.cumsum(wanted).tolist()
    assert found[-1].labels["le"] == "+Inf"


def test_a_lone_surrogate_in_a_name_does_not_stop_the_scrape() -> None:
    (sample,) = samples_of(snapshot(models=("a\ud800",)), "precision_monitor_pending_predictions")
    assert sample.labels == {"model": "a\\ud800"}


def test_a_registry_refuses_a_second_owner_of_the_names() -> None:
    registry = registry_of(snapshot())
    with pytest.raises(ValueError, match="Duplicated"):
        registry.register(SnapshotCollector(snapshot))


def test_the_books_of_a_real_monitor_close_on_its_series() -> None:
    monitor = Monitor(Config(models={"fraud": {"segments": ["region"]}}))
    for i in range(20):
        monitor.predict(str(i), ts=i, prediction=i % 3 == 0, segment={"region": str(i % 2)})
    for i in (0, 1, 1, 3, 99):
        monitor.label(str(i), ts=i + 60, label=i % 2 == 0)
    state = monitor.snapshot()
    registry = registry_of(state)

    def total(name: str) -> float:
        return sum(sample.value for sample in samples_of(state, name))

    def one(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, labels)

    events = "precision_monitor_events_total"
    assert total("precision_monitor_predictions") == one(events, type="prediction") == 20
    assert total("precision_monitor_labels") == one(events, type="label") == 5
    assert one("precision_monitor_predictions", model="fraud", state="matched") == 3
    everything = {"model": "fraud", "window": "all"}
    assert one("classifier_window_outcomes", **everything, outcome="tp") == 1
    index = METRIC_NAMES.index("precision")
    precision = state.lifetime.metrics[METRIC_NAMES[index]].estimate[state.models[0].row]
    assert one("classifier_precision_ratio", **everything) == precision == 0.5
