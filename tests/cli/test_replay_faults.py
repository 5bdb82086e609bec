"""`replay` of what cannot be read, is torn, or holds records that are rejected."""

import json
import subprocess
import sys

import pytest
from cli.commands import label, lines_of, prediction, ran
from streams import FLIGHTS

from monitor.demo.flights import MODEL


def test_standard_input_is_a_file_called_dash():
    done = subprocess.run(
        [sys.executable, "-m", "monitor", "replay", "-", "--json"],
        input=lines_of(prediction(1), label(1)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["models"]["default"]["outcomes"]["tp"] == 1


@pytest.mark.parametrize("kind", ["missing", "directory"])
def test_what_cannot_be_read_is_one_line_and_exit_code_3(capsys, tmp_path, kind):
    path = tmp_path if kind == "directory" else tmp_path / "missing.ndjson"
    failed = ran(capsys, "replay", path, "--json")
    assert (failed.code, failed.out) == (3, "")
    assert failed.err.startswith(f"precision-monitor: {path}: ")
    assert failed.err.count("\n") == 1


def test_an_empty_file_holds_no_events(capsys, tmp_path):
    path = tmp_path / "empty.ndjson"
    path.touch()
    empty = ran(capsys, "replay", path, "--json")
    assert empty.code == 3
    assert json.loads(empty.out) == {"events": 0, "events_rejected": {}, "models": {}}


def test_of_a_torn_file_all_good_records_count_and_the_exit_code_is_3(capsys, tmp_path):
    path = tmp_path / "torn.ndjson.gz"
    path.write_bytes(FLIGHTS.read_bytes()[:100_000])
    torn = ran(capsys, "replay", path, "--json")
    assert torn.code == 3
    assert json.loads(torn.out)["models"][MODEL]["predictions"] > 4_000
    assert "torn.ndjson.gz: gzip" in torn.err


def test_poison_is_counted_by_reason_and_the_good_records_count(capsys, tmp_path):
    deep = b'{"type":"prediction","segment":' + b"[" * 10_000 + b"]" * 10_000 + b"}\n"
    poison = [
        b"no json\n",
        b'{"type":"prediction","id":"a","ts":1,"prediction":1,"score":NaN}\n',
        b'{"type":"prediction","id":"b","ts":1,"prediction":1,"score":1e999}\n',
        b'{"type":"prediction","id":"\\ud800","ts":1,"prediction":1}\n',
        b'{"type":"prediction","id":"' + b"x" * 1_000_000 + b'","ts":1,"prediction":1}\n',
        b'{"type":"label","id":"c","ts":1,"label":7}\n',
        b'{"type":"weather","id":"c","ts":1}\n',
        b'{"type":"label","ts":1,"label":1}\n',
        b'{"type":"label","id":"d","ts":99999999999,"label":1}\n',
        b'{"type":"label","id":"d","ts":1793527200000,"label":1}\n',
        b"\xff\xfe\n",
        deep,
    ]
    good = lines_of(prediction(1), label(1), prediction(2), label(2, positive=0)).encode()
    path = tmp_path / "poison.ndjson"
    path.write_bytes(good + b"".join(poison) + b'{"type":"prediction","id":"torn')
    done = ran(capsys, "replay", path, "--json")
    found = json.loads(done.out)
    assert done.code == 0
    assert found["models"]["default"]["outcomes"] == {"tp": 1, "fp": 1, "fn": 0, "tn": 0}
    assert sum(found["events_rejected"].values()) == len(poison) + 1 == found["events"] - 4
    assert set(found["events_rejected"]) == {
        "malformed",
        "bad_value",
        "unknown_type",
        "missing_field",
        "too_large",
        "timestamp_out_of_range",
        "timestamp_in_milliseconds",
    }
    assert f"{path}:5: malformed: " in done.err
    assert "… and 8 more; the last line sums up" in done.err
