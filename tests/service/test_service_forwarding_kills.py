"""Shards and a receiver as real processes, killed while they forward."""

import json
import random
from collections import Counter

import httpx
import pytest
from benchmarks.kills import START, Service, until
from prometheus_client.parser import text_string_to_metric_families

PREDICTIONS = 600
ROUNDS = 6
REJECTED = "precision_monitor_events_rejected_total"


class Cluster:
    """Two shards that forward to a receiver."""

    def __init__(self, folder):
        self.receiver = self._start(folder / "receiver")
        forward = f"forward: {{to: '{self.receiver.feed}', every: 500ms, timeout: 5s}}\n"
        self.shards = [self._start(folder / name, more=forward) for name in ("one", "two")]

    def _start(self, folder, **more):
        folder.mkdir()
        (folder / "events.ndjson").touch()  # the file that it follows
        made = Service(folder, **more)
        made.start()
        return made

    @property
    def all(self):
        return [*self.shards, self.receiver]

    def close(self):
        for service in self.all:
            service.kill()
            service.close()


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path)
    yield made
    made.close()


def posted(service, events):
    """Events that a shard has acknowledged, however often they had to be sent."""
    lines = "".join(json.dumps(event) + "\n" for event in events)

    def taken():
        try:
            return httpx.post(f"{service.feed}/v1/events", content=lines).status_code == 200
        except httpx.TransportError:
            return False

    until(taken)


def events_of(numbers, chance):
    """Predictions and their labels, some of them revised."""
    for n in numbers:
        at = START + n
        yield {"type": "prediction", "id": f"p{n}", "ts": at, "prediction": n % 2}
        yield {"type": "label", "id": f"p{n}", "ts": at + 10, "label": chance.randint(0, 1)}
        yield {"type": "label", "id": f"p{n}", "ts": at + 20, "label": int(n % 3 == 0)}


def counted(service):
    """Outcomes and predictions that a process has counted, and records that it rejected."""
    try:
        answer = httpx.get(f"{service.exporter}/metrics")
    except httpx.TransportError:
        return {}
    if answer.status_code != httpx.codes.OK:
        return {}  # its state is being restored
    found = Counter()
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            if sample.labels.get("window") == "all" and sample.name == "classifier_window_outcomes":
                found[sample.labels["outcome"]] += int(sample.value)
            elif sample.name in ("classifier_predictions_total", REJECTED):
                found[sample.name] += int(sample.value)
    return found


def cell_of(n):
    return {(1, 1): "tp", (1, 0): "fp", (0, 1): "fn", (0, 0): "tn"}[n % 2, int(n % 3 == 0)]


@pytest.mark.slow
def test_kills_of_shards_and_receiver_lose_nothing_and_double_nothing(cluster):
    chance = random.Random(7)
    for number in range(ROUNDS):
        for i, shard in enumerate(cluster.shards):
            numbers = range(number * PREDICTIONS // ROUNDS, (number + 1) * PREDICTIONS // ROUNDS)
            posted(shard, [*events_of(numbers[i::2], chance)])
        killed = chance.sample(cluster.all, chance.randint(1, 2))
        for service in killed:
            service.kill()
        for service in killed:
            service.start()
    cells = [cell_of(n) for n in range(PREDICTIONS)]
    expected = Counter({"classifier_predictions_total": PREDICTIONS, REJECTED: 0, **Counter(cells)})
    until(lambda: counted(cluster.receiver) == expected)
    for service in cluster.all:
        service.kill()
        service.start()
    cluster.receiver.until_ready()
    until(lambda: counted(cluster.receiver) == expected)
    cluster.shards[0].until_ready()
    text = httpx.get(f"{cluster.shards[0].exporter}/metrics").text
    assert "precision_monitor_forward_last_success_timestamp_seconds " in text
