"""Shadow versions over the hours that a monitor holds, pair by pair."""

import pytest
from watch.recorded_versions import recorded, same
from watch.shadowed import SHADOW, shadow_config, shadowed
from watch.versioned import BEGAN, DAY, fed, model_of, stream

from monitor.prometheus.text import TextWriter
from monitor.report.worse_version import worse_version_in_use


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_pairs_of_a_shadow_version_equal_those_of_the_recorded_events(share):
    events = shadowed(stream(), share=share, late=0)
    model = model_of(fed(events, shadow_config()))
    until = model.mature_until // 3_600_000 * 3_600_000
    found = model.versions_now.compared
    other = recorded(events, shadow_config(), until)
    same(found, other)
    assert [one.name for one in found.versions] == ["6", SHADOW]
    assert found.comparison.by_pairs
    mine, theirs = found.comparison.pairs, other.comparison.pairs
    assert mine.positive.tolist() == theirs.positive.tolist()
    assert mine.negative.tolist() == theirs.negative.tolist()
    assert mine.p_values == theirs.p_values
    assert mine.compared.found == theirs.compared.found


def test_the_shadow_may_be_the_version_to_compare_with():
    monitor = fed(shadowed(stream(), late=0), shadow_config())
    until = model_of(monitor).mature_until
    forth = monitor.versions.compare("m", until, ("6", SHADOW)).compared.comparison
    back = monitor.versions.compare("m", until, (SHADOW, "6")).compared.comparison
    assert back.by_pairs
    assert forth.pairs.positive[1:3].tolist() == back.pairs.positive[2:0:-1].tolist()
    of_shadow, of_six = forth.counts[1], back.counts[0]
    assert of_shadow.cells.tolist() == of_six.cells.tolist()
    assert forth.decided_by.found.change == pytest.approx(-back.decided_by.found.change)


@pytest.mark.parametrize("swapped", [6 * DAY, None])
def test_a_shadow_that_began_first_is_judged_also_where_the_champion_is_swapped(swapped):
    """Each id has its shadow prediction first; version 8 replaces 6 at once."""
    events = []
    for event in shadowed(stream(days=12), late=0):
        if event.get("version") == SHADOW:
            event["ts"] -= 30
        elif swapped is not None and "version" in event and event["ts"] >= swapped:
            event["version"] = "8"
        events.append(event)
    events = sorted((e for e in events if e["ts"] >= BEGAN), key=lambda event: event["ts"])
    monitor = fed(events, shadow_config())
    model = model_of(monitor)
    now, until = model.versions_now, model.mature_until // 3_600_000 * 3_600_000
    other = recorded(events, shadow_config(), until, is_shadow=lambda name: name == SHADOW)
    for found in (now.compared, *now.of_shadows, other):
        assert [one.name for one in found.versions] == ["6" if swapped is None else "8", SHADOW]
        assert found.comparison.decided_by.found.verdict == "worse"
        assert (found.comparison.by_pairs, found.too_new) == (True, None)
    assert len(now.of_shadows) == len(now.comparisons) == 1


def test_each_shadow_has_its_verdict_beside_that_of_a_canary():
    """Version 7 is no shadow, and worse than 6; the shadow scores the ids of both."""
    events = []
    for event in shadowed(stream(), late=0, differs=0.02):
        if event.get("version") == "6" and event["ts"] > 4 * DAY and int(event["id"][1:]) % 3 < 1:
            event |= {"version": "7", "prediction": 0}
        events.append(event)
    monitor = fed(events, shadow_config())
    model = model_of(monitor)
    now = model.versions_now
    assert [one.name for one in now.compared.versions] == ["6", "7"]
    assert worse_version_in_use(model) is now.compared
    assert [[one.name for one in found.versions] for found in now.of_shadows] == [["6", SHADOW]]
    text = TextWriter().write(monitor.snapshot()).decode()
    labels = 'classifier_version_verdict{against="6",model="m",verdict="worse",version="%s"} '
    assert f"{labels % '7'}1.0\n" in text
    assert labels % SHADOW in text
    assert f'classifier_version_worse{{against="6",model="m",version="{SHADOW}"}} 0.0\n' in text


def test_of_several_shadows_the_one_that_began_last_is_compared_with_what_decides():
    first, second = (shadowed(stream(), late=0, name=f"{n}-shadow") for n in "78")
    later = [e for e in second if e.get("version") == "8-shadow" and e["ts"] > 4 * DAY]
    events = sorted([*first, *later], key=lambda event: event["ts"])
    monitor = fed(events, shadow_config())
    found = model_of(monitor).versions_now.compared
    assert [one.name for one in found.versions] == ["6", "8-shadow"]
    assert found.comparison.by_pairs


@pytest.mark.parametrize("names", [(SHADOW, "8-shadow"), ("8-shadow", SHADOW)])
def test_two_shadows_are_compared_pair_by_pair_as_the_recorded_events_are(names):
    first = shadowed(stream(), late=0)
    second = shadowed(stream(), seed=8, late=0, share=0.95, name="8-shadow")
    later = [e for e in second if e.get("version") == "8-shadow"]
    events = sorted([*first, *later], key=lambda event: event["ts"])
    monitor = fed(events, shadow_config())
    until = model_of(monitor).mature_until // 3_600_000 * 3_600_000
    found = monitor.versions.compare("m", until, names).compared.comparison
    other = recorded(events, shadow_config(), until, versions=names).comparison
    assert found.by_pairs
    assert other.by_pairs
    assert found.pairs.positive.tolist() == other.pairs.positive.tolist()
    assert found.pairs.negative.tolist() == other.pairs.negative.tolist()
    assert found.pairs.p_values == other.pairs.p_values
    assert found.counts[1].cells.tolist() == other.counts[1].cells.tolist()
    assert found.decided_by.found == other.decided_by.found
