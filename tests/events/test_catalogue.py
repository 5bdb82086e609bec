"""Numbers of groups: the same for every batch, whatever is remembered of earlier ones."""

import gc

import numpy as np
import pytest

from monitor.config import Config
from monitor.events import catalogue as room
from monitor.events.catalogue import UNKNOWN_GROUP, Catalogue
from monitor.events.columns import OTHER_VALUE, Group

CAPPED = Config(models={"m": {"segments": ("country",), "max_segment_values": 2}})
COUNTRIES = [Group("m", "", (country,)) for country in ("at", "be", "ch", "dk")]


def test_a_group_has_the_number_and_the_overflow_that_it_had_in_the_first_batch():
    catalogue = Catalogue(CAPPED)
    numbers, overflowed = catalogue.groups_of(COUNTRIES)
    assert overflowed.tolist() == [False, False, True, True]
    assert numbers.tolist() == [0, 1, 2, 2], "what is beyond the cap is one group"
    for batch in (COUNTRIES, COUNTRIES[::-1], COUNTRIES[2:], [Group("m", "v2", ("ch",))]):
        again, beyond = catalogue.groups_of(batch)
        expected = [min(COUNTRIES.index(g._replace(version="")), 2) for g in batch]
        assert again.tolist() == expected
        assert beyond.tolist() == [number == 2 for number in expected]
    assert [series.value for series in catalogue.series] == [None, "at", "be", OTHER_VALUE]
    event, row = catalogue.series_of_groups(np.array([2, 0]))
    assert np.arange(2)[event].tolist() == [0, 0, 1, 1]
    assert [catalogue.series[i].value for i in row.tolist()] == [None, OTHER_VALUE, None, "at"]


def test_a_model_that_is_not_taken_has_no_number_however_often_it_comes():
    catalogue = Catalogue(CAPPED)
    for _ in range(2):
        numbers, overflowed = catalogue.groups_of([Group("other"), COUNTRIES[0]])
        assert numbers.tolist() == [UNKNOWN_GROUP, 0]
        assert not overflowed.any()


def test_more_groups_than_are_remembered_keep_their_numbers(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(room, "_MOST_KNOWN", 3)
    catalogue = Catalogue(Config())
    groups = [Group(f"m{i}") for i in range(10)]
    for first in [*range(9), *range(9)]:
        batch = groups[first : first + 2]
        numbers, _ = catalogue.groups_of(batch)
        assert [catalogue.models[number] for number in numbers] == [g.model for g in batch]
        assert len(catalogue._known) <= 3 + len(batch)


def test_a_batch_without_groups_has_no_numbers():
    numbers, overflowed = Catalogue(CAPPED).groups_of(())
    assert (numbers.dtype, numbers.shape, overflowed.dtype) == (np.int64, (0,), np.bool_)


def test_a_restored_catalogue_goes_on_with_the_same_numbers():
    before, after = Catalogue(Config()), Catalogue(Config())
    before.groups_of([Group("a"), Group("b")])
    after.restore(before.state())
    assert after.groups_of([Group("b"), Group("a")])[0].tolist() == [1, 0]
    event, row = after.series_of_groups(np.array([1, 0, 1]))
    assert [after.series[i].model for i in row.tolist()] == ["b", "a", "b"]
    assert np.arange(3)[event].tolist() == [0, 1, 2]


def test_a_copy_of_the_state_makes_no_objects_that_are_searched_for_garbage():
    catalogue = Catalogue(Config(defaults={"segments": ["country"], "max_segment_values": 5_000}))
    catalogue.groups_of([Group("m", "", (str(number),)) for number in range(3_000)])
    gc.collect()
    groups = catalogue.state()["groups"]
    assert len(groups) == 3_000
    assert not any(map(gc.is_tracked, groups))
