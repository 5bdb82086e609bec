"""Why precision moved, however labels come: the causes are right, or are refused."""

import numpy as np
import pytest
from labelled import DAY, FPR, PRECISION, PREVALENCE, RECALL, stream

from monitor.config import Config, Labelling
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, block_ms_of, diagnose
from monitor.diagnosis.period_labels import PeriodOutcomes
from monitor.drift import Status, Verdict
from monitor.engine import CountingMonitor
from monitor.events.columns import Series
from monitor.labels.regime import LabelRegime
from monitor.metrics import precision_at
from monitor.report.answer_parts import MetricInterval
from monitor.report.diagnosis_json import diagnosis_answer
from monitor.report.diagnosis_text import diagnosis_text

SAMPLED, WEIGHTED = Labelling.SAMPLED, Labelling.WEIGHTED
BY_TIMEOUT = Labelling.NEGATIVES_BY_TIMEOUT
CHANGED = 25
RANGES = ((0, CHANGED), (CHANGED, 50))
AUDITED = {"labelled": (1, 1, 0.1, 0.1)}
REGIMES = {
    SAMPLED: AUDITED,
    WEIGHTED: {"labelled": (0.5, 1, 0.1, 0.2), "weighted": True},
    BY_TIMEOUT: {"labelled": (1, 0, 1, 0), "delays": (2, 0, 2, 0)},
}


def opens_of(blocks):
    return DAY * np.arange(len(blocks), dtype=np.int64)


def from_day(before, after):
    return lambda day: np.where(day < CHANGED, before, after)


def diagnosed(labelling, seed=2, *, events=None, per_day=12_000, **rates):
    """Twenty-five days before a change against as many after it, through the engine."""
    events = events or stream(60, per_day, seed, **REGIMES[labelling], **rates, sigma=0.3)
    config = Config(models={"m": {"labelling": str(labelling), "label_timeout": "9d"}})
    monitor = CountingMonitor(config)
    periods = []
    for opens, closes in RANGES:
        asked = opens * DAY, closes * DAY
        periods.append((monitor.count_range(*asked, block_ms_of(*asked)), asked))
    events.into(monitor)
    before, after = (
        Period.counted(counts, "m", *asked, regime=LabelRegime(labelling))
        for counts, asked in periods
    )
    return diagnose(before, after, model="m", labelling=labelling)


def holds(estimated, truth):
    return estimated.lower <= truth <= estimated.upper


@pytest.mark.parametrize("labelling", REGIMES)
def test_rarer_positives_are_a_shift_and_every_number_is_right(labelling):
    found = diagnosed(labelling, prevalence=from_day(0.02, 0.01))
    assert found.verdict is Verdict.PREVALENCE_SHIFT
    assert found.refusal is None
    shifted = 0.01 * RECALL / (0.01 * RECALL + 0.99 * FPR)
    for side, prevalence, precision in (
        (found.before, PREVALENCE, PRECISION),
        (found.after, 0.01, shifted),
    ):
        assert holds(side.metrics["precision"], precision)
        assert holds(side.metrics["prevalence"], prevalence)
        assert holds(side.metrics["recall"], RECALL)
        assert holds(side.metrics["false_positive_rate"], FPR)
        assert side.metrics["balanced_precision"].estimate > 0.98
    assert holds(found.had_prevalence_stayed, PRECISION)
    parts = found.attribution
    assert parts["prevalence"].lower_points < shifted - PRECISION < parts["prevalence"].upper_points
    assert parts["skill"].lower_points < 0 < parts["skill"].upper_points
    assert "The model is not at fault" in diagnosis_text(found)


@pytest.mark.parametrize("labelling", REGIMES)
def test_a_fall_of_recall_is_laid_to_the_model(labelling):
    found = diagnosed(labelling, recall=from_day(0.8, 0.4), prevalence=0.05)
    assert found.verdict is Verdict.MODEL_DEGRADED
    assert found.attribution["recall"].status is Status.CHANGED
    assert holds(found.after.metrics["recall"], 0.4)


@pytest.fixture(scope="module")
def steady_sample():
    """A sample of labels, and nothing changes."""
    return diagnosed(SAMPLED)


def test_unweighted_the_same_labels_read_wrong_by_far(steady_sample):
    found = steady_sample
    labelled = found.before.counts
    assert float(precision_at(labelled, class_ratio=0.02 / 0.98)) < 0.25
    assert holds(found.before.metrics["precision"], PRECISION)
    assert found.before.metrics["balanced_precision"].estimate > 0.98


def test_silence_counts_as_an_independent_count_says():
    events = stream(60, 2_000, 3, **REGIMES[BY_TIMEOUT], sigma=0.9)
    found = diagnosed(BY_TIMEOUT, events=events)
    in_time = np.isfinite(events.delay) & (events.delay <= 9)
    inside = events.time < CHANGED * DAY
    expected = [
        int((inside & (events.predicted == called) & (in_time == positive)).sum())
        for called, positive in ((True, True), (True, False), (False, True), (False, False))
    ]
    assert found.before.counts.cells.tolist() == expected
    assert found.before.predictions == sum(expected)


def test_predictions_that_had_to_be_forgotten_are_no_negatives():
    events = stream(30, 2_000, 4, **REGIMES[BY_TIMEOUT])
    config = Config(
        models={"m": {"labelling": "negatives_by_timeout", "label_timeout": "9d"}},
        max_pending=10_000,
    )
    monitor = CountingMonitor(config)
    counts = monitor.count_range(0, 20 * DAY, DAY)
    events.into(monitor)
    assert monitor.snapshot().models[0].evicted > 0
    period = Period.counted(counts, "m", 0, 20 * DAY, regime=LabelRegime(BY_TIMEOUT))
    assert period.predictions < 40_000
    assert int(period.total.total) == period.predictions


@pytest.mark.parametrize("labelling", [SAMPLED, WEIGHTED])
def test_an_audit_that_is_cut_back_is_no_change_of_the_model(labelling):
    events = stream(60, 20_000, 5, **AUDITED, prevalence=0.1, weighted=labelling is WEIGHTED)
    rng = np.random.default_rng(1)
    cut = (events.time >= CHANGED * DAY) & ~events.predicted
    events.delay[cut & (rng.random(len(cut)) < 0.8)] = np.inf
    events.probability[cut] /= 5
    found = diagnosed(labelling, events=events)
    assert found.verdict in {Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE}
    assert abs(found.attribution["skill"].points) < 0.02


def test_an_audit_that_stopped_is_refused_except_for_precision():
    events = stream(60, 5_000, 6, **AUDITED, prevalence=0.1)
    events.delay[(events.time >= CHANGED * DAY) & ~events.predicted] = np.inf
    found = diagnosed(SAMPLED, events=events)
    assert found.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert "no predicted negatives of after have a label" in found.refusal.reason
    assert np.isfinite(found.change_points)
    assert np.isnan(found.attribution["recall"].points)
    assert np.isnan(found.after.metrics["recall"].estimate)
    printed = diagnosis_answer(found)
    assert printed.after.recall == MetricInterval(estimate=None, lower=None, upper=None)
    assert "random sample of the predicted negatives" in diagnosis_text(found)


def test_no_label_at_all_is_no_evidence():
    events = stream(60, 500, 7, **AUDITED)
    events.delay[events.time >= CHANGED * DAY] = np.inf
    found = diagnosed(SAMPLED, events=events)
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert "no prediction after has a label" in " ".join(found.notes)


def test_a_sample_of_labels_is_noted_and_unlabelled_predictions_are_not(steady_sample):
    found = steady_sample
    reported = " ".join(found.notes)
    assert "labels are a sample (sampled): predicted positives and negatives labelled" in reported
    assert "their outcomes are not known" not in reported
    assert "Wait for labels" not in diagnosis_text(found)


def segmented(labelling, rng, *, recall):
    """Days of two segments whose labels are a sample; the recall of one may differ."""
    found = {}
    for name, own in (("a", RECALL), ("b", recall)):
        positive = rng.binomial(10_000, 0.05, 30)
        tp, fp = rng.binomial(positive, own), rng.binomial(10_000 - positive, 0.02)
        fn, tn = positive - tp, 10_000 - positive - fp
        labelled = np.stack([tp, fp, rng.binomial(fn, 0.2), rng.binomial(tn, 0.2)], axis=1)
        made = np.stack([tp + fp, fn + tn], axis=1)
        found[name] = np.concatenate([labelled, made], axis=1)
    weights = np.zeros((30, 8), dtype=np.int64)
    return {
        name: PeriodOutcomes.of(LabelRegime(labelling), cells, weights, opens_of(cells))
        for name, cells in found.items()
    }, (PeriodOutcomes.of(LabelRegime(labelling), sum(found.values()), weights, opens_of(weights)))


def period_of(start, parts, whole):
    named = {Series("m", "kind", name): part for name, part in parts.items()}
    return Period(
        opens=start * DAY,
        closes=(start + 30) * DAY,
        blocks=whole.blocks,
        block_ms=DAY,
        predictions=int(whole.sample.cells[4:].sum()),
        segments={series: part.blocks for series, part in named.items()},
        sample=whole.sample,
        samples={series: part.sample for series, part in named.items()},
    )


def test_the_segment_that_carries_the_change_is_found_in_a_sample():
    rng = np.random.default_rng(8)
    before = period_of(0, *segmented(SAMPLED, rng, recall=RECALL))
    after = period_of(40, *segmented(SAMPLED, rng, recall=0.4))
    found = diagnose(before, after, labelling=SAMPLED)
    assert found.verdict is Verdict.MODEL_DEGRADED
    assert {part.series.value: part.carries for part in found.segments} == {
        "b": ("recall",),
        "a": (),
    }
    assert not found.segments[0].small_sample


@pytest.mark.parametrize(("drawn", "most"), [(20, 1), pytest.param(60, 3, marks=pytest.mark.slow)])
def test_no_segment_of_a_sample_is_blamed_by_chance(drawn, most):
    rng, blamed = np.random.default_rng(9), 0
    for _ in range(drawn):
        before = period_of(0, *segmented(SAMPLED, rng, recall=RECALL))
        after = period_of(40, *segmented(SAMPLED, rng, recall=RECALL))
        blamed += any(part.carries for part in diagnose(before, after, labelling=SAMPLED).segments)
    assert blamed <= most


@pytest.mark.parametrize("drawn", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_parts_of_a_sample_are_covered(drawn):
    rng, covered = np.random.default_rng(10), {}
    truth = ConfusionCounts(tp=400, fp=190, fn=100, tn=9_310)
    for _ in range(drawn):
        sides = []
        for start in (0, 40):
            cells = rng.poisson(truth.cells, (30, 4))
            labelled = rng.binomial(cells, (1.0, 1.0, 0.05, 0.05))
            made = np.stack([cells[:, 0] + cells[:, 1], cells[:, 2] + cells[:, 3]], axis=1)
            counted = np.concatenate([labelled, made], axis=1)
            whole = PeriodOutcomes.of(
                LabelRegime(SAMPLED),
                counted,
                np.zeros((30, 8), dtype=np.int64),
                opens_of(counted),
            )
            sides.append(period_of(start, {}, whole))
        found = diagnose(*sides, labelling=SAMPLED)
        for cause, part in found.attribution.items():
            hit = part.lower_points <= 0 <= part.upper_points
            covered[cause] = covered.get(cause, 0) + hit / drawn
        stayed = found.before.metrics["class_ratio"].estimate * 0.8 / 0.02
        hit = holds(found.had_prevalence_stayed, stayed / (1 + stayed))
        covered["counterfactual"] = covered.get("counterfactual", 0) + hit / drawn
    assert min(covered.values()) >= 0.93, covered


def test_weights_can_be_recalled_as_long_as_they_are_stored():
    events = stream(60, 1_000, 11, **REGIMES[WEIGHTED])
    monitor = CountingMonitor(
        Config(models={"m": {"labelling": "weighted", "label_timeout": "9d"}})
    )
    asked = 40 * DAY, 50 * DAY
    counts = monitor.count_range(*asked, DAY)
    events.into(monitor)
    recalled = monitor.recall("m", *asked, DAY)
    series = Series("m")
    known = counts.weights(series, *asked, DAY)
    assert known.any()
    assert recalled.weights(series, *asked, DAY).tolist() == known.tolist()
    assert recalled.blocks(series, *asked, DAY).tolist() == counts.blocks(series).tolist()
    forgotten = monitor.recall("m", 0, 10 * DAY, DAY)
    assert not forgotten.weights(series, 0, 10 * DAY, DAY).any()


def test_labels_without_a_probability_are_refused_where_labels_are_weighted():
    events = stream(60, 500, 12, labelled=(1, 1, 0.5, 0.5))
    found = diagnosed(WEIGHTED, events=events)
    assert found.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert "no label of before has a sampling_probability" in found.refusal.reason
    assert np.isnan(found.before.metrics["precision"].estimate)


def lacking_labels(days, lost):
    """Blocks of days (days, 6) under `complete`, the share `lost` of TP and FN without one."""
    tp, fn = round(80 * (1 - lost)), round(20 * (1 - lost))
    return np.tile([tp, 50, fn, 850, 130, 870], (days, 1))


def period(first, cells):
    whole = PeriodOutcomes.of(
        LabelRegime(), cells, np.zeros((len(cells), 8), np.int64), opens_of(cells)
    )
    return Period(
        opens=first * DAY,
        closes=(first + len(cells)) * DAY,
        blocks=whole.blocks,
        block_ms=DAY,
        predictions=int(cells[:, 4:].sum()),
        labelling_cells=cells,
    )


@pytest.mark.parametrize("flagged_alone", [False, True])
def test_faulty_labels_are_not_reported_as_a_prevalence_shift(flagged_alone):
    before, after = lacking_labels(30, 0), lacking_labels(30, 0.6)
    reported = "labels of actual positives are missing"
    if flagged_alone:
        before[:, 2:4], after = 0, before
        after[:, 2:4], reported = 0, "labelling complete"
    found = diagnose(period(0, before), period(30, after), mature_until=60 * DAY)
    assert found.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert reported in found.notes[0]
    text = " ".join(diagnosis_text(found).split())
    assert ("Configure how labels come" in text) is flagged_alone
    assert ("Page the data team" in text) is not flagged_alone
    young = diagnose(period(0, before), period(30, after), mature_until=59 * DAY)
    assert young.verdict is not Verdict.LABELS_NOT_TRUSTWORTHY
