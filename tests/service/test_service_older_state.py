"""The state of another version is refused in words, whatever it lacks."""

import copy

import pytest
from simulator.process import Inline

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.engine import Monitor
from monitor.service.checkpointing import Checkpointer
from monitor.service.event_clock import EventClock
from monitor.state import Checkpoints, StateError, StateFaults


def checkpointer(folder):
    return Checkpointer(
        Config(),
        Checkpoints(folder),
        faults=StateFaults(),
        clock=ManualClock(1_700_000_000),
        say=lambda _: None,
        writer=Inline(),
    )


@pytest.fixture
def state(tmp_path):
    monitor = Monitor()
    for n in range(9):
        monitor.predict(f"p{n}", ts=n, prediction=True, score=0.5)
    checkpointer(tmp_path).close(monitor, [], EventClock(ManualClock(0)))
    return copy.deepcopy(Checkpoints(tmp_path).newest().state)


def keys_of(state, above=()):
    for key, value in state.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from keys_of(value, (*above, key))


def without(state, path):
    changed = copy.deepcopy(state)
    at = changed
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return changed


def test_a_state_that_lacks_a_key_is_refused_with_its_version(tmp_path, state):
    refused = 0
    for number, path in enumerate(keys_of(state)):
        if path[0] == "positions" or path == ("version",):
            continue
        folder = tmp_path / str(number)
        Checkpoints(folder).write(without(state, path))
        try:
            found = checkpointer(folder)
            found.engine()
            found.resume([], EventClock(ManualClock(0)))
        except StateError as error:
            refused += 1
            text = f"{folder}/00000001.checkpoint: is of version {state['version']}, this is "
            assert str(error).startswith(text)  # noqa: PT017  # of many, some of which do
    assert refused > 30


def test_a_state_without_a_version_is_refused_too(tmp_path, state):
    del state["version"], state["engine"]["join"]
    Checkpoints(tmp_path / "old").write(state)
    with pytest.raises(StateError, match=r"is of version unknown, this is .* \(KeyError: 'join'\)"):
        checkpointer(tmp_path / "old").engine()
