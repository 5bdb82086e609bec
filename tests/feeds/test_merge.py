import json
from itertools import pairwise

from feeds.decode.oracle import rows_of, until_error
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.errors import FeedError
from monitor.events.batches import concatenate
from monitor.feeds import merge
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.files import read
from monitor.feeds.merge import BEFORE_ALL, by_time, merged

ANY = Decoder(DecodeSettings())
KINDS = ("predictions", "labels", "outcomes", "counts")


def prediction(i, ts):
    fields = {"type": "prediction", "id": str(i), "ts": ts, "prediction": 1, "model": f"m{i % 3}"}
    return json.dumps(fields).encode()


def label(i, ts):
    return json.dumps({"type": "label", "id": str(i), "ts": ts, "label": 1}).encode()


def batches(lines, size):
    for i in range(0, len(lines), size):
        yield ANY.decode_lines(b"\n".join(lines[i : i + size]), source="f", first_line=i + 1)


def times(batch):
    return [int(t) // 1000 for kind in KINDS for t in getattr(batch, kind).time]


def test_a_file_of_predictions_and_one_of_labels_come_in_turn():
    predictions = [prediction(i, i) for i in range(1000)]
    labels = [label(i, i + 50) for i in range(1000)]
    latest = -1
    for batch in merged([batches(labels, 100), batches(predictions, 70)]):
        assert min(times(batch)) >= latest
        latest = max(times(batch))
    assert latest == 1049


def test_files_of_a_day_each_are_not_searched_for_every_other_one(monkeypatch):
    searched = []

    def part(timed, which):
        searched.append(which)
        return cut(timed, which)

    cut = merge._part  # to count its calls
    monkeypatch.setattr(merge, "_part", part)
    days = [[prediction(100 * day + i, 86_400 * day + i) for i in range(3)] for day in range(60)]
    found = concatenate(list(merged([batches(lines, 9) for lines in days])))
    assert len(found.predictions) == 180
    assert len(searched) <= 4 * len(days)


def as_list(batch):
    """All rows of a batch, in order."""
    return sorted(
        (row, kind, int(time), str(key))
        for kind in ("predictions", "labels")
        for row, time, key in zip(
            getattr(batch, kind).row,
            getattr(batch, kind).time,
            getattr(batch, kind).key,
            strict=True,
        )
    )


@given(
    files=st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), min_size=1), min_size=1)
)
def test_one_batch_of_each_stream_comes_in_the_order_of_streams_that_end(files):
    made = [
        [
            (prediction if is_prediction else label)(i, ts)
            for i, (is_prediction, ts) in enumerate(file)
        ]
        for file in files
    ]
    streams = [concatenate([*batches(lines, 50)]) for lines in made]
    whole = concatenate([*merged([iter([stream]) for stream in streams])])
    found = by_time([(stream, BEFORE_ALL) for stream in streams])
    assert [entry[1:] for entry in as_list(found)] == [entry[1:] for entry in as_list(whole)]
    assert found.records == whole.records


def test_memory_is_a_few_chunks_whatever_the_length():
    read_rows = {"a": 0, "b": 0}

    def counted(name, lines):
        for batch in batches(lines, 10):
            read_rows[name] += batch.records
            yield batch

    streams = [
        counted("a", [prediction(i, i) for i in range(2000)]),
        counted("b", [label(i, i) for i in range(2000)]),
    ]
    given_rows = 0
    for batch in merged(streams):
        given_rows += len(times(batch))
        assert sum(read_rows.values()) - given_rows <= 20
    assert given_rows == 4000


def test_a_file_that_goes_on_with_older_times_stops_nothing():
    falling = [prediction(i, 1000 - i) for i in range(500)]
    rising = [label(i, i) for i in range(2000)]
    held = []
    seen = 0
    for batch in merged([batches(falling, 10), batches(rising, 10)]):
        seen += len(times(batch))
        held.append(seen)
    assert seen == 2500
    assert held[50] >= 400


@settings(max_examples=50)
@given(
    st.lists(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=12), max_size=4),
    st.integers(1, 5),
)
def test_nothing_is_lost_or_doubled(sources, size):
    made = [
        [b"{" if ts == 30 else (prediction if p else label)(i, ts) for i, (p, ts) in enumerate(one)]
        for one in sources
    ]
    found = concatenate(list(merged([batches(lines, size) for lines in made])))
    expected = concatenate([batch for lines in made for batch in batches(lines, 100)])
    assert rows_of(found) == rows_of(expected)
    assert found.records == expected.records
    assert sorted(found.rejected) == sorted(expected.rejected)


def test_a_damaged_stream_is_reported_after_the_events_of_all_streams():
    def torn():
        yield from batches([prediction(0, 5)], 1)
        raise FeedError("torn")

    found, error = until_error(merged([torn(), batches([label(i, i) for i in range(100)], 10)]))
    assert str(error) == "torn"
    found = [time for batch in found for time in times(batch)]
    assert sorted(found) == sorted([5, *range(100)])


def test_groups_that_wait_for_nothing_are_forgotten():
    lines = [prediction(i, i).replace(b"m", f"model-{i}-".encode(), 1) for i in range(300)]
    sizes = [len(b.groups) for b in merged([batches(lines, 10), batches([label(0, 1e6)], 1)])]
    assert max(sizes) <= 10


def test_files_are_merged_by_time(tmp_path):
    paths = [tmp_path / "labels.ndjson", tmp_path / "predictions.ndjson"]
    paths[0].write_bytes(b"\n".join(label(i, i + 0.5) for i in range(5000)))
    paths[1].write_bytes(b"\n".join(prediction(i, i) for i in range(5000)))
    found = list(read(paths, ANY, chunk_bytes=20_000))
    assert sum(map(len, map(times, found))) == 10_000
    for earlier, later in pairwise(found):
        assert max(times(earlier)) <= min(times(later))
