import base64
import json

import pytest
from state.test_journal import file_size_limit

from monitor.errors import FeedError
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.state import dead_letter
from monitor.state.dead_letter import DeadLetter


def rejection(record=b"{", position="a:1"):
    return Rejection(RejectReason.MALFORMED, position, "is not JSON", record)


def lines_of(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_each_rejection_is_one_line(tmp_path):
    path = tmp_path / "state" / "dead" / "letter.ndjson"
    with DeadLetter(path, 10_000) as dead:
        dead.write([rejection(), rejection(b"x\ny\0")])
        dead.write([])
    assert lines_of(path) == [
        {"reason": "malformed", "position": "a:1", "detail": "is not JSON", "record": record}
        for record in ("{", "x\ny\0")
    ]
    assert (dead.written, dead.dropped) == (2, 0)


def test_what_does_not_fit_costs_nothing(tmp_path, monkeypatch):
    asked = []
    encoded = dead_letter.encoded
    monkeypatch.setattr(dead_letter, "encoded", lambda one: asked.append(one) or encoded(one))
    with DeadLetter(tmp_path / "d", 200) as dead:
        dead.write([rejection()] * 1000)
        dead.write([rejection()] * 1000)
    assert (dead.written, dead.dropped) == (2, 1998)
    assert len(asked) == dead.written + 2  # the first of each call that does not fit


def test_a_record_that_is_no_utf8_stands_in_base64(tmp_path):
    path = tmp_path / "d"
    with DeadLetter(path, 10_000) as dead:
        dead.write([rejection(b"\xff{"), rejection("aü".encode()[:-1])])
    bad, cut = lines_of(path)
    assert (base64.b64decode(bad["record"]), bad["encoding"]) == (b"\xff{", "base64")
    assert cut["record"] == "a"
    assert "encoding" not in cut


def test_it_stops_at_its_size_and_counts_what_it_drops(tmp_path):
    path = tmp_path / "d"
    for _ in range(2):
        with DeadLetter(path, 1000) as dead:
            dead.write([rejection()] * 100)
        assert path.stat().st_size <= 1000
    fitting = len(lines_of(path))
    assert (dead.written, dead.dropped) == (0, 100)
    assert 10 <= fitting < 20


@pytest.mark.parametrize("change", ["truncate", "unlink", "rotate", "append"])
def test_it_goes_on_in_a_file_that_others_change(tmp_path, change):
    path = tmp_path / "d"
    with DeadLetter(path, 2000) as dead:
        dead.write([rejection()] * 100)
        assert dead.dropped > 0
        full, dropped = path.read_bytes(), dead.dropped
        if change == "truncate":
            path.write_bytes(b"")
        elif change == "unlink":
            path.unlink()
        elif change == "rotate":
            path.rename(tmp_path / "d.1")
        else:
            path.write_bytes(full.splitlines(keepends=True)[0])
        dead.write([rejection(position="later:1")])
    assert lines_of(path)[-1]["position"] == "later:1"
    assert len(lines_of(path)) == 1 + (change == "append")
    assert dead.dropped == dropped
    if change == "rotate":
        assert (tmp_path / "d.1").read_bytes() == full


def test_it_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "d"
    for position in ("a:1", "a:2"):
        with DeadLetter(path, 1000) as dead:
            dead.write([rejection(position=position)])
    assert [line["position"] for line in lines_of(path)] == ["a:1", "a:2"]


def test_a_position_with_odd_bytes_is_written(tmp_path):
    path = tmp_path / "d"
    with DeadLetter(path, 1000) as dead:
        dead.write([rejection(position="a\udcff.ndjson:1")])
    assert lines_of(path)[0]["position"] == "a?.ndjson:1"


def test_a_full_disk_drops_and_leaves_whole_lines(tmp_path):
    with DeadLetter(tmp_path / "d", 10_000) as dead:
        dead.write([rejection()])
        with file_size_limit((tmp_path / "d").stat().st_size + 5):
            dead.write([rejection()])
        assert (dead.written, dead.dropped) == (1, 1)
        dead.write([rejection()])
    assert (dead.written, dead.dropped) == (2, 1)
    assert len(lines_of(tmp_path / "d")) == 2


def test_a_file_that_cannot_be_opened_says_so(tmp_path):
    with pytest.raises(FeedError, match="dead-letter file cannot be opened"):
        DeadLetter(tmp_path, 1000)
