"""Monitors that forward to another one, through real requests, with crashes of all of them."""

import asyncio
import json
from contextlib import ExitStack

import httpx
import pytest
from engine.test_forwarding import counted, divided, receiving
from hypothesis import given, settings
from hypothesis import strategies as st
from shards import assert_same, lines_of, stream
from simulator.process import Process

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.feeds.http import create_feed_app
from monitor.feeds.http.app import STATE_HEADER
from monitor.prometheus.forward_series import (
    FORWARD_FAILURES,
    FORWARD_LAST_SUCCESS,
    FORWARD_REJECTED,
    FORWARD_UNSENT,
)
from monitor.service.forward_requests import ReceiverAnswer, ReceiverAwayError
from monitor.state import StateError

NOW = 1_700_000_000
EVERY = 10


def config_of(folder, **more):
    """One configuration for shards and receiver, apart from what each has of its own."""
    model = {"label_timeout": "2h", "horizon": "1d", "segments": ["region"]}
    return Config(
        models={"a": model, "b": model},
        windows=["1h"],
        feeds=[{"type": "http", "listen": "127.0.0.1:0"}],
        state={"directory": folder, "checkpoint_every": "30s"},
        **more,
    )


class Written:
    """The feeds of a process, whose journal is written as soon as a request comes."""

    def __init__(self, process):
        self._process = process
        self.ready, self.fault = True, ""

    def store(self, posted):
        done = self._process.posted.store(posted)
        self._process.write()
        return done


class Cluster:
    """Shards and a receiver in one thread, each with a state directory of its own."""

    def __init__(self, folder, shards=3):
        self.folder, self.clock = folder, ManualClock(NOW)
        self.asked = []
        self.receiver = None
        self.generation = 0
        self.start_receiver()
        self.shards = [self._shard(i) for i in range(shards)]

    def start_receiver(self):
        self.receiver = Process(self.receiver_config, self.clock)
        self.receiver.turn()

    @property
    def receiver_config(self):
        return config_of(self.folder / f"receiver-{self.generation}")

    def kill_receiver(self):
        if self.receiver is not None:
            self.receiver.close()
        self.receiver = None

    def lose_receiver(self):
        """Its state is gone, and it starts anew."""
        self.kill_receiver()
        self.generation += 1
        self.start_receiver()

    def _shard(self, i):
        config = config_of(
            self.folder / f"shard-{i}", forward={"to": "http://receiver:9109", "every": f"{EVERY}s"}
        )
        shard = Process(config, self.clock, self.post)
        while not shard.posted.restored:
            shard.turn()
        return shard

    def kill_shard(self, i):
        self.shards[i].close()
        self.shards[i] = self._shard(i)

    def give(self, i, events):
        """Events posted to a shard, acknowledged and counted."""
        if not events:
            return
        done = self.shards[i].post(lines_of(events) + b"\n")
        self.shards[i].write()
        assert done.result(0) is None
        self.shards[i].turn()

    def wait(self, i):
        """Time for a checkpoint."""
        self.clock.sleep(EVERY / 2)
        self.shards[i].turn()
        self.shards[i].turn()

    def deliver(self, i):
        return self.shards[i].forwarder.deliver()

    def step(self, i, step):
        """A step of a law, for a shard or the receiver."""
        if step in ("wait", "deliver"):
            getattr(self, step)(i)
        elif step == "kill":
            self.kill_shard(i)
        elif step == "away":
            self.kill_receiver()
        elif self.receiver is None:
            self.start_receiver()
        else:
            self.clock.sleep(31)  # a checkpoint
            self.receiver.turn()

    def post(self, lines, state):
        """A request to the receiver, by its own app."""
        self.asked.append(lines)
        if self.receiver is None:
            raise ReceiverAwayError("cannot be reached: refused")
        posted = self.receiver.posted
        settings_of_feed = posted._settings[0]
        app = create_feed_app(
            Written(self.receiver), self.receiver._decoder, settings_of_feed, self.clock
        )

        async def ask():
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://r") as client:
                headers = {STATE_HEADER: state} if state else {}
                return await client.post("/v1/events", content=lines, headers=headers)

        answer = asyncio.run(ask())
        self.receiver.turn()
        return ReceiverAnswer(
            answer.status_code, answer.headers.get(STATE_HEADER, ""), answer.content
        )

    def settle(self):
        """Forward all that is left."""
        if self.receiver is None:
            self.start_receiver()
        for _ in range(8):
            for i in range(len(self.shards)):
                self.wait(i)
                self.deliver(i)
        self.receiver.settle()

    def received(self, now=None):
        return self.receiver.service._monitor.snapshot(now)

    def close(self):
        for process in (*self.shards, self.receiver):
            if process is not None:
                process.close()


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
            ["give", "give", "wait", "wait", "deliver", "deliver", "kill", "away", "turn"]
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
    while not made.asked:  # an empty batch may still be on its way
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
    failures = made.shards[0].forwarder.readings[FORWARD_FAILURES]()
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
    readings = made.shards[0].forwarder.readings
    assert readings[FORWARD_UNSENT]()[()] > 300
    assert readings[FORWARD_LAST_SUCCESS]() == {}
    assert readings[FORWARD_FAILURES]()["unreachable",] >= 15
    made.settle()
    assert made.received().lifetime.counts.cells.sum() > 0
    told = [line for line in made.shards[0].said if line.startswith("forward ")]
    to = "forward http://receiver:9109/v1/events"
    assert told == [
        f"{to}: cannot be reached: refused; counts wait, retrying every 10 s",
        f"{to}: counts are taken again",
    ]
    assert readings[FORWARD_LAST_SUCCESS]()[()] > NOW


class Answering:
    """A receiver that gives these answers, then takes everything."""

    def __init__(self, *answers):
        self.left, self.asked = list(answers), []

    def __call__(self, lines, state):
        self.asked.append((len(lines.splitlines()), state))
        return self.left.pop(0) if self.left else ReceiverAnswer(200, "x", b'{"rejected": {}}')


@pytest.fixture
def shard(tmp_path):
    """A shard with a batch that may be sent."""
    with ExitStack() as opened:

        def start(post, events=50):
            clock = ManualClock(NOW)
            forward = {"to": "http://u:p@r:1/v1/events", "every": "10s"}
            made = Process(config_of(tmp_path / "shard", forward=forward), clock, post)
            opened.callback(made.close)
            while not made.posted.restored:
                made.turn()
            made.post(lines_of(stream(events, seed=1)) + b"\n")
            made.write()
            made.turn()
            for _ in range(4):
                clock.sleep(5)
                made.turn()
                made.turn()
            return made

        yield start


@pytest.mark.parametrize(
    ("status", "reason"), [(503, "busy"), (429, "busy"), (401, "refused"), (302, "refused")]
)
def test_a_receiver_that_does_not_take_a_batch_is_asked_again(shard, status, reason):
    answering = Answering(*[ReceiverAnswer(status, body=b'{"error": "no"}')] * 2)
    made = shard(answering)
    assert [made.forwarder.deliver() for _ in range(3)] == [10.0, 10.0, None]
    assert len({size for size, _ in answering.asked}) == 1
    assert made.forwarder.readings[FORWARD_FAILURES]()[reason,] == 2
    to = "forward http://r:1/v1/events"
    assert [line for line in made.said if line.startswith("forward ")] == [
        f'{to}: answered {status} {{"error": "no"}}; counts wait, retrying every 10 s',
        f"{to}: counts are taken again",
    ]


def test_a_receiver_that_asks_for_less_time_gets_it(shard):
    made = shard(Answering(ReceiverAnswer(503, retry_after=2.0), ReceiverAnswer(503, "", b"", 99)))
    assert [made.forwarder.deliver(), made.forwarder.deliver()] == [2.0, 10.0]


def test_a_request_that_is_too_large_is_divided_and_the_rest_goes_on(shard):
    answering = Answering(ReceiverAnswer(413), ReceiverAnswer(413))
    made = shard(answering)
    assert made.forwarder.deliver() is None
    sizes = [size for size, _ in answering.asked]
    assert (sizes[1], sizes[2]) == (sizes[0] // 2, sizes[0] // 4)
    assert sum(sizes[2:]) == sizes[0]


def test_a_batch_goes_on_where_it_stopped_and_names_the_state_that_has_its_beginning(shard):
    took = ReceiverAnswer(200, "x", b'{"rejected": {}}')
    answering = Answering(ReceiverAnswer(413), took, ReceiverAnswer(503))
    made = shard(answering)
    assert [made.forwarder.deliver(), made.forwarder.deliver()] == [10.0, None]
    sizes = [size for size, _ in answering.asked]
    assert sizes[1] + sum(sizes[3:]) == sizes[0]
    assert answering.asked[2][1] == "x"


def test_records_that_the_receiver_cannot_use_are_counted_and_told_once(shard):
    body = b'{"accepted": 0, "rejected": {"unknown_model": 3}, "faults": [{"line": 1}]}'
    answering = Answering(ReceiverAnswer(200, "x", body))
    made = shard(answering)
    assert made.forwarder.deliver() is None
    assert made.forwarder.readings[FORWARD_REJECTED]() == {(): 3}
    (told,) = [line for line in made.said if line.startswith("forward ")]
    assert told.endswith("the receiver rejected 3 records of batch 1, such as: [{'line': 1}]")


class Refusing(Answering):
    """A receiver that can use no record."""

    def __call__(self, lines, state):
        super().__call__(lines, state)
        count = len(lines.splitlines())
        body = json.dumps({"accepted": 0, "rejected": {"unknown_model": count}, "faults": []})
        return ReceiverAnswer(200, "x", body.encode())


def test_records_that_only_say_how_far_a_model_has_come_are_not_counted_as_lost(shard):
    refusing = Refusing()
    made = shard(refusing)
    made.forwarder.deliver()
    lost = made.forwarder.readings[FORWARD_REJECTED]()[()]
    assert lost == sum(size for size, _ in refusing.asked)
    for _ in range(4):  # until a batch without changes may be sent
        made._clock.sleep(5)
        made.turn()
        made.turn()
    assert made.forwarder.deliver() is None
    assert len(refusing.asked) > 1, "a model that has not changed still says how far it has come"
    assert made.forwarder.readings[FORWARD_REJECTED]() == {(): lost}


def test_a_state_counted_without_forwarding_meanwhile_is_refused(tmp_path):
    clock, forward = ManualClock(NOW), {"to": "http://r:1"}
    for own in ({"forward": forward}, {}):
        made = Process(config_of(tmp_path, **own), clock)
        made.turn()
        made.stop()
    with pytest.raises(StateError, match="forward: was taken out of the configuration for a while"):
        Process(config_of(tmp_path, forward=forward), clock)
