import errno
import os
import resource
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.state import Body, Journal, StateError, StateFullError, StateLock
from monitor.state.segment import HEADER_BYTES

GROUPS = [
    [Body(1_000, b'{"id":"a"}\n'), Body(1_001, b"")],
    [Body(1_002, b"\xf1PMF" * 5), Body(-1, b"\x00" * 40)],
    [Body(2**62, b"last\n")],
]
BODIES = [body for group in GROUPS for body in group]


def written(folder: Path, groups=GROUPS, **settings) -> None:
    with Journal(folder, **settings) as journal:
        for group in groups:
            journal.append(group)


def read(folder: Path) -> list[Body]:
    with Journal(folder) as journal:
        return bodies_in(journal)


def bodies_in(journal: Journal) -> list[Body]:
    return [body for body, _ in journal.read()]


def read_or_refused(folder: Path) -> tuple[list[Body], str | None]:
    try:
        return read(folder), None
    except StateError as error:
        return [], str(error)


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.journal"))


@contextmanager
def file_size_limit(size: int):
    """Writes beyond it fail after the part that fits, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Disk:
    """Syncs, unless it is broken; counts."""

    def __init__(self) -> None:
        self.broken = False
        self.syncs = 0

    def sync(self, _: int) -> None:
        self.syncs += 1
        if self.broken:
            raise OSError(errno.EIO, "Input/output error")


@pytest.fixture(scope="module", params=[10**9, 1], ids=["one segment", "a segment a group"])
def original(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("journal")
    written(folder, segment_bytes=request.param)
    return folder


@contextmanager
def copied(original: Path):
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copytree(original, Path(folder) / "copy"))


def test_what_was_appended_is_read_in_order_by_the_next_process(original):
    assert read(original) == BODIES


def test_a_journal_that_is_new_holds_nothing(tmp_path):
    assert read(tmp_path / "new") == []
    assert segments(tmp_path / "new") == []


def test_a_group_is_made_durable_by_one_sync(tmp_path):
    disk = Disk()
    with Journal(tmp_path, sync=disk.sync) as journal:
        journal.append(GROUPS[0])
        before = disk.syncs
        journal.append([Body(i, b"x") for i in range(100)])
        assert disk.syncs == before + 1


def test_it_goes_on_where_it_ended(tmp_path):
    for group in GROUPS:
        written(tmp_path, [group])
    assert read(tmp_path) == BODIES
    assert len(segments(tmp_path)) == 1


def test_reading_stops_where_the_journal_ended_when_it_was_called(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append(GROUPS[0])
        bodies = journal.read()
        assert next(bodies)[0] == BODIES[0]
        journal.append(GROUPS[1])
        assert [body for body, _ in bodies] == BODIES[1:2]


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_cut_anywhere_the_last_segment_gives_whole_groups_or_an_error(original, data):
    with copied(original) as folder:
        last = segments(folder)[-1]
        cut = data.draw(st.integers(0, last.stat().st_size))
        os.truncate(last, cut)
        found = read(folder)
        assert found == BODIES[: len(found)]
        assert len(found) in (0, 2, 4, 5)
        with Journal(folder) as journal:
            assert journal.torn_bytes == 0, "the first opening has cut it"
            journal.append(GROUPS[2])
        assert read(folder) == [*found, *GROUPS[2]]


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_a_bit_flipped_anywhere_gives_whole_groups_or_an_error_that_names_the_place(original, data):
    with copied(original) as folder:
        paths = segments(folder)
        path = data.draw(st.sampled_from(paths))
        content = bytearray(path.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        found, error = read_or_refused(folder)
        assert error is None or f"{path}: offset " in error
        if error is None:
            assert found == BODIES, "the last group, which could pass for a torn end, is repaired"
            assert path == paths[-1]


@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_a_segment_that_is_not_the_last_may_not_be_cut(data):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(folder, segment_bytes=1)
        path = segments(folder)[data.draw(st.integers(0, 1))]
        os.truncate(path, data.draw(st.integers(0, path.stat().st_size - 1)))
        with pytest.raises(StateError, match=rf"{path}: offset \d+: is damaged"):
            read(folder)


def test_a_frame_that_is_copied_elsewhere_is_none(tmp_path):
    written(tmp_path, GROUPS[:1])
    (path,) = segments(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content + content[HEADER_BYTES:])
    with Journal(tmp_path) as journal:
        assert bodies_in(journal) == GROUPS[0]
        assert journal.torn_bytes == len(content) - HEADER_BYTES


def test_a_last_group_damaged_in_one_byte_is_repaired_and_in_more_is_set_aside(tmp_path):
    written(tmp_path)
    (path,) = segments(tmp_path)
    whole = path.read_bytes()
    last = len(whole) - len(BODIES[-1].lines)
    path.write_bytes(whole[:last] + b"X" + whole[last + 1 :])
    with Journal(tmp_path) as journal:
        assert journal.repaired
        assert (journal.torn_bytes, bodies_in(journal)) == (0, BODIES)
    assert path.read_bytes() == whole
    path.write_bytes(whole[:last] + b"XX" + whole[last + 2 :])
    with Journal(tmp_path) as journal:
        assert not journal.repaired
        assert bodies_in(journal) == BODIES[:4]
        assert journal.torn_file is not None
        assert journal.torn_file.read_bytes() in whole.replace(BODIES[-1].lines, b"XXst\n")


def test_what_a_killed_process_left_unsynced_is_durable_once_the_journal_is_open(tmp_path):
    written(tmp_path, GROUPS[:1])
    disk = Disk()
    with Journal(tmp_path, sync=disk.sync):
        assert disk.syncs == 4, "the directory in its parent, its size, its end, its name"


def test_a_start_that_cannot_sync_is_an_error_of_the_state(tmp_path):
    written(tmp_path, GROUPS[:1])
    disk = Disk()
    disk.broken = True
    with pytest.raises(StateError, match="Input/output error"):
        Journal(tmp_path, sync=disk.sync)


def test_a_segment_that_an_attempt_left_behind_is_begun_again(tmp_path):
    with Journal(tmp_path, segment_bytes=1) as journal:
        journal.append(GROUPS[0])
        (tmp_path / "00000002.journal").write_bytes(b"left")
        journal.append(GROUPS[1])
        assert bodies_in(journal) == BODIES[:4]


def test_a_torn_end_is_cut_off_and_counted(tmp_path):
    written(tmp_path)
    (path,) = segments(tmp_path)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"torn")
    with Journal(tmp_path) as journal:
        assert journal.torn_bytes == 4
    assert path.stat().st_size == size


def test_a_segment_that_was_hardly_begun_is_begun_anew(tmp_path):
    written(tmp_path, GROUPS[:1])
    (tmp_path / "00000002.journal").write_bytes(b"PMon")
    with Journal(tmp_path, segment_bytes=1) as journal:
        assert journal.torn_bytes == 4
        journal.append(GROUPS[1])
    assert read(tmp_path) == BODIES[:4]
    assert len(segments(tmp_path)) == 2


@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_segment_is_refused(tmp_path, missing):
    written(tmp_path, segment_bytes=1)
    path = segments(tmp_path)[missing]
    path.unlink()
    with pytest.raises(StateError, match=rf"{path}: is missing"):
        read(tmp_path)


def test_it_is_read_from_any_place_on(original):
    with Journal(original) as journal:
        places = [place for _, place in journal.read()]
        for number, place in enumerate(places, start=1):
            assert list(journal.read(place)) == list(journal.read())[number:]


def test_places_are_those_that_append_gave(tmp_path):
    with Journal(tmp_path, segment_bytes=1) as journal:
        given = [place for group in GROUPS for place in journal.append(group)]
        assert [place for _, place in journal.read()] == given
        assert given == sorted(given)


def test_segments_before_a_place_are_forgotten_and_the_rest_is_read_from_there(tmp_path):
    with Journal(tmp_path, segment_bytes=1) as journal:
        places = [place for group in GROUPS for place in journal.append(group)]
        size = journal.nbytes
        journal.delete_before(places[1])
        assert len(segments(tmp_path)) == 3
        journal.delete_before(places[2])
        assert len(segments(tmp_path)) == 2
        assert journal.nbytes == sum(path.stat().st_size for path in segments(tmp_path)) < size
    with Journal(tmp_path, segment_bytes=1) as journal:
        assert [body for body, _ in journal.read(places[2])] == BODIES[3:]
        with pytest.raises(StateError, match=r"00000001.journal: is missing"):
            list(journal.read())
        journal.delete_before(journal.end)
        journal.append(GROUPS[0])
        assert [path.name for path in segments(tmp_path)] == [
            "00000003.journal",
            "00000004.journal",
        ]


def test_an_end_that_a_place_was_behind_may_not_be_gone(tmp_path):
    with Journal(tmp_path) as journal:
        *_, place = [journal.append(group) for group in GROUPS]
    (path,) = segments(tmp_path)
    os.truncate(path, path.stat().st_size - 1)
    content = path.read_bytes()
    with pytest.raises(StateError, match=r"cut off at offset \d+, acknowledged events are lost"):
        Journal(tmp_path, reaches=place[-1])
    assert path.read_bytes() == content, "nothing is cut before it is known to be torn"
    with Journal(tmp_path) as journal, pytest.raises(StateError, match="cut off at"):
        list(journal.read(place[-1]))
    shutil.rmtree(tmp_path)
    with Journal(tmp_path) as journal, pytest.raises(StateError, match="is missing"):
        list(journal.read(place[-1]))


def test_a_segment_of_another_journal_is_refused(tmp_path):
    for name, groups in {"a": GROUPS, "b": [[Body(1, b"longer" * 9)], *GROUPS]}.items():
        written(tmp_path / name, groups, segment_bytes=1)
    shutil.copy(segments(tmp_path / "b")[1], segments(tmp_path / "a")[1])
    with pytest.raises(StateError, match="is damaged"):
        read(tmp_path / "a")


def test_another_schema_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("monitor.state.segment.SCHEMA_VERSION", 2)
    written(tmp_path)
    monkeypatch.undo()
    with pytest.raises(StateError, match="schema version 2, this program reads 1"):
        Journal(tmp_path)


@pytest.mark.parametrize("room", [0, 3, 25, 100])
def test_on_a_full_disk_an_append_leaves_nothing_and_later_ones_work(tmp_path, room):
    with Journal(tmp_path) as journal:
        journal.append(GROUPS[0])
        (path,) = segments(tmp_path)
        size = path.stat().st_size
        with file_size_limit(size + room), pytest.raises(StateFullError, match="free space"):
            journal.append([Body(1, b"x" * 200)])
        assert path.stat().st_size == size
        journal.append(GROUPS[1])
        assert bodies_in(journal) == BODIES[:4]
    assert read(tmp_path) == BODIES[:4]


def test_on_a_full_disk_no_segment_is_begun(tmp_path):
    with Journal(tmp_path, segment_bytes=1) as journal:
        journal.append(GROUPS[0])
        with file_size_limit(10), pytest.raises(StateFullError):
            journal.append(GROUPS[1])
        assert len(segments(tmp_path)) == 1
        journal.append(GROUPS[1])
    assert read(tmp_path) == BODIES[:4]


def test_what_could_not_be_synced_is_cut_off_before_the_next_append(tmp_path):
    disk = Disk()
    with Journal(tmp_path, sync=disk.sync) as journal:
        journal.append(GROUPS[0])
        disk.broken = True
        for _ in range(3):
            with pytest.raises(StateFullError, match="Input/output error"):
                journal.append(GROUPS[1])
        assert bodies_in(journal) == GROUPS[0]
        disk.broken = False
        journal.append(GROUPS[2])
        assert bodies_in(journal) == [*GROUPS[0], *GROUPS[2]]
    assert read(tmp_path) == [*GROUPS[0], *GROUPS[2]]


def test_what_failed_is_not_there_after_a_stop_once_the_disk_works_again(tmp_path):
    disk = Disk()
    with Journal(tmp_path, sync=disk.sync) as journal:
        journal.append(GROUPS[0])
        disk.broken = True
        with pytest.raises(StateFullError):
            journal.append(GROUPS[1])
        disk.broken = False
        (path,) = segments(tmp_path)
        path.write_bytes(path.read_bytes() + b"a cut that failed")
    assert read(tmp_path) == GROUPS[0]
    assert not path.with_name(f"{path.name}.torn").exists()


def test_a_state_directory_belongs_to_one_process(tmp_path):
    with (
        StateLock(tmp_path / "state"),
        pytest.raises(StateError, match="is in use by another process"),
    ):
        StateLock(tmp_path / "state")
    StateLock(tmp_path / "state").close()


def test_a_state_directory_that_cannot_be_made_is_one_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="cannot be written"):
        StateLock(tmp_path / "file" / "state")
    with pytest.raises(StateError, match="cannot be created"):
        Journal(tmp_path / "file" / "journal")
