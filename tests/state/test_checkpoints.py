import errno
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from same import differences

from monitor.state import Checkpoints, StateError, StateFullError
from monitor.state.encoding import _TYPES, DamagedError, decoded, encoded

TRIALS = 200

PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    st.text(),
    st.sampled_from(_TYPES).flatmap(
        lambda kind: arrays.arrays(kind, arrays.array_shapes(min_dims=0, min_side=0))
    ),
)
STATES = st.dictionaries(
    st.text(),
    st.recursive(
        PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
    ),
)


def through_bytes(state, number=1):
    return decoded(bytearray(b"".join(encoded(state, number))), Path("x"))


@given(STATES, st.integers(0, 2**63))
@settings(max_examples=50, deadline=None)
def test_what_is_written_is_read(state, number):
    found, again = through_bytes(state, number)
    assert found == number
    assert list(differences(state, again)) == []


def test_large_arrays_and_slices_are_written_as_they_are():
    table = np.arange(60_000, dtype=np.uint64).reshape(-1, 3)
    state = {"a": table, "b": table[::2, 1], "c": table.T, "d": table[:0]}
    assert list(differences(state, through_bytes(state)[1])) == []


def test_what_is_no_plain_value_is_refused():
    with pytest.raises(TypeError, match="holds a object"):
        b"".join(encoded({"a": object()}, 1))


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Two checkpoints; in the newer, small and large arrays and texts."""
    folder = tmp_path_factory.mktemp("checkpoints")
    checkpoints = Checkpoints(folder)
    checkpoints.write({"n": 1, "rows": np.arange(3)})
    checkpoints.write({"n": 2, "rows": np.arange(9_000), "small": [np.ones(5), "text"]})
    return folder


@given(data=st.data())
@settings(max_examples=TRIALS, deadline=None)
def test_torn_or_flipped_anywhere_the_one_before_is_used(original, tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("copy") / "copy"
    shutil.copytree(original, folder)
    path = max(folder.iterdir())
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[at] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del content[at:]
    path.write_bytes(content)
    checkpoints = Checkpoints(folder)
    found = checkpoints.newest()
    assert found.state["n"] == 1
    assert checkpoints.damaged == [path]
    checkpoints.write({"n": 3})
    assert [p.stem for p in sorted(folder.iterdir())] == ["00000001", "00000003"]
    shutil.rmtree(folder)


def test_damage_of_the_older_one_is_found_and_it_does_not_count_as_the_one_in_reserve(tmp_path):
    for n in range(2):
        Checkpoints(tmp_path).write({"n": n, "positions": {"feed": n}})
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.newest().state["n"] == 1
    assert checkpoints.older_positions == {"feed": 0}
    older = min(tmp_path.iterdir())
    older.write_bytes(older.read_bytes()[:-1])
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.newest().state["n"] == 1
    assert (checkpoints.damaged, checkpoints.older_positions) == ([older], {})
    checkpoints.write({"n": 2})
    assert [path.stem for path in sorted(tmp_path.iterdir())] == ["00000002", "00000003"]


def test_an_older_one_of_another_schema_version_refuses_no_start(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("monitor.state.encoding.SCHEMA_VERSION", 99)
        Checkpoints(tmp_path).write({"n": 0})
    Checkpoints(tmp_path).write({"n": 1})
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.newest().state["n"] == 1
    assert checkpoints.damaged == []


def test_where_none_is_good_the_start_is_refused(tmp_path):
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.newest() is None
    for n in range(2):
        checkpoints.write({"n": n})
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StateError, match="is damaged, as is every other checkpoint"):
        Checkpoints(tmp_path).newest()


def test_one_that_was_copied_under_another_number_is_damaged(tmp_path):
    Checkpoints(tmp_path).write({"n": 1})
    shutil.copy(tmp_path / "00000001.checkpoint", tmp_path / "00000002.checkpoint")
    assert Checkpoints(tmp_path).newest().number == 1


def test_another_schema_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("monitor.state.encoding.SCHEMA_VERSION", 99)
    Checkpoints(tmp_path).write({"n": 1})
    monkeypatch.undo()
    with pytest.raises(StateError, match="schema version 99, this program reads"):
        Checkpoints(tmp_path).newest()


@pytest.mark.parametrize("failing", range(4))
def test_what_cannot_be_written_leaves_those_before(tmp_path, failing):
    syncs = []

    def sync(_):
        syncs.append(1)
        if len(syncs) == failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    Checkpoints(tmp_path).write({"n": 1})
    (tmp_path / "00000002.checkpoint.new").write_bytes(b"of a process that was killed")
    checkpoints = Checkpoints(tmp_path, sync=lambda _: None)
    checkpoints._sync = sync
    if failing in (1, 2):
        with pytest.raises(StateFullError, match="free space on the disk"):
            checkpoints.write({"n": 2})
    checkpoints.write({"n": 3})
    assert checkpoints.newest().state["n"] == 3
    assert not list(tmp_path.glob("*.new"))


def test_bytes_that_are_no_state_are_damaged():
    for data in (b"", b"x" * 40, b"x" * 400):
        with pytest.raises(DamagedError):
            decoded(bytearray(data), Path("x"))
