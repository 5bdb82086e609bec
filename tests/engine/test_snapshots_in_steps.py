"""A snapshot at every step of a batch that brings models, segment values and versions."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences
from sequences import known_by

from monitor.config import Config
from monitor.engine import CountingMonitor, pieces, stages
from monitor.feeds.decode import Decoder, DecodeSettings

NAMES = st.integers(0, 30)
ROWS = st.lists(st.tuples(NAMES, NAMES, NAMES, st.integers(0, 3)), min_size=8, max_size=24)
SEGMENTS = ([], ["version"], ["country", "channel"], ["country", "version"])


def config_of(segments, shadow):
    versioned = {"shadow_versions": ["v1"]} if shadow and "version" in segments else {}
    model = {"segments": segments, "max_segment_values": 3, "label_timeout": "1h", **versioned}
    return Config(defaults=model, pane="1h", windows=["6h"], max_models=9)


def decoded(rows, config):
    events = [
        {
            "type": "prediction",
            "id": f"p{number}",
            "ts": 1_790_000_000 + 3_600 * hour,
            "prediction": number % 2,
            "model": f"m{model % 12}",
            "version": f"v{version}",
            "segment": {"country": f"c{value}", "channel": f"h{value % 7}"},
        }
        for number, (model, version, value, hour) in enumerate(rows)
    ]
    lines = "\n".join(map(json.dumps, events)).encode()
    return Decoder(DecodeSettings.from_config(config)).decode_lines(lines, source="t")


@pytest.fixture(scope="module", autouse=True)
def short_steps():
    with pytest.MonkeyPatch.context() as short:
        short.setattr(stages, "SLICE_ROWS", 4)
        short.setattr(pieces, "SLICE_ROWS", 4)
        short.setattr(pieces, "VERSIONS_AT_ONCE", 5)
        yield


@settings(deadline=None, max_examples=10)
@given(st.lists(ROWS, min_size=1, max_size=2), st.sampled_from(SEGMENTS), st.booleans())
def test_a_snapshot_may_be_taken_at_every_step(batches, segments, shadow):
    config = config_of(segments, shadow)
    at_once, stepped, steps = CountingMonitor(config), CountingMonitor(config), 0
    for rows in batches:
        at_once.apply(decoded(rows, config))
        for _ in stepped.steps(decoded(rows, config)):
            steps += 1
            snapshot = stepped.snapshot()
            assert len(snapshot.models) == len(stepped.models)
    assert steps >= len(batches)
    at_once.snapshot(), stepped.snapshot()
    assert [*differences(known_by(at_once), known_by(stepped))] == []
