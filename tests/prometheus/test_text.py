from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from prometheus.snapshots import nothing, snapshot, snapshots
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from monitor.prometheus.collector import SnapshotCollector
from monitor.prometheus.text import TextWriter
from monitor.snapshot import Snapshot

EOF = b"# EOF\n"


def registry_of(state: Snapshot) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: state))
    return registry


def samples(metrics: Iterable[Metric]) -> dict[tuple[Any, ...], float]:
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for metric in metrics
        for sample in metric.samples
    }


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(state=snapshots)
def test_the_fast_writer_equals_the_library_byte_for_byte(state: Snapshot) -> None:
    writer, registry = TextWriter(), registry_of(state)
    assert writer.write(state) == generate_latest(registry)
    assert writer.write(state, openmetrics=True) + EOF == generate_openmetrics(registry)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(states=snapshots.flatmap(lambda one: snapshots.map(lambda other: (one, other, one))))
def test_what_the_writer_remembers_never_shows(states: Any) -> None:
    writer = TextWriter()
    for state in states:
        assert writer.write(state) == TextWriter().write(state)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(state=snapshots)
def test_both_formats_read_back_as_what_the_collector_gives(state: Snapshot) -> None:
    writer = TextWriter()
    given_samples = samples(SnapshotCollector(lambda: state).collect())
    text = writer.write(state, openmetrics=True) + EOF
    assert samples(parse_openmetrics(text.decode())) == given_samples
    assert samples(parse_text(writer.write(state).decode())) == given_samples


@pytest.mark.parametrize("largest", [10, 1 << 21, 1 << 40, 1 << 60])
def test_large_counts_are_written_as_go_writes_them(largest: int) -> None:
    state = snapshot(largest=largest)
    assert TextWriter().write(state) == generate_latest(registry_of(state))


def test_a_fresh_monitor_has_a_scrape_too() -> None:
    state = nothing()
    assert TextWriter().write(state) == generate_latest(registry_of(state))
    assert b"precision_monitor_records_total 1234.0\n" in TextWriter().write(state)


def test_an_exposition_looks_as_recorded(golden: Callable[[str, str], None]) -> None:
    state = snapshot(segments=[("region", "eu")], windows=["1h"], class_ratios=[1.0], undefined=0.2)
    lines = TextWriter().write(state).decode().splitlines(keepends=True)
    golden("exposition.txt", "".join(x for x in lines if "build_info{" not in x))
