"""Some seeds of the simulation; thousands by `python tests/simulation.py`."""

import pytest
from simulation import simulate

from monitor.state import StateFault


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_whatever_happens_the_counts_are_those_of_the_recount(first):
    for seed in range(first, first + 10):
        simulate(seed)


def test_what_is_to_happen_happens():
    runs = [simulate(seed) for seed in range(1000, 1012)]
    deeds = {deed for run in runs for deed in run.happened}
    assert deeds == {"_turns", "_wait", "_step", "_kill", "_stop", "_damage"}
    for fault in (StateFault.CHECKPOINT_DAMAGED, StateFault.CHECKPOINT_FAILED):
        assert sum(run.faults.counts[fault] for run in runs) > 0


def test_a_seed_does_the_same_again():
    assert simulate(5).happened == simulate(5).happened
