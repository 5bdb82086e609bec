"""Versions of a model: the order of their predictions does not matter, old states are read."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from same import through_disk

from monitor.config import Config
from monitor.engine import CountingMonitor
from monitor.events import version_starts
from monitor.events.version_starts import MOST_VERSIONS, ModelVersions, VersionTimes

SEEN = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 9)), max_size=9)


def noted(seen):
    versions = ModelVersions()
    for name, one, other in seen:
        versions.note(name, min(one, other), max(one, other))
    return versions


@given(SEEN, st.randoms())
def test_each_version_appears_with_its_first_prediction_in_any_order(seen, chance):
    firsts = {}
    for name, *times in seen:
        firsts[name] = min(firsts.get(name, 99), *times)
    shuffled = sorted(seen, key=lambda _: chance.random())
    expected = tuple(sorted(firsts.items(), key=lambda one: (one[1], one[0])))
    assert noted(seen).appeared == noted(shuffled).appeared == expected
    assert noted(seen).latest == noted(shuffled).latest
    assert ModelVersions.restored(noted(seen).state()).state() == noted(seen).state()


def test_the_version_that_predicted_last_is_the_latest():
    assert noted([("v1", 5, 9), ("v2", 6, 8)]).latest == "v1"
    assert ModelVersions().latest == ""


def test_a_state_without_first_predictions_marks_only_what_comes_after_it():
    versions = ModelVersions.restored([7, "v1"])
    assert (versions.latest, versions.appeared) == ("v1", ())
    versions.note("v1", 8, 8)
    versions.note("v2", 9, 9)
    assert versions.appeared == (("v2", 9),)


def test_the_versions_that_have_not_predicted_for_longest_are_forgotten():
    versions = noted([(f"v{number:03}", number, number) for number in range(MOST_VERSIONS + 5)])
    assert len(versions.appeared) == MOST_VERSIONS
    assert versions.appeared[0] == ("v005", 5)


def test_a_version_that_returns_after_it_was_forgotten_has_no_known_beginning():
    versions = noted([(f"v{number:03}", number, number) for number in range(MOST_VERSIONS + 5)])
    again = ModelVersions.restored(through_disk(versions.state()))
    for one in (versions, again):
        one.note("v002", 500, 510)
        one.note("v002", 490, 505)
        one.note("new", 600, 600)
        assert one.times["v002"] == VersionTimes(None, 510)
        assert one.appeared[-1] == ("new", 600)
        assert "v002" not in dict(one.appeared)
        assert one.latest == "new"


def test_where_too_many_are_forgotten_no_other_beginning_is_known(monkeypatch):
    monkeypatch.setattr(version_starts, "MOST_FORGOTTEN", 3)
    versions = noted([(f"v{number:03}", number, number) for number in range(MOST_VERSIONS + 3)])
    assert versions.times[f"v{MOST_VERSIONS + 2:03}"].first == MOST_VERSIONS + 2
    versions.note("new", 600, 600)
    assert versions.times["new"].first is None


def test_versions_called_like_the_keys_of_a_state_are_restored():
    versions = noted([("times", 1, 2), ("forgotten", 3, 4)])
    assert ModelVersions.restored(versions.state()).times == versions.times


def with_early(batches, most=1000):
    """Versions of a model that predicted at these times, in batches of so many predictions."""
    monitor, made = CountingMonitor(Config()), 0
    for name, times in batches:
        for time in times:
            made += 1
            monitor.predict(str(made), ts=time / 1000, prediction=True, version=name)
            if made % most == 0:
                monitor.flush()
    versions = monitor.state()["versions"]
    return ModelVersions.restored(versions["default"]) if versions else ModelVersions()


TIMES = st.lists(st.integers(0, 40), min_size=1, max_size=30)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), TIMES), max_size=9), st.randoms(), st.integers(1, 90)
)
def test_the_first_32_predictions_are_those_in_any_order(batches, chance, most):
    shuffled = sorted(batches, key=lambda _: chance.random())
    found = with_early(shuffled, most)
    for name in {name for name, _ in batches}:
        times = sorted(time for one, some in batches for time in some if one == name)
        last = times[:32][-1]
        assert found.times[name].early == tuple(
            sorted(Counter(t for t in times if t <= last).items())
        )
        assert (found.times[name].settled is None) == (len(times) < 32)
    assert ModelVersions.restored(through_disk(found.state())).times == found.times


def test_first_predictions_are_stored_of_versions_that_began_within_an_hour_of_the_first():
    hour = 3_600_000
    versions = with_early([("a", [0, 5]), ("b", [hour - 1]), ("c", [hour]), ("a", [2 * hour])])
    early = {name: one.early for name, one in versions.times.items()}
    assert early == {"a": ((0, 1), (5, 1), (2 * hour, 1)), "b": ((hour - 1, 1),), "c": ()}


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.lists(st.integers(0, 9), max_size=40)), max_size=6
    ),
    st.integers(1, 60),
)
def test_the_first_predictions_do_not_depend_on_batches(batches, most):
    half_hours = [(name, [time * 1_800_000 for time in times]) for name, times in batches]
    found, by_one = with_early(half_hours, most), with_early(half_hours, 1)
    assert found.times == by_one.times


def test_what_began_after_a_time_that_is_taken_back_is_left_out():
    versions = noted([(f"v{number:03}", number, number + 3) for number in range(MOST_VERSIONS + 5)])
    back = ModelVersions.restored(versions.until(60).state())
    assert [first for _, first in back.appeared] == [*range(5, 61)]
    assert back.times["v060"].last == 60
    back.note("v001", 99, 99)
    assert back.times["v001"].first is None
