"""A start on a journal whose frames lie at other places than where they were written."""

from pathlib import Path
from random import Random

import pytest

from monitor.state import Body, Journal, StateError, frame_search
from monitor.state.inspection import inspect
from monitor.state.salvage import salvage
from monitor.state.segment import FRAME_MAGIC, HEADER_BYTES, encode_frame, salt_of
from monitor.state.segment_reading import read_frames

MEBIBYTE = 1 << 20
SMALL = [Body(1_000, b'{"type":"label","id":"%d","ts":1,"label":1}\n' % n) for n in range(800)]
"""A block of 4 KiB holds more than fifty."""
LONG_SEARCHES = 4
"""Places at most for which a start tries each offset; one takes half a second."""


def journal_of(folder: Path, bodies: list[Body] = SMALL) -> Path:
    """Write requests one by one; return the segment."""
    with Journal(folder / "journal", sync=lambda _: None) as journal:
        for body in bodies:
            journal.append([body])
    return folder / "journal" / "00000001.journal"


def read(folder: Path) -> list[Body]:
    with Journal(folder / "journal") as journal:
        return [body for body, _ in journal.read() if body.lines.strip()]


def shifted(content: bytes, kind: str, at: int, size: int) -> bytes:
    block = content[at : at + size]
    middle = {
        "twice": block * 2,
        "cut out": b"",
        "zeroed": bytes(size),
        "inserted": Random(1).randbytes(size) + block,
    }[kind]
    return content[:at] + middle + content[at + size :]


def frames_of(path: Path) -> list[bytes]:
    content, salt = path.read_bytes(), salt_of(path)
    with path.open("rb") as file:
        file.seek(HEADER_BYTES)
        return [content[frame.offset : frame.end] for frame in read_frames(file, path, salt)]


@pytest.mark.parametrize("kind", ["twice", "cut out", "zeroed", "inserted"])
@pytest.mark.parametrize("size", [7, 4096])
@pytest.mark.parametrize("share", [0, 0.5, 0.9])
def test_a_start_leads_to_salvage_which_finds_what_is_there(tmp_path, kind, size, share):
    path = journal_of(tmp_path)
    content, frames = path.read_bytes(), frames_of(path)
    found = shifted(content, kind, HEADER_BYTES + int(share * len(content)), size)
    path.write_bytes(found)
    with pytest.raises(StateError, match=r"offset \d+: is damaged; .*state salvage"):
        Journal(tmp_path / "journal")
    assert path.read_bytes() == found, "nothing is cut off"
    assert "is damaged" in next(inspect(tmp_path)).fault
    list(salvage(tmp_path, tmp_path / "copy"))
    whole = [body for body, frame in zip(SMALL, frames, strict=True) if frame in found]
    kept = read(tmp_path / "copy")
    assert set(kept) >= set(whole)
    assert kept == [body for body in SMALL if body in set(kept)], "in order, and once"


def test_frames_behind_megabytes_that_are_cut_out_are_found(tmp_path):
    bodies = [Body(1_000, b"%d" % n + b"x" * 100_000) for n in range(60)]
    path = journal_of(tmp_path, bodies)
    path.write_bytes(shifted(path.read_bytes(), "cut out", MEBIBYTE, 3 * MEBIBYTE))
    with pytest.raises(StateError, match="state salvage"):
        Journal(tmp_path / "journal")
    list(salvage(tmp_path, tmp_path / "copy"))
    assert read(tmp_path / "copy") == bodies[:10] + bodies[42:]


@pytest.mark.parametrize("filling", ["marks", "frames"])
def test_a_torn_end_that_looks_like_frames_is_cut_off_soon(tmp_path, filling, monkeypatch):
    """A client may send what looks like frames; no other salt makes one of this segment."""
    path = journal_of(tmp_path)
    fake = encode_frame([Body(1, b"x")], salt=5, offset=5)
    lines = FRAME_MAGIC * (MEBIBYTE // 2) if filling == "marks" else fake * (MEBIBYTE // 16)
    size = path.stat().st_size
    torn = encode_frame([Body(1_000, lines)], salt=salt_of(path), offset=size)[:-1]
    path.write_bytes(path.read_bytes() + torn)
    searches, search = [], frame_search.fitting_seeds
    monkeypatch.setattr(
        frame_search, "fitting_seeds", lambda *given: searches.append(given) or search(*given)
    )
    with Journal(tmp_path / "journal") as journal:
        assert journal.torn_bytes == len(torn)
    assert len(searches) <= LONG_SEARCHES
    assert searches or filling == "marks"
    assert read(tmp_path) == SMALL


def test_a_copy_of_the_last_frames_at_the_end_is_cut_off(tmp_path):
    path = journal_of(tmp_path)
    path.write_bytes(path.read_bytes() + path.read_bytes()[-4096:])
    with Journal(tmp_path / "journal") as journal:
        assert journal.torn_bytes == 4096
    assert read(tmp_path) == SMALL


@pytest.mark.parametrize("kind", ["twice", "cut out"])
def test_what_a_start_of_an_earlier_version_cut_off_is_brought_back(tmp_path, kind):
    """It took all that lies behind a shift for torn, and went on writing in its place."""
    path, later = journal_of(tmp_path), [Body(2_000, b"%d\n" % n) for n in range(30)]
    content, frames = path.read_bytes(), frames_of(path)
    found = shifted(content, kind, len(content) // 2, 4096)
    path.write_bytes(found)
    kept = next(
        n
        for n in range(len(frames))
        if not found.startswith(b"".join(frames[: n + 1]), HEADER_BYTES)
    )
    end = HEADER_BYTES + sum(map(len, frames[:kept]))
    path.write_bytes(found[:end])
    path.with_name(f"{path.name}.torn").write_bytes(found[end:])
    journal_of(tmp_path, later)
    *_, of_end = inspect(tmp_path)
    whole = [body for body, frame in zip(SMALL, frames, strict=True) if frame in found]
    assert f"a start cut off {len(whole) - kept} requests that are whole" in of_end.fault
    said = list(salvage(tmp_path, tmp_path / "copy"))
    assert any(f"{len(whole) - kept} requests that a start cut off" in one.text for one in said)
    assert read(tmp_path / "copy") == SMALL[:kept] + later + whole[kept:]
    again = list(salvage(tmp_path / "copy", tmp_path / "again"))
    assert not any(file.lost for file in again)


def test_an_end_that_was_never_written_whole_is_no_fault_and_is_kept(tmp_path):
    path = journal_of(tmp_path)
    whole = path.read_bytes()
    for _ in range(2):
        path.write_bytes(path.read_bytes()[:-3])
        read(tmp_path)
    assert [p.name for p in sorted(path.parent.glob("*.torn"))] == [
        "00000001.journal.2.torn",
        "00000001.journal.torn",
    ]
    assert not any(file.fault for file in inspect(tmp_path))
    said = list(salvage(tmp_path, tmp_path / "copy"))
    assert sum("no request in it is whole; copied" in file.text for file in said) == 2
    assert not any(file.lost for file in said)
    copied = tmp_path / "copy" / "journal" / "00000001.journal.torn"
    assert whole.endswith(copied.read_bytes() + whole[-3:])


def test_an_end_whose_segment_is_gone_is_named(tmp_path):
    path = journal_of(tmp_path)
    path.rename(path.with_name("00000007.journal.torn"))
    *_, said = salvage(tmp_path, tmp_path / "copy")
    assert said.lost
    assert "may hold requests" in said.text
