import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, attribute, attribute_segments, judge, judge_within_segments

tables = st.lists(st.tuples(*[st.integers(1, 5_000)] * 8), min_size=1, max_size=6)


def both(rows: list[tuple[int, ...]]) -> tuple[ConfusionCounts, ConfusionCounts]:
    cells = np.array(rows).reshape(-1, 2, 4)
    return ConfusionCounts.from_cells(cells[:, 0]), ConfusionCounts.from_cells(cells[:, 1])


@settings(max_examples=150)
@given(tables)
def test_within_and_mix_sum_to_the_change_of_each_cause(rows: list[tuple[int, ...]]) -> None:
    old, new = both(rows)
    found, whole = attribute_segments(old, new), attribute(old.sum(), new.sum())
    for row, cause in enumerate(("prevalence", "recall", "false_positives")):
        total = found.within_effect[row] + found.mix_effect[row]
        assert total == pytest.approx(whole.logit[cause], abs=1e-9)


@settings(max_examples=150)
@given(st.lists(st.tuples(*[st.integers(1, 500)] * 4), min_size=2, max_size=6), st.data())
def test_a_change_of_mix_alone_has_no_within_part(rows: list[tuple[int, ...]], data) -> None:
    factors = data.draw(st.lists(st.integers(1, 20), min_size=len(rows), max_size=len(rows)))
    old = ConfusionCounts.from_cells(np.array(rows))
    new = ConfusionCounts.from_cells(np.array(rows) * np.array(factors)[:, None])
    found = attribute_segments(old, new)
    assert found.within == pytest.approx(np.zeros((3, len(rows))), abs=1e-12)
    assert not found.carries.any()


@settings(max_examples=100)
@given(st.tuples(*[st.integers(0, 50_000)] * 8))
def test_one_segment_is_judged_about_as_the_whole(row: tuple[int, ...]) -> None:
    old, new = both([row])
    whole, within = judge(old[0], new[0]), judge_within_segments(old, new)
    if min(old.actual_positive[0], old.actual_negative[0]) > 1_000:
        assert within.change["class_ratio"] == pytest.approx(whole.change["class_ratio"])
        assert within.standard_error["recall"] > 0
        assert np.isfinite(within.change["recall"])


def test_hard_cases_that_become_frequent_are_no_worse_model() -> None:
    old = ConfusionCounts(
        tp=[63_000, 18_000], fn=[7_000, 12_000], fp=[18_900, 27_000], tn=[611_100, 243_000]
    )
    new = ConfusionCounts.from_cells(np.rint(old.cells / 10 * np.array([[3 / 7], [7 / 3]])))
    assert judge(old.sum(), new.sum()).verdict is Verdict.MODEL_DEGRADED
    assert judge_within_segments(old, new).verdict is Verdict.NO_CHANGE
    effect = attribute_segments(old, new)
    assert (effect.mix_effect[1:] < -0.1).all()
    assert np.abs(effect.within_effect).max() < 0.01


def test_a_worse_model_in_one_segment_is_found_and_named() -> None:
    old = ConfusionCounts(
        tp=[6_300, 1_800], fn=[700, 1_200], fp=[1_890, 2_700], tn=[61_110, 24_300]
    )
    new = ConfusionCounts(tp=[630, 90], fn=[70, 210], fp=[189, 270], tn=[6_111, 2_430])
    found = attribute_segments(old, new)
    assert found.carries.tolist() == [[False, False], [False, True], [False, False]]
    assert judge_within_segments(old, new).status["recall"] == "changed"


def test_looking_at_many_segments_is_corrected_for() -> None:
    rng = np.random.default_rng(5)
    cells = rng.multinomial(2_000, [0.08, 0.045, 0.02, 0.855], (200, 2, 30))
    named = [
        attribute_segments(*(ConfusionCounts.from_cells(window) for window in pair)).carries.any()
        for pair in cells
    ]
    assert np.mean(named) <= 0.03


def test_segments_missing_on_one_side_or_both_are_all_mix() -> None:
    old = ConfusionCounts(tp=[80, 0, 0], fn=[20, 0, 0], fp=[45, 0, 0], tn=[855, 0, 0])
    new = ConfusionCounts(tp=[80, 30, 0], fn=[20, 70, 0], fp=[45, 90, 0], tn=[855, 810, 0])
    found = attribute_segments(old, new)
    assert (found.within == 0).all()
    assert found.mix_effect[1] == pytest.approx(np.log(110 / 200 / 0.8))
    assert (found.mix[:, 2] == 0).all()
    assert judge_within_segments(old, new).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_empty_windows_are_undefined_and_never_judged() -> None:
    nothing = ConfusionCounts.zeros((3,))
    assert np.isnan(attribute_segments(nothing, nothing).within).all()
    assert judge_within_segments(nothing, nothing).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_blocks_of_time_set_the_errors_of_segments() -> None:
    rng = np.random.default_rng(6)
    weather = rng.normal(size=(2, 1, 30))
    positive = rng.binomial(1_000, 0.2, (2, 2, 30))
    tp = rng.binomial(positive, 1 / (1 + np.exp(-1 - 0.5 * weather)))
    fp = rng.binomial(1_000 - positive, 0.05)
    days = ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=1_000 - positive - fp)
    by_day = judge_within_segments(days[0], days[1])
    plain = judge_within_segments(days[0].sum(axis=-1), days[1].sum(axis=-1))
    assert by_day.standard_error["recall"] > 2 * plain.standard_error["recall"]
    assert by_day.change == pytest.approx(plain.change)


def test_segments_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="same segments"):
        attribute_segments(ConfusionCounts.zeros((2,)), ConfusionCounts.zeros((3,)))
    with pytest.raises(ValueError, match="same segments"):
        judge_within_segments(ConfusionCounts.zeros(), ConfusionCounts.zeros())


def test_a_model_is_called_dead_later_where_many_are_tested() -> None:
    before = ConfusionCounts(tp=[2_000, 0], fn=[8_000, 0], fp=[0, 1_800], tn=[0, 88_200])

    def first_dead(dispersion: float) -> int:
        """Return the least number of positives, none of which is found, that shows it."""
        for missed in range(1, 500):
            after = ConfusionCounts(tp=[0, 0], fn=[missed, 0], fp=[0, 1], tn=[0, 99 * missed])
            if judge_within_segments(before, after, dispersion).dead:
                return missed
        raise AssertionError("never dead")

    assert first_dead(1.0) < first_dead(1.8) < first_dead(4.0)
