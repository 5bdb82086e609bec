import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.errors import FeedError
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.sources import Followed, Recorded


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


def resumed(path, position):
    followed = Followed(path, Decoder(DecodeSettings()))
    return followed, followed.resume(json.loads(json.dumps(position)))


@given(cuts=st.lists(st.integers(1, 40), max_size=8), read=st.integers(0, 8))
def test_a_restart_at_any_point_loses_and_repeats_nothing(cuts, read):
    data = b"".join(map(line, range(8))) + line(8)[:-1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.ndjson"
        path.touch()
        source, found = Followed(path, Decoder(DecodeSettings())), []
        for number, cut in enumerate([*cuts, len(data)]):
            append(path, data[:cut])
            data = data[cut:]
            if number != read:
                found += times(source)
            position = source.position()
            source.close()
            source, fault = resumed(path, position)
            assert fault == ""
        append(path, b"\n")
        assert found + times(source) == list(range(9))
        source.close()


def test_after_a_restart_lines_have_their_numbers(path, source):
    append(path, line(1) + line(2))
    assert times(source) == [1, 2]
    append(path, b"none\n")
    again, _ = resumed(path, source.position())
    assert [r.position for r in again.poll().rejected] == [f"{path}:3"]
    again.close()


def test_a_file_that_was_replaced_meanwhile_is_noticed_and_read_from_its_start(path, source):
    append(path, line(1) + line(2))
    times(source)
    position = source.position()
    path.unlink()
    append(path, line(3) + line(4) + line(5))
    again, fault = resumed(path, position)
    assert "was replaced or cut" in fault
    assert times(again) == [3, 4, 5]
    again.close()


def test_a_file_that_is_back_later_is_known_again(path, source):
    append(path, line(1))
    times(source)
    position, kept = source.position(), path.read_bytes()
    path.unlink()
    again, fault = resumed(path, position)
    assert (fault, again.attached, again.position()) == ("", False, position)
    append(path, kept + line(2))
    assert times(again) == [2]
    again.close()


def test_files_read_once_go_on_behind_what_was_counted(tmp_path):
    paths = [tmp_path / "a.ndjson", tmp_path / "b.ndjson"]
    paths[0].write_bytes(b"".join(map(line, range(10))))
    paths[1].write_bytes(b"".join(map(line, range(10, 20))))
    decoder, names = Decoder(DecodeSettings()), list(map(str, paths))
    source, found = Recorded(names, decoder), []
    while (batch := source.poll()) is not None:
        found += (batch.predictions.time // 1000).tolist()
        again = Recorded(names, decoder)
        assert again.resume(source.position()) == ""
        assert found + times(again) == list(range(20))
    append(paths[1], line(20))
    again = Recorded(names, decoder)
    assert "has changed" in again.resume(source.position())
    assert times(again) == list(range(21))
