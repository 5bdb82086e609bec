"""What a shard does about the answers of its receiver."""

import json
from contextlib import ExitStack

import pytest
from service.forwarding import NOW, config_of
from shards import lines_of, stream
from simulator.process import Process

from monitor.clock import ManualClock
from monitor.prometheus.forward_series import FORWARD_FAILURES, FORWARD_REJECTED
from monitor.service.forward_requests import ReceiverAnswer

TAKEN = ReceiverAnswer(200, "x", b'{"accepted": 9, "rejected": {}, "faults": []}')


INTRODUCED = ReceiverAnswer(412, "x")


class Answering:
    """A receiver with state x that gives these answers to what is sent, then takes everything."""

    def __init__(self, *answers):
        self.left, self.asked = list(answers), []

    def __call__(self, lines, state):
        if state == "?":
            assert not lines
            return INTRODUCED
        self.asked.append((len(lines.splitlines()), state))
        return self.left.pop(0) if self.left else TAKEN._replace(state=state)


@pytest.fixture
def shard(tmp_path):
    """A shard with a batch that may be sent."""
    with ExitStack() as opened:

        def start(post, events=50, *, introduced=True):
            clock = ManualClock(NOW)
            forward = {"to": "http://u:p@r:1/v1/events", "every": "10s"}
            made = Process(config_of(tmp_path / "shard", forward=forward), clock, post)
            opened.callback(made.close)
            while not made.posted.restored:
                made.turn()
            made.post(lines_of(stream(events, seed=1)) + b"\n")
            made.write()
            made.turn()
            checkpoints(made)
            if introduced:
                assert made.forwarder.deliver() is None
                checkpoints(made)
            return made

        yield start


def checkpoints(made):
    """Time for some, and for a batch."""
    for _ in range(4):
        made._clock.sleep(5)
        made.turn()
        made.turn()


@pytest.mark.parametrize(
    ("status", "reason"), [(503, "busy"), (429, "busy"), (401, "refused"), (404, "refused")]
)
def test_a_receiver_that_does_not_take_a_batch_is_asked_again(shard, status, reason):
    answering = Answering(*[ReceiverAnswer(status, body=b'{"error": "no"}')] * 2)
    made = shard(answering)
    assert [made.forwarder.deliver() for _ in range(3)] == [10.0, 10.0, None]
    assert len({size for size, _ in answering.asked}) == 1
    assert made.forward_readings[FORWARD_FAILURES]()[reason,] == 2
    to = "forward http://r:1/v1/events"
    assert [line for line in made.said if line.startswith("forward ")] == [
        f'{to}: answered {status} {{"error": "no"}}; counts wait, retrying every 10 s',
        f"{to}: counts are taken again",
    ]


@pytest.mark.parametrize(
    "body", [b"<html>log in</html>", b"{}", b"[]", b"", b'{"accepted": 9, "rejected": {}, "fau']
)
def test_an_answer_that_is_not_a_feeds_takes_nothing(shard, body):
    answering = Answering(*[ReceiverAnswer(200, body=body)] * 2)
    made = shard(answering)
    assert [made.forwarder.deliver() for _ in range(3)] == [10.0, 10.0, None]
    assert [size for size, _ in answering.asked] == [answering.asked[0][0]] * 3
    assert made.forward_readings[FORWARD_FAILURES]()["refused",] == 2
    (said, _) = [line for line in made.said if line.startswith("forward ")]
    assert "its answer is not that of a feed of this program" in said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ReceiverAnswer(200, body=b"<html>log in</html>"), "its answer is not that of a feed"),
        (ReceiverAnswer(200, "x", TAKEN.body), "its answer is not that of a feed"),
        (ReceiverAnswer(412, body=b"of an earlier version"), "its answer 412 names no state"),
        (ReceiverAnswer(403, body=b"no\n\x1b[31mentry"), r"answered 403 no\n\x1b[31mentry;"),
        (ReceiverAnswer(409), "then start the receiver with a new one, too, since it lacks counts"),
        (ReceiverAnswer(302), "answered 302 (redirects are not followed); counts wait"),
        (
            ReceiverAnswer(502, body=b"\n<html>\n<h1>Bad"),
            "answered 502 with a page of HTML; counts",
        ),
    ],
)
def test_nothing_is_sent_to_a_receiver_that_does_not_name_its_state(shard, answer, said):
    asked = []

    def post(lines, state):
        asked.append((lines, state))
        return answer

    made = shard(post, introduced=False)
    assert [made.forwarder.deliver(), made.forwarder.deliver()] == [10.0, 10.0]
    assert asked == [(b"", "?")] * 2
    (line,) = [line for line in made.said if line.startswith("forward ")]
    assert said in line


def test_an_answer_of_another_state_takes_nothing_and_is_named(shard):
    """As where a proxy drops the header of the request, and the receiver has begun anew."""
    made = shard(Answering(*[TAKEN._replace(state="other")] * 2))
    assert [made.forwarder.deliver(), made.forwarder.deliver()] == [10.0, 10.0]
    (line,) = [line for line in made.said if line.startswith("forward ")]
    assert "another state than the one that was asked for took counts" in line
    assert "other" in made.forwarder._served


def test_each_failure_is_said_once_until_counts_are_taken(shard):
    answers = [ReceiverAnswer(503, body=b"busy"), ReceiverAnswer(401, body=b"who?")]
    made = shard(Answering(*answers, *answers))
    assert [made.forwarder.deliver() for _ in range(5)] == [10.0] * 4 + [None]
    told = [line.partition(": ")[2] for line in made.said if line.startswith("forward ")]
    assert told == [
        "answered 503 busy; counts wait, retrying every 10 s",
        "answered 401 who?; counts wait, retrying every 10 s",
        "counts are taken again",
    ]


def test_a_batch_is_sent_once_two_checkpoints_say_to_which_state(shard):
    answering = Answering()
    made = shard(answering, introduced=False)
    for number in range(3):
        assert (made.forwarder.deliver(), bool(answering.asked)) == (None, number == 2)
        made._clock.sleep(5)
        made.turn()
        made.turn()


def test_a_monitor_sends_nothing_to_itself(shard):
    made = shard(
        lambda *_: ReceiverAnswer(412, made.forwarder._source.removeprefix("shard-")),
        introduced=False,
    )
    assert made.forwarder.deliver() == 10.0
    (line,) = [line for line in made.said if line.startswith("forward ")]
    assert "the address is that of this monitor" in line


def test_a_receiver_that_begins_anew_between_two_requests_gets_all_of_a_batch(shard):
    """The rest of a batch is not for a receiver that lacks its beginning."""
    answering = Answering(ReceiverAnswer(413), TAKEN, ReceiverAnswer(503))
    made = shard(answering)
    assert made.forwarder.deliver() == 10.0
    answering.left = [ReceiverAnswer(412, "y")]
    assert made.forwarder.deliver() == 10.0
    assert answering.asked[-1][1] == "x"
    checkpoints(made)
    first = answering.asked[0][0]
    del answering.asked[:]
    assert made.forwarder.deliver() is None
    assert [state for _, state in answering.asked] == ["y"] * len(answering.asked)
    again = sum(size for size, _ in answering.asked)
    assert again >= 0.9 * first, "all but outcomes without an id, which nobody remembers"


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
    answering = Answering(ReceiverAnswer(413), TAKEN, ReceiverAnswer(503))
    made = shard(answering)
    assert [made.forwarder.deliver(), made.forwarder.deliver()] == [10.0, None]
    sizes = [size for size, _ in answering.asked]
    assert sizes[1] + sum(sizes[3:]) == sizes[0]
    assert answering.asked[2][1] == "x"


def test_records_that_the_receiver_cannot_use_are_counted_and_told_once(shard):
    fault = b'{"line": 1, "reason": "unknown_model", "detail": "model \'m\' is unknown"}'
    body = b'{"accepted": 0, "rejected": {"unknown_model": 3}, "faults": [%s]}' % fault
    answering = Answering(ReceiverAnswer(200, "x", body))
    made = shard(answering)
    assert made.forwarder.deliver() is None
    assert made.forward_readings[FORWARD_REJECTED]() == {(): 3}
    (told,) = [line for line in made.said if line.startswith("forward ")]
    assert told.endswith(
        "the receiver rejected 3 records of batch 1, such as: model 'm' is unknown"
    )


class Refusing(Answering):
    """A receiver that can use no record."""

    def __call__(self, lines, state):
        if (answer := super().__call__(lines, state)).status != TAKEN.status:
            return answer
        count = len(lines.splitlines())
        body = json.dumps({"accepted": 0, "rejected": {"unknown_model": count}, "faults": []})
        return ReceiverAnswer(200, "x", body.encode())


def test_records_that_only_say_how_far_a_model_has_come_are_not_counted_as_lost(shard):
    refusing = Refusing()
    made = shard(refusing)
    made.forwarder.deliver()
    lost = made.forward_readings[FORWARD_REJECTED]()[()]
    assert lost == sum(size for size, _ in refusing.asked)
    checkpoints(made)  # until a batch without changes may be sent
    assert made.forwarder.deliver() is None
    assert len(refusing.asked) > 1, "a model that has not changed still says how far it has come"
    assert made.forward_readings[FORWARD_REJECTED]() == {(): lost}
