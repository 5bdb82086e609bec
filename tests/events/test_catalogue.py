"""Numbers of groups: the same for every batch, whatever is remembered of earlier ones."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from monitor.config import Config
from monitor.events import known_groups
from monitor.events.catalogue import Catalogue
from monitor.events.columns import OTHER_VALUE, Group
from monitor.events.known_groups import UNKNOWN_GROUP


class Spied:
    """Counts the calls of a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.calls = 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        self.calls += 1
        return self._function(*args, **named)


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
    monkeypatch.setattr(known_groups, "_MOST_KNOWN", 3)
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


def test_a_group_of_a_large_batch_is_numbered_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(known_groups, "_MOST_KNOWN", 3)
    catalogue = Catalogue(CAPPED)
    numbered = Spied(catalogue.values.counted)
    monkeypatch.setattr(catalogue.values, "counted", numbered)
    groups = [Group("m", "", (str(number),)) for number in range(20)]
    for start in range(0, 20, 4):
        catalogue.enter_groups(groups[start : start + 4])
    catalogue.groups_of(groups)
    assert numbered.calls == 20


def test_versions_that_are_no_segment_are_numbered_once_together(monkeypatch: pytest.MonkeyPatch):
    catalogue = Catalogue(CAPPED)
    numbered = Spied(catalogue.values.counted)
    monkeypatch.setattr(catalogue.values, "counted", numbered)
    numbers, _ = catalogue.groups_of([Group("m", f"v{number}", ("at",)) for number in range(20)])
    assert numbers.tolist() == [0] * 20
    assert numbered.calls == 1


def test_the_rank_of_groups_follows_those_that_come_later():
    catalogue = Catalogue(Config(models={"m": {"segments": ("country",)}}))
    catalogue.groups_of([Group("m", "", ("dk",)), Group("m", "", ("be",))])
    assert catalogue.names_rank().tolist() == [1, 0]
    assert catalogue.names_rank() is catalogue.names_rank(), "sorted once"
    catalogue.groups_of([Group("m", "", ("at",))])
    assert catalogue.names_rank().tolist() == [2, 1, 0]
