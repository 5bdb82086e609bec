import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift.label_free import nowcast
from monitor.drift.prevalence import adjusted_count, expectation_maximisation, goodness_of_fit
from monitor.metrics.histogram import ScoreHistogram

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())
REFERENCE = ConfusionCounts(tp=80_000, fn=20_000, fp=45_000, tn=855_000)


def histogram(positive: list[int], negative: list[int]) -> ScoreHistogram:
    return ScoreHistogram(
        positive=np.array(positive),
        negative=np.array(negative),
        unlabelled=np.zeros(len(positive), dtype=int),
    )


@pytest.mark.parametrize("case", GOLDEN["adjusted_count"])
def test_golden_adjusted_counts(case: dict) -> None:
    given_, expected = case["input"], case["expected"]
    reference = ConfusionCounts(tp=8_000_000, fn=2_000_000, fp=500_000, tn=9_500_000)
    found = adjusted_count(given_["pred_pos"], given_["n"], reference)
    assert found.raw == pytest.approx(expected["prevalence_raw"], rel=1e-12)
    assert found.estimate == pytest.approx(expected["prevalence_clipped"], rel=1e-12)
    if expected["precision_nowcast"]:
        cast = nowcast(
            predicted_positive=given_["pred_pos"], total=given_["n"], reference=reference
        )
        assert cast.precision == pytest.approx(expected["precision_nowcast"], rel=1e-12)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(*[st.integers(0, 2_000)] * 3), min_size=2, max_size=40).filter(
        lambda rows: all(sum(column) for column in zip(*rows, strict=True))
    )
)
def test_the_estimate_lies_within_its_limits_or_is_undefined(
    rows: list[tuple[int, int, int]],
) -> None:
    positive, negative, live = (list(column) for column in zip(*rows, strict=True))
    found = expectation_maximisation(live, histogram(positive, negative))
    assert math.isnan(found.estimate) or 0 <= found.lower <= found.estimate <= found.upper <= 1


def test_classes_that_score_alike_give_no_estimate() -> None:
    assert math.isnan(expectation_maximisation([1, 1, 1], histogram([8, 8, 8], [5, 5, 5])).estimate)


def test_em_iterations_end_at_the_estimate() -> None:
    rng = np.random.default_rng(0)
    positive, negative = rng.integers(50, 900, 12), rng.integers(50, 900, 12)
    live = rng.integers(50, 900, 12)
    found = expectation_maximisation(live, histogram(positive.tolist(), negative.tolist()))
    # One case a class, as in the estimate, split as both classes together are.
    shares = positive / positive.sum() + negative / negative.sum()
    f1 = (positive + shares / 2) / (positive.sum() + 1)
    f0 = (negative + shares / 2) / (negative.sum() + 1)
    prevalence = 0.5
    for _ in range(20_000):
        belief = prevalence * f1 / (prevalence * f1 + (1 - prevalence) * f0)
        prevalence = float((live * belief).sum() / live.sum())
    assert found.raw == pytest.approx(prevalence, abs=1e-6)


def test_estimates_are_undefined_without_predictions_or_a_class_in_the_reference() -> None:
    reference = histogram([1, 2], [3, 1])
    assert math.isnan(expectation_maximisation([0, 0], reference).estimate)
    assert math.isnan(expectation_maximisation([5, 5], histogram([0, 0], [3, 1])).estimate)
    assert math.isnan(adjusted_count(0, 0, REFERENCE).estimate)
    assert math.isnan(adjusted_count(5, 10, ConfusionCounts(tp=0, fn=0, fp=1, tn=9)).estimate)
    same = ConfusionCounts(tp=5, fn=5, fp=5, tn=5)
    assert math.isnan(adjusted_count(5, 10, same).estimate)
    assert math.isnan(goodness_of_fit([5, 5], reference, math.nan))
    assert math.isnan(goodness_of_fit([5, 5], reference, 0.5)), "two bins leave no freedom"


def test_scores_in_bins_that_the_reference_never_saw_are_no_division_by_zero() -> None:
    reference = histogram([0, 0, 5, 0, 95, 0], [0, 80, 0, 20, 0, 0])
    live = [7, 100, 3, 40, 20, 9]
    found = expectation_maximisation(live, reference)
    assert 0 < found.estimate < 1
    assert 0 <= goodness_of_fit(live, reference, found.estimate) <= 1


def test_bins_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="must have the reference's bins"):
        expectation_maximisation([1, 2, 3], histogram([1, 2], [3, 4]))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"predicted_positive": 0, "total": 0}, "no_predictions"),
        ({"predicted_positive": 30, "total": 300}, "too_few_positives"),
        ({"reference": ConfusionCounts.zeros()}, "no_reference"),
        (
            {"reference": ConfusionCounts(tp=300, fn=700, fp=1_500, tn=8_500)},
            "classes_not_separated",
        ),
    ],
)
def test_a_nowcast_is_withheld_with_its_reason(arguments: dict, reason: str) -> None:
    usual = {"predicted_positive": 1_250, "total": 10_000, "reference": REFERENCE}
    found = nowcast(**{**usual, **arguments})
    assert reason in found.withheld
    assert math.isnan(found.prevalence)
    assert math.isnan(found.precision)


def test_a_nowcast_of_scores_that_do_not_fit_is_withheld() -> None:
    rng = np.random.default_rng(1)
    edges = np.linspace(-4, 7, 101)

    def scores(shift: float, size: int) -> list[np.ndarray]:
        drawn = (rng.normal(2.2 + shift, 1, size // 10), rng.normal(shift, 1, size * 9 // 10))
        return [np.histogram(np.clip(s, -4, 7), edges)[0] for s in drawn]

    reference = histogram(*(h.tolist() for h in scores(0, 50_000)))
    usual = {"reference": REFERENCE, "reference_scores": reference}
    fine = nowcast(predicted_positive=2_500, total=20_000, scores=sum(scores(0, 20_000)), **usual)
    assert (fine.method, fine.withheld) == ("em", ())
    assert fine.prevalence_lower < 0.1 < fine.prevalence_upper
    assert fine.precision_lower < fine.precision < fine.precision_upper
    shifted = nowcast(
        predicted_positive=2_900, total=20_000, scores=sum(scores(0.3, 20_000)), **usual
    )
    assert shifted.withheld == ("scores_do_not_fit",)
    assert shifted.fit < 0.001


def test_no_predicted_positive_leaves_precision_undefined_but_not_prevalence() -> None:
    poor = ConfusionCounts(tp=30_000, fn=70_000, fp=9_000, tn=891_000)
    found = nowcast(predicted_positive=0, total=10_000, reference=poor)
    assert found.withheld == ("too_few_positives",)
