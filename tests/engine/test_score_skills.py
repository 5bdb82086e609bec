"""Metrics of scores by window, from the engine to every reader, against a recount."""

import json
from functools import reduce
from operator import getitem

import numpy as np
import pytest
import sklearn.metrics

from monitor import Monitor as EmbeddedMonitor
from monitor.config import Config
from monitor.engine import Monitor
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import shape_of
from monitor.report.replay_json import replay_json
from monitor.report.score_words import SCORE_WORDS

DAY = 86_400
SILENT = {"labelling": "negatives_by_timeout", "maturity": "5d"}
SETTINGS = {"label_timeout": "5d", "maturity": "1h"}


def fed(monitor, *, days: int = 8, scored: bool = True):
    """A monitor with 200 cases a day, and its labels and scores by day."""
    rng = np.random.default_rng(3)
    by_day = []
    for day in range(days):
        label = rng.random(200) < 0.3
        score = np.clip(rng.normal(0.35 + 0.2 * label, 0.15), 0, 1)
        by_day.append((label, score))
        for i, (actual, value) in enumerate(zip(label.tolist(), score.tolist(), strict=True)):
            at = day * DAY + i * 400
            given = {"score": value} if scored else {}
            monitor.predict(f"{day}-{i}", ts=at, prediction=value >= 0.5, **given)
            monitor.label(f"{day}-{i}", ts=at + 60, label=actual)
    return by_day


def configured(**changed):
    return Config(defaults=SETTINGS | changed, windows=["6h", "3d"])


def test_a_window_has_the_metrics_of_the_whole_days_inside_it():
    monitor = Monitor(configured())
    by_day = fed(monitor)
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    assert model.scores.keys() == {"3d"}
    window = snapshot.windows[1]
    first = -(-int(window.open[model.row]) // (DAY * 1000))
    last = int(window.close[model.row]) // (DAY * 1000)
    assert last - first == 2
    label, score = (np.concatenate(part) for part in zip(*by_day[first:last], strict=True))
    found = model.scores["3d"]
    area = sklearn.metrics.roc_auc_score(label, np.floor(score * 1000))
    assert found.roc_auc.estimate == pytest.approx(area, abs=1e-12)
    brier = sklearn.metrics.brier_score_loss(label, score)
    assert found.brier_score.estimate == pytest.approx(brier, abs=1e-3)
    assert found.roc_auc.lower < area < found.roc_auc.upper


def test_the_metrics_that_every_scrape_reads_are_there_and_the_others_wait_to_be_read():
    monitor = Monitor(configured())
    fed(monitor)
    found = vars(monitor.snapshot().models[0].scores["3d"])
    assert found.keys() & SCORE_WORDS.keys() == {"roc_auc", "average_precision", "brier_score"}


def test_the_metrics_follow_a_label_that_is_revised():
    monitor = Monitor(configured())
    fed(monitor)
    before = monitor.snapshot().models[0].scores["3d"]
    assert monitor.snapshot().models[0].scores["3d"] is before
    monitor.label("6-0", ts=8 * DAY, label=True)
    monitor.label("6-1", ts=8 * DAY, label=False)
    monitor.label("6-2", ts=8 * DAY, label=True)
    revised = monitor.snapshot().models[0].scores["3d"]
    restored = Monitor(configured(), monitor.state())
    assert restored.snapshot().models[0].scores["3d"].roc_auc == revised.roc_auc
    assert revised.roc_auc != before.roc_auc


@pytest.mark.parametrize(
    ("changed", "scored"),
    [({}, False), ({"labelling": "negatives_by_timeout", "maturity": "5d"}, True)],
)
def test_without_scores_or_all_labels_there_is_nothing_and_json_stays_as_it_was(changed, scored):
    monitor = Monitor(configured(**changed))
    fed(monitor, scored=scored)
    snapshot = monitor.snapshot()
    assert snapshot.models[0].scores == {}
    (model,) = json.loads(replay_json(snapshot))["models"].values()
    assert all("scores" not in window for window in model["windows"].values())


def test_series_json_and_python_have_the_same_numbers():
    monitor = EmbeddedMonitor(configured())
    fed(monitor)
    view = monitor["default"]["3d"]
    snapshot = monitor.snapshot()
    (model,) = json.loads(replay_json(snapshot))["models"].values()
    shape = shape_of(snapshot)
    samples = {
        (family.name, line.labels["window"]): value
        for family in FAMILIES
        if family.labels == ("model", "window") and family.kind == "gauge"
        for line, value in zip(family.lines(shape), family.values(snapshot), strict=True)
    }
    for metric, stem, unit in (
        ("roc_auc", "classifier_roc_auc", "_ratio"),
        ("average_precision", "classifier_average_precision", "_ratio"),
        ("brier_score", "classifier_brier_score", ""),
    ):
        shown, seen = model["windows"]["3d"]["scores"][metric], getattr(view, metric)
        for end, infix in {"estimate": "", "lower": "_lower", "upper": "_upper"}.items():
            assert samples[f"{stem}{infix}{unit}", "3d"] == shown[end] == getattr(seen, end)
            assert np.isnan(samples[f"{stem}{infix}{unit}", "6h"])
    assert np.isnan(monitor["default"]["6h"].roc_auc.estimate)
    shown = model["windows"]["3d"]["scores"]
    for name, words in SCORE_WORDS.items():
        seen = words.of(view.scores)
        found = reduce(getitem, name.split("."), shown)
        assert found == {end: none_if_nan(value) for end, value in seen._asdict().items()}
    assert shown["calibration_slope"]["lower"] < shown["calibration_slope"]["upper"]


def none_if_nan(value):
    return value if np.isfinite(value) else None
