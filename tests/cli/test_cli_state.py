import json
import re

import pytest
from cli.commands import ran
from simulator.process import Process

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.engine import Monitor
from monitor.service.checkpointing import Checkpointer
from monitor.service.event_clock import EventClock
from monitor.state import Body, Checkpoints, Journal, StateError, StateFaults
from monitor.state.segment import HEADER_BYTES


@pytest.fixture
def folder(tmp_path):
    """State directory with two checkpoints and a journal."""
    clock = ManualClock(1_700_000_000)
    monitor = Monitor()
    for n in range(5):
        monitor.predict(f"p{n}", ts=60 * n, prediction=True, model="fraud")
    monitor.label("unknown", ts=60, label=True)
    for _ in range(2):
        checkpointer = Checkpointer(
            Config(),
            Checkpoints(tmp_path / "checkpoints"),
            faults=StateFaults(),
            clock=clock,
            say=lambda _: None,
        )
        checkpointer.close(monitor, [], EventClock(clock))
    with Journal(tmp_path / "journal") as journal:
        journal.append([Body(0, b"x"), Body(1, b"y")])
    return tmp_path


def test_a_whole_state_is_good(capsys, folder):
    done = ran(capsys, "state", "check", folder)
    assert done.code == 0
    assert done.out.splitlines()[0].startswith(f"{folder}/checkpoints/00000001.checkpoint: good, ")
    assert done.out.splitlines()[2].endswith("2 requests")
    assert done.out.endswith("3 files, 0 damaged\n")


def test_the_stored_state_is_shown(capsys, folder):
    done = ran(capsys, "state", "show", folder)
    assert done.code == 0
    for line in (
        "counting since: 2023-11-14T22:13:20Z",
        "records: 6",
        "models: fraud",
        "predictions stored: 5",
        "labels waiting for their prediction: 1",
    ):
        assert f"{line}\n" in done.out
    assert "journal: 1 segment" in done.out


@pytest.mark.parametrize("name", ["checkpoints/00000002.checkpoint", "journal/00000001.journal"])
def test_a_damaged_file_is_named_and_nothing_is_changed(capsys, folder, name):
    path = folder / name
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    done = ran(capsys, "state", "check", folder)
    assert done.code == 1
    assert f"{path}: " in done.out
    assert done.out.endswith("3 files, 1 damaged\n")
    assert path.read_bytes() == content
    assert ran(capsys, "state", "show", folder).code == 1


def test_a_torn_end_of_the_journal_is_no_damage_and_stays(capsys, folder):
    path = folder / "journal" / "00000001.journal"
    content = path.read_bytes() + b"torn"
    path.write_bytes(content)
    done = ran(capsys, "state", "check", folder)
    assert done.code == 0
    assert "its end is not whole: it never became durable, or is damaged" in done.out
    assert path.read_bytes() == content


@pytest.fixture
def segments(folder):
    """The same, and a journal of four segments."""
    with Journal(folder / "journal", segment_bytes=1) as journal:
        for n in range(3):
            journal.append([Body(n, b"more")])
    return sorted((folder / "journal").iterdir())


@pytest.mark.parametrize("gone", [[0], [1], [1, 2]])
def test_a_segment_that_is_missing_before_others_is_named(capsys, folder, segments, gone):
    assert ran(capsys, "state", "check", folder).code == 0
    for number in gone:
        segments[number].unlink()
    done = ran(capsys, "state", "check", folder)
    assert done.code == 1
    lines = [line for line in done.out.splitlines() if "is missing" in line]
    assert [line.partition(": ")[0] for line in lines] == [str(segments[n]) for n in gone]
    with pytest.raises(StateError, match="is missing"), Journal(folder / "journal") as journal:
        journal.check()


def test_an_older_segment_that_ends_too_early_is_named(capsys, folder, segments):
    whole = segments[1].read_bytes()
    segments[1].write_bytes(whole[:HEADER_BYTES])
    done = ran(capsys, "state", "check", folder)
    assert done.code == 1
    assert f"{segments[1]}: cut off at offset {HEADER_BYTES}; a start is refused" in done.out
    with pytest.raises(StateError, match="is damaged"), Journal(folder / "journal") as journal:
        journal.check()


def test_an_empty_directory_and_none(capsys, tmp_path):
    assert ran(capsys, "state", "check", tmp_path).out == "no state in this directory\n"
    assert ran(capsys, "state", "show", tmp_path).out.startswith("no checkpoint\n")
    assert "is not a directory" in ran(capsys, "state", "check", tmp_path / "x").err


@pytest.mark.parametrize(
    ("damaged", "reported"),
    [
        ([1], ["a start uses 00000002.checkpoint"]),
        ([2], ["a start uses 00000001.checkpoint"]),
        (
            [1, 2],
            ["no checkpoint is intact, a start is refused; `state salvage` copies the rest"] * 2,
        ),
    ],
)
def test_what_a_start_would_use_instead_of_a_damaged_checkpoint(capsys, folder, damaged, reported):
    for number in damaged:
        path = folder / "checkpoints" / f"{number:08}.checkpoint"
        path.write_bytes(path.read_bytes()[:-1])
    done = ran(capsys, "state", "check", folder)
    lines = [line.partition("; ")[2] for line in done.out.splitlines() if "is damaged" in line]
    assert (done.code, lines) == (1, reported)


NOW = 1_700_000_000


def hours(first, last, *, later=0):
    """An outcome an hour in a followed file, counted from `NOW` on."""
    return "".join(
        json.dumps(
            {"type": "outcome", "ts": NOW + hour * 3600 + later, "model": "fraud"}
            | {"prediction": hour % 2, "label": 1}
        )
        + "\n"
        for hour in range(first, last)
    )


class Restarted:
    """A monitor that follows a file, and is stopped after each step."""

    def __init__(self, folder):
        self.state, self._events = folder / "state", folder / "events.ndjson"
        self._events.touch()
        self._config = Config(
            models={"fraud": {"label_timeout": "14d", "maturity": "1m"}},
            windows=["1h", "1d"],
            feeds=[{"type": "file", "path": self._events, "follow": True}],
            state={"directory": self.state},
        )

    def after(self, lines="", clock=NOW):
        """Time of the model, all counts, and outcomes of the last day, after some more lines."""
        with self._events.open("a") as file:
            file.write(lines)
        process = Process(self._config, ManualClock(clock))
        process.settle()
        snapshot, counts = process.snapshot(), process.counts()
        process.stop()
        (model,), day = snapshot.models, snapshot.windows[1]
        cells = {key: n for key, n in counts.items() if key[:4] == ("cell", "fraud", "", "")}
        return model.watermark_ms // 1000, cells, int(day.counts.cells[0].sum())


def test_a_monitor_goes_on_from_a_time_that_was_taken_back(capsys, tmp_path):
    monitor, since = Restarted(tmp_path), "2023-11-14T22:13:20Z"
    before, counts, last_day = monitor.after(hours(-100, 0))
    assert (before, sum(counts.values()), last_day) == (NOW - 3 * 3600, 100, 24)
    later = 300 * 86_400  # of the producer and of this host
    ahead, counts, last_day = monitor.after(hours(0, 300, later=later), NOW + later + 300 * 3600)
    assert (ahead > NOW + 290 * 86_400, sum(counts.values())) == (True, 400)
    done = ran(capsys, "state", "take-back", monitor.state, "--model", "fraud", "--time", since)
    assert done.code == 0, done.err
    assert done.out.endswith(
        f"back to {since}; counters are as before: what has expired stays so\n"
    )
    assert monitor.after()[:2] == (NOW, counts)
    time, counts, last_day = monitor.after(hours(0, 30), NOW + 30 * 3600)
    assert (time, sum(counts.values())) == (NOW + 27 * 3600, 430)
    assert 20 <= last_day <= 24


def test_forwarding_that_never_was_does_not_end(capsys, folder):
    done = ran(capsys, "state", "stop-forwarding", folder)
    assert (done.code, "forwards nothing; nothing is written" in done.err) == (2, True)
    done = ran(capsys, "state", "stop-forwarding", folder / "none")
    assert (done.code, "none: is not a directory" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--model", "spam", "--time", "2026-11-01"], "no model 'spam'; there are fraud"),
        (["--model", "fraud", "--time", "2026-11-01"], "is not later than that"),
        (["--model", "fraud", "--time", "soon"], "--time: .*write a date like"),
        (["--model", "fraud"], "--model, --time: belong to take-back"),
    ],
)
def test_a_time_that_cannot_be_taken_back_is_refused(capsys, folder, options, fault):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = ran(capsys, "state", "take-back", folder, *options)
    assert done.code == 2
    assert re.search(fault, done.err)
    assert {path: path.read_bytes() for path in before} == before


def test_options_of_take_back_belong_to_no_other_action(capsys, folder):
    done = ran(capsys, "state", "check", folder, "--model", "fraud")
    assert (done.code, "belong to take-back" in done.err) == (2, True)
