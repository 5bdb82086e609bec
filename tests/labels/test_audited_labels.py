"""`label_errors: audit`: rates learned from audits correct all that known rates correct."""

from dataclasses import replace

import numpy as np
import pytest

from monitor.cli.replay_text import replay_text
from monitor.config import Config
from monitor.diagnosis import Period
from monitor.diagnosis.comparison import compared_live
from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.events.audit_marks import marked
from monitor.events.columns import EventBatch, Group, Labels, Predictions
from monitor.exporter.api.compare import compared, recall
from monitor.exporter.api.queries import series_context
from monitor.exporter.api.series import series_answer
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.now import now_section
from monitor.join.audits import Audits
from monitor.labels.regime import LabelRegime
from monitor.metrics.label_errors import ErrorRates

DAY = 86_400_000
RECALL, FPR = 0.8, 0.02
WRONG = ErrorRates(0.01, 0.05)
AUDITS = "audit"


class Cases:
    """Cases with labels that are wrong at given rates; ids are positions."""

    def __init__(self, days, a_day, seed, prevalence, rates=WRONG):
        rng = np.random.default_rng(seed)
        self.rng, count = rng, days * a_day
        self.day = np.repeat(np.arange(days), a_day)
        self.time = self.day * DAY + np.sort(rng.integers(0, DAY, (days, a_day))).reshape(-1)
        share = np.array([prevalence(day) for day in range(days)])[self.day]
        self.actual = rng.random(count) < share
        self.called = rng.random(count) < np.where(self.actual, RECALL, FPR)
        by_day = np.array([rates(day) if callable(rates) else rates for day in range(days)])
        wrong = np.where(self.actual, by_day[self.day, 1], by_day[self.day, 0])
        self.label = self.actual ^ (rng.random(count) < wrong)
        self.score = np.full(count, np.nan)
        self.key = (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )

    def batch(self, day):
        """The predictions of a day, and their labels an hour later."""
        rows = np.flatnonzero(self.day == day)
        return EventBatch(
            predictions=Predictions(
                key=self.key[rows],
                time=self.time[rows],
                predicted_positive=self.called[rows],
                score=self.score[rows],
                group=np.zeros(len(rows), dtype=np.int64),
            ),
            labels=labels(self.key[rows], self.time[rows] + 3_600_000, self.label[rows]),
            groups=(Group("m"),),
            records=2 * len(rows),
        )

    def audits(self, each, days):
        """So many audits of each predicted class and label, of the cases of some days."""
        inside = np.isin(self.day, days)
        chosen = []
        for called in (False, True):
            for label in (False, True):
                stratum = np.flatnonzero(inside & (self.called == called) & (self.label == label))
                chosen.append(self.rng.permutation(stratum)[:each])
        rows = np.concatenate(chosen)
        found = labels(self.key[rows], self.time[rows] + DAY, self.actual[rows], audit=True)
        return EventBatch(labels=found, records=len(rows))


def labels(key, time, value, *, audit=False):
    value = value.astype(np.int64)
    value = marked(value, np.ones(len(value), dtype=np.bool_)) if audit else value
    return Labels(key=key, time=time, value=value, sampling_probability=np.full(len(key), np.nan))


def monitor_of(errors=AUDITS, state=None, **others):
    settings = {"label_timeout": "60d", "maturity": "1d", "label_errors": errors, **others}
    return Monitor(Config(models={"m": settings}, windows=["1d", "7d", "28d"]), state)


def fed(cases, each, days, monitor=None, *, audit_days=None):
    monitor = monitor or monitor_of()
    for day in days:
        monitor.apply(cases.batch(day))
    if each:
        monitor.apply(cases.audits(each, days if audit_days is None else audit_days))
    return monitor


def steady(prevalence):
    return lambda _: prevalence


def halved(day):
    return 0.04 if day < 35 else 0.01


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


def confirmed(cases):
    """Labels that confirm half of the false positives."""
    false = cases.called & ~cases.actual
    cases.label |= false & (cases.rng.random(len(false)) < 0.5)
    return cases


@pytest.mark.parametrize("feeds_back", [False, True])
def test_labels_that_follow_the_prediction_are_named(feeds_back):
    cases = Cases(30, 3_000, 9, steady(0.04))
    monitor = fed(confirmed(cases) if feeds_back else cases, 100, range(30), monitor_of({}))
    status = status_answer(monitor.snapshot(), limit=1)
    audits = status.models[0].audits
    assert audits.follow_predictions is feeds_back
    assert (audits.labelled_0, audits.labelled_1) == (200, 200)
    page = str(now_section(status, status.models[0], None, None))
    assert audits.text in page.replace("&#x27;", "'")
    assert ("follows the prediction: precision or recall is off" in page) is feeds_back


def test_without_audits_the_page_names_the_test():
    status = status_answer(
        fed(Cases(5, 500, 9, steady(0.04)), 0, range(5), monitor_of({})).snapshot(), limit=1
    )
    assert status.models[0].audits is None
    page = str(now_section(status, status.models[0], None, None))
    assert "audits of flagged and of other cases test it" in page


def test_labels_that_follow_the_prediction_are_not_corrected_by_one_rate():
    """Precision would read far too high; nothing is shown instead."""
    monitor = fed(confirmed(Cases(30, 3_000, 9, steady(0.04))), 100, range(30))
    snapshot = monitor.snapshot()
    for window in snapshot.windows:
        assert np.isnan(window.metrics["precision"]).all()
    status = status_answer(snapshot, limit=1).models[0]
    found = next(iter(status.windows.values()))
    assert "at other rates than the others" in found.refused_because
    verdicts = {one.verdict for one in snapshot.models[0].watched.verdicts.values()}
    assert verdicts == {Verdict.LABELS_NOT_TRUSTWORTHY}
    text = " ".join(replay_text(snapshot).split())
    assert "flagged cases have wrong labels at other rates than the others" in text


@pytest.mark.slow
def test_a_diagnosis_says_what_audits_show():
    cases = Cases(66, 2_000, 4, steady(0.04))
    monitor = fed(cases, 100, range(66), monitor_of({}))
    snapshot = monitor.snapshot()
    asked = compared_live(
        snapshot, snapshot.models[0], "1970-01-01..1970-01-29", "1970-01-30..1970-02-20"
    )
    found = compared(
        snapshot.models[0], asked, recall(monitor, asked, LabelRegime.now(snapshot.models[0]))
    )
    assert any(note.startswith("audits found") for note in found.notes)


def test_a_diagnosis_before_enough_audits_is_refused():
    monitor = fed(Cases(40, 500, 4, steady(0.04)), 0, range(40))
    snapshot = monitor.snapshot()
    model = snapshot.models[0]
    asked = compared_live(snapshot, model, "1970-01-01..1970-01-15", "1970-01-16..1970-01-30")
    with pytest.raises(UsageError, match="too few labels are audited"):
        compared(model, asked, recall(monitor, asked, LabelRegime.now(model)))


CHANGED, WORSE = 45, ErrorRates(0.04, 0.05)


def sloppier(day):
    """A labeller who makes more mistakes from a day on."""
    return WRONG if day < CHANGED else WORSE


@pytest.fixture(scope="module")
def changed_labels():
    cases = Cases(80, 3_000, 4, steady(0.04), rates=sloppier)
    monitor = monitor_of()
    for first in range(0, 80, 5):
        days = range(first, first + 5)
        fed(cases, 25, days, monitor, audit_days=days)
    return monitor


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


def test_page_api_replay_and_diagnosis_say_that_the_rates_changed(changed_labels):
    snapshot = changed_labels.snapshot()
    model = snapshot.models[0]
    status = status_answer(snapshot, limit=1)
    (earlier,) = status.models[0].earlier_label_errors
    day = earlier.until[:10]
    assert "audits show that the rates of wrong labels changed" in status.models[0].audits.text
    page = str(now_section(status, status.models[0], None, None))
    text = " ".join(replay_text(snapshot).split())
    for told in (page, text):
        assert f"(before {day} for " in told
        assert "fewer positive labels than wrong ones" not in told
    asked = compared_live(snapshot, model, "1970-01-08..1970-01-29", "1970-02-25..1970-03-18")
    found = compared(model, asked, recall(changed_labels, asked, LabelRegime.now(model)))
    notes = [note for note in found.notes if "labels are taken to be wrong" in note]
    assert [note.partition(":")[0] for note in notes] == ["before", "after"]
    assert found.judgement.verdict not in DEGRADED
    for side in (found.before, found.after):
        measured = side.metrics["recall"]
        assert measured.lower <= RECALL <= measured.upper


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


def test_a_window_that_holds_all_predictions_has_the_metrics_of_all_time():
    """Rates that changed inside count by cases; time without predictions does not count."""
    settings = {"label_timeout": "60d", "maturity": "0s", "label_errors": AUDITS}
    monitor = Monitor(Config(models={"m": settings}, windows=["120d"]))
    cases = Cases(80, 2_000, 4, steady(0.04), rates=sloppier)
    fed(cases, 200, range(80), monitor, audit_days=range(CHANGED))
    monitor.apply(cases.audits(200, range(CHANGED, 80)))
    snapshot = monitor.snapshot()
    assert len(snapshot.models[0].earlier_label_errors) == 1
    (window,) = snapshot.windows
    assert window.counts.cells[0].sum() > 0.99 * snapshot.lifetime.counts.cells[0].sum()
    for name in ("recall", "precision", "prevalence"):
        one, other = (each.metrics[name].estimate[0] for each in (window, snapshot.lifetime))
        assert one == pytest.approx(other, abs=0.005), name


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
    ends = [outcomes.sum(axis=-1) for outcomes, _ in period.labelled_blocks.at_corners()]
    for cell in ("tp", "fn", "fp", "tn"):
        found = [float(getattr(one, cell)) for one in ends]
        assert min(found) <= getattr(period.total, cell) <= max(found), cell


def test_series_by_time_have_the_rates_of_their_time(changed_labels):
    context = series_context(changed_labels.snapshot().models[0])
    answer = series_answer(changed_labels.history("m"), context, step=7 * DAY)
    recalls = np.array(answer.metrics.recall.estimate, dtype=float)
    known = recalls[~np.isnan(recalls)]
    assert len(known) > 8
    assert known.min() > 0.65
    assert np.median(known[:5]) < 0.9


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
