"""Rates of wrong labels by segment value: learned where audits show that they differ."""

import numpy as np
import pytest

from monitor.config import Config
from monitor.diagnosis import Period
from monitor.diagnosis.comparison import compared_live
from monitor.engine import Monitor
from monitor.events.audit_marks import marked
from monitor.events.columns import EventBatch, Group, Labels, Predictions, Series
from monitor.exporter.api.compare import compared, recall
from monitor.exporter.api.status import status_answer
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_errors import AuditedLabels
from monitor.metrics.audited_values import differing_values

DAY, DAYS, A_DAY = 86_400_000, 60, 2_000
RECALL, FPR, PREVALENCE = 0.8, 0.02, 0.05
CLEAN, SLOPPY = (0.002, 0.05), (0.05, 0.05)
RANGES = "1970-01-04..1970-01-25", "1970-02-01..1970-02-22"


def monitor_of(errors="audit", state=None):
    settings = {
        "label_timeout": "60d", "maturity": "1d", "label_errors": errors, "segments": ["site"]
    }  # fmt: skip
    return Monitor(Config(models={"m": settings}, windows=["1d", "28d"]), state)


def fed(monitor, of_b, seed=3, audits=250, of_a=lambda _: CLEAN):
    """Two sites, a with rates by day and b with others; audits drawn by stratum of each site."""
    rng = np.random.default_rng(seed)
    count = DAYS * A_DAY
    time = np.sort(rng.integers(0, DAYS * DAY, count))
    site, actual = rng.integers(0, 2, count), rng.random(count) < PREVALENCE
    called = rng.random(count) < np.where(actual, RECALL, FPR)
    by_day = np.array([of_a(day) for day in range(DAYS)])
    rates = np.where(site[:, None] == 1, of_b, by_day[time // DAY])
    label = actual ^ (rng.random(count) < np.where(actual, rates[:, 1], rates[:, 0]))
    key = (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    groups = Group("m", values=("a",)), Group("m", values=("b",))
    for day in range(DAYS):
        rows = np.flatnonzero(time // DAY == day)
        made = Predictions(
            key=key[rows], time=time[rows], predicted_positive=called[rows],
            score=np.full(len(rows), np.nan), group=site[rows],
        )  # fmt: skip
        labels = labels_of(key[rows], time[rows] + 3_600_000, label[rows].astype(np.int64))
        batch = EventBatch(predictions=made, labels=labels, groups=groups, records=2 * len(rows))
        monitor.apply(batch)
    stratum = 4 * site + 2 * called + label
    drawn = [rng.permutation(np.flatnonzero(stratum == one))[:audits] for one in range(8)]
    rows = np.concatenate(drawn)
    found = marked(actual[rows].astype(np.int64), np.ones(len(rows), dtype=np.bool_))
    audited = labels_of(key[rows], time[rows] + DAY, found)
    monitor.apply(EventBatch(labels=audited, records=len(rows)))
    return monitor


def labels_of(key, time, value):
    return Labels(key=key, time=time, value=value, sampling_probability=np.full(len(key), np.nan))


@pytest.fixture(scope="module")
def two_sites():
    return fed(monitor_of(), SLOPPY)


def test_each_value_is_corrected_for_its_own_rates(two_sites):
    snapshot = two_sites.snapshot()
    found = {(one.segment, one.value): one.rates for one in snapshot.models[0].audits.by_value}
    assert set(found) == {("site", "a"), ("site", "b")}
    for value, truth in (("a", CLEAN), ("b", SLOPPY)):
        ranges = found["site", value].ranges.values()
        assert all(low <= rate <= high for (low, high), rate in zip(ranges, truth, strict=True))
    for window in (snapshot.windows[1], snapshot.lifetime):
        for value in ("a", "b"):
            row = snapshot.series.index(Series("m", "site", value))
            for name, truth in (("recall", RECALL), ("prevalence", PREVALENCE)):
                metric = window.metrics[name]
                assert metric.lower[row] <= truth <= metric.upper[row], (window.name, value, name)


def test_one_rate_for_both_would_be_wrong_for_either(two_sites):
    pooled = two_sites.snapshot().models[0].label_errors
    (low, high) = pooled.ranges["false_positive"]
    assert CLEAN[0] < low < high < SLOPPY[0]


def test_a_diagnosis_corrects_each_value_and_names_them(two_sites):
    snapshot = two_sites.snapshot()
    model = snapshot.models[0]
    asked = compared_live(snapshot, model, *RANGES)
    found = compared(model, asked, recall(two_sites, asked, LabelRegime.now(model)))
    text = "differ between segment values (site: b "
    assert any(text in note for note in found.notes)
    audits = status_answer(snapshot, limit=1).models[0].audits
    assert text in audits.text
    assert [(one.value, one.audits) for one in audits.by_value] == [("a", 1_000), ("b", 1_000)]


def test_a_restored_monitor_has_the_same_rates(two_sites):
    again = monitor_of(state=two_sites.state())
    one, other = (m.snapshot().models[0].label_errors_by_value for m in (two_sites, again))
    assert one == other
    assert len(one) == 2


def test_values_with_the_same_rates_are_not_told_apart():
    model = fed(monitor_of(), CLEAN).snapshot().models[0]
    assert model.audits.by_value == model.label_errors_by_value == ()


def test_a_model_that_is_not_to_learn_names_the_values_and_corrects_none():
    model = fed(monitor_of({}), SLOPPY).snapshot().models[0]
    assert [one.value for one in model.audits.by_value] == ["a", "b"]
    assert model.label_errors_by_value == ()


def test_values_without_audits_enough_are_left_out():
    audited = np.array([[[250, 0], [197, 53]], [[245, 5], [11, 239]]])
    labelled = np.array([[28_843, 360], [578, 219]])
    many, few = AuditedLabels(audited, labelled), AuditedLabels(audited // 20, labelled)
    other = AuditedLabels(audited[:, :, ::-1].copy(), labelled)
    assert differing_values("site", [{"a": many, "b": few}]) == ()
    # Labels of the third say nothing of the class, and have no rates.
    assert {one.value for one in differing_values("site", [{"a": many, "c": other}])} == {"a"}


def test_a_value_has_its_own_rates_before_and_after_a_change_of_another():
    """Site a gets worse on day 30, site b stays as it is."""
    states = (0.002, 0.05), (0.002, 0.5)
    monitor = fed(monitor_of(), (0.002, 0.3), of_a=lambda day: states[day // 30], audits=900)
    snapshot = monitor.snapshot()
    model = snapshot.models[0]
    assert len(model.earlier_label_errors) == 1
    asked = compared_live(snapshot, model, "1970-01-04..1970-01-25", "1970-02-04..1970-02-25")
    counted = recall(monitor, asked, LabelRegime.now(model))
    for counts, at in ((counted.before, asked.before), (counted.after, asked.after)):
        regime = LabelRegime.now(model)
        period = Period.counted(counts, "m", at.opens, at.closes, regime=regime)
        for value in ("a", "b"):
            found = period.samples[Series("m", "site", value)].measure("prevalence")
            assert found.lower <= PREVALENCE <= found.upper, (at, value)
            assert found.estimate == pytest.approx(PREVALENCE, abs=0.008), (at, value)
