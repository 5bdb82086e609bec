import pytest

from monitor.state import Body, Checkpoints, Journal, StateError
from monitor.state.state_identity import IDENTITY_FILE, identity_of_state


def with_state(directory):
    Checkpoints(directory / "checkpoints").write({"n": 1})


def test_a_state_keeps_its_identity_and_no_two_share_one(tmp_path):
    first = identity_of_state(tmp_path / "a")
    with_state(tmp_path / "a")
    assert identity_of_state(tmp_path / "a") == first
    assert len(first) == 32
    assert identity_of_state(tmp_path / "b") != first


def test_a_journal_alone_is_a_state(tmp_path):
    first = identity_of_state(tmp_path)
    with Journal(tmp_path / "journal") as journal:
        journal.append([Body(1_000, b"{}\n")])
    assert identity_of_state(tmp_path) == first


def test_a_directory_whose_state_is_gone_begins_anew(tmp_path):
    first = identity_of_state(tmp_path)
    assert identity_of_state(tmp_path) != first


def test_a_state_from_before_there_were_identities_gets_one(tmp_path):
    with_state(tmp_path)
    assert identity_of_state(tmp_path) == identity_of_state(tmp_path)


def test_a_damaged_byte_anywhere_is_refused(tmp_path):
    identity_of_state(tmp_path)
    with_state(tmp_path)
    file = tmp_path / IDENTITY_FILE
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(StateError, match="state-id: is damaged"):
            identity_of_state(tmp_path)
    file.write_bytes(whole[:-9])
    with pytest.raises(StateError, match="state-id: is damaged"):
        identity_of_state(tmp_path)
