from dataclasses import replace

import numpy as np
import pytest
from prometheus.snapshots import snapshot
from prometheus_client.parser import text_string_to_metric_families

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, judge
from monitor.drift.degenerate import Degeneracy
from monitor.prometheus.text import TextWriter
from monitor.verdicts import DegeneratePredictions, WindowVerdict


@pytest.fixture(scope="module")
def samples():
    text = TextWriter().write(snapshot()).decode()
    return [s for family in text_string_to_metric_families(text) for s in family.samples]


def numbers(samples, name, **labels):
    return [s.value for s in samples if s.name == name and labels.items() <= s.labels.items()]


@pytest.mark.parametrize("window", ["1h", "1d"])
def test_of_every_window_exactly_one_verdict_holds(samples, window):
    values = numbers(samples, "classifier_verdict", window=window)
    assert len(values) == len(Verdict)
    assert sum(values) == 1


def test_a_window_that_was_not_judged_has_insufficient_evidence_and_no_causes(samples):
    verdict = {"window": "1h", "verdict": "insufficient_evidence"}
    assert numbers(samples, "classifier_verdict", **verdict) == [1]
    assert numbers(samples, "classifier_precision_change_logit", window="1h") == []


def test_the_causes_add_up_to_the_change(samples):
    parts = numbers(samples, "classifier_precision_change_ratio", window="1d")
    assert sum(parts) == pytest.approx(1910 / 9164 - 6286 / 14256)
    logits = numbers(samples, "classifier_precision_change_logit", window="1d")
    assert sum(logits) == pytest.approx(np.log(1910 / 7254) - np.log(6286 / 7970))


def test_evidence_reference_and_detections_are_there(samples):
    assert numbers(samples, "classifier_detector_evidence_ratio") == [0.25]
    assert numbers(samples, "classifier_reference_outcomes", outcome="tp") == [6286]
    assert numbers(samples, "classifier_reference_info", source="first") == [1]
    assert numbers(samples, "classifier_reference_info", source="window") == []
    assert numbers(samples, "classifier_prevalence_shift_detected") == [1]
    assert numbers(samples, "classifier_degradation_detected") == [0]


def test_predictions_that_left_all_that_is_known_have_one_kind(samples):
    assert numbers(samples, "classifier_predictions_degenerate") == [1]
    kinds = [s for s in samples if s.name == "classifier_predictions_degenerate_kind"]
    assert {s.labels["kind"] for s in kinds if s.value == 1} == {"rate_far_above"}
    assert len(kinds) == len(Degeneracy)
    assert numbers(samples, "classifier_predicted_positive_over_known_ratio") == [12]


@pytest.mark.parametrize(("known", "values"), [(False, []), (True, [0])])
def test_usual_predictions_are_0_and_unknown_ones_absent(known, values):
    state = snapshot()
    (model,) = state.models
    watched = replace(model.watched, predictions=DegeneratePredictions(known=known))
    text = TextWriter().write(replace(state, models=(replace(model, watched=watched),))).decode()
    found = [s for family in text_string_to_metric_families(text) for s in family.samples]
    assert numbers(found, "classifier_predictions_degenerate") == values
    assert numbers(found, "classifier_predictions_degenerate_kind") == values * len(Degeneracy)
    assert numbers(found, "classifier_predicted_positive_over_known_ratio") == []


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ((500, 400, 500, 8600), {"recall": [-1], "false_positive": [0]}),
        ((800, 900, 200, 8100), {"recall": [0], "false_positive": [1]}),
        ((950, 200, 50, 8800), {"recall": [1], "false_positive": [-1]}),
        ((800, 400, 200, 8600), {"recall": [0], "false_positive": [0]}),
    ],
)
def test_a_rate_says_whether_it_certainly_rose_or_fell(after, found):
    state = snapshot()
    (model,) = state.models
    judgement = judge(*map(ConfusionCounts.from_cells, ([800, 390, 200, 8610], [*after])))
    verdict = WindowVerdict(verdict=judgement.verdict, judgement=judgement)
    watched = replace(model.watched, verdicts={"1d": verdict})
    text = TextWriter().write(replace(state, models=(replace(model, watched=watched),))).decode()
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    name = "classifier_rate_changed"
    assert {rate: numbers(samples, name, window="1d", rate=rate) for rate in found} == found
    assert numbers(samples, name, window="1h") == []


def test_a_level_has_outcomes_and_days_and_the_windows_that_are_degraded_against_it():
    state = snapshot()
    (model,) = state.models
    level = replace(
        model.watched.reference,
        source="level",
        opens=86_400_000,
        closes=7 * 86_400_000,
        counts=ConfusionCounts.from_cells([800, 400, 200, 8600]),
    )
    verdicts = {"1d": WindowVerdict(verdict=Verdict.MODEL_DEGRADED, level=level)}
    watched = replace(model.watched, level=level, verdicts=verdicts)
    text = TextWriter().write(replace(state, models=(replace(model, watched=watched),))).decode()
    found = [s for family in text_string_to_metric_families(text) for s in family.samples]
    cells = {"tp": [800], "fp": [400], "fn": [200], "tn": [8600]}
    name = "classifier_level_outcomes"
    assert {cell: numbers(found, name, outcome=cell) for cell in cells} == cells
    assert numbers(found, "classifier_level_open_timestamp_seconds") == [86_400]
    assert numbers(found, "classifier_level_close_timestamp_seconds") == [7 * 86_400]
    against = "classifier_verdict_against_level"
    assert {w: numbers(found, against, window=w) for w in ("1h", "1d")} == {"1h": [0], "1d": [1]}


def test_without_another_level_than_the_reference_its_series_are_absent(samples):
    assert numbers(samples, "classifier_level_outcomes") == []
    assert numbers(samples, "classifier_level_open_timestamp_seconds") == []
    assert numbers(samples, "classifier_verdict_against_level", window="1d") == [0]
