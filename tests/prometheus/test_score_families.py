"""The series of metrics of scores: three always, all where they are asked for."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np
import pytest
from prometheus.snapshots import snapshot
from prometheus_client.core import Sample
from prometheus_client.parser import text_string_to_metric_families

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.prometheus.collector import SnapshotCollector
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import BOUNDS, shape_of
from monitor.prometheus.series_limit import limited
from monitor.prometheus.text import TextWriter
from monitor.report.replay_json import replay_json
from monitor.report.score_words import SCORE_WORDS
from monitor.snapshot import Snapshot

DAY_MS = 86_400_000
ALWAYS = {w.series(b.infix) for w in SCORE_WORDS.values() if w.has_series for b in BOUNDS}
TIES = "classifier_score_tied_pairs_ratio"
ALL = {words.series(bound.infix) for words in SCORE_WORDS.values() for bound in BOUNDS} | {TIES}


def scored(**exporter: bool) -> Snapshot:
    """Twelve days of a model, 300 cases a day, with a reference."""
    rng, size = np.random.default_rng(5), 12 * 300
    actual = rng.random(size) < 0.3
    score = np.clip(rng.normal(0.35 + 0.2 * actual, 0.15), 0, 1)
    moment = np.linspace(0, 12 * DAY_MS, size).astype(np.int64)
    before = {"counts": {"tp": 80, "fp": 40, "fn": 40, "tn": 240}}
    settings = {"label_timeout": "5d", "maturity": "1h", "reference": before}
    monitor = Monitor(Config(defaults=settings, windows=["6h", "3d"], exporter=exporter))
    outcomes = Outcomes(
        time=moment,
        label_time=moment + 60_000,
        predicted_positive=score >= 0.5,
        actual_positive=actual,
        score=score,
        group=np.zeros(size, dtype=np.int64),
    )
    monitor.apply(EventBatch(outcomes=outcomes, groups=(Group("m"),), records=size))
    return monitor.snapshot()


def written(state: Snapshot) -> Iterator[Sample]:
    text = TextWriter().write(state).decode()
    return (one for family in text_string_to_metric_families(text) for one in family.samples)


def names(state: Snapshot) -> set[str]:
    """Metrics of scores that have a heading, in both writers alike."""
    text = set(re.findall(r"# TYPE (\S+)", TextWriter().write(state).decode())) & ALL
    assert text == {one.name for one in SnapshotCollector(lambda: state).collect()} & ALL
    return text


def test_three_metrics_have_series_and_all_where_they_are_asked_for() -> None:
    assert (len(ALWAYS), len(ALL)) == (9, 52)
    assert names(snapshot()) == ALWAYS
    assert names(replace(snapshot(), score_metrics=True)) == ALL


def test_the_setting_reaches_the_series_with_the_numbers_of_json() -> None:
    state = scored(score_metrics=True)
    (model,) = json.loads(replay_json(state))["models"].values()
    shown = model["windows"]["3d"]["scores"]
    samples = {one.name: one for one in written(state) if one.name in ALL}
    assert {one.labels["window"] for one in samples.values()} == {"3d"}
    for name, words in SCORE_WORDS.items():
        found: dict[str, Any] = reduce(getitem, name.split("."), shown)
        for bound in BOUNDS:
            assert samples[words.series(bound.infix)].value == found[bound.field]
    assert samples[TIES].value == shown["tied_pairs"]
    assert {one.name for one in written(scored()) if one.name in ALL} == ALWAYS


@pytest.mark.parametrize("asked", [False, True])
def test_the_limit_counts_the_series_that_are_asked_for(*, asked: bool) -> None:
    state = replace(snapshot(), score_metrics=asked)
    possible = sum(len(family.lines(shape_of(state))) for family in FAMILIES)
    assert limited(state, possible)[0] is state
    assert limited(state, possible - 1)[0] is not state


def test_help_says_that_the_setting_is_needed() -> None:
    for words in SCORE_WORDS.values():
        assert ("exporter.score_metrics" in words.help) is not words.has_series


@pytest.mark.system
def test_promtool_finds_no_fault_in_them(system_program: Callable[[str], str]) -> None:
    command = [system_program("promtool"), "check", "metrics"]
    text = TextWriter().write(scored(score_metrics=True))
    checked = subprocess.run(command, input=text, capture_output=True, check=False, timeout=300)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
