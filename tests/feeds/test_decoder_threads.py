"""Threads that decode ahead give the events of one thread, in its order."""

import gzip
import json
import tempfile
from pathlib import Path
from threading import Barrier, Event

from feeds.decode.strategies import streams
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.engine import Monitor
from monitor.errors import FeedError
from monitor.feeds.blocks import Block
from monitor.feeds.decode import Decoder, DecodeSettings, LiveDecoder, ModelFields
from monitor.feeds.decoder_threads import DecoderThreads, default_threads
from monitor.feeds.files import read
from monitor.state.encoding import encoded

CONFIG = Config(models={"fraud": {"threshold": 0.5, "segments": ["region", "channel"]}, "spam": {}})
DECODER = Decoder(DecodeSettings.from_config(CONFIG))
TIMEOUT = 60.0
"""Seconds after which a test fails that would wait for ever."""


def line(number):
    event = {"type": "prediction", "id": f"p{number}", "ts": number, "prediction": 1}
    return json.dumps(event).encode() + b"\n"


def blocks_of(count):
    return [Block(line(number), number + 1) for number in range(count)]


def seconds(batches):
    return [time // 1000 for batch in batches for time in batch.predictions.time.tolist()]


def state_of(paths, threads, chunk_bytes):
    """The state of a monitor after some files, as stored, and what was rejected, where and why."""
    monitor, rejected = Monitor(CONFIG), []
    for batch in read(paths, DECODER, chunk_bytes=chunk_bytes, threads=threads):
        monitor.apply(batch)
        rejected += batch.rejected
    return b"".join(encoded(monitor.state(), 1)), rejected


@settings(max_examples=12, deadline=None)  # a machine may be busy
@given(
    files=st.lists(st.tuples(streams, st.booleans()), min_size=1, max_size=2),
    size=st.integers(50, 800),
    count=st.integers(2, 3),
)
def test_files_count_the_same_with_one_thread_and_with_several(files, size, count):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.ndjson" for number in range(len(files))]
        for path, (data, packed) in zip(paths, files, strict=True):
            path.write_bytes(gzip.compress(data) if packed else data)
        assert state_of(paths, DecoderThreads(count), size) == state_of(paths, None, size)


def test_blocks_are_decoded_at_once_and_come_in_order():
    both = Barrier(2)
    second_is_done = Event()

    class Meeting(Decoder):
        def decode_lines(self, data, *, source, first_line=1, latest_ms=None):
            if first_line <= 2:
                both.wait(TIMEOUT)  # neither ends before the other has begun
            if first_line == 1:
                assert second_is_done.wait(TIMEOUT)
            batch = super().decode_lines(
                data, source=source, first_line=first_line, latest_ms=latest_ms
            )
            if first_line == 2:
                second_is_done.set()
            return batch

    found = DecoderThreads(2).batches(iter(blocks_of(5)), Meeting(DecodeSettings()), "t")
    assert seconds(found) == [0, 1, 2, 3, 4]


def test_one_thread_reads_nothing_ahead():
    blocks = iter(blocks_of(3))
    found = DecoderThreads(1).batches(blocks, Decoder(DecodeSettings()), "t")
    assert seconds([next(found)]) == [0]
    assert next(blocks).first_line == 2


def test_what_is_ahead_is_bounded_over_all_files():
    threads, decoder, taken = DecoderThreads(2), Decoder(DecodeSettings()), []

    def reading(name):
        for block in blocks_of(50):
            taken.append(name)
            yield block

    files = {name: threads.batches(reading(name), decoder, name) for name in "ab"}
    for _ in range(10):
        assert [len(next(found).predictions) for found in files.values()] == [1, 1]
    assert len(taken) <= 20 + 4
    for found in files.values():
        found.close()
    assert threads.room == 4
    assert seconds(threads.batches(iter(blocks_of(9)), decoder, "c")) == [*range(9)]


def test_blocks_ahead_are_decoded_by_the_settings_in_force_when_they_come():
    decoder = LiveDecoder(DecodeSettings())
    found = DecoderThreads(2).batches(iter(blocks_of(3)), decoder, "t")
    assert [group.model for group in next(found).groups] == ["default"]
    decoder.replace(DecodeSettings(models={"fraud": ModelFields(), "spam": ModelFields()}))
    assert [[r.position for r in batch.rejected] for batch in found] == [["t:2"], ["t:3"]]


def test_a_torn_file_gives_all_lines_before_and_then_its_error(tmp_path):
    path = tmp_path / "events.ndjson"
    lines, decoder = b"".join(map(line, range(20_000))), Decoder(DecodeSettings())
    path.write_bytes(gzip.compress(lines, compresslevel=1)[:-9])

    def all_of(threads):
        came = []
        try:
            for batch in read([path], decoder, chunk_bytes=50_000, threads=threads):
                came += seconds([batch])
        except FeedError as error:
            return came, str(error)
        return came, ""

    came, error = all_of(DecoderThreads(2))
    assert "gzip ends too early" in error
    assert came == [*range(len(came))]
    assert len(came) > 15_000
    assert (came, error) == all_of(None)


def test_python_alone_decodes_in_the_thread_that_counts(monkeypatch):
    monkeypatch.setenv("PRECISION_MONITOR_KERNEL", "python")
    assert default_threads() == 1
