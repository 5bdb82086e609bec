"""Objectives and the threshold that serves them best."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor import ConfusionCounts, metrics
from monitor.errors import UsageError
from monitor.metrics import ScoreHistogram, best_threshold
from monitor.metrics.objective import parse_objective
from monitor.metrics.threshold import at_class_ratio

BINS = 10
scores = st.lists(st.floats(0, 1), min_size=1, max_size=40)

COUNTS = ConfusionCounts(tp=30, fp=20, fn=10, tn=140)

OBJECTIVES = {
    "f_beta:2": metrics.f_beta(COUNTS, beta=2),
    "f_beta:beta=0.5": metrics.f_beta(COUNTS, beta=0.5),
    "g:beta=2,rho=-0.5": metrics.g_score(COUNTS, beta=2, rho=-0.5),
    "g:rho=-1, beta=1": metrics.g_score(COUNTS, beta=1, rho=-1),
    "cost:fp=1,fn=5": (20 + 5 * 10) / 200,
    "precision >= 0.5": metrics.recall(COUNTS),
    "recall>=.5": metrics.precision(COUNTS),
    "specificity>=0.8": metrics.recall(COUNTS),
    "false_positive_rate<=0.2": metrics.recall(COUNTS),
    "predicted_positive_rate<=1": metrics.recall(COUNTS),
    "balanced_accuracy": metrics.balanced_accuracy(COUNTS),
    "accuracy": metrics.accuracy(COUNTS),
    "cohen_kappa": metrics.cohen_kappa(COUNTS),
    "matthews_corrcoef": metrics.matthews_corrcoef(COUNTS),
}


@pytest.mark.parametrize("text", OBJECTIVES)
def test_an_objective_is_read_as_the_metric_it_names(text: str) -> None:
    goal = parse_objective(text)
    assert goal.value(COUNTS) == OBJECTIVES[text]
    assert goal.smaller_is_better == text.startswith("cost")
    assert goal.limit is None or goal.limit.holds(COUNTS)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("precison>=0.9", "cannot be read, got 'precison>=0.9'; use one of precision>=X"),
        ("precision<=0.9", "cannot be read"),
        ("precision>=1.5", r"precision must lie in \[0, 1\]"),
        ("precision>=high", "precision must be a number"),
        ("f_beta", "beta must be a number"),
        ("f_beta:-1", "beta must be finite and at least 0"),
        ("g:beta=1", "takes beta, rho, got 'g:beta=1'"),
        ("g:beta=1,rho=inf", "rho must be finite"),
        ("cost:fp=1,fn=5,tp=1", "takes fp, fn"),
        ("cost:fp=1,fp=5", "takes fp, fn"),
        ("accuracy:1", "takes no parameters"),
        ("", "cannot be read"),
    ],
)
def test_an_unreadable_objective_is_an_error_that_lists_the_readable_ones(
    text: str, fault: str
) -> None:
    with pytest.raises(UsageError, match=fault):
        parse_objective(text)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(scores, scores, st.sampled_from([0.01, 0.3, 1, 4]), st.sampled_from(sorted(OBJECTIVES)))
def test_no_other_threshold_is_better(
    positive: list[float], negative: list[float], class_ratio: float, text: str
) -> None:
    histogram = ScoreHistogram.from_scores(positive=positive, negative=negative, bins=BINS)
    choice = best_threshold(histogram, text, class_ratio=class_ratio)
    goal = parse_objective(text)
    allowed = {}
    for place, threshold in enumerate(histogram.thresholds):
        counts = at_class_ratio(histogram.counts[place], class_ratio)
        value = goal.value(counts)
        if not np.isnan(value) and (goal.limit is None or goal.limit.holds(counts)):
            allowed[threshold] = -value if goal.smaller_is_better else value
    if choice is None:
        assert not allowed
        return
    best = max(allowed.values())
    assert allowed[choice.threshold] == best
    assert choice.threshold == max(t for t, value in allowed.items() if value == best)
    assert choice.class_ratio == class_ratio
    assert metrics.recall(choice.counts) == pytest.approx(choice.recall.value, rel=1e-12)
    assert choice.counts.total == pytest.approx(len(positive) + len(negative))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.tuples(*[st.integers(0, 500)] * 4), st.floats(1e-4, 1e4))
def test_counts_carried_to_a_class_ratio_keep_what_prevalence_does_not_move(
    cells: tuple[int, int, int, int], class_ratio: float
) -> None:
    counts = ConfusionCounts.from_cells(cells)
    carried = at_class_ratio(counts, class_ratio)
    for name in ("recall", "false_positive_rate", "balanced_precision"):
        before, after = getattr(metrics, name)(counts), getattr(metrics, name)(carried)
        np.testing.assert_allclose(after, before, rtol=1e-9)
    if counts.actual_positive and counts.actual_negative:
        assert metrics.class_ratio(carried) == pytest.approx(class_ratio, rel=1e-9)
        assert carried.total == pytest.approx(counts.total)
        np.testing.assert_allclose(
            metrics.precision(carried),
            metrics.precision_at(counts, class_ratio=class_ratio),
            rtol=1e-9,
        )


def test_rarer_positives_ask_for_a_higher_threshold() -> None:
    rng = np.random.default_rng(1)
    histogram = ScoreHistogram.from_scores(
        positive=rng.beta(6, 3, size=5_000), negative=rng.beta(3, 6, size=5_000)
    )
    choices = [
        best_threshold(histogram, "precision>=0.9", class_ratio=class_ratio)
        for class_ratio in (1, 0.1, 0.01)
    ]
    thresholds = [choice.threshold for choice in choices if choice]
    assert thresholds == sorted(set(thresholds))
    assert len(thresholds) == 3
    for choice in choices:
        assert choice is not None
        assert choice.precision.value >= 0.9 - 1e-12
        assert choice.precision.lower < choice.precision.value <= choice.precision.upper


def test_the_classes_as_they_are_keep_their_counts() -> None:
    histogram = ScoreHistogram.from_scores(
        positive=[0.95, 0.9, 0.7, 0.6, 0.3], negative=[0.8, 0.4, 0.2, 0.1, 0.1], bins=BINS
    )
    choice = best_threshold(histogram, "precision>=0.8")
    assert choice is not None
    assert (choice.threshold, choice.value, choice.class_ratio) == (0.6, 0.8, 1)
    assert choice.counts == choice.observed == ConfusionCounts(tp=4, fp=1, fn=1, tn=4)


def test_flagging_nothing_can_be_the_cheapest() -> None:
    histogram = ScoreHistogram.from_scores(positive=[0.5], negative=[0.5, 0.6], bins=BINS)
    choice = best_threshold(histogram, "cost:fp=100,fn=1")
    assert choice is not None
    assert choice.threshold == np.inf
    assert np.isnan(choice.precision.value)


def test_without_a_threshold_that_fulfils_the_objective_there_is_no_choice() -> None:
    upside_down = ScoreHistogram.from_scores(positive=[0.1], negative=[0.9, 0.8], bins=BINS)
    assert best_threshold(upside_down, "precision>=0.9") is None
    assert best_threshold(ScoreHistogram.from_scores(positive=[0.1]), "accuracy") is None
    assert best_threshold(ScoreHistogram.zeros(), "cost:fp=1,fn=1", class_ratio=0.1) is None


def test_many_histograms_and_a_ratio_that_is_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"one histogram is scanned, got shape \(2, 1000\)"):
        best_threshold(ScoreHistogram.zeros((2,)), "accuracy")
    with pytest.raises(ValueError, match="must be finite and at least 0, got -1"):
        at_class_ratio(COUNTS, -1)
    with pytest.raises(ValueError, match="must be finite"):
        at_class_ratio(COUNTS, np.nan)


@pytest.mark.parametrize(
    "text",
    [
        "precision>=0.8",
        "recall>=0.5",
        "specificity>=0.8",
        "false_positive_rate<=0.2",
        "predicted_positive_rate<=0.4",
    ],
)
def test_a_bound_is_certain_only_with_enough_cases(text: str) -> None:
    rng = np.random.default_rng(2)
    positive, negative = rng.beta(6, 3, size=20_000), rng.beta(3, 6, size=20_000)
    goal = parse_objective(text)
    stricter = text[: text.index("=") + 1] + str(
        goal.limit.bound + (0.05 if goal.limit.at_least else -0.05)  # type: ignore[union-attr]
    )
    few = ScoreHistogram.from_scores(positive=positive[:30], negative=negative[:30])
    many = ScoreHistogram.from_scores(positive=positive, negative=negative)
    found = [best_threshold(few, text), best_threshold(many, stricter)]
    for choice in found:
        assert choice is not None
        assert choice.limited is not None
        assert choice.limited.lower <= choice.limited.value <= choice.limited.upper
    assert found[0] is not None
    assert found[1] is not None
    assert found[0].certain is False
    bound = goal.limit.bound  # type: ignore[union-attr]
    limited = found[1].limited
    assert limited is not None
    assert limited.lower >= bound if goal.limit.at_least else limited.upper <= bound  # type: ignore[union-attr]


def test_an_objective_without_a_bound_names_the_metric_it_optimises() -> None:
    histogram = ScoreHistogram.from_scores(positive=[0.9, 0.6], negative=[0.2, 0.1])
    choice = best_threshold(histogram, "f_beta:2")
    assert choice is not None
    assert (choice.sought, choice.limited, choice.certain) == ("f_beta", None, None)
