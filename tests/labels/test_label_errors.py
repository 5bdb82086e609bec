"""Labels with errors through the engine: windows, verdicts, diagnoses and series are corrected."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wrong_labels import DAY, FPR, RATES, RECALL, batches, covers, fed, monitor_of, steady

from monitor.config import Config
from monitor.diagnosis import Period, block_ms_of, diagnose
from monitor.drift import Verdict
from monitor.drift.label_quality import LabelChange
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED
from monitor.exporter.api.queries import series_context
from monitor.exporter.api.series import series_answer
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.now import now_section
from monitor.labels.estimates import measure
from monitor.labels.evidence import Evidence, Kind
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.metrics.label_errors import NO_ERRORS, EarlierErrors, ErrorRates
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.diagnosis_text import diagnosis_text


@cache
def fed_for_weeks():
    """A monitor of thirty days at one prevalence; tests read it alone."""
    return fed(batches(30, 20_000, 1, steady(0.02)))


def halved(day):
    return 0.04 if day < 35 else 0.01


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
    fewer = ErrorRates(0.0055, 0.05)  # labels do not exclude that a hundredth is wrong
    _, found = diagnosed(batches(66, 5_000, 6, steady(0.02), rates=fewer), RATES)
    assert found.refusal is None
    notes = " ".join(found.notes)
    assert "wrong for 1 % of actual negatives and 5 % of actual positives" in notes
    assert "after: predicted negatives have fewer positive labels than wrong ones" in notes
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


def test_a_window_that_a_range_leaves_open_does_not_lack_outcomes():
    """At the middle of the range, the outcomes show that nothing changed."""
    made = list(batches(66, 1_000, 1, steady(0.04)))
    monitor, found = diagnosed(made, ErrorRates.within((0.0, 0.02), (0.0, 0.1)))
    assert found.because is Because.LABEL_ERRORS
    assert monitor.snapshot().models[0].watched.verdicts["28d"].because is Because.LABEL_ERRORS
    text = " ".join(diagnosis_text(found).split())
    assert "a narrower range of label_errors, or audits, would settle it" in text
    assert "- Narrow the range of label_errors, or have labels audited" in text
    assert "more outcomes" not in text
    learned = " ".join(diagnosis_text(replace(found, rates_learned=True)).split())
    assert "open: more audits would settle it" in learned
    assert "- Have more labels audited (`precision-monitor audit FILE --sample 500`" in learned
    assert "arrow the range" not in learned
    _, middle = diagnosed(made, RATES)
    assert middle.verdict is Verdict.NO_CHANGE
    _, few = diagnosed(batches(66, 20, 1, steady(0.04)), ErrorRates.within((0.0, 0.02), 0.0))
    assert few.because is Because.TOO_FEW


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
