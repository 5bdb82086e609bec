"""What versions cost a stream that names none: calls, which no other program slows down."""

import cProfile
import pstats
from pathlib import Path

from watch.versioned import batches, config_of, stream

import monitor
from monitor.engine import Monitor

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
