"""A shard that stops sends what it has not sent yet, as far as it comes."""

import threading

import pytest
from engine.test_forwarding import counted, receiving
from service.forwarding import NOW, TO, Cluster, config_of, other_segments
from shards import assert_same, lines_of, stream
from simulator.process import Process

from monitor.clock import ManualClock
from monitor.prometheus.forward_series import FORWARD_UNSENT
from monitor.service import forward_rest
from monitor.service.changes import restart_faults
from monitor.service.forward_requests import ReceiverAnswer
from monitor.service.stopped_forwarding import stop_forwarding
from monitor.state import StateError


@pytest.fixture
def cluster(tmp_path):
    made = Cluster(tmp_path, shards=1)
    yield made
    made.close()


def last_words(made):
    return [line for line in made.shards[0].said if line.startswith(TO)][-1]


@pytest.mark.parametrize("waits", range(8))
def test_a_stop_sends_all_that_is_left(cluster, waits):
    events = stream(60, seed=4)
    cluster.give(0, events[:40])
    for _ in range(waits):  # from nothing sealed yet to all of it sent
        cluster.wait(0)
        cluster.deliver(0)
    cluster.give(0, events[40:])
    shard = cluster.shards[0]
    shard.stop()
    assert last_words(cluster) == f"{TO}: the receiver has all counts"
    assert shard.forward_readings[FORWARD_UNSENT]() == {(): 0}
    cluster.receiver.settle()
    whole = receiving(cluster.receiver_config, [lines_of(events)])
    assert_same(cluster.received(), whole.snapshot())


def test_after_such_a_stop_models_may_start_anew_and_nothing_is_sent_twice(cluster):
    events = stream(60, seed=4)
    cluster.give(0, events)
    cluster.shards[0].stop()
    changed = other_segments(cluster.shards[0].config)
    cluster.shards[0] = Process(changed, cluster.clock, cluster.post)
    assert any("models start anew" in line for line in cluster.shards[0].said)
    cluster.settle()
    whole = receiving(cluster.receiver_config, [lines_of(events)])
    assert counted(cluster.received()) == counted(whole.snapshot())


def without_forwarding(shard):
    return shard.config.model_copy(update={"forward": None})


@pytest.mark.parametrize("waits", range(4))
def test_forwarding_is_not_taken_out_while_the_receiver_lacks_counts(cluster, waits):
    events = stream(60, seed=4)
    cluster.kill_receiver()
    cluster.give(0, events)
    for _ in range(waits):  # from nothing sealed yet to a batch on its way
        cluster.wait(0)
    cluster.shards[0].stop()
    unsent = int(cluster.shards[0].forward_readings[FORWARD_UNSENT]()[()])
    changed = without_forwarding(cluster.shards[0])
    with pytest.raises(StateError, match=f"does not have {unsent} changes of counts: put it back"):
        Process(changed, cluster.clock)
    cluster.shards[0] = cluster._shard(0)
    cluster.settle()
    whole = receiving(cluster.receiver_config, [lines_of(events)])
    assert_same(cluster.received(), whole.snapshot())
    cluster.shards[0].stop()
    cluster.shards[0] = Process(changed, cluster.clock)
    cluster.shards[0].turn()
    cluster.shards[0].stop()
    cluster.shards[0] = Process(changed, cluster.clock)


@pytest.mark.parametrize("waits", range(4))
def test_forwarding_ends_for_good_where_the_receiver_is_gone(cluster, waits):
    events = stream(60, seed=4)
    cluster.kill_receiver()
    cluster.give(0, events[:40])
    for _ in range(waits):  # from nothing sealed yet to a batch on its way
        cluster.wait(0)
    shard = cluster.shards[0]
    shard.stop()
    unsent, directory = int(shard.forward_readings[FORWARD_UNSENT]()[()]), state_of(shard)
    lost = f"{unsent} changes of counts of the newest checkpoint were left to send"
    assert stop_forwarding(directory) == f"forwarding ends; {lost}"
    with pytest.raises(StateError, match="forwards nothing"):
        stop_forwarding(directory)
    with pytest.raises(StateError, match="was taken out of the configuration for a while"):
        cluster._shard(0)
    shard = cluster.shards[0] = Process(without_forwarding(shard), cluster.clock)
    shard.settle()
    cluster.give(0, events[40:])
    shard.settle()
    whole = receiving(without_forwarding(shard), [lines_of(events)])
    assert counted(shard.service._monitor.snapshot()) == counted(whole.snapshot())


def state_of(shard):
    return shard.config.state.directory


def test_a_reload_without_forwarding_does_not_advise_to_lose_counts(cluster):
    config = cluster.shards[0].config
    (fault,) = restart_faults(config, without_forwarding(cluster.shards[0]))
    assert fault.endswith("says that the receiver has all counts")
    assert "restart the monitor" not in fault


def test_a_stop_while_the_receiver_is_away_leaves_the_counts_for_the_next_start(cluster):
    events = stream(60, seed=4)
    cluster.kill_receiver()
    cluster.give(0, events)
    cluster.shards[0].stop()
    unsent = int(cluster.shards[0].forward_readings[FORWARD_UNSENT]()[()])
    assert unsent > 100
    words = f"{TO}: {unsent} changes of counts are not taken, and sent after the next start"
    assert last_words(cluster) == words
    cluster.shards[0] = cluster._shard(0)
    cluster.settle()
    whole = receiving(cluster.receiver_config, [lines_of(events)])
    assert_same(cluster.received(), whole.snapshot())


def test_a_stop_waits_for_a_receiver_that_comes_back(cluster):
    events = stream(60, seed=4)
    cluster.give(0, events)
    cluster.kill_receiver()
    asked, post = [], cluster.shards[0].forwarder._post

    def comes_back(lines, state):
        asked.append(cluster.clock.monotonic())
        if len(asked) == 3:
            cluster.start_receiver()
        return post(lines, state)

    cluster.shards[0].forwarder._post = comes_back
    cluster.shards[0].stop()
    assert asked[2] - asked[0] == 1.0
    assert last_words(cluster) == f"{TO}: the receiver has all counts"


@pytest.mark.parametrize("unsent", [True, False])
def test_a_stop_notices_a_receiver_that_has_begun_anew(cluster, unsent):
    events = [event for event in stream(60, seed=4) if event["type"] != "outcome"]
    cluster.give(0, events[:60])
    cluster.settle()
    if unsent:
        cluster.give(0, events[60:])
    cluster.lose_receiver()
    cluster.shards[0].stop()
    assert last_words(cluster) == f"{TO}: the receiver has all counts"
    cluster.receiver.settle()
    whole = receiving(cluster.receiver_config, [lines_of(events if unsent else events[:60])])
    assert counted(cluster.received()) == counted(whole.snapshot())


def test_a_stop_does_not_take_a_receiver_that_is_away_for_one_that_has_all(cluster):
    cluster.give(0, stream(60, seed=4))
    cluster.settle()
    assert cluster.shards[0].forward_readings[FORWARD_UNSENT]() == {(): 0}
    cluster.kill_receiver()
    cluster.shards[0].stop()
    words = "whether the receiver has all counts is not known: it has not confirmed it"
    assert last_words(cluster) == f"{TO}: {words}"


def test_a_stop_names_what_the_receiver_rejected(cluster):
    cluster.give(0, stream(60, seed=4))
    cluster.kill_receiver()
    config = cluster.receiver_config
    models = {"a": config.models["a"]}
    cluster.receiver = Process(config.model_copy(update={"models": models}), cluster.clock)
    cluster.shards[0].stop()
    assert "the receiver has all counts, but those of " in last_words(cluster)
    assert last_words(cluster).endswith(" records that it rejected")


def test_a_receiver_that_does_not_answer_does_not_hold_up_a_stop(tmp_path, monkeypatch):
    monkeypatch.setattr(forward_rest, "REST_SECONDS", 0.01)
    answers = threading.Event()

    def post(_lines, _state):
        answers.wait()
        return ReceiverAnswer(503)

    config = config_of(tmp_path, forward={"to": "http://receiver:9109"})
    made = Process(config, ManualClock(NOW), post)
    while not made.posted.restored:
        made.turn()
    made.post(lines_of(stream(20, seed=4)) + b"\n")
    made.write()
    made.stop()
    answers.set()
    assert "changes of counts are not taken" in made.said[-1]


def test_a_stop_before_the_journal_is_replayed_sends_nothing_and_says_so(cluster):
    cluster.give(0, stream(30, seed=3))
    cluster.shards[0].close()
    asked = len(cluster.asked)
    cluster.shards[0] = started = Process(cluster.shards[0].config, cluster.clock, cluster.post)
    started.stop()
    assert len(cluster.asked) == asked
    assert "the journal was not replayed before this stop" in last_words(cluster)
