"""Rates of wrong labels that the labels of a model, or of a window, exclude."""

import numpy as np
import pytest
from wrong_labels import DAY, RATES, batches, covers, fed, monitor_of, steady

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, block_ms_of, diagnose
from monitor.diagnosis.comparison import check_audits
from monitor.drift import Verdict
from monitor.errors import UsageError
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.now import now_section
from monitor.labels.evidence import Evidence, Kind
from monitor.labels.faults import LabelFault
from monitor.labels.regime import LabelRegime
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates
from monitor.metrics.sampled import SampledCounts
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.label_answer import clipped_classes, label_errors_text


def covers_side(found, truth):
    return found.lower <= truth <= found.upper


def test_a_window_whose_labels_exclude_the_rates_has_no_metrics_and_no_verdict():
    """Labels of the last days are right, which rates of all days do not show."""
    right = list(batches(43, 5_000, 8, steady(0.04), recall=lambda _: 0.94, rates=NO_ERRORS))
    wrong = list(batches(43, 5_000, 8, steady(0.04), recall=lambda _: 0.94))
    made = [*wrong[:36], *right[36:]]
    monitor = fed(made)
    snapshot = monitor.snapshot()
    model, (_, week, month) = snapshot.models[0], snapshot.windows
    assert model.label_errors == RATES
    assert week.fault_of(0) == LabelFault.LABEL_ERRORS_TOO_HIGH
    assert np.isnan(week.metrics["recall"].estimate[0])
    assert not month.fault_of(0)
    assert np.isfinite(month.metrics["recall"].estimate[0])
    found = model.watched.verdicts["7d"]
    assert found.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert found.label_fault == LabelFault.LABEL_ERRORS_TOO_HIGH
    assert clipped_classes(model, week) == ((), ())
    stretches = [(0, 28 * DAY), (36 * DAY, 43 * DAY)]
    periods = [
        Period.counted(
            monitor.recall("m", *one, block_ms_of(*one)), "m", *one, regime=LabelRegime.now(model)
        )
        for one in stretches
    ]
    compared = diagnose(*periods, mature_until=43 * DAY)
    assert compared.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert compared.refusal.reason.startswith("labels of after: label_errors says that more")
    assert covers_side(compared.before.metrics["recall"], 0.94)
    assert np.isnan(compared.after.metrics["recall"].estimate)
    assert "Lower the rates of label_errors" in diagnosis_text(compared)


def test_a_window_leaves_out_what_its_own_labels_exclude_of_a_range():
    """Rates of 28 days are not excluded, those of the last days are lower."""
    fewer = ErrorRates(0.002, 0.05)
    wrong, later = (
        list(batches(43, 5_000, 8, steady(0.04), recall=lambda _: 0.99, rates=rates))
        for rates in (RATES, fewer)
    )
    wide = ErrorRates.within((0.0, 0.0095), 0.05)
    monitor = fed([*wrong[:35], *later[35:]], wide)
    snapshot = monitor.snapshot()
    assert snapshot.models[0].label_errors == wide
    week = snapshot.windows[1].metrics["recall"]
    assert week.estimate[0] < 0.99
    assert covers(week, 0.99)
    regime = LabelRegime.now(snapshot.models[0])
    before, after = (
        Period.counted(monitor.recall("m", *one, block_ms_of(*one)), "m", *one, regime=regime)
        for one in [(0, 28 * DAY), (36 * DAY, 43 * DAY)]
    )
    compared = diagnose(before, after).after.metrics["recall"]
    assert compared.estimate < 0.99
    assert covers_side(compared, 0.99)


def test_labels_of_the_model_that_exclude_a_part_of_a_range_correct_the_reference_too():
    wide = ErrorRates.within((0.0, 0.05), 0.05)
    made = list(batches(40, 5_000, 9, steady(0.04)))
    monitor = fed(made, wide)
    model = monitor.snapshot().models[0]
    assert model.configured_label_errors == wide
    assert 0.01 < model.label_errors.ranges["false_positive"][1] < 0.03
    found = model.watched.reference
    reference, stretch = found.counts, (found.opens, found.closes)
    recalled = monitor.recall("m", *stretch, DAY)
    cells = recalled.blocks(recalled.series("m")[0], *stretch, DAY).sum(axis=0)
    rates = ErrorRates(*model.label_errors[:2])
    right = SampledCounts.all_labelled(ConfusionCounts.from_cells(cells[:4]), rates).cases
    np.testing.assert_allclose(reference.cells, right.cells)
    again = monitor_of(wide, monitor.state()).snapshot().models[0]
    assert again.label_errors == model.label_errors
    np.testing.assert_allclose(again.watched.reference.counts.cells, reference.cells)
    assert again.watched.verdicts["7d"].verdict is model.watched.verdicts["7d"].verdict


def test_rates_that_labels_exclude_are_named_with_what_labels_allow():
    """Labels are right, and among unflagged cases a missed positive is rare."""
    monitor = fed(batches(37, 2_000, 8, steady(0.02), rates=NO_ERRORS), ErrorRates(0.05))
    snapshot = monitor.snapshot()
    model = snapshot.models[0]
    assert not model.label_errors.known
    text = label_errors_text(model)
    assert text.startswith("label_errors.false_positive is 5 %, and the labels allow 0.")
    status = status_answer(snapshot, limit=1)
    assert status.models[0].label_errors_text == text
    assert text in str(now_section(status, status.models[0], None, None))
    with pytest.raises(UsageError, match=r"m: label_errors\.false_positive is 5 %"):
        check_audits("m", LabelRegime.now(model), None)


def sloppy_on_some_days(days):
    """Labels are wrong for 2 % of the negatives of every other day, and of nobody else."""
    sloppy, right = (
        list(batches(days, 5_000, 5, steady(0.04), recall=lambda _: 0.97, rates=ErrorRates(one)))
        for one in (0.02, 0.0)
    )
    return [(right if day % 2 else sloppy)[day] for day in range(days)]


def test_days_whose_wrong_labels_scatter_exclude_no_rate_of_all_days():
    """A day without a wrong label has fewer positive ones than the rate of all days gives."""
    monitor = fed(sloppy_on_some_days(44), ErrorRates(0.01))
    snapshot = monitor.snapshot()
    model = snapshot.models[0]
    assert model.label_errors == ErrorRates(0.01)
    assert model.label_limits.dispersion > 20
    day, *longer = snapshot.windows
    assert day.close[0] // DAY * DAY == 43 * DAY  # most of its cases are of the last day
    assert not any(window.fault_of(0) for window in (day, *longer, snapshot.lifetime))
    for window in longer:
        assert covers(window.metrics["false_positive_rate"], 0.02)
    regime = LabelRegime.now(model)
    periods = (
        Period.counted(monitor.recall("m", *one, 3_600_000), "m", *one, regime=regime)
        for one in [(0, 28 * DAY), (43 * DAY, 44 * DAY)]
    )
    compared = diagnose(*periods)
    assert compared.refusal is None
    assert np.isfinite(compared.after.metrics["recall"].estimate)


def test_labels_of_a_day_that_come_late_change_nothing_that_is_known_of_it():
    """What labels exclude is found once a day, and a monitor that starts again knows it."""
    wide = ErrorRates.within((0.0, 0.05), 0.0)
    monitor = fed(batches(38, 2_000, 3, steady(0.04)), wide)
    before = monitor.snapshot().models[0].label_errors
    late, *_ = batches(1, 20_000, 4, steady(0.0), rates=NO_ERRORS)
    monitor.apply(late)
    again = monitor_of(wide, monitor.state())
    assert again.snapshot().models[0].label_errors == before
    assert again.state()["label_errors"] == monitor.state()["label_errors"]
    other = monitor_of(ErrorRates.within((0.0, 0.04), 0.0), monitor.state())
    assert other.snapshot().models[0].label_errors != before


@pytest.mark.parametrize("kind", [Kind.SAMPLED, Kind.FLAGGED])
def test_labels_of_a_sample_exclude_rates_too(kind):
    """Five of a thousand flagged cases are labelled 1; wrong labels alone would give fifty."""
    evidence = Evidence.of(np.array([kind]), np.array([[5, 995, 0, 2_000, 1_000, 50_000]]))
    evidence.errors[:] = ErrorRates(0.05)
    evidence.exclude_impossible_rates()
    assert evidence.fault[0] == LabelFault.LABEL_ERRORS_TOO_HIGH
