"""The series about versions, over a monitor that counts two of them apart."""

import pytest
from prometheus_client.parser import text_string_to_metric_families
from watch.shadowed import SHADOW, shadow_config, shadowed
from watch.versioned import BEGAN, DAY, config_of, fed, model_of, stream

from monitor.events.columns import Series
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import shape_of
from monitor.prometheus.series_limit import limited
from monitor.prometheus.text import TextWriter
from monitor.verdicts import NAMED_VERSIONS


@pytest.fixture(scope="module")
def monitor():
    return fed(stream(recall=(0.9, 0.5), a_day=1_008))


@pytest.fixture(scope="module")
def samples(monitor):
    return samples_of(monitor.snapshot())


def samples_of(snapshot):
    text = TextWriter().write(snapshot).decode()
    return [s for family in text_string_to_metric_families(text) for s in family.samples]


def numbers(samples, name, **labels):
    return [s.value for s in samples if s.name == name and labels.items() <= s.labels.items()]


def test_each_version_has_an_info_and_the_time_of_its_first_prediction(samples):
    assert numbers(samples, "classifier_version_info", version="6") == [1]
    began = "classifier_version_first_seen_timestamp_seconds"
    assert numbers(samples, began, version="6") == [0]
    assert numbers(samples, began, version="7") == [BEGAN]


def test_the_shares_of_the_traffic_are_those_of_the_predictions(monitor, samples):
    snapshot = monitor.snapshot()
    for window in snapshot.windows:
        made = window.predicted_positive + window.predicted_negative
        row = snapshot.series.index(Series("m", "version", "7"))
        whole = made[model_of(monitor).row]
        labels = {"window": window.name, "version": "7"}
        (share,) = numbers(samples, "classifier_version_traffic_ratio", **labels)
        assert share == made[row] / whole
        assert 0.1 < share < 0.5
        shares = numbers(samples, "classifier_version_traffic_ratio", window=window.name)
        assert sum(shares) == pytest.approx(1)


def test_the_verdict_and_its_sequence_are_those_of_the_comparison(monitor, samples):
    found = model_of(monitor).versions_now.compared.comparison.strata.found
    name, labels = "classifier_version_verdict", {"version": "7", "against": "6"}
    assert found.verdict == "worse"
    assert numbers(samples, name, verdict="worse", **labels) == [1]
    assert numbers(samples, name) == [0, 1, 0, 0]
    for suffix, value in (("", found.change), ("_lower", found.lower), ("_upper", found.upper)):
        assert numbers(samples, f"classifier_version_log_odds_ratio{suffix}", **labels) == [value]


def test_the_metrics_of_a_version_are_those_of_its_segment_value(monitor, samples):
    snapshot = monitor.snapshot()
    row = snapshot.series.index(Series("m", "version", "7"))
    labels = {"segment": "version", "value": "7", "window": "7d"}
    (recall,) = numbers(samples, "classifier_recall_ratio", **labels)
    assert recall == snapshot.windows[1].metrics["recall"].estimate[row]
    assert 0.3 < recall < 0.7
    assert numbers(samples, "classifier_recall_ratio", version="7") == []


def test_before_anything_is_mature_verdict_and_sequence_are_absent():
    found = samples_of(fed([e for e in stream() if e["ts"] < BEGAN + DAY / 2]).snapshot())
    assert numbers(found, "classifier_version_info") == [1, 1]
    assert numbers(found, "classifier_version_verdict") == []
    assert numbers(found, "classifier_version_log_odds_ratio") == []


def test_versions_that_are_not_counted_apart_have_only_their_beginning():
    config = config_of("models: {m: {segments: [region], label_timeout: 3d}}")
    found = samples_of(fed(stream(days=5), config).snapshot())
    names = {s.name for s in found if "version_" in s.name and "reference" not in s.name}
    assert names == {"classifier_version_info", "classifier_version_first_seen_timestamp_seconds"}


def test_only_the_versions_that_began_last_are_listed():
    events = [
        {"type": "prediction", "id": f"i{n}", "ts": 60 * n, "prediction": 1, "version": f"v{n}"}
        for n in range(12)
    ]
    monitor = fed([e | {"model": "m"} for e in events])
    found = [
        s.labels["version"]
        for s in samples_of(monitor.snapshot())
        if s.name == "classifier_version_info"
    ]
    assert found == [f"v{n}" for n in range(12)][-NAMED_VERSIONS:]


def test_a_scrape_with_versions_stays_within_its_limit(monitor):
    snapshot = monitor.snapshot()
    most = len(samples_of(snapshot))
    nothing = len(samples_of(limited(snapshot, 0)[0]))
    for limit in range(0, most + 400, 37):
        part, left = limited(snapshot, limit)
        assert len(samples_of(part)) <= max(limit, nothing)
        assert left.models == 1 - len(part.models)


def test_states_of_shadow_predictions_add_up_and_a_gate_reads_the_paired_verdict():
    events = shadowed(stream(a_day=240, days=12))
    snapshot = fed(events, shadow_config()).snapshot()
    samples = samples_of(snapshot)
    name = "precision_monitor_shadow_predictions"
    received = sum(e.get("version") == SHADOW for e in events)
    assert sum(numbers(samples, name, model="m")) == received
    assert numbers(samples, "precision_monitor_events_total", type="shadow") == [received]
    assert sum(numbers(samples, "precision_monitor_predictions")) == sum(
        numbers(samples, "precision_monitor_events_total", type="prediction")
    )
    verdict = {"version": SHADOW, "against": "6", "verdict": "worse"}
    assert numbers(samples, "classifier_version_verdict", **verdict) == [1]
    assert numbers(samples, "classifier_version_info", version=SHADOW) == []


def test_the_limit_of_series_knows_those_of_shadow_versions():
    snapshot = fed(shadowed(stream(days=6)), shadow_config()).snapshot()
    whole = sum(len(family.lines(shape_of(snapshot))) for family in FAMILIES)
    assert limited(snapshot, whole)[0] is snapshot
    assert any(limited(snapshot, whole - 1)[1])


def test_a_change_has_its_time_its_interval_and_its_version():
    reference = "reference: {counts: {tp: 27000, fp: 7000, fn: 3000, tn: 63000}}"
    config = config_of(
        f"models: {{m: {{label_timeout: 3d, maturity: 1d, {reference}}}}}\nwindows: [1d, 3d]"
    )
    events = stream(recall=(0.9, 0.5), a_day=1_200, until=BEGAN, days=7)
    monitor = fed(events, config)
    began, found = model_of(monitor).watched.began, samples_of(monitor.snapshot())
    for infix, moment in (("", began.at), ("lower_", began.earliest), ("upper_", began.latest)):
        name = f"classifier_change_{infix}timestamp_seconds"
        assert numbers(found, name, model="m") == [moment / 1000]
    assert began.earliest <= BEGAN * 1000 <= began.latest
    assert numbers(found, "classifier_change_version_info", version="7") == [1]
    assert len(numbers(found, "classifier_change_version_info")) == 1
    before = samples_of(fed([e for e in events if e["ts"] < BEGAN], config).snapshot())
    assert not [s for s in before if s.name.startswith("classifier_change_")]
