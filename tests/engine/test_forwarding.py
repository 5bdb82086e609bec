"""Counts that monitors forward, against one monitor of all events."""

import json
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences, through_disk
from shards import REGIMES, assert_same, config_of, lines_of, stream

from monitor.config import Config
from monitor.demo.claims import Story, cases, event_lines
from monitor.engine import Monitor
from monitor.events.columns import LATEST_MS
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.forwarded_batch import ForwardedBatch

DAY = 86_400


class Shard:
    """A monitor that forwards, without a process around it."""

    def __init__(self, config, name="shard"):
        self.config, self.name, self.batches = config, name, 0
        self.monitor = Monitor(config)
        self.monitor.forwarding.switch(on=True)
        self.decoder = Decoder(DecodeSettings.from_config(config))

    def take(self, events):
        self.monitor.apply(self.decoder.decode_lines(lines_of(events), source="test"))

    def restart(self):
        self.monitor = Monitor(self.config, through_disk(self.monitor.state()))

    def sent(self):
        """The next batch as the receiver gets it."""
        self.batches += 1
        batch = ForwardedBatch(
            self.name, self.batches, self.monitor.forwarding.take(self.monitor.times)
        )
        return batch.lines(0, len(batch))


def receiving(config, lines, arrived=None):
    """A monitor that took some blocks of lines, all of which arrived at a time, epoch seconds."""
    monitor = Monitor(config)
    decoder = Decoder(DecodeSettings.from_config(config))
    for some in lines:
        batch = decoder.decode_lines(some, source="test")
        monitor.apply(batch if arrived is None else batch.arrived([(0, arrived * 1000)]))
    return monitor


def in_requests(batch, size=700):
    """The lines of a batch in several requests."""
    lines = batch.splitlines(keepends=True)
    return [b"".join(lines[start : start + size]) for start in range(0, len(lines), size)]


def divided(events, shards):
    """Events by shard; each gets its share of the last ones, which end the time."""
    number = [int("".join(filter(str.isdecimal, e.get("id", "0")))) for e in events]
    return [
        [e for e, n in zip(events, number, strict=True) if n % shards == i] for i in range(shards)
    ]


def forwarded(config, events, *, shards=3, size=70, batches=None):
    """What shards send that take their events in turn; the shards.

    The last of so many batches has all that is left.
    """
    made = [Shard(config, f"shard-{i}") for i in range(shards)]
    sent = []
    parts = divided(events, shards)
    starts = [*range(0, max(map(len, parts)), size)][:batches]
    for start, end in pairwise([*starts, len(events)]):
        for shard, part in zip(made, parts, strict=True):
            shard.take(part[start:end])
            sent.append(shard.sent())
    return made, sent


@pytest.mark.parametrize(("regime", "more"), REGIMES)
def test_a_receiver_shows_what_a_monitor_of_all_events_does(regime, more):
    more = dict(more)
    events = stream(400, seed=3, share=more.pop("share", None))
    config = config_of(labelling=regime, **more)
    _, sent = forwarded(config, events)
    fed = receiving(config, sent).snapshot()
    assert_same(fed, receiving(config, [lines_of(events)]).snapshot(), delays="clock" not in more)
    assert fed.rejected == dict.fromkeys(fed.rejected, 0)


STEPS = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(["take", "take", "send", "restart"])), max_size=24
)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), steps=STEPS, again=st.lists(st.integers(0, 40), max_size=3))
def test_no_moment_of_a_batch_or_of_a_restart_changes_a_count(seed, steps, again):
    config, events = config_of(), stream(25, seed)
    shards = [Shard(config, f"shard-{i}") for i in range(2)]
    left = divided(events, 2)
    sent = []
    for i, step in steps:
        if step == "take":
            shards[i].take(left[i][:9])
            left[i] = left[i][9:]
        elif step == "send":
            sent.append(shards[i].sent())
        else:
            shards[i].restart()
    for shard, rest in zip(shards, left, strict=True):
        shard.take(rest)
        sent.append(shard.sent())
    sent += [sent[n] for n in again if n < len(sent)]
    whole = receiving(config, [lines_of(events)]).snapshot()
    assert counted(receiving(config, sent).snapshot()) == counted(whole)


def counted(snapshot):
    cells = snapshot.lifetime.counts.cells
    return {one: cells[row].tolist() for row, one in enumerate(snapshot.series) if cells[row].any()}


@pytest.mark.slow
@pytest.mark.parametrize("batches", [None, 2], ids=["some days each", "weeks in one"])
def test_verdicts_and_detections_are_those_of_one_monitor(batches):
    config = Config(defaults={"label_timeout": "14d"}, windows=["1d", "7d"])
    events = [json.loads(line) for line in event_lines(cases(Story.RARER, 0))]
    events = [event for event in events if event["id"][-1] in "012"]
    for event in events:
        event.pop("score", None)  # is not forwarded
    ends = {"type": "prediction", "ts": "2026-09-09T03:00:00Z", "prediction": 0}
    events += [ends | {"id": f"end-{i}"} for i in range(9)]
    _, sent = forwarded(config, events, size=2000, batches=batches)
    fed = receiving(config, chain.from_iterable(map(in_requests, sent))).snapshot()
    whole = receiving(config, [lines_of(events)]).snapshot()
    assert_same(fed, whole)
    mine, theirs = fed.models[0].watched, whole.models[0].watched
    assert mine.verdicts["7d"].judgement.verdict == "prevalence_shift"
    for name in ("reference", "detections", "evidence", "day_scatter", "trend", "missing_labels"):
        assert [*differences(getattr(mine, name), getattr(theirs, name), name)] == []
    for window in ("1d", "7d"):
        one, other = mine.verdicts[window], theirs.verdicts[window]
        assert [*differences(one.judgement, other.judgement, window)] == []


def test_a_receiver_knows_the_delays_and_the_hours_of_labels():
    config, events = config_of(), stream(400, seed=9)
    _, sent = forwarded(config, events)
    fed, whole = receiving(config, sent), receiving(config, [lines_of(events)])
    mine, theirs = (m.state()["delays"] for m in (fed, whole))
    assert [*differences(mine["cohorts"], theirs["cohorts"])] == []
    for name in ("reports", "latest"):
        hours, others = (np.asarray(d[name]["counts"]).sum() for d in (mine, theirs))
        assert hours == others


def test_what_is_collected_survives_a_restart_and_is_no_part_of_other_states():
    config = config_of()
    shard = Shard(config)
    shard.take(stream(50, seed=2))
    other = Shard(config)
    other.take(stream(50, seed=2))
    other.restart()
    assert other.sent() == shard.sent()
    assert "forwarding" not in receiving(config, []).state()


def test_all_that_is_remembered_is_collected_again():
    config, events = config_of(), [e for e in stream(300, seed=4) if e["type"] != "outcome"]
    shard = Shard(config)
    shard.take(events[:200])
    shard.sent()  # to a receiver that is lost
    shard.take(events[200:])
    shard.monitor.forwarding.collect_again()
    again = shard.sent()
    assert_same(
        receiving(config, [again]).snapshot(), receiving(config, [lines_of(events)]).snapshot()
    )


def test_a_model_without_changes_sends_its_time():
    shard = Shard(config_of())
    shard.take(stream(50, seed=2))
    shard.sent()
    sent = [json.loads(line) for line in shard.sent().splitlines()]
    assert [(e["model"], e["watermark"], e["tp"], e["predicted_positive"]) for e in sent] == [
        ("a", 6375, 0, 0),
        ("b", 6375, 0, 0),
    ]


def test_time_that_passes_in_labels_alone_passes_at_the_receiver():
    config = Config(defaults={"label_timeout": "30d"}, windows=["1d", "7d"])
    days = [*(i * 600 for i in range(5 * DAY // 600)), *[5 * DAY] * 12]
    made = [{"type": "prediction", "ts": at, "prediction": i % 2} for i, at in enumerate(days)]
    labels = [{"type": "label", "ts": at + 4 * DAY, "label": 1} for at in days]
    named = [event | {"id": f"{i}"} for events in (made, labels) for i, event in enumerate(events)]
    events = sorted(named, key=lambda event: event["ts"])
    _, sent = forwarded(config, events)
    fed = receiving(config, sent, arrived=30 * DAY).snapshot()
    whole = receiving(config, [lines_of(events)], arrived=30 * DAY).snapshot()
    assert whole.now_ms == 9 * DAY * 1000
    assert_same(fed, whole)


def test_a_source_that_is_ahead_of_the_clock_moves_no_time():
    config, events = config_of(), stream(50, seed=2)
    shard = Shard(config)
    shard.take(events)
    honest = receiving(config, [shard.sent()], arrived=DAY)
    wrong = {"type": "counts", "source": "wrong", "model": "a", "ts": 0, "watermark": 9 * DAY}
    lines = lines_of([wrong | {"batch": f"{n}"} for n in range(9)])
    decoded = Decoder(DecodeSettings.from_config(config)).decode_lines(lines, source="test")
    before = honest.times
    honest.apply(decoded.arrived([(0, DAY * 1000)]))
    assert honest.times == before


def test_nothing_is_collected_unless_it_is_switched_on():
    config = config_of()
    monitor = receiving(config, [lines_of(stream(50, seed=2))])
    assert not monitor.forwarding.waiting
    monitor.forwarding.switch(on=True)
    assert monitor.forwarding.waiting
    monitor.forwarding.switch(on=False)
    assert (monitor.forwarding.waiting, monitor.forwarding.is_on) == (0, False)


def test_times_a_long_way_apart_are_summed_too():
    config = Config(defaults={"label_timeout": None}, pane="1s", windows=["1h"])
    events = [
        {"type": "outcome", "ts": ts, "prediction": 1, "label": 1}
        for ts in (-2_208_988_800, 0, 0, LATEST_MS // 1000 - 1)
    ]
    shard = Shard(config)
    shard.take(events)
    sent = [json.loads(line) for line in shard.sent().splitlines()]
    assert sorted((e["ts"], e["tp"]) for e in sent) == [
        (-2_208_988_800, 1),
        (0, 2),
        (LATEST_MS // 1000 - 1, 1),
    ]


def test_memory_grows_with_places_and_not_with_events():
    config = Config(defaults={"label_timeout": "1d"}, windows=["1h"])
    shard = Shard(config)
    for n in range(30):
        shard.take(
            chain.from_iterable(
                (
                    {"type": "prediction", "id": f"{n}-{i}", "ts": i % 600, "prediction": 1},
                    {"type": "label", "id": f"{n}-{i}", "ts": i % 600, "label": 1},
                )
                for i in range(5000)
            )
        )
    assert len(shard.monitor.state()["forwarding"]["count"]) == 20  # ten panes, tp and positive
