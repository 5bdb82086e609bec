"""Labels with errors through the engine: windows, verdicts, diagnoses and series are corrected."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, block_ms_of, diagnose
from monitor.drift import Verdict
from monitor.drift.label_quality import LabelChange
from monitor.drift.verdict import DEGRADED
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.exporter.api.queries import series_context
from monitor.exporter.api.series import series_answer
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.now import now_section
from monitor.labels.estimates import measure
from monitor.labels.evidence import Evidence, Kind
from monitor.labels.faults import LabelFault
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.metrics.label_errors import NO_ERRORS, EarlierErrors, ErrorRates
from monitor.metrics.sampled import SampledCounts
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.label_answer import clipped_classes

DAY = 86_400_000
RECALL, FPR = 0.8, 0.02
RATES = ErrorRates(false_positive=0.01, false_negative=0.05)


def batches(days, a_day, seed, prevalence, *, recall=lambda _: RECALL, rates=RATES):
    """Days of outcomes whose labels are flipped one by one."""
    rng = np.random.default_rng(seed)
    for day in range(days):
        actual = rng.random(a_day) < prevalence(day)
        called = rng.random(a_day) < np.where(actual, recall(day), FPR)
        wrong = rng.random(a_day) < np.where(actual, rates.false_negative, rates.false_positive)
        moment = day * DAY + np.sort(rng.integers(0, DAY, a_day))
        yield EventBatch(
            outcomes=Outcomes(
                time=moment,
                label_time=moment,
                predicted_positive=called,
                actual_positive=actual ^ wrong,
                score=np.full(a_day, np.nan),
                group=np.zeros(a_day, dtype=np.int64),
            ),
            groups=(Group("m"),),
            records=a_day,
        )


def monitor_of(rates=RATES, state=None):
    settings = {"label_timeout": "2d", "label_errors": rates.rates | rates.ranges}
    return Monitor(Config(models={"m": settings}, windows=["1d", "7d", "28d"]), state)


def fed(made, rates=RATES):
    monitor = monitor_of(rates)
    for batch in made:
        monitor.apply(batch)
    return monitor


@cache
def fed_for_weeks():
    """A monitor of thirty days at one prevalence; tests read it alone."""
    return fed(batches(30, 20_000, 1, steady(0.02)))


def steady(prevalence):
    return lambda _: prevalence


def halved(day):
    return 0.04 if day < 35 else 0.01


def covers(estimate, truth):
    return estimate.lower[0] <= truth <= estimate.upper[0]


def test_windows_are_corrected_and_counts_stay_as_labelled():
    window = fed_for_weeks().snapshot().windows[2]
    raw = fed(batches(30, 20_000, 1, steady(0.02)), ErrorRates()).snapshot().windows[2]
    assert covers(window.metrics["recall"], RECALL)
    assert covers(window.metrics["false_positive_rate"], FPR)
    assert covers(window.metrics["prevalence"], 0.02)
    assert raw.metrics["recall"].upper[0] < 0.65
    assert raw.metrics["prevalence"].lower[0] > 0.025
    np.testing.assert_array_equal(window.counts.cells, raw.counts.cells)


def test_the_interval_is_wider_than_that_of_right_labels():
    right = fed(batches(30, 20_000, 1, steady(0.02), rates=ErrorRates()), ErrorRates())
    monitors = (fed_for_weeks(), right)
    found, true = (one.snapshot().windows[2].metrics["recall"] for one in monitors)
    assert found.upper - found.lower > 1.5 * (true.upper - true.lower)


@pytest.mark.parametrize("one_sided", [False, True])
def test_labels_still_to_come_and_wrong_ones_are_corrected_together(one_sided):
    """Of 10,000 and 90,000 predictions, half of the positive labels have come."""
    tp, fp, fn, tn = 8_000, 2_000, 1_000, 89_000
    a, b = RATES.false_positive, RATES.false_negative
    positive, missed = tp * (1 - b) + fp * a, fn * (1 - b) + tn * a
    share = np.array([[0.5, 1.0, 0.5, 1.0]])
    labelled = [positive, tp + fp - positive, missed, fn + tn - missed] * share[0]
    evidence = Evidence.of(
        np.array([Kind.CORRECTED_ONE_SIDED if one_sided else Kind.CORRECTED]),
        np.array([[*labelled, tp + fp, fn + tn]]).astype(np.int64),
    )
    evidence.coverage.share[:] = share
    evidence.errors[:] = RATES
    assert measure(evidence, "precision")[0, 0] == pytest.approx(0.8, abs=0.001)
    recall = measure(evidence, "recall")[:, 0]
    if one_sided:
        assert np.isnan(recall).all()
    else:
        assert recall[0] == pytest.approx(8 / 9, abs=0.001)
        assert recall[1] < 8 / 9 < recall[2]


def diagnosed(made, rates):
    monitor = monitor_of(rates)
    ranges = (0, 28 * DAY), (36 * DAY, 64 * DAY)
    counted = [monitor.count_range(*asked, block_ms_of(*asked)) for asked in ranges]
    for batch in made:
        monitor.apply(batch)
    regime = LabelRegime(errors=rates)
    periods = (
        Period.counted(c, "m", *asked, regime=regime)
        for c, asked in zip(counted, ranges, strict=True)
    )
    return monitor, diagnose(*periods, model="m")


@cache
def diagnosed_while_halved(rates):
    """A monitor of positives that become half as frequent; tests read it alone."""
    return diagnosed(batches(66, 20_000, 4, halved), rates)


@pytest.mark.slow
def test_rarer_positives_beside_wrong_labels_are_no_worse_model():
    """By labels as they are, recall falls from .64 to .44: a worse model."""
    corrected_monitor, found = diagnosed_while_halved(RATES)
    raw_monitor, raw = diagnosed_while_halved(ErrorRates())
    assert raw.verdict in DEGRADED
    assert found.verdict is Verdict.PREVALENCE_SHIFT
    recall = found.after.metrics["recall"]
    assert recall.lower <= RECALL <= recall.upper
    assert found.attribution["prevalence"].points < -0.2
    live, raw_live = (one.snapshot().models[0].watched for one in (corrected_monitor, raw_monitor))
    assert live.verdicts["28d"].verdict not in DEGRADED
    assert raw_live.verdicts["28d"].verdict in DEGRADED
    assert not [one for one in live.detections if one.kind == "model_degraded"]


@pytest.mark.slow
def test_a_worse_model_beside_wrong_labels_is_found():
    made = batches(66, 20_000, 5, steady(0.04), recall=lambda day: RECALL if day < 35 else 0.5)
    monitor, found = diagnosed(made, RATES)
    assert found.verdict in DEGRADED
    watched = monitor.snapshot().models[0].watched
    assert watched.verdicts["7d"].verdict in DEGRADED
    assert [one.kind for one in watched.detections] == ["model_degraded"]
    assert 0 <= watched.detections[0].at - 35 * DAY <= 8 * DAY


@pytest.mark.slow
def test_a_diagnosis_names_the_rates_and_labels_too_few_for_them():
    _, found = diagnosed(batches(66, 5_000, 6, steady(0.02), rates=ErrorRates()), RATES)
    notes = " ".join(found.notes)
    assert "wrong for 1 % of actual negatives and 5 % of actual positives" in notes
    assert "predicted negatives of after have fewer positive labels than wrong ones" in notes
    _, right = diagnosed(batches(66, 5_000, 6, steady(0.02)), RATES)
    assert "fewer positive labels" not in " ".join(right.notes)


def test_series_and_windows_agree():
    monitor = fed_for_weeks()
    snapshot = monitor.snapshot()
    context = series_context(snapshot.models[0])
    answer = series_answer(monitor.history("m"), context, step=7 * DAY)
    recalls = np.array(answer.metrics.recall.estimate, float)
    assert np.nanmin(recalls) > 0.7
    assert np.nanmax(recalls) < 0.9


def test_a_monitor_restored_judges_as_one_that_ran_on_and_other_rates_start_anew():
    made = list(batches(48, 5_000, 4, halved))
    whole, part = fed(made), fed(made[:38])
    again, other = (monitor_of(r, part.state()) for r in (RATES, ErrorRates(0.02, 0.05)))
    assert again.snapshot().models[0].watched.reference is not None
    assert other.snapshot().models[0].watched.reference is None
    for batch in made[38:]:
        again.apply(batch)
    verdicts, kept = (m.snapshot().models[0].watched.verdicts for m in (whole, again))
    assert {n: v.verdict for n, v in verdicts.items()} == {n: v.verdict for n, v in kept.items()}


@given(
    st.lists(st.tuples(*[st.integers(0, 400)] * 4), min_size=1, max_size=12),
    st.floats(0, 0.4),
    st.floats(0, 0.4),
)
def test_blocks_are_within_their_cases_and_add_up_to_the_whole(blocks, a, b):
    cells = np.array([[*c, c[0] + c[1], c[2] + c[3]] for c in blocks], dtype=np.int64)[:, None]
    weights = np.zeros((len(blocks), 1, 8), dtype=np.int64)
    regime = LabelRegime(errors=ErrorRates(a, b))
    found, dispersion = expected(regime, cells, weights, np.arange(len(cells)))
    assert (found >= 0).all()
    assert (dispersion is None) == (not (a or b))
    whole, _ = expected(regime, cells.sum(axis=0, keepdims=True), weights[:1], np.zeros(1))
    np.testing.assert_allclose(found.sum(axis=0), whole[0], atol=1e-7)
    for one, other, made in ((0, 1, 4), (2, 3, 5)):
        np.testing.assert_allclose(found[..., one] + found[..., other], cells[..., made], atol=1e-7)


@pytest.mark.parametrize("labelling", ["sampled", "weighted", "flagged_only"])
def test_zero_rates_fit_every_regime(labelling):
    zero = {"false_positive": 0, "false_negative": 0}
    config = Config(models={"m": {"labelling": labelling, "label_errors": zero}})
    assert not LabelRegime.of(config.models["m"]).has_errors


@pytest.mark.slow
def test_unknown_rates_say_what_one_wrong_label_in_a_hundred_would_do():
    """In the API, on the page, and in text and JSON of a diagnosis; not with known rates."""
    flips = ErrorRates(0.01, 0.01)
    made = list(batches(66, 20_000, 7, steady(0.02), rates=flips))
    monitor, found = diagnosed(made, ErrorRates())
    status = status_answer(monitor.snapshot(), limit=1)
    model = status.models[0]
    window = model.windows["28d"].if_labels_wrong
    assert window.share == 0.01
    assert window.metrics["recall"] == pytest.approx(RECALL, abs=0.03)
    assert "if 1 % of labels were wrong, recall would be 0." in window.text
    assert window.text[1:] in str(now_section(status, model, None, None))
    answer = diagnosis_answer(found)
    for name, side in (("before", answer.before), ("after", answer.after)):
        assert side.if_labels_wrong.metrics["recall"] == pytest.approx(RECALL, abs=0.03)
        printed = " ".join(diagnosis_text(found).split())
        assert f"{name}, {side.if_labels_wrong.text}" in printed
    known_monitor, known = diagnosed(made, flips)
    side = diagnosis_answer(known).after
    assert side.if_labels_wrong is None
    status = status_answer(known_monitor.snapshot(), limit=1)
    assert status.models[0].windows["28d"].if_labels_wrong is None


AROUND = ErrorRates.within((0.008, 0.012), (0.0, 0.1))
"""Ranges around `RATES`."""


def test_intervals_of_windows_cover_the_ranges():
    made = list(batches(12, 5_000, 1, steady(0.02)))
    window, known = (fed(made, one).snapshot().windows[1] for one in (AROUND, RATES))
    for metric in ("recall", "false_positive_rate", "prevalence"):
        wide, narrow = window.metrics[metric], known.metrics[metric]
        assert wide.lower[0] < narrow.lower[0] < narrow.upper[0] < wide.upper[0]
    recall = window.metrics["recall"]
    evidence = Evidence.complete(np.append(window.counts[:1].cells, [[0, 0]], axis=1))
    ends = []
    for corner in AROUND.corners:
        evidence.errors[:] = corner
        ends.append(measure(evidence, "recall")[:, 0])
    assert recall.lower[0] == pytest.approx(min(lower for _, lower, _ in ends))
    assert recall.upper[0] == pytest.approx(max(upper for *_, upper in ends))


@pytest.mark.slow
def test_verdicts_hold_at_all_rates_within_the_ranges():
    monitor, found = diagnosed_while_halved(AROUND)
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert "class_ratio" in found.judgement.fell
    assert "recall" in found.judgement.unknown
    assert "0.8 to 1.2 % of actual negatives and 0 to 10 % of actual" in " ".join(found.notes)
    _, middle = diagnosed_while_halved(RATES)
    assert middle.verdict is Verdict.PREVALENCE_SHIFT
    for cause, part in middle.attribution.items():
        wide = found.attribution[cause]
        assert wide.lower_points < part.lower_points
        assert wide.upper_points > part.upper_points
    assert found.recall.excluded < middle.recall.excluded
    live = monitor.snapshot().models[0].watched
    assert live.verdicts["28d"].verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert "recall" in live.verdicts["28d"].judgement.unknown


@pytest.mark.slow
def test_a_worse_model_is_found_within_ranges():
    made = batches(66, 20_000, 5, steady(0.04), recall=lambda day: RECALL if day < 35 else 0.5)
    monitor, found = diagnosed(made, AROUND)
    assert found.verdict in DEGRADED
    assert "recall" in found.judgement.fell
    watched = monitor.snapshot().models[0].watched
    assert watched.verdicts["7d"].verdict in DEGRADED
    assert [one.kind for one in watched.detections] == ["model_degraded"]


def test_ranges_and_clipped_cells_are_in_the_api_and_on_the_page():
    """Of the latest day, by chance, fewer labels of unflagged cases are positive than are wrong."""
    made = list(batches(30, 2_000, 6, steady(0.02), recall=lambda _: 0.99))
    status = status_answer(fed(made, AROUND).snapshot(), limit=1)
    model = status.models[0]
    assert model.label_errors == pytest.approx({"false_positive": 0.01, "false_negative": 0.05})
    assert model.label_error_ranges == {
        "false_positive": (0.008, 0.012),
        "false_negative": (0, 0.1),
    }
    assert model.label_errors_excluded == {}
    assert model.windows["1d"].too_few_positive_labels == ("predicted_negative",)
    assert model.windows["1d"].metrics.recall.estimate == 1
    page = str(now_section(status, model, None, None))
    assert "Last 1d: predicted negatives have fewer positive labels than wrong ones" in page
    assert "0.8 to 1.2 % of actual negatives" in page
    other = status_answer(fed(batches(30, 5_000, 6, steady(0.02))).snapshot(), limit=1).models[0]
    assert other.windows["28d"].too_few_positive_labels == ()
    assert other.label_error_ranges == {}


@pytest.mark.slow
def test_labels_that_become_wrong_more_often_are_named_and_page_nobody():
    """By labels as they are, recall falls from .8 to .56, and prevalence rises by a half."""
    wrong = ErrorRates(0.01, 0.01)
    right, worse = (list(batches(66, 5_000, 3, steady(0.02), rates=r)) for r in (NO_ERRORS, wrong))
    made = [(right if day < 35 else worse)[day] for day in range(66)]
    monitor, found = diagnosed(made, NO_ERRORS)
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert found.judgement.labels_may_explain
    answer, text = diagnosis_answer(found), " ".join(diagnosis_text(found).split())
    assert answer.labels_may_explain
    assert answer.verdict_because == "moved_cause_open"
    assert "more missed positives: more wrong labels, or a worse model? Open." in text
    assert "Have 20 cases looked at again, drawn at random from the unflagged cases of" in text
    watched = monitor.snapshot().models[0].watched
    assert not {one.verdict for one in watched.verdicts.values()} & DEGRADED
    assert [one.kind for one in watched.detections] == ["prevalence_shift"]
    status = status_answer(monitor.snapshot(), limit=1).models[0]
    assert status.windows["28d"].judgement.labels_may_explain
    assert "as when more labels are wrong" in status.worse.text


@pytest.mark.slow
def test_labels_that_miss_more_positives_are_named_and_page_nobody():
    """By labels as they are, the false positive rate doubles, and prevalence falls by a third."""
    wrong = ErrorRates(0.0, 0.35)
    right, worse = (list(batches(66, 5_000, 3, steady(0.1), rates=r)) for r in (NO_ERRORS, wrong))
    made = [(right if day < 35 else worse)[day] for day in range(66)]
    monitor, found = diagnosed(made, NO_ERRORS)
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert found.judgement.label_change is LabelChange.FALSE_NEGATIVES
    text = " ".join(diagnosis_text(found).split())
    assert "drawn at random from the flagged cases of after that are labelled negative" in text
    watched = monitor.snapshot().models[0].watched
    assert "model_degraded" not in {one.kind for one in watched.detections}
    status = status_answer(monitor.snapshot(), limit=1).models[0]
    assert "as when labels miss more positives" in status.worse.text


def test_no_blocks_have_the_latest_rates():
    regime = LabelRegime(errors=ErrorRates(0.04), earlier=(EarlierErrors(5, ErrorRates(0.01)),))
    nothing = np.zeros(0, dtype=np.int64)
    assert regime.of_blocks(nothing, nothing).errors == ErrorRates(0.04)


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


def covers_side(found, truth):
    return found.lower <= truth <= found.upper


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
