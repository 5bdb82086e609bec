"""The limit on the series of a scrape."""

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus.snapshots import snapshot
from prometheus_client import CollectorRegistry, Gauge

from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.app import create_app
from monitor.prometheus.exposition import Exposition
from monitor.prometheus.series_limit import LeftOut, limited
from monitor.prometheus.text import TextWriter
from monitor.web.server import BackgroundServer

MODELS = ("fraud", "spam", "churn")
SEGMENTS = tuple(("region", f"r{n}") for n in range(6))
STATE = snapshot(models=MODELS, segments=SEGMENTS, undefined=0.0)


def samples(text):
    return {line for line in text.decode().splitlines() if not line.startswith("#")}


def written(state):
    return samples(TextWriter().write(state))


ALL = written(STATE)
MOST = len(ALL) + 500


@settings(max_examples=40)
@given(most=st.integers(0, MOST))
def test_what_is_exported_is_within_the_limit_and_the_same_as_without_it(most):
    part, left = limited(STATE, most)
    exported = written(part)
    assert exported <= ALL
    nothing, _ = limited(STATE, 0)
    assert len(exported) <= max(most, len(written(nothing)))
    assert left.models == len(MODELS) - len(part.models)
    assert left.sources == len(STATE.sources) - len(part.sources)
    values = [series for series in part.series if series.segment is not None]
    assert left.segment_values == len(MODELS) * len(SEGMENTS) - len(values)


@settings(max_examples=30)
@given(one=st.integers(0, MOST), other=st.integers(0, MOST))
def test_a_higher_limit_exports_at_least_as_much(one, other):
    less, more = sorted((one, other))
    assert written(limited(STATE, less)[0]) <= written(limited(STATE, more)[0])


def test_below_the_limit_a_snapshot_is_exported_as_it_is():
    part, left = limited(STATE, 1_000_000)
    assert part is STATE
    assert left == LeftOut()


def test_models_come_first_then_sources_then_segment_values():
    seen = [limited(STATE, most)[1] for most in range(MOST, 0, -1)]
    for left in seen:
        if left.models:
            assert left.sources == len(STATE.sources)
        if left.sources:
            assert left.segment_values == len(MODELS) * len(SEGMENTS)
    assert {left.models for left in seen} == {0, 1, 2, 3}


def test_the_first_models_and_their_first_values_are_exported():
    part, left = limited(STATE, len(ALL) // 2)
    assert left.models == 0
    names = [series for series in STATE.series if series.segment is not None]
    exported = [series for series in part.series if series.segment is not None]
    assert exported == names[: len(exported)]
    assert [part.series[model.row].model for model in part.models] == list(MODELS)


def monitor(models, values, **settings):
    made = Monitor(Config(**settings))
    for number in range(models * values):
        made.predict(
            f"p{number}",
            ts=0,
            prediction=True,
            model=f"m{number % models}",
            segment={"k": f"v{number // models}"},
        )
    return made.snapshot()


@pytest.mark.parametrize("most", [960, 1_800])
def test_a_scrape_of_many_segment_values_stays_within_max_series(most):
    segments = {"segments": ["k"], "max_segment_values": 1_000}
    state = monitor(2, 300, defaults=segments)
    app = create_app(lambda: state, ready=bool, max_series=lambda: most)
    with BackgroundServer(app) as server:
        text = httpx.get(f"{server.url}/metrics").content
    assert len(samples(text)) <= most < len(written(state))
    values = {line.rpartition(" ")[2] for line in samples(text) if "left_out" in line}
    assert values == {"0.0", f"{600 - exported_values(text)}.0"}


def exported_values(text):
    name = 'classifier_window_outcomes{model="m'
    found = [line for line in samples(text) if line.startswith(name) and 'segment="k"' in line]
    return len(found) // (4 * 3)


def test_the_default_holds_as_many_models_as_the_default_takes():
    state = monitor(Config().max_models, 1)
    own = 500  # of the process, and of what reads Kafka
    assert limited(state, Config().max_series - own)[1] == LeftOut()


def test_what_is_left_out_is_reported_when_it_changes():
    said, states, limits = [], [STATE], [600]
    registry = CollectorRegistry()
    Gauge("own", "A series of the process.", registry=registry)
    exposition = Exposition(lambda: states[-1], registry, limit=lambda: limits[-1], say=said.append)
    first = exposition.render()
    assert len(samples(first)) <= 600
    states.append(snapshot(models=MODELS, segments=SEGMENTS, undefined=0.0))
    exposition.render()
    assert len(said) == 1
    assert said[0].models > 0
    limits.append(1_000_000)
    exposition.render()
    assert len(said) == 1  # rendered once a snapshot
    states.append(snapshot(models=MODELS, segments=SEGMENTS, undefined=0.0))
    assert samples(exposition.render()) == ALL | {"own 0.0"}
    assert said[1:] == [LeftOut()]


def test_the_line_names_what_is_missing():
    said, state = [], STATE
    app = create_app(lambda: state, ready=bool, max_series=lambda: 1_500, say=said.append)
    with BackgroundServer(app) as server:
        httpx.get(f"{server.url}/metrics")
    (line,) = said
    assert line.startswith("/metrics leaves out ")
    assert "segment values: max_series is 1500; raise it" in line
