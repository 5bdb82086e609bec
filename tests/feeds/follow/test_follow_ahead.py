"""A followed file that is decoded ahead: the same events, and a position behind each of them."""

import json
import tempfile
from pathlib import Path

import pytest
from feeds.decode.strategies import streams
from feeds.follow.following import Following, append, line, lines
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.follow.follower import LOOK_EVERY_SECONDS

BATCH_BYTES = 200


@pytest.fixture(autouse=True, scope="module")
def little_at_a_time():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("monitor.feeds.follow.follower.BATCH_BYTES", BATCH_BYTES)
        yield


@pytest.fixture
def ahead(path):
    followed = Following(path, DecoderThreads(2))
    yield followed
    followed.close()


def events_of(batch):
    columns = (batch.predictions, batch.labels, batch.outcomes, batch.counts)
    return [repr(kind) for kind in columns], batch.rejected, batch.records


def seconds(batch):
    return (batch.predictions.time // 1000).tolist()


@settings(max_examples=25, deadline=None)  # a machine may be busy
@given(data=streams)
def test_a_file_gives_the_same_batches_with_one_thread_and_with_several(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.ndjson"
        path.write_bytes(data)
        sources = Following(path), Following(path, DecoderThreads(2))
        polls = range(len(data) // BATCH_BYTES + 2)  # none comes where a line is longer than this
        alone, found = (
            [events_of(batch) for _ in polls if (batch := source.poll())] for source in sources
        )
        assert found == alone
        for source in sources:
            source.close()


@settings(max_examples=25, deadline=None)  # a machine may be busy
@given(polls=st.lists(st.integers(0, 3), max_size=6), closed=st.booleans())
def test_a_restart_at_any_batch_loses_and_repeats_nothing(polls, closed):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.ndjson"
        path.write_bytes(lines(*range(40)))
        source, found = Following(path, DecoderThreads(2)), []
        for count in polls:
            for _ in range(count):
                found += seconds(batch) if (batch := source.poll()) else []
            if closed:
                source.close()
            position = json.loads(json.dumps(source.position()))
            source.close()
            source = Following(path, DecoderThreads(2))
            source.resume(position)
        assert found + source.times() == [*range(40)]
        source.close()


def test_lines_are_ahead_while_their_position_is_not(path, ahead):
    append(path, lines(*range(40)))
    assert seconds(ahead.poll()) == [0, 1, 2]
    (position,) = ahead.position()["files"]
    assert (position["offset"], position["line"]) == (len(lines(0, 1, 2)), 4)
    assert ahead._parts[0].offset > position["offset"]


def test_lines_ahead_come_before_those_of_another_file(tmp_path):
    source = Following(tmp_path / "*.ndjson", DecoderThreads(2))
    append(tmp_path / "b.ndjson", lines(*range(10, 30)))
    source.clock.sleep(LOOK_EVERY_SECONDS)
    found = seconds(source.poll())
    append(tmp_path / "a.ndjson", lines(*range(10)))
    source.clock.sleep(LOOK_EVERY_SECONDS)
    found += source.times()
    assert [time for time in found if time >= 10] == [*range(10, 30)]
    assert sorted(found) == [*range(30)]
    source.close()


def test_a_file_that_is_replaced_while_lines_are_ahead_loses_none(path, ahead):
    append(path, lines(*range(20)))
    found = seconds(ahead.poll())
    path.rename(f"{path}.1")
    path.write_bytes(line(20))
    ahead.clock.sleep(LOOK_EVERY_SECONDS)
    assert sorted(found + ahead.times()) == [*range(21)]
