"""Damage of a state directory: what a start counts, and what salvage brings back."""

import random
import shutil
from typing import NamedTuple

import pytest
from cli.commands import ran

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import DecodeSettings, LiveDecoder
from monitor.service.checkpointing import Checkpointer
from monitor.service.event_clock import EventClock
from monitor.service.journal_replay import ReplayedJournal
from monitor.state import (
    JOURNAL,
    START,
    Body,
    Checkpoints,
    Journal,
    JournalPosition,
    StateError,
    StateFaults,
    StateLock,
)
from monitor.state.salvage import salvage
from monitor.state.segment import HEADER_BYTES

NOW = 1_700_000_000
FRAMES, BODIES, RECORDS = 30, 2, 4
ALL = FRAMES * BODIES * RECORDS
CHECKPOINTS = (8, 20)
"""Frames after which a checkpoint is written."""


class Counts(NamedTuple):
    """What a start counts."""

    predictions: int
    positive: int
    outcomes: tuple[int, ...]


def lines(number):
    """Outcomes with ids of their own: some of each cell, and none twice."""
    return b"".join(
        b'{"type":"outcome","id":"%d.%d","ts":%d,"prediction":%d,"label":%d}\n'
        % (number, n, NOW + number, (number + n) % 2, number % 3 == 0)
        for n in range(RECORDS)
    )


class JournalSource:
    """The journal of a directory, as the source of a checkpoint."""

    identity = JOURNAL

    def __init__(self, position):
        self._position = position

    def position(self):
        return self._position._asdict()

    def resume(self, _):
        return ""

    def commit(self, _):
        """Everything stays."""


def counted(folder):
    """What a start on a directory counts, from the newest checkpoint and the journal.

    Raises:
        StateError: the start is refused.
    """
    found = Checkpoints(folder / "checkpoints").newest()
    monitor = Monitor(Config(), None if found is None else found.state["engine"])
    given = None if found is None else found.state["positions"].get(JOURNAL)
    since = START if given is None else JournalPosition(**given)
    with Journal(folder / JOURNAL, reaches=since) as journal:
        journal.check(since)
        for batch in ReplayedJournal(journal, LiveDecoder(DecodeSettings()), since):
            monitor.apply(batch)
        torn = journal.torn_bytes
    snapshot = monitor.snapshot()
    cells = tuple(snapshot.lifetime.counts.cells.sum(axis=0).tolist())
    predictions = sum(m.predictions_positive + m.predictions_negative for m in snapshot.models)
    return Counts(predictions, sum(m.predictions_positive for m in snapshot.models), cells), torn


@pytest.fixture(scope="module", params=[10**9, 4_000], ids=["one segment", "many segments"])
def whole(request, tmp_path_factory):
    """A state directory with two checkpoints, and a journal that begins before both."""
    folder = tmp_path_factory.mktemp("whole") / "state"
    decoder, monitor = LiveDecoder(DecodeSettings()), Monitor()
    with Journal(folder / JOURNAL, segment_bytes=request.param) as journal:
        for frame in range(FRAMES):
            bodies = [Body(NOW * 1000, lines(frame * BODIES + n)) for n in range(BODIES)]
            *_, position = journal.append(bodies)
            for body in bodies:
                monitor.apply(decoder.decode_lines(body.lines, source="x"))
            if frame in CHECKPOINTS:
                checkpoint(folder, monitor, position)
    (folder / "dead-letter.ndjson").write_text("{}\n")
    assert counted(folder) == (counted(folder)[0], 0)
    assert counted(folder)[0].predictions == ALL
    return folder


def checkpoint(folder, monitor, position):
    clock = ManualClock(NOW)
    made = Checkpointer(
        Config(),
        Checkpoints(folder / "checkpoints"),
        faults=StateFaults(),
        clock=clock,
        say=lambda _: None,
    )
    made.close(monitor, [JournalSource(position)], EventClock(clock))


@pytest.fixture
def damaged(whole, tmp_path):
    """A copy to damage."""
    shutil.copytree(whole, tmp_path / "state")
    return tmp_path / "state"


def salvaged(folder):
    """What a start on the salvaged directory counts, and what was reported."""
    to = folder.with_name("salvaged")
    shutil.rmtree(to, ignore_errors=True)
    said = list(salvage(folder, to))
    found, torn = counted(to)
    assert torn == 0
    return found, said


def started(folder):
    """The same as `counted`; None where the start is refused."""
    try:
        return counted(folder)
    except StateError:
        return None, 0


def files(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".journal", ".checkpoint"))


def last_frame(folder):
    """The segment and offset of the last frame that a start may cut off as torn."""
    with Journal(folder / JOURNAL) as journal:
        *_, (_, position) = journal.read()
    return folder / JOURNAL / f"{position.segment:08}.journal", position.offset


def test_a_whole_directory_is_salvaged_as_it_is(whole, damaged):
    found, said = salvaged(damaged)
    assert found == counted(whole)[0]
    assert not any(file.lost for file in said)
    for path in files(damaged):
        assert (damaged.with_name("salvaged") / path.relative_to(damaged)).read_bytes() == (
            path.read_bytes()
        )
    assert (damaged.with_name("salvaged") / "dead-letter.ndjson").read_text() == "{}\n"


@pytest.mark.parametrize("seed", range(30))
def test_a_changed_byte_is_refused_or_recovered_from_and_salvage_recovers_all(whole, damaged, seed):
    chance, truth = random.Random(seed), counted(whole)[0]
    last, cut = last_frame(damaged)
    path = chance.choice(files(damaged))
    changed = bytearray(path.read_bytes())
    place = chance.randrange(len(changed))
    changed[place] ^= chance.randrange(1, 256)
    path.write_bytes(changed)
    found, said = salvaged(damaged)
    assert found == truth
    assert any(file.path == path and file.text != "whole" for file in said)
    assert path.read_bytes() == changed
    found, torn = started(damaged)
    if torn:  # the last frame is no other than a torn one, and is cut off
        assert path == last
        assert place >= cut
        assert found.predictions == truth.predictions - BODIES * RECORDS
    else:
        assert found in (truth, None)


@pytest.mark.parametrize("seed", range(20))
def test_a_lost_sector_of_the_journal_loses_the_requests_in_it_and_no_others(whole, damaged, seed):
    chance, truth = random.Random(seed), counted(whole)[0]
    path = chance.choice([path for path in files(damaged) if path.suffix == ".journal"])
    content = bytearray(path.read_bytes())
    start = chance.randrange(HEADER_BYTES, len(content))
    end = min(start + 512, len(content))
    content[start:end] = bytes(end - start)
    path.write_bytes(content)
    found, said = salvaged(damaged)
    assert truth.predictions - found.predictions in {n * BODIES * RECORDS for n in range(3)}
    assert sum(found.outcomes) == found.predictions
    assert sum(file.lost for file in said) == 1


def test_a_lost_header_costs_nothing_where_a_checkpoint_holds_its_salt(whole, damaged):
    truth = counted(whole)[0]
    position = Checkpoints(damaged / "checkpoints").newest().state["positions"][JOURNAL]
    path = damaged / JOURNAL / f"{position['segment']:08}.journal"
    path.write_bytes(bytes(HEADER_BYTES) + path.read_bytes()[HEADER_BYTES:])
    with pytest.raises(StateError, match="is damaged"):
        counted(damaged)
    assert salvaged(damaged)[0] == truth


@pytest.mark.parametrize("lose", ["unlink", "header", "half", "all"])
def test_what_is_left_of_a_journal_is_counted(whole, damaged, lose):
    truth = counted(whole)[0]
    path = max(p for p in files(damaged) if p.suffix == ".journal")
    content = path.read_bytes()
    if lose == "unlink":
        path.unlink()
    else:
        kept = {"header": HEADER_BYTES, "half": len(content) // 2, "all": 0}[lose]
        path.write_bytes(content[:kept])
    found, _ = salvaged(damaged)
    newest = (CHECKPOINTS[-1] + 1) * BODIES * RECORDS
    assert newest <= found.predictions <= truth.predictions


def test_without_a_checkpoint_the_journal_is_counted(whole, damaged):
    for path in files(damaged):
        if path.suffix == ".checkpoint":
            path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StateError, match=r"as is every other checkpoint; .*state salvage"):
        counted(damaged)
    found, said = salvaged(damaged)
    assert found == counted(whole)[0]
    assert any("no checkpoint is whole" in file.text for file in said)


def test_a_journal_of_another_checkpoint_is_refused(damaged):
    shutil.rmtree(damaged / JOURNAL)
    with Journal(damaged / JOURNAL, segment_bytes=1) as journal:
        for frame in range(FRAMES):
            journal.append([Body(NOW * 1000, lines(frame))] * BODIES)
    with pytest.raises(StateError, match="belongs to another journal than the checkpoint"):
        counted(damaged)


def test_a_position_without_a_salt_is_that_of_an_older_version(damaged):
    found = Checkpoints(damaged / "checkpoints").newest()
    position = JournalPosition(**found.state["positions"][JOURNAL])
    assert position.salt
    old = position._replace(salt=0)
    with Journal(damaged / JOURNAL, reaches=old) as journal:
        assert list(journal.read(old)) == list(journal.read(position))


def test_the_command_says_what_is_lost_and_leaves_the_original(capsys, damaged, tmp_path):
    to = tmp_path / "new"
    done = ran(capsys, "state", "salvage", damaged, "--to", to)
    assert (done.code, done.out.splitlines()[-1]) == (0, f"copied to {to}; nothing is lost")
    again = ran(capsys, "state", "salvage", damaged, "--to", to)
    assert (again.code, again.out) == (2, "")
    assert f"{to}: exists already; give a new directory" in again.err
    shutil.rmtree(to)
    path = next(p for p in files(damaged) if p.suffix == ".journal")
    content = path.read_bytes()
    path.write_bytes(content[:200] + bytes(600) + content[800:])
    done = ran(capsys, "state", "salvage", damaged, "--to", to)
    assert done.code == 1
    assert f"{path}: lost: offsets " in done.out
    assert done.out.endswith(f"copied to {to}; 1 file is incomplete\n")


def test_the_command_refuses_a_directory_in_use_and_wrong_usage(capsys, damaged, tmp_path):
    with StateLock(damaged):
        done = ran(capsys, "state", "salvage", damaged, "--to", tmp_path / "new")
    assert done.code == 2
    assert "is in use by another process" in done.err
    assert not (tmp_path / "new").exists()
    assert "--to: belongs to salvage" in ran(capsys, "state", "salvage", damaged).err
    assert "--to: belongs to salvage" in ran(capsys, "state", "show", damaged, "--to", "x").err
    assert "is not a directory" in ran(capsys, "state", "salvage", "none", "--to", "x").err
