"""`label_errors: audit`: rates learned from audits correct all that known rates correct."""

from dataclasses import replace

import numpy as np
import pytest
from audited_cases import (
    AUDITS,
    CHANGED,
    DAY,
    FPR,
    RECALL,
    WORSE,
    WRONG,
    Cases,
    fed,
    halved,
    monitor_of,
    monitor_of_changed_labels,
    sloppier,
    steady,
)

from monitor.cli.replay_text import replay_text
from monitor.config import Config
from monitor.diagnosis import Period
from monitor.diagnosis.comparison import compared_live
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.events.columns import Group
from monitor.exporter.api.compare import recall
from monitor.exporter.api.status import status_answer
from monitor.join.audits import Audits
from monitor.labels.regime import LabelRegime


@pytest.fixture(scope="module")
def changed_labels():
    return monitor_of_changed_labels()


def test_metrics_are_corrected_for_what_audits_show():
    cases = Cases(30, 4_000, 1, steady(0.02))
    monitor = fed(cases, 125, range(30))
    snapshot = monitor.snapshot()
    errors = snapshot.models[0].label_errors
    for name, (low, high) in errors.ranges.items():
        assert low <= getattr(WRONG, name) <= high, name
    window = snapshot.windows[2]
    truths = {"recall": RECALL, "false_positive_rate": FPR, "prevalence": 0.02}
    for metric, truth in truths.items():
        found = window.metrics[metric]
        assert found.lower[0] <= truth <= found.upper[0], metric
    raw = fed(cases, 0, range(30), monitor_of({})).snapshot().windows[2]
    assert raw.metrics["recall"].upper[0] < 0.7
    np.testing.assert_array_equal(raw.counts.cells, window.counts.cells)


@pytest.mark.slow
def test_more_audits_narrow_the_interval():
    widths = []
    for each in (30, 300):
        cases = Cases(40, 5_000, 1, steady(0.02))
        found = fed(cases, each, range(40)).snapshot().windows[2].metrics["precision"]
        widths.append(found.upper[0] - found.lower[0])
    assert widths[1] < 0.7 * widths[0]


@pytest.mark.parametrize("each", [0, 10])
def test_too_few_audits_leave_metrics_undefined_and_say_so(each):
    monitor = fed(Cases(30, 1_000, 1, steady(0.02)), each, range(30))
    snapshot = monitor.snapshot()
    for window in (*snapshot.windows, snapshot.lifetime):
        assert np.isnan(window.metrics["recall"].estimate[0]), window.name
        assert np.isnan(window.metrics["precision"].estimate[0]), window.name
    verdict = snapshot.models[0].watched.verdicts["7d"]
    assert verdict.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert verdict.label_fault == "audits_too_few"
    status = status_answer(snapshot, limit=1).models[0]
    assert status.label_errors == {}
    assert "at least 30 audits of cases labelled 0" in status.windows["7d"].refused_because
    told = replay_text(snapshot)
    assert "audits too few" in told
    assert "nan" not in told


@pytest.mark.slow
def test_rarer_positives_are_no_worse_model_and_audits_may_come_late():
    """Audits of the first days come at the end: reference and verdicts are corrected then."""
    cases = Cases(66, 3_000, 4, halved)
    monitor = fed(cases, 125, range(66))
    found = monitor.snapshot().models[0].watched
    recall = found.reference.counts.tp / found.reference.counts.actual_positive
    assert abs(recall - RECALL) < 0.06
    assert found.verdicts["28d"].judgement is not None
    again = monitor_of(state=monitor.state()).snapshot().models[0].watched
    assert again.verdicts["28d"].verdict is found.verdicts["28d"].verdict
    monitor = fed(Cases(70, 3_000, 4, halved), 0, range(66, 68), monitor)
    found = monitor.snapshot().models[0].watched
    assert not {one.verdict for one in found.verdicts.values()} & DEGRADED
    raw = fed(cases, 0, range(66), monitor_of({})).snapshot().models[0].watched
    assert raw.verdicts["28d"].verdict in DEGRADED


def evidence_by_day(monitor):
    detector = monitor.state()["watch"]["watching"]["0"]["by_day"]["detectors"][0]
    return {name: np.asarray(value).tolist() for name, value in detector.items()}


def test_later_audits_correct_the_reference_again_and_keep_its_evidence():
    cases = Cases(66, 5_000, 4, steady(0.04))
    monitor = fed(cases, 40, range(40), audit_days=range(40))
    monitor = fed(cases, 0, range(40, 60), monitor)
    first = monitor.snapshot().models[0]
    version, closes = first.watched.reference.version, first.watched.reference.closes
    evidence = evidence_by_day(monitor)
    monitor = fed(cases, 200, [], monitor, audit_days=range(60))
    second = monitor.snapshot().models[0]
    assert second.label_errors != first.label_errors
    assert (second.watched.reference.version, second.watched.reference.closes) == (version, closes)
    assert second.watched.reference.counts.tp != first.watched.reference.counts.tp
    assert evidence_by_day(monitor) == evidence


@pytest.mark.slow
def test_a_restored_monitor_judges_as_one_that_ran_on():
    cases = Cases(66, 3_000, 4, halved)
    whole = fed(cases, 100, range(40))
    again = monitor_of(state=whole.state())
    later = [*map(cases.batch, range(40, 66)), cases.audits(50, range(40, 66))]
    for monitor in (whole, again):
        for batch in later:
            monitor.apply(batch)
    one, other = (monitor.snapshot() for monitor in (whole, again))
    assert one.models[0].label_errors == other.models[0].label_errors
    assert one.models[0].label_errors.known
    for window, same in zip(one.windows, other.windows, strict=True):
        np.testing.assert_array_equal(window.metrics["recall"], same.metrics["recall"])
    first, second = (snapshot.models[0].watched.verdicts for snapshot in (one, other))
    assert {n: v.verdict for n, v in first.items()} == {n: v.verdict for n, v in second.items()}


def test_a_model_that_is_not_to_learn_is_not_corrected():
    cases = Cases(20, 2_000, 1, steady(0.02))
    audited, plain = (fed(cases, n, range(20), monitor_of({})) for n in (100, 0))
    one, other = (monitor.snapshot() for monitor in (audited, plain))
    for window, same in zip(one.windows, other.windows, strict=True):
        np.testing.assert_array_equal(window.metrics["recall"], same.metrics["recall"])
    assert one.labels.audits == 400


def test_audits_show_that_the_rates_changed_and_each_stretch_has_its_own(changed_labels):
    snapshot = changed_labels.snapshot()
    model = snapshot.models[0]
    (before,) = model.earlier_label_errors
    assert abs(before.until // DAY - CHANGED) <= 5
    for found, truth in ((before.errors, WRONG), (model.label_errors, WORSE)):
        for name, (low, high) in found.ranges.items():
            assert low <= getattr(truth, name) <= high, name
    for window in (*snapshot.windows, snapshot.lifetime):
        recall = window.metrics["recall"]
        assert recall.lower[0] <= RECALL <= recall.upper[0], window.name
    reference = model.watched.reference.counts
    assert abs(reference.tp / reference.actual_positive - RECALL) < 0.06
    assert not {one.verdict for one in model.watched.verdicts.values()} & DEGRADED
    assert not model.watched.degradation_detected


def test_a_restored_monitor_knows_that_the_rates_changed(changed_labels):
    again = monitor_of(state=changed_labels.state())
    one, other = (monitor.snapshot().models[0] for monitor in (changed_labels, again))
    assert one.earlier_label_errors == other.earlier_label_errors
    assert len(one.earlier_label_errors) == 1
    first, second = (found.watched.reference.counts for found in (one, other))
    np.testing.assert_array_equal(first.cells, second.cells)


def test_rarer_positives_are_no_change_of_the_rates():
    cases = Cases(66, 3_000, 4, halved)
    monitor = monitor_of()
    for first in range(0, 66, 6):
        days = range(first, first + 6)
        fed(cases, 12, days, monitor, audit_days=days)
    assert monitor.snapshot().models[0].earlier_label_errors == ()


def test_audits_of_all_models_are_read_once(monkeypatch):
    """Read for each model, an audit of one of 300 held the loop up for nine seconds."""
    settings = {"label_timeout": "60d", "maturity": "1d", "label_errors": AUDITS}
    names = [f"m{number}" for number in range(5)]
    monitor = Monitor(Config(models=dict.fromkeys(names, settings), windows=["1d"]))
    cases = Cases(3, 500, 1, steady(0.1))
    for day in range(3):
        rows = np.flatnonzero(cases.day == day)
        batch = cases.batch(day)
        made = replace(batch.predictions, group=rows % 5)
        monitor.apply(replace(batch, predictions=made, groups=tuple(map(Group, names))))
    read, counts = [], Audits.counts
    monkeypatch.setattr(Audits, "counts", lambda audits: read.append(1) or counts(audits))
    monitor.apply(cases.audits(5, range(3)))
    found = monitor.snapshot().models
    assert all(model.audits.cases.audited.sum() for model in found)
    assert len(read) <= 2


def test_the_middle_of_a_range_lies_within_the_ends_where_the_rates_changed_inside(changed_labels):
    model = changed_labels.snapshot().models[0]
    asked = compared_live(
        changed_labels.snapshot(), model, "1970-01-08..1970-01-15", "1970-02-01..1970-03-10"
    )
    counted = recall(changed_labels, asked, LabelRegime.now(model))
    period = Period.counted(
        counted.after, "m", asked.after.opens, asked.after.closes,
        regime=LabelRegime.now(model),
    )  # fmt: skip
    ends = [outcomes.sum(axis=-1) for outcomes, *_ in period.labelled_blocks.at_corners()]
    for cell in ("tp", "fn", "fp", "tn"):
        found = [float(getattr(one, cell)) for one in ends]
        assert min(found) <= getattr(period.total, cell) <= max(found), cell


def test_a_reference_after_the_change_is_corrected_for_the_rates_after_it():
    settings = {"window": {"length": "20d", "end": "1970-03-12"}}
    monitor = monitor_of(reference=settings)
    cases = Cases(80, 3_000, 4, steady(0.04), rates=sloppier)
    fed(cases, 200, range(80), monitor, audit_days=range(CHANGED))
    monitor.apply(cases.audits(200, range(CHANGED, 80)))
    model = monitor.snapshot().models[0]
    reference = model.watched.reference
    assert reference.opens // DAY >= CHANGED
    assert abs(reference.counts.tp / reference.counts.actual_positive - RECALL) < 0.08


def test_metrics_of_scores_have_the_rates_of_the_days_inside():
    settings = {"label_timeout": "60d", "maturity": "0s", "label_errors": AUDITS}
    monitor = Monitor(Config(models={"m": settings}, windows=["7d", "90d"]))
    cases = Cases(80, 1_500, 4, steady(0.04), rates=sloppier)
    cases.score = np.where(cases.called, 0.7, 0.2)
    fed(cases, 200, range(80), monitor, audit_days=range(CHANGED))
    monitor.apply(cases.audits(200, range(CHANGED, 80)))
    model = monitor.snapshot().models[0]
    (earlier,) = model.earlier_label_errors
    before, after = earlier.errors.false_positive, model.label_errors.false_positive
    assert model.scores["7d"].errors.false_positive == pytest.approx(after)
    assert before < model.scores["90d"].errors.false_positive < after
