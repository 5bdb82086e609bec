"""What salvage brings back after any single damage; more by `benchmarks/salvaged_share.py`."""

from random import Random

import pytest
from benchmarks.salvaged_share import (
    GROUP,
    RECORDS,
    BlockDamage,
    SalvagedState,
)
from simulator.process import reproducible

from monitor.state import JOURNAL
from monitor.state.segment import HEADER_BYTES

REQUESTS, SEGMENT_BYTES = 60, 3_000


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    with reproducible(Random(1), SEGMENT_BYTES):
        yield SalvagedState(tmp_path_factory.mktemp("share"), REQUESTS)


@pytest.mark.parametrize("kind", ["zero", "cut", "duplicate", "insert"])
@pytest.mark.parametrize("size", [1, HEADER_BYTES, 1_000])
@pytest.mark.parametrize("segment", [-3, -1], ids=["an earlier segment", "the last"])
def test_a_lost_header_loses_no_request(state, kind, size, segment):
    path, _ = [*state.files(JOURNAL)][segment]
    case = state.salvaged(BlockDamage(path, kind, 0, size))
    assert case.lost <= case.gone
    assert not case.lost or size > HEADER_BYTES


@pytest.mark.parametrize("kind", ["cut", "duplicate", "insert", "zero"])
@pytest.mark.parametrize("size", [1, 100, 300])
@pytest.mark.parametrize("segment", [-3, -1], ids=["an earlier segment", "the last"])
def test_requests_behind_a_shift_are_refused_by_a_start_and_found(state, kind, size, segment):
    path, content = [*state.files(JOURNAL)][segment]
    case = state.salvaged(BlockDamage(path, kind, len(content) // 4, size))
    assert case.refused
    assert case.lost <= case.gone <= 3 * GROUP * RECORDS


@pytest.mark.parametrize(("kind", "size"), [("flip", 1), ("zero", 20)])
@pytest.mark.parametrize("name", ["state-id", "id-seed"])
def test_a_damaged_small_file_loses_nothing(state, name, kind, size):
    assert state.salvaged(BlockDamage((name,), kind, 3, size)).share == 1


@pytest.mark.slow
def test_after_any_damage_all_that_is_whole_is_counted(state):
    chance = Random(3)
    damages = chance.sample([*state.damages()], 40) + [state.drawn(chance) for _ in range(20)]
    cases = [state.salvaged(damage) for damage in damages]
    assert {damage.kind for damage in damages} >= {"flip", "zero", "cut", "duplicate", "truncate"}
    assert max(case.lost for case in cases if case.damage.size == 1) <= 2 * GROUP * RECORDS
    assert any(case.lost for case in cases)
