"""Series by version of a model that is deployed often: which versions have one, and what counts."""

import json
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from same import differences, through_disk
from sequences import known_by, monitor_of

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor
from monitor.events.columns import OTHER_VALUE
from monitor.feeds.decode import Decoder, DecodeSettings

DAY, HOUR = 86_400, 3_600
MOST = 5


def config_of(most=MOST, windows=("1d",), **more):
    """A version is needed until 3 days and 12 hours after its last prediction."""
    model = {
        "segments": ["country", "version"],
        "max_segment_values": most,
        "label_timeout": "6h",
        "horizon": "12h",
        "maturity": "0s",
        "reference": {"first": "1d"},
    }
    return Config(models={"m": model | more}, pane="1h", windows=[*windows])


CONFIG = config_of()
ROOMY = config_of(most=100)


def prediction(version, ts, number, *, positive=1, country="at"):
    made = {"type": "prediction", "id": f"p{number}", "ts": ts, "model": "m"}
    if version is not None:
        made["version"] = version
    return made | {"prediction": int(positive), "segment": {"country": country}}


def label(ts, number, value, **more):
    return {"type": "label", "id": f"p{number}", "ts": ts, "label": int(value)} | more


def deployed_daily(days, every=4 * HOUR, **of_label):
    """A version a day; each label comes an hour later."""
    events = []
    for number in range(int(days * DAY // every)):
        ts = number * every
        made = prediction(f"v{ts // DAY:02}", ts, number, positive=number % 3 > 0)
        events += [made, label(ts + HOUR, number, number % 2, **of_label)]
    return events


def deployed_at_random(chance, days=25):
    """Versions that come, end and return; late predictions, revised and retracted labels."""
    events, ts, version = [], 0.0, 0
    for number in range(chance.randrange(60, 250)):
        ts += chance.choice((HOUR, 3 * HOUR, 6 * HOUR)) * days / 25
        if chance.randrange(6) == 0:
            ts += chance.choice((0, DAY, 3 * DAY))
            version = version + 1 if chance.randrange(4) else chance.randrange(version + 1)
        name = None if chance.randrange(12) == 0 else f"v{version:02}"
        if chance.randrange(12) == 0:  # another one in use, or one that ended
            name = f"v{chance.randrange(version + 1):02}"
        at = ts - chance.choice((0, 0, 0, HOUR, 30 * HOUR, 5 * DAY))
        if at < 0:
            continue
        country = chance.choice(("at", "be", "ch", "de", "es", "fr", "gr"))
        events.append((ts, prediction(name, at, number, positive=number % 3, country=country)))
        for later in range(chance.choice((0, 1, 1, 2))):
            delay = chance.choice((HOUR, 5 * HOUR, 9 * HOUR))
            one = label(at + delay, number, chance.randrange(2))
            if later and chance.randrange(3) == 0:
                one["label"] = None
            events.append((ts + delay + later, one))
    return [event for _, event in sorted(events, key=lambda found: found[0])]


def lines_of(events):
    return [json.dumps(event).encode() for event in events]


def counted(events, config=CONFIG):
    """What is judged has no part in which versions have a series, and takes most of the time."""
    return monitor_of(lines_of(events), [], config, kind=CountingMonitor)


def versions_in(snapshot, name):
    """Cells of each version in a window, with its predictions at the end; and those of all."""
    window = next(w for w in (*snapshot.windows, snapshot.lifetime) if w.name == name)
    made = np.stack([window.predicted_positive, window.predicted_negative], axis=1)
    cells = np.concatenate([window.counts.cells, made], axis=1)
    found = {
        one.value: cells[row].tolist()
        for row, one in enumerate(snapshot.series)
        if one.segment == "version"
    }
    return found, cells[snapshot.series.index(("m", None, None))].tolist()


def test_a_version_of_a_model_that_is_deployed_daily_has_counts_of_its_own():
    events = deployed_daily(30)
    snapshot, roomy = counted(events).snapshot(), counted(events, ROOMY).snapshot()
    found, _ = versions_in(snapshot, "1d")
    assert {*found} == {OTHER_VALUE, *(f"v{day:02}" for day in range(25, 30))}
    expected, _ = versions_in(roomy, "1d")
    assert sum(map(sum, expected.values())) > 0
    assert {name: found[name] for name in found if name != OTHER_VALUE} == {
        name: expected[name] for name in found if name != OTHER_VALUE
    }
    assert found[OTHER_VALUE] == [0] * 6


def test_what_ended_versions_counted_is_counted_as_other():
    events = deployed_daily(30)
    found, _ = versions_in(counted(events).snapshot(), "all")
    expected, _ = versions_in(counted(events, ROOMY).snapshot(), "all")
    ended = [expected[name] for name in expected if name not in found]
    assert len(ended) == 25
    assert found[OTHER_VALUE] == np.sum(ended, axis=0).tolist()


@pytest.mark.parametrize("days", [20, 90])
def test_days_and_weights_of_ended_versions_are_counted_as_other(days):
    events = deployed_daily(days, every=12 * HOUR, sampling_probability=0.5)
    past, roomy = (
        counted(events, one).recall("m", 0, days * DAY * 1000, DAY * 1000)
        for one in (config_of(labelling="weighted"), config_of(most=100, labelling="weighted"))
    )
    names, all_names = ([one.value for one in r.columns] for r in (past, roomy))
    own = [i for i, one in enumerate(past.columns) if one.segment == "version"]
    assert len(own) == MOST + 1
    assert (past.cells[:, own].sum(axis=1) == past.cells[:, 0]).all()
    for i in own:
        if names[i] != OTHER_VALUE:
            at = all_names.index(names[i])
            assert (past.cells[:, i] == roomy.cells[:, at]).all()
            assert (past.label_weights[:, i] == roomy.label_weights[:, at]).all()
    assert (past.label_weights[:, own].sum(axis=1) == past.label_weights[:, 0]).all()
    assert past.cells.sum() > 0
    assert (past.label_weights.sum() > 0) == (days == 20)  # they are stored for less long


def test_the_days_of_a_version_that_was_long_in_use_are_counted_as_other():
    events, days = [], 200
    for number in range(days):
        version = "v0" if number < 180 else "v1" if number < 185 else "v2"
        events += [
            prediction(version, number * DAY, number),
            label(number * DAY + HOUR, number, number % 2),
        ]
    monitor = counted(events, config_of(most=2))
    assert [one.value for one in monitor.snapshot().series if one.segment == "version"] == [
        "v0",
        "v1",
        OTHER_VALUE,
    ], "v0 and v1 are needed when v2 comes"
    later = [prediction("v3", (days + at) * DAY, days + at) for at in range(9)]
    past = counted(events + later, config_of(most=2)).recall("m", 0, days * DAY * 1000, DAY * 1000)
    names = [one.value for one in past.columns]
    assert {OTHER_VALUE, "v1", "v3"} == {
        one.value for one in past.columns if one.segment == "version"
    }
    other = past.cells[:, names.index(OTHER_VALUE)].sum(axis=0)
    assert other[:4].sum() == 195, "those of v0 and v2"


@pytest.mark.parametrize("clock", ["prediction", "label"])
@pytest.mark.parametrize(
    "seed", [pytest.param(s, marks=[pytest.mark.slow] * (s != 5)) for s in range(12)]
)
def test_versions_sum_to_the_totals_and_no_count_is_below_zero(seed, clock):
    events = deployed_at_random(Random(seed))
    config = config_of(most=3, windows=("1d", "7d"), clock=clock)
    monitor = Monitor(config)
    decoder = Decoder(DecodeSettings.from_config(config))
    lines, names = lines_of(events), set()
    for start in range(0, len(lines), 40):
        monitor.apply(decoder.decode_lines(b"\n".join(lines[start : start + 40]), source="t"))
        snapshot = monitor.snapshot()
        for window in ("1d", "7d", "all"):
            found, totals = versions_in(snapshot, window)
            assert np.sum([*found.values()], axis=0).tolist() == totals, (start, window)
            assert min(min(cells) for cells in found.values()) >= 0, (start, window)
        names |= {*found}
    assert len(names) > 3


@settings(max_examples=3, deadline=None)
@example(1011, [15, 212], 3)
@example(1175, [183, 146, 239, 7], 4)
@given(st.integers(0, 1 << 30), st.lists(st.integers(0, 400), max_size=8), st.integers(2, 4))
def test_which_version_has_a_series_does_not_depend_on_batches(seed, cuts, most):
    lines, config = lines_of(deployed_at_random(Random(seed))), config_of(most=most)
    found, by_one = (
        monitor_of(lines, at, config, kind=CountingMonitor) for at in (cuts, range(len(lines)))
    )
    assert not [*differences(known_by(found), known_by(by_one))]


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 1 << 30), st.integers(0, 400))
def test_which_version_has_a_series_does_not_depend_on_restarts(seed, at):
    lines, config = lines_of(deployed_at_random(Random(seed))), config_of(most=3)
    before = monitor_of(lines[:at], [], config, kind=CountingMonitor)
    restored = CountingMonitor(config, state=through_disk(before.state()))
    decoder = Decoder(DecodeSettings.from_config(config))
    restored.apply(decoder.decode_lines(b"\n".join(lines[at:]), source="t"))
    expected = known_by(monitor_of(lines, [at], config, kind=CountingMonitor))
    assert not [*differences(known_by(restored), expected)]
