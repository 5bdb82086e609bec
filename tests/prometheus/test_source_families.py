"""The series of sources of labels: as Python says, capped, and counted by the limit."""

import numpy as np
import pytest

from monitor import Monitor
from monitor.config import Config
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import MOST_LABEL_SOURCES, shape_of
from monitor.prometheus.series_limit import limited

CONFIG = Config(
    models={"m": {"label_timeout": None, "label_sources": {"order": ["s0", "s1"]}}, "plain": {}},
    windows=["1d"],
)


def monitor_of(sources, cases=600):
    rng = np.random.default_rng(2)
    monitor, actual = Monitor(CONFIG), rng.random(cases) < 0.4
    ids = [str(number) for number in range(cases)]
    table = {"id": ids, "ts": np.arange(cases) * 60.0}
    monitor.feed({**table, "prediction": actual.astype(int)}, model={"value": "m"})
    for source in range(sources):
        label = actual ^ (rng.random(cases) < 0.1)
        monitor.feed({**table, "label": label.astype(int)}, source={"value": f"s{source}"})
    return monitor


def samples_of(snapshot):
    found = {}
    for family in FAMILIES:
        if family.name.startswith("classifier_label_source_"):
            values = family.values(snapshot)
            for line, value in zip(family.lines(shape_of(snapshot)), values, strict=True):
                found[family.name, *line.labels.values()] = float(value)
    return found


def test_series_say_what_python_says():
    monitor = monitor_of(3)
    found, view = samples_of(monitor.snapshot()), monitor["m"].label_sources.found
    assert found["classifier_label_source_alpha_ratio", "m"] == view.alpha
    assert found["classifier_label_source_outranked_total", "m"] == view.outranked == 1200
    for source in view.sources:
        assert found["classifier_label_source_cases", "m", source.source] == source.labelled
        for rate in ("false_positive", "false_negative"):
            for infix, end in (("", "estimate"), ("_lower", "lower"), ("_upper", "upper")):
                name = f"classifier_label_source_error{infix}_ratio"
                assert found[name, "m", source.source, rate] == getattr(getattr(source, rate), end)
    assert not any("plain" in labels for labels in found)


def test_undefined_rates_have_no_samples_and_sources_are_capped():
    two = samples_of(monitor_of(2).snapshot())
    assert np.isnan(two["classifier_label_source_error_ratio", "m", "s0", "false_positive"])
    many = samples_of(monitor_of(MOST_LABEL_SOURCES + 2, 200).snapshot())
    named = [key for key in many if key[0] == "classifier_label_source_cases"]
    assert len(named) == MOST_LABEL_SOURCES


@pytest.mark.parametrize("sources", [0, 1, 3])
def test_the_limit_counts_the_series_of_sources(sources):
    snapshot = monitor_of(sources, 120).snapshot()
    size = sum(len(family.lines(shape_of(snapshot))) for family in FAMILIES)
    assert not any(limited(snapshot, size)[1])
    assert any(limited(snapshot, size - 1)[1])
