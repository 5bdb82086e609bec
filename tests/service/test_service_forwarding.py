"""Monitors that forward to another one, through real requests, with crashes of all of them."""

import json
from contextlib import ExitStack

import pytest
from engine.test_forwarding import counted, divided, receiving
from hypothesis import given, settings
from hypothesis import strategies as st
from service.forwarding import NOW, TO, Cluster, config_of, other_segments
from shards import assert_same, lines_of, stream
from simulator.process import Process

from monitor.clock import ManualClock
from monitor.prometheus.forward_series import (
    FORWARD_FAILURES,
    FORWARD_LAST_SUCCESS,
    FORWARD_UNSENT,
)
from monitor.state import StateError


@pytest.fixture
def cluster(tmp_path):
    with ExitStack() as opened:

        def start(shards=3):
            made = Cluster(tmp_path, shards)
            opened.callback(made.close)
            return made

        yield start


STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(
            ["give", "give", "wait", "wait", "deliver", "deliver", "kill", "stop", "away", "turn"]
        ),
    ),
    max_size=40,
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 1000), steps=STEPS)
def test_no_crash_of_a_shard_or_of_the_receiver_loses_or_doubles_a_count(
    tmp_path_factory, seed, steps
):
    events = stream(40, seed)
    left = divided(events, 3)
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        for i, step in steps:
            if step == "give":
                cluster.give(i, left[i][:20])
                left[i] = left[i][20:]
            else:
                cluster.step(i, step)
        for i, rest in enumerate(left):
            cluster.give(i, rest)
        cluster.settle()
        whole = receiving(cluster.receiver_config, [lines_of(events)])
        assert_same(cluster.received(), whole.snapshot())
        assert not sum(cluster.received().rejected.values())
    finally:
        cluster.close()


def test_only_what_two_checkpoints_have_is_sent(cluster):
    made = cluster(1)
    made.settle()
    made.asked.clear()
    made.give(0, stream(10, seed=1))
    for checkpoints in range(2):
        assert (made.deliver(0), made.asked) == (None, []), checkpoints
        made.wait(0)
    while not any(made.asked):  # the receiver is asked for its state before
        made.wait(0)
        made.deliver(0)
    sent = [json.loads(line) for line in made.asked[-1].splitlines()]
    assert {event["source"] for event in sent} == {made.shards[0].forwarder._source}


def test_a_damaged_checkpoint_of_a_shard_changes_nothing(cluster):
    made = cluster(1)
    events = stream(60, seed=5)
    for number, start in enumerate(range(0, len(events), 9)):
        made.give(0, events[start : start + 9])
        for _ in range(number % 4):
            made.wait(0)
            made.deliver(0)
        newest = max((made.folder / "shard-0" / "checkpoints").iterdir())
        if number % 4:
            content = bytearray(newest.read_bytes())
            content[len(content) // 2] ^= 1
            newest.write_bytes(content)
            made.kill_shard(0)
    assert len(made.asked) > 3
    made.settle()
    whole = receiving(made.receiver_config, [lines_of(events)])
    assert counted(made.received()) == counted(whole.snapshot())


def test_a_batch_that_arrives_again_and_late_counts_once(cluster):
    made = cluster(2)
    events = stream(60, seed=6)
    for i, own in enumerate(divided(events, 2)):
        made.give(i, own)
    made.settle()
    before = counted(made.received())
    for lines in made.asked[::-1]:
        made.post(lines, "")
    made.receiver.settle()
    assert counted(made.received()) == before
    assert before == counted(receiving(made.receiver_config, [lines_of(events)]).snapshot())


def test_a_receiver_that_begins_anew_gets_all_that_the_shards_remember(cluster):
    made = cluster(2)
    events = [event for event in stream(80, seed=7) if event["type"] != "outcome"]
    parts = divided(events, 2)
    for i, own in enumerate(parts):
        made.give(i, own[: len(own) // 2])
    made.settle()
    made.lose_receiver()
    for i, own in enumerate(parts):
        made.give(i, own[len(own) // 2 :])
    made.settle()
    whole = receiving(made.receiver_config, [lines_of(events)])
    assert counted(made.received()) == counted(whole.snapshot())
    assert sum("begun anew" in line for line in made.shards[0].said) == 1
    failures = made.shards[0].forward_readings[FORWARD_FAILURES]()
    assert failures == {("unreachable",): 0, ("busy",): 0, ("refused",): 0, ("another_state",): 1}


def test_a_receiver_lost_while_a_shard_is_killed_gets_everything_too(cluster):
    made = cluster(1)
    events = [event for event in stream(40, seed=7) if event["type"] != "outcome"]
    made.give(0, events)
    made.settle()
    made.lose_receiver()
    for _ in range(3):
        made.wait(0)
        made.deliver(0)  # refused, or sent and killed before a checkpoint knows
        made.kill_shard(0)
    made.settle()
    whole = receiving(made.receiver_config, [lines_of(events)])
    assert counted(made.received()) == counted(whole.snapshot())


def test_a_receiver_that_had_counts_before_another_one_is_sent_nothing(cluster):
    made = cluster(1)
    events = [event for event in stream(80, seed=7) if event["type"] != "outcome"]
    made.give(0, events[:60])
    made.settle()
    before = counted(made.received())
    made.lose_receiver()
    made.give(0, events[60:90])
    made.settle()
    made.return_to_receiver(0)
    made.give(0, events[90:])
    for restarts in range(2):
        made.settle()
        assert counted(made.received()) == before
        said = [line for line in made.shards[0].said if "would count twice" in line]
        assert len(said) == 1, restarts
        made.kill_shard(0)
    made.return_to_receiver(1)
    made.settle()
    whole = receiving(made.receiver_config, [lines_of(events)])
    assert counted(made.received()) == counted(whole.snapshot())


@pytest.mark.parametrize("killed", [True, False])
def test_a_receiver_whose_answer_was_never_seen_is_one_that_had_counts(cluster, killed):
    made = cluster(1)
    events = [event for event in stream(80, seed=7) if event["type"] != "outcome"]
    made.give(0, events)
    made.loses_answers = True
    asked = len(made.asked)
    while not any(made.asked[asked:]):
        made.wait(0)
        made.deliver(0)
    made.receiver.settle()
    before = counted(made.received())
    assert before
    made.loses_answers = False
    if killed:
        made.kill_shard(0)
    made.lose_receiver()
    made.settle()
    assert counted(made.received()) == before
    made.return_to_receiver(0)
    made.settle()
    assert counted(made.received()) == before
    assert any("would count twice" in line for line in made.shards[0].said)


def test_what_is_sealed_for_a_new_receiver_is_for_no_other(cluster):
    made = cluster(1)
    events = [event for event in stream(80, seed=7) if event["type"] != "outcome"]
    made.give(0, events)
    made.settle()
    before = counted(made.received())
    made.lose_receiver()
    for _ in range(3):  # refused by the new one, and sealed for it
        made.wait(0)
        made.deliver(0)
    made.return_to_receiver(0)
    made.settle()
    assert counted(made.received()) == before
    made.return_to_receiver(1)
    made.settle()
    assert counted(made.received()) == before


def refused(made):
    """A configuration that a shard refuses, at a reload and at a start; it goes on as before."""
    shard = made.shards[0]
    changed = other_segments(shard.config)
    with pytest.raises(
        StateError, match="go on with the configuration from before; stop the monitor"
    ):
        shard.service._reconfigure(changed)
    shard.close()
    with pytest.raises(StateError, match="changes of counts, and this configuration leaves"):
        Process(changed, made.clock, made.post)
    made.shards[0] = made._shard(0)
    return changed


def test_a_configuration_that_would_drop_unsent_changes_is_refused(cluster):
    made = cluster(1)
    made.settle()
    made.kill_receiver()
    made.give(0, stream(60, seed=3))
    made.wait(0)
    made.give(0, stream(90, seed=3))
    made.wait(0)
    changed = refused(made)
    made.settle()
    made.shards[0].close()
    made.shards[0] = Process(changed, made.clock, made.post)
    assert any("models start anew" in line for line in made.shards[0].said)


def test_a_configuration_that_starts_models_anew_waits_for_a_batch_on_its_way(cluster):
    made = cluster(1)
    made.settle()
    made.give(0, stream(60, seed=3))
    made.kill_receiver()
    for _ in range(3):
        made.wait(0)
        made.deliver(0)
    assert not made.shards[0].service._monitor.forwarding.waiting
    refused(made)


def test_a_receiver_whose_models_start_anew_says_that_shards_send_nothing_again(cluster):
    made = cluster(1)
    made.give(0, stream(60, seed=3))
    made.settle()
    made.kill_receiver()
    made.receiver = Process(other_segments(made.receiver_config), made.clock)
    cautions = [line for line in made.receiver.said if "counts of these models" in line]
    source = made.shards[0].forwarder._source
    assert [source in line and "will not send them again" in line for line in cautions] == [True]


def test_a_shard_that_is_added_is_a_new_source(cluster):
    made = cluster(1)
    events = stream(60, seed=8)
    first, second = divided(events, 2)
    made.give(0, first)
    made.settle()
    made.shards.append(made._shard(1))
    made.give(1, second)
    made.settle()
    whole = receiving(made.receiver_config, [lines_of(events)])
    assert_same(made.received(), whole.snapshot())
    assert len(made.received().sources) == 2


def test_while_the_receiver_is_away_counts_add_up_and_one_line_says_so(cluster):
    made = cluster(1)
    made.kill_receiver()
    events = stream(200, seed=9)
    sizes = []
    for _ in range(20):  # the same labels again: duplicates, which change nothing
        made.give(0, events)
        made.wait(0)
        made.deliver(0)
        (newest,) = sorted((made.folder / "shard-0" / "checkpoints").iterdir())[-1:]
        sizes.append(newest.stat().st_size)
    assert max(sizes[2:]) - min(sizes[2:]) < 2_000
    readings = made.shards[0].forward_readings
    assert readings[FORWARD_UNSENT]()[()] > 300
    assert readings[FORWARD_LAST_SUCCESS]() == {}
    assert readings[FORWARD_FAILURES]()["unreachable",] >= 15
    made.settle()
    assert made.received().lifetime.counts.cells.sum() > 0
    said = [line for line in made.shards[0].said if line.startswith("forward ")]
    assert said == [
        f"{TO}: cannot be reached: refused; counts wait, retrying every 10 s",
        f"{TO}: counts are taken again",
    ]
    assert readings[FORWARD_LAST_SUCCESS]()[()] > NOW


def test_how_much_is_unsent_is_not_known_until_the_journal_is_replayed(cluster):
    made = cluster(1)
    made.settle()
    made.give(0, stream(30, seed=3))
    made.shards[0].close()  # before a checkpoint has them
    config = made.shards[0].config
    started = made.shards[0] = Process(config, made.clock, made.post)
    assert started.forward_readings[FORWARD_UNSENT]() == {}
    while not started.service.restored:
        started.turn()
    assert started.forward_readings[FORWARD_UNSENT]()[()] > 0
    made.settle()
    assert started.forward_readings[FORWARD_UNSENT]() == {(): 0}


def test_a_state_counted_without_forwarding_meanwhile_is_refused(tmp_path):
    clock, forward = ManualClock(NOW), {"to": "http://r:1"}
    for own in ({"forward": forward}, {}):
        made = Process(config_of(tmp_path, **own), clock)
        made.turn()
        made.stop()
    with pytest.raises(StateError, match="forward: was taken out of the configuration for a while"):
        Process(config_of(tmp_path, forward=forward), clock)
