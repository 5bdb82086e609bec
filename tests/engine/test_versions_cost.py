"""What versions cost: calls, which no other program slows down."""

import cProfile
import pstats
from pathlib import Path

import pytest
from watch.versioned import batches, config_of, stream

import monitor
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.version_starts import MOST_VERSIONS

PACKAGE = Path(monitor.__file__).parent
OF_VERSIONS = {
    *PACKAGE.glob("*/version_*.py"),
    *PACKAGE.glob("*/live_versions.py"),
    *PACKAGE.glob("*/*pair*.py"),
    *PACKAGE.glob("*/shadow*.py"),
}
MOST = 0.02


def test_a_stream_without_versions_makes_hardly_a_call_for_them():
    config = config_of("models: {m: {segments: [region], label_timeout: 3d}}")
    events = [{k: v for k, v in e.items() if k != "version"} for e in stream(days=6)]
    decoded, counted = [*batches(events, config)], Monitor(config)
    profile = cProfile.Profile()
    profile.runcall(lambda: [counted.apply(batch) for batch in decoded])
    calls = {key: numbers[1] for key, numbers in pstats.Stats(profile).stats.items()}
    mine = sum(n for (file, *_), n in calls.items() if Path(file) in OF_VERSIONS)
    assert 0 < mine <= MOST * sum(calls.values())
    assert counted.snapshot().models[0].versions == ()


def each_its_own(fields, count, segments):
    """Predictions each of which has values of its own in these fields, as one batch."""
    config = Config(defaults={"segments": segments, "label_timeout": "1d"}, max_models=50)
    events = []
    for number in range(count):
        event = {"type": "prediction", "id": f"p{number}", "ts": 1_790_000_000, "prediction": 1}
        segment = {key: f"{key}{number}" for key in segments if key != "version"}
        own = {"version": f"v{number}", "model": f"m{number}", "segment": segment}
        events.append(event | {name: own[name] for name in fields})
    return [*batches(events, config)], config


def cost_of(fields, count, segments):
    """Calls and steps that counting such a batch takes."""
    decoded, config = each_its_own(fields, count, segments)
    counted, profile = Monitor(config), cProfile.Profile()
    steps = profile.runcall(lambda: sum(1 for one in decoded for _ in counted.steps(one)))
    assert counted.snapshot().records == count
    return pstats.Stats(profile).total_calls, steps


@pytest.mark.parametrize("fields", [["version"], ["segment", "version"], [*"msv"]])
@pytest.mark.parametrize("segments", [[], ["version"], ["k", "version"]])
def test_records_that_share_nothing_cost_work_in_proportion_to_their_number(fields, segments):
    fields = [{"m": "model", "s": "segment", "v": "version"}.get(name, name) for name in fields]
    costs = [cost_of(fields, count, segments) for count in (1_000, 2_000, 4_000)]
    (_, few), (less, many), (more, most) = costs
    assert more < 3 * less
    assert most - many <= many - few + 4  # no version beyond the first ones cuts the batch


def test_the_names_of_versions_beyond_those_stored_do_not_matter():
    decoded, config = each_its_own(["version"], 300, [])
    counted = Monitor(config)
    for one in decoded:
        counted.apply(one)
    (model,) = counted.snapshot().models
    assert len(model.versions) == MOST_VERSIONS
    assert model.versions == tuple(sorted(model.versions, key=lambda one: (one[1], one[0])))
