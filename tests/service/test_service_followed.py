import json
import os

import pytest

from monitor.errors import FeedError
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.sources import Followed


def line(number):
    event = {"type": "prediction", "id": f"p{number}", "ts": number, "prediction": 1}
    return json.dumps(event).encode() + b"\n"


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


def times(source):
    """Event times in seconds of all that has come."""
    found = []
    while (batch := source.poll()) is not None:
        found += (batch.predictions.time // 1000).tolist()
    return found


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.ndjson"


@pytest.fixture
def source(path):
    followed = Followed(path, Decoder(DecodeSettings()))
    yield followed
    followed.close()


def test_a_file_that_is_not_there_yet_is_waited_for(path, source):
    assert (source.attached, source.poll()) == (False, None)
    path.write_bytes(line(1))
    assert times(source) == [1]
    assert source.attached
    assert not source.ended


def test_what_is_appended_comes_once(path, source):
    append(path, line(1) + line(2))
    assert times(source) == [1, 2]
    append(path, line(3))
    assert times(source) == [3]
    assert times(source) == []


def test_a_line_counts_once_its_newline_is_there(path, source):
    whole = line(1)
    append(path, whole[:10])
    assert times(source) == []
    append(path, whole[10:] + line(2)[:5])
    assert times(source) == [1]
    append(path, line(2)[5:])
    assert times(source) == [2]


def test_positions_go_on_over_what_was_read_before(path, source):
    append(path, line(1) + b"no json\n")
    first = source.poll()
    append(path, b"again\n")
    second = source.poll()
    assert [r.position for r in (*first.rejected, *second.rejected)] == [f"{path}:2", f"{path}:3"]


def test_of_a_replaced_file_the_rest_is_read_first(path, source):
    append(path, line(1))
    assert times(source) == [1]
    append(path, line(2)[:-1])
    path.rename(path.with_suffix(".1"))
    assert times(source) == []
    assert source.attached
    path.write_bytes(line(3))
    assert times(source) == [2, 3]


def test_a_file_that_is_cut_is_read_from_its_start(path, source):
    append(path, line(1) + line(2))
    assert times(source) == [1, 2]
    path.write_bytes(line(3))
    assert times(source) == []
    assert times(source) == [3]


def test_an_endless_line_is_rejected_and_costs_no_memory(path, source):
    for _ in range(20):
        append(path, b"x" * 50_000)
        assert source.poll() is None
    assert len(source._unfinished) < 100_000
    append(path, b"\n" + line(1))
    batch = source.poll()
    assert [str(r.reason) for r in batch.rejected] == ["too_large"]
    assert len(batch.predictions) == 1


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_what_is_no_file_is_a_clear_error(tmp_path, kind):
    path = tmp_path / "odd"
    path.mkdir() if kind == "directory" else os.mkfifo(path)
    with pytest.raises(FeedError, match="cannot be followed"):
        Followed(path, Decoder(DecodeSettings()))
