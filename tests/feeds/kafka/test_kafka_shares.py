"""Two monitors, each on a share of the partitions: by the recording rules they are one."""

import json
import subprocess

import pytest
import yaml
from deploy.expressions import RULES
from feeds.kafka.cluster import FakeCluster, places
from feeds.kafka.reader import Reader, counted, stream
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from monitor.prometheus.exposition import Exposition

TOPICS = ["predictions", "labels"]
PARTITIONS = 4


def samples(reader, name):
    """A family of a monitor's exposition: labels and value of each sample."""
    exposition = Exposition(reader.monitor.snapshot, CollectorRegistry())
    text = exposition.render(openmetrics=False, gzip=False).decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return [(sample.labels, sample.value) for sample in families[name].samples]


def as_series(name, labels):
    return f"{name}{{{','.join(f'{key}={json.dumps(labels[key])}' for key in sorted(labels))}}}"


@pytest.mark.system
def test_the_series_of_shares_sum_to_the_truth_by_the_recording_rules(system_program, tmp_path):
    promtool = system_program("promtool")
    cluster = FakeCluster(*places("predictions", PARTITIONS), *places("labels", PARTITIONS))
    events = stream(2000)
    for event in events:
        number = sum(event["id"].encode()) % PARTITIONS
        cluster.produce((f"{event['type']}s", number), event, time_ms=1000 * event["ts"])
    shares = [Reader(cluster, topics=TOPICS, partitions=own).turns() for own in ([0, 1], [2, 3])]
    outcomes = "classifier_window_outcomes"
    given = [
        (as_series(outcomes, {**labels, "instance": f"m{number}", "job": "monitor"}), value)
        for number, share in enumerate(shares)
        for labels, value in samples(share, outcomes)
        if labels["window"] == "all"
    ]
    truth = counted(events)
    assert len(given) == 8
    assert min(truth.values()) > 0
    precision = truth["tp"] / (truth["tp"] + truth["fp"])
    common = {"model": "default", "window": "all", "job": "monitor"}
    summed = "model_window:classifier_outcomes:sum"
    ratio = "model_window:classifier_precision:ratio"
    tests = [
        {
            "interval": "1m",
            "input_series": [{"series": s, "values": f"{v:.0f}x5"} for s, v in given],
            "promql_expr_test": [
                {
                    "expr": summed,
                    "eval_time": "3m",
                    "exp_samples": [
                        {"labels": as_series(summed, {**common, "outcome": cell}), "value": count}
                        for cell, count in truth.items()
                    ],
                },
                {
                    "expr": ratio,
                    "eval_time": "3m",
                    "exp_samples": [{"labels": as_series(ratio, common), "value": precision}],
                },
            ],
        }
    ]
    path = tmp_path / "shares.test.yml"
    path.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "tests": tests}))
    done = subprocess.run(
        [promtool, "test", "rules", path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, done.stdout), done.stderr
