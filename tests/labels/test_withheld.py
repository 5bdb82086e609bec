"""Faulty labels: what is published, and that nothing else is."""

import numpy as np
import pytest
from labelled import DAY, PRECISION, stream
from prometheus_client import CollectorRegistry

from monitor.cli.replay_text import replay_text
from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.labels.faults import SIDES, LabelFault
from monitor.labels.refusals import REASONS, refused
from monitor.prometheus.collector import SnapshotCollector
from monitor.report.replay_json import replay_answer
from monitor.report.vocabulary import JSON_METRICS
from monitor.snapshot import METRIC_NAMES

STOPPED, END = 20, 26
OF_PRECISION = ("classifier_precision_ratio", "classifier_precision_lower_ratio")
WITHHELD = (
    "classifier_recall_ratio",
    "classifier_false_positive_ratio",
    "classifier_balanced_precision_ratio",
    "classifier_prevalence_ratio",
    "classifier_class_ratio",
    "classifier_log_likelihood_ratio",
    "classifier_reference_precision_ratio",
    "classifier_precision_change_logit",
)


WRONG = {"never audited": "audit", "fewer wrong than configured": {"false_positive": 0.2}}


def faulty(kind):
    """Labels faulty from day 20 on, or all along; their settings, and the time of the look."""
    settings, until = {"label_timeout": "5d"}, END
    events = stream(END, 5000, 3, prevalence=0.1, fpr=0.05, delays=(0.2, 0.2, 0.2, 0.2), sigma=0.3)
    late = events.time / DAY + events.delay > STOPPED
    chance = np.random.default_rng(1).random(len(late))
    if kind == "flagged alone":
        events.delay[~events.predicted] = np.inf
    if kind == "flagged never":
        events.delay[events.predicted] = np.inf
    if kind == "positives lost":
        events.delay[late & events.actual] = np.inf
    if kind == "negatives lost":
        events.delay[late & ~events.actual & (chance < 0.4)] = np.inf
    if kind == "most lost":
        events.delay[late & (chance < 0.7)] = np.inf
    if kind == "flagged lost in part":
        events.delay[late & events.predicted & (chance < 0.4)] = np.inf
    if kind == "slower":
        settings, until = {"label_timeout": "60d", "reference": {"first": "10d"}}, 41
        events = stream(50, 4000, 1, delays=(4, 0.6, 4, 0.6))
        events.delay[events.actual & (events.time >= 30 * DAY)] *= 1.5
    if kind == "reports stop":
        settings, until = {"labelling": "negatives_by_timeout", "label_timeout": "2d"}, 30
        events = stream(until, 5000, 3, prevalence=0.1, fpr=0.05, delays=(0.5,) * 4, sigma=0.3)
        events.delay[~events.actual] = np.inf
        events.delay[events.time / DAY + events.delay > 27] = np.inf
    if kind in WRONG:
        settings = {"label_errors": WRONG[kind], "label_timeout": "5d"}
    return events, settings, until


def seen(kind, until=None):
    events, settings, end = faulty(kind)
    monitor = Monitor(Config(models={"m": settings}, windows=["1d"]))
    return events.into(monitor, until or end).snapshot()


def scraped(snapshot, window):
    """Names of the series that are there of a window."""
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: snapshot))
    return {
        sample.name: sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.labels.get("window") == window
    }


FAULTS = {
    "flagged alone": LabelFault.ONE_SIDE_LABELLED,
    "flagged never": LabelFault.FLAGGED_UNLABELLED,
    "positives lost": LabelFault.POSITIVES_MISSING,
    "negatives lost": LabelFault.NEGATIVES_MISSING,
    "most lost": LabelFault.LABELS_MISSING,
    "flagged lost in part": LabelFault.POSITIVES_MISSING,
    "slower": LabelFault.DELAYS_CHANGED,
    "reports stop": LabelFault.REPORTS_STOPPED,
    "never audited": LabelFault.AUDITS_TOO_FEW,
    "fewer wrong than configured": LabelFault.LABEL_ERRORS_TOO_HIGH,
}


@pytest.mark.parametrize(("kind", "fault"), FAULTS.items())
def test_what_faulty_labels_do_not_allow_is_withheld_everywhere(kind, fault):
    snapshot = seen(kind)
    (window,), (model,) = snapshot.windows, snapshot.models
    published = {"precision"} if fault is LabelFault.ONE_SIDE_LABELLED else set()
    assert window.fault_of(0) == fault
    assert window.status[0] == "untrusted"
    for name in METRIC_NAMES:
        assert np.isfinite(window.metrics[name].estimate[0]) == (name in published), name
        assert np.isfinite(window.metrics[name].upper[0]) == (name in published), name
    assert all(np.isnan(at.estimate[0]) for at in window.precision_at.values())
    assert np.isnan(snapshot.precision_at_reference(window).estimate[0])
    if model.watched.reference is not None:
        found = model.watched.verdicts["1d"]
        assert (found.verdict, found.label_fault) == (Verdict.LABELS_NOT_TRUSTWORTHY, fault)
        assert found.attribution is None
        assert np.isnan(model.watched.live_class_ratio.estimate)
    assert model.watched.detections == ()

    there = scraped(snapshot, "1d")
    assert not set(WITHHELD) & set(there)
    assert {name in there for name in OF_PRECISION} == {bool(published)}
    assert "classifier_window_outcomes" in there
    assert "classifier_label_coverage_ratio" in there

    replayed = replay_answer(snapshot).models["m"]
    status = status_answer(snapshot, limit=1).models[0]
    for shown in (replayed.windows["1d"], status.windows["1d"]):
        assert shown.status == "untrusted"
        assert shown.refused == refused(fault)
        assert shown.refused_because == REASONS[fault]
        for name in JSON_METRICS:
            assert (shown.metrics.metric(name).estimate is not None) == (name in published)
    text = " ".join(replay_text(snapshot).split())
    assert REASONS[fault] in text


def test_every_fault_has_its_row():
    """Changed label errors withhold the verdict alone: metrics are shown by labels as they came.

    Labels that follow predictions are shown by audits: see `test_audited_labels`; classes that
    nobody configured are those of many: see `test_unknown_classes`.
    """
    others = {
        LabelFault.LABEL_ERRORS_CHANGED,
        LabelFault.LABELS_FOLLOW_PREDICTIONS,
        LabelFault.CLASSES_UNKNOWN,
    }
    assert set(FAULTS.values()) == set(LabelFault) - others


def test_precision_of_flagged_cases_under_the_wrong_regime_is_right_at_once():
    snapshot = seen("flagged alone", until=3)
    window, model = snapshot.windows[0], snapshot.models[0]
    assert model.watched.reference is None
    truth = 0.1 * 0.8 / (0.1 * 0.8 + 0.9 * 0.05)
    estimate = window.metrics["precision"]
    assert estimate.lower[0] <= truth <= estimate.upper[0]
    assert np.isnan(window.metrics["recall"].estimate[0])
    assert np.isnan(snapshot.lifetime.metrics["recall"].estimate[0])
    assert model.refused["recall"] == LabelFault.ONE_SIDE_LABELLED
    assert "precision" not in model.refused


def test_a_loss_by_prediction_looks_like_a_loss_of_positives_and_biases_recall():
    """Why recall is withheld while positives seem to be lost: it may be what is wrong."""
    counts = seen("flagged lost in part").windows[0].counts[0]
    assert counts.tp / (counts.tp + counts.fn) < 0.75
    assert counts.tp / (counts.tp + counts.fp) == pytest.approx(0.64, abs=0.04)


def test_a_young_window_of_flagged_cases_alone_keeps_its_corrected_precision():
    events = stream(40, 8000, 5, delays=(4, 1, 4, 1), labelled=(1, 1, 0, 0))
    config = Config(models={"m": {"label_timeout": "20d", "maturity": "4d"}}, windows=["7d"])
    window = events.into(Monitor(config), 40).snapshot().windows[0]
    counts, estimate = window.counts[0], window.metrics["precision"]
    assert counts.tp / (counts.tp + counts.fp) < PRECISION - 0.03
    assert estimate.lower[0] <= PRECISION <= estimate.upper[0]
    assert window.status[0] == "untrusted"
    assert np.isnan(window.metrics["recall"].estimate[0])


def test_a_segment_whose_flagged_cases_alone_are_reviewed_is_withheld_by_itself():
    lines = []
    for i in range(2000):
        predicted, actual = int(i % 5 == 0), int(i % 7 == 0)
        region = "eu" if i % 2 else "us"
        lines.append((i, predicted, actual, region))
    config = Config(models={"m": {"segments": ["region"], "maturity": "0s"}}, windows=["1d"])
    monitor = Monitor(config)
    for i, predicted, actual, region in lines:
        at = 40 * i
        monitor.predict(f"p{i}", ts=at, prediction=predicted, segment={"region": region})
        if predicted or region == "us":
            monitor.label(f"p{i}", ts=at, label=actual)
    window, series = (s := monitor.snapshot()).windows[0], s.series
    fault_of = {one.value: window.fault_of(row) for row, one in enumerate(series)}
    assert fault_of["us"] == ""
    assert fault_of["eu"] == LabelFault.ONE_SIDE_LABELLED
    recall = {one.value: window.metrics["recall"].estimate[r] for r, one in enumerate(series)}
    assert np.isfinite(recall["us"])
    assert np.isnan(recall["eu"])


def test_the_labelled_side_follows_from_the_window_and_not_the_reference():
    events, settings, end = faulty("")
    events.delay[(events.time < 8 * DAY) & ~events.predicted] = np.inf
    monitor = Monitor(Config(models={"m": settings}, windows=["1d"]))
    snapshot = events.into(monitor, end).snapshot()
    found = snapshot.models[0].watched.verdicts["1d"]
    assert found.label_fault in SIDES
    assert np.isfinite(snapshot.windows[0].metrics["recall"].estimate[0])
