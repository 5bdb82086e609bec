"""Versions that are asked for, and errors that list the known ones."""

import pytest

from monitor.clock import DAY_MS
from monitor.drift.version_choice import VersionChoice, named_versions
from monitor.drift.versions_compared import VersionTraffic
from monitor.errors import NotComparedError, UsageError


def refused(names, asked):
    there = [VersionTraffic(name, 10 * i, i, i + 1) for i, name in enumerate(names, 1)]
    with pytest.raises(UsageError) as raised:
        named_versions(there, asked, "--versions")
    return str(raised.value)


def test_an_unknown_version_is_answered_with_the_known_ones():
    text = refused(["6", "7"], ("6", "canary"))
    assert text.startswith(
        "--versions: version 'canary' has no prediction yet; known are '6' (10 predict"
    )
    assert "; '7' (20 predictions, " in text
    assert "did you mean 'v7'? Known are 'v6' (" in refused(["v6", "v7"], ("v6", "v77"))


def test_of_many_versions_the_latest_are_listed():
    text = refused([f"build-{n}" for n in range(1, 31)], ("build-1", "x"))
    assert "'build-30'" in text
    assert "'build-22'" not in text
    assert text.endswith("; 22 that began earlier")


def chosen(there, since=lambda *_: 0, rarer=lambda _: 10, shadows=()):
    choice = VersionChoice(
        there, is_shadow=shadows.__contains__, made_since=since, rarer_outcomes=rarer
    )
    pair = choice.latest("m")
    new = choice.too_new(pair)
    return tuple(one.name for one in pair), new and new.name


def test_predictions_without_a_version_are_listed_as_such():
    there = [VersionTraffic("__missing__", 10, 1, 2), VersionTraffic("6", 7, 3, 4)]
    with pytest.raises(NotComparedError) as raised:
        named_versions(there, ("6", "7"), "--versions")
    assert "'__missing__' (10 predictions without a version, 1970-01-01" in str(raised.value)


def test_where_no_prediction_names_a_version_no_name_of_ours_is_shown():
    with pytest.raises(UsageError) as raised:
        chosen([VersionTraffic("__missing__", 10, 1, 2)])
    assert "no prediction names its version; " in str(raised.value)
    assert "__missing__" not in str(raised.value)


@pytest.mark.parametrize(
    ("since", "beside"), [({"6": 80, "7": 0}, "6"), ({"6": 80, "7": 90}, "7"), ({}, "7")]
)
def test_the_latest_is_compared_with_the_one_that_predicted_most_since(since, beside):
    there = [VersionTraffic(name, 100, i, 9) for i, name in enumerate(["6", "7", "8"])]
    found = chosen(there, lambda name, first: since.get(name, 0) + first)
    assert found == ((beside, "8"), None)


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
    found, new = chosen(there, lambda name, _: since[name], rarer.get)
    assert (found, new) == (pair, None if "8" in pair else "8")


CHAMPIONS = [VersionTraffic("6", 100, 0, 6), VersionTraffic("8", 90, 7, 12)]


@pytest.mark.parametrize("first", [-1, 0, 5, 7, 8])
@pytest.mark.parametrize("deciding", [CHAMPIONS[:1], CHAMPIONS])
def test_a_shadow_is_judged_where_no_two_versions_that_decide_met(first, deciding):
    there = sorted(
        [*deciding, VersionTraffic("s", 190, first, 12)], key=lambda one: (one.first, one.name)
    )
    assert chosen(there, shadows={"s"}) == ((deciding[-1].name, "s"), None)


def test_a_shadow_gives_way_to_two_versions_that_met_after_it_began():
    there = [VersionTraffic("6", 100, 1, 12), VersionTraffic("7", 50, 3, 12)]
    early, late = VersionTraffic("s", 150, 0, 12), VersionTraffic("s", 90, 4, 12)
    assert chosen([early, *there], shadows={"s"}) == (("6", "7"), None)
    assert chosen([*there, late], shadows={"s"}) == (("7", "s"), None)
    few = {"6": 10, "7": 10, "s": 9}
    assert chosen([*there, late], rarer=few.get, shadows={"s"}) == (("6", "7"), "s")


def test_shadows_alone_are_too_few():
    with pytest.raises(UsageError, match="a comparison needs two versions"):
        chosen([VersionTraffic("s", 10, 1, 2), VersionTraffic("t", 10, 1, 2)], shadows={"s", "t"})


@pytest.mark.parametrize("rarer", [0, 10])
def test_of_a_thousand_versions_in_turn_few_are_paired(rarer):
    there = [VersionTraffic(f"{i:04}", 10, i * DAY_MS, (i + 1) * DAY_MS - 1) for i in range(1000)]
    asked = []

    def made_since(name, _):
        asked.append(name)
        return 0

    choice = VersionChoice(
        there, is_shadow=lambda _: False, made_since=made_since, rarer_outcomes=lambda _: rarer
    )
    assert [one.name for one in choice.latest("m")] == ["0998", "0999"]
    assert len([*choice.in_use()]) == (1 if rarer else 0)
    assert len(asked) < 5 * len(there)
