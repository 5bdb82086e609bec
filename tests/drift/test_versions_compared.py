"""Versions that are asked for, and errors that list the known ones."""

import pytest

from monitor.drift.version_choice import latest_pair, named_versions
from monitor.drift.versions_compared import VersionTraffic
from monitor.errors import UsageError


def refused(names, asked):
    there = [VersionTraffic(name, 10 * i, i, i + 1) for i, name in enumerate(names, 1)]
    with pytest.raises(UsageError) as raised:
        named_versions(there, asked, "--versions")
    return str(raised.value)


def test_an_unknown_version_is_answered_with_the_known_ones():
    text = refused(["6", "7"], ("6", "canary"))
    assert text.startswith("--versions: no such version, got 'canary'; known are '6' (10 predict")
    assert "; '7' (20 predictions, " in text
    assert "did you mean 'v7'? Known are 'v6' (" in refused(["v6", "v7"], ("v6", "v77"))


def test_of_many_versions_the_latest_are_listed():
    text = refused([f"build-{n}" for n in range(1, 31)], ("build-1", "x"))
    assert "'build-30'" in text
    assert "'build-22'" not in text
    assert text.endswith("; 22 that began earlier")


def test_predictions_without_a_version_are_listed_as_such():
    there = [VersionTraffic("__missing__", 10, 1, 2)]
    with pytest.raises(UsageError) as raised:
        latest_pair(there, "m", lambda *_: 0, lambda _: 0)
    text = str(raised.value)
    assert "only '__missing__' (10 predictions without a version, 1970-01-01" in text


@pytest.mark.parametrize(
    ("since", "beside"), [({"6": 80, "7": 0}, "6"), ({"6": 80, "7": 90}, "7"), ({}, "7")]
)
def test_the_latest_is_compared_with_the_one_that_predicted_most_since(since, beside):
    there = [VersionTraffic(name, 100, i, 9) for i, name in enumerate(["6", "7", "8"])]
    found = latest_pair(
        there, "--versions", lambda name, first: since.get(name, 0) + first, lambda _: 10
    )
    assert [one.name for one in found] == [beside, "8"]


@pytest.mark.parametrize(
    ("rarer", "last", "pair"),
    [
        ({"7": 10, "8": 9}, 9, ("6", "7")),
        ({"7": 10, "8": 10}, 9, ("6", "8")),
        ({"7": 9, "8": 9}, 9, ("6", "8")),
        ({"7": 10, "8": 9}, 1, ("6", "8")),
    ],
)
def test_a_newest_version_of_few_outcomes_gives_way_to_one_in_use_that_has_enough(
    rarer, last, pair
):
    there = [
        VersionTraffic("6", 100, 0, 9),
        VersionTraffic("7", 50, 1, last),
        VersionTraffic("8", 20, 2, 9),
    ]
    since = {"6": 80, "7": 40, "8": 20}
    found = latest_pair(there, "--versions", lambda name, _: since[name], rarer.get)
    assert tuple(one.name for one in found) == pair
