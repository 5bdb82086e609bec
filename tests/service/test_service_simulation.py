"""Some worlds of the simulator; thousands by `benchmarks/simulate.py`. It finds what is planted."""

import pytest
from benchmarks.planted import FAULTS, search
from simulator.world import simulate

SEEDS = 20
"""Seeds within which a planted fault must be found."""
DAILY = {4, 6, 8}
"""Seeds of short worlds; one reads Kafka, one fills the disk, one is killed most often."""
QUICK = "an offset of Kafka that is committed before its checkpoint"
"""The fault that the first world shows; the others take a minute."""


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=[pytest.mark.slow] * (n not in DAILY)) for n in range(3, 11)]
)
def test_nothing_is_lost_or_doubled(tmp_path, seed):
    world = simulate(seed, tmp_path)
    assert world.happened["check"] > 1


@pytest.mark.slow
def test_a_seed_does_the_same_again(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    one, other = (simulate(6, tmp_path / name) for name in "ab")
    assert one.happened == other.happened
    assert one.disk.calls == other.disk.calls > 0
    assert (one.seconds, one.ledger.events) == (other.seconds, other.ledger.events)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != QUICK)) for name in FAULTS]
)
def test_a_planted_fault_is_found(name):
    assert search(FAULTS[name], range(1, SEEDS + 1)) is not None
