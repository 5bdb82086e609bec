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


def corrected_area(label, score, false_positive, false_negative):
    """Menon et al. 2015, over all pairs: each label is a part of a case of either class."""
    positive = np.where(label, 1 - false_positive, -false_positive)
    negative = np.where(label, -false_negative, 1 - false_negative)
    place = np.floor(score * 1000)
    wins = (place[:, None] > place) + (place[:, None] == place) / 2
    return (positive @ wins @ negative) / (positive.sum() * negative.sum())


def test_metrics_are_corrected_for_wrong_labels():
    monitor = Monitor(
        configured(label_errors={"false_positive": [0.01, 0.03], "false_negative": 0.05})
    )
    by_day = fed(monitor)
    (model,) = monitor.snapshot().models
    label, score = (np.concatenate(part) for part in zip(*by_day[5:7], strict=True))
    found = model.scores["3d"].roc_auc
    assert found.estimate == pytest.approx(corrected_area(label, score, 0.02, 0.05), abs=1e-12)
    assert found.estimate > sklearn.metrics.roc_auc_score(label, np.floor(score * 1000)) + 0.01
    ends = (corrected_area(label, score, end, 0.05) for end in (0.01, 0.03))
    assert all(found.lower < end < found.upper for end in ends)


def test_metrics_follow_the_rates_that_audits_show():
    monitor = Monitor(configured(label_errors="audit"))
    by_day = fed(monitor)
    assert monitor.snapshot().models[0].scores == {}
    seen = []
    for wrong in (0, 1):  # of each eight audits
        for day, (label, _) in enumerate(by_day[2:], 2):
            for called in (False, True):
                for i in np.flatnonzero(label == called)[:8].tolist():
                    true = bool(label[i]) ^ (i % 8 < wrong)
                    monitor.label(f"{day}-{i}", ts=8 * DAY, label=true, audit=True)
        (model,) = monitor.snapshot().models
        if model.scores:
            seen.append((model.label_errors, model.scores["3d"].roc_auc.estimate))
    assert len(seen) == 2
    assert seen[0] != seen[1]
    assert seen[1][1] > seen[0][1]


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
