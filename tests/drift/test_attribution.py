import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift import CAUSES, attribute, causes
from monitor.drift.component_changes import BetweenDays

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())
KEYS = {"prevalence": "prevalence", "recall": "tpr", "false_positives": "fpr", "skill": "skill"}

window = st.tuples(*[st.integers(1, 100_000)] * 4)


def counts_of(row: tuple[float, ...] | list[float]) -> ConfusionCounts:
    tp, fn, fp, tn = row
    return ConfusionCounts(tp=tp, fn=fn, fp=fp, tn=tn)


@pytest.mark.parametrize("case", GOLDEN["decomposition"])
def test_golden_decompositions(case: dict) -> None:
    expected = case["expected"]
    found = attribute(counts_of(case["input"]["reference"]), counts_of(case["input"]["current"]))
    close = {"rel": 1e-12, "abs": 1e-12}
    assert found.precision_before == pytest.approx(expected["precision_ref"], **close)
    assert found.precision_after == pytest.approx(expected["precision_cur"], **close)
    assert found.change_points == pytest.approx(expected["delta"], **close)
    for cause, key in KEYS.items():
        assert found.points[cause] == pytest.approx(expected["owen_points"][key], **close)
    stayed = found.precision_had_skill_stayed
    assert stayed == pytest.approx(expected["counterfactual_prev_only"], **close)
    stayed = found.precision_had_prevalence_stayed
    assert stayed == pytest.approx(expected["counterfactual_skill_only"], **close)
    for cause in ("prevalence", "recall", "false_positives"):
        if "logodds" in expected:
            assert found.logit[cause] == pytest.approx(expected["logodds"][KEYS[cause]], **close)
    if "logodds" in expected:
        assert found.change_logit == pytest.approx(expected["logodds"]["total"], **close)


@settings(max_examples=200)
@given(window, window)
def test_parts_sum_to_the_change_without_remainder(old: tuple, new: tuple) -> None:
    found = attribute(counts_of(old), counts_of(new))
    three = CAUSES[:3]
    assert sum(found.points[c] for c in three) == pytest.approx(found.change_points, abs=1e-12)
    assert found.points["skill"] + found.points["prevalence"] == pytest.approx(
        found.change_points, abs=1e-12
    )

    def logit(row: tuple) -> float:
        return math.log(row[0] / row[2])

    assert sum(found.logit[c] for c in three) == pytest.approx(logit(new) - logit(old), abs=1e-9)
    assert found.change_logit == pytest.approx(logit(new) - logit(old), abs=1e-9)


@settings(max_examples=200)
@given(window, window)
def test_swapped_windows_swap_every_sign(old: tuple, new: tuple) -> None:
    there, back = (
        attribute(counts_of(old), counts_of(new)),
        attribute(counts_of(new), counts_of(old)),
    )
    for cause in CAUSES:
        assert there.logit[cause] == pytest.approx(-back.logit[cause], abs=1e-9)
        assert there.points[cause] == pytest.approx(-back.points[cause], abs=1e-12)
        assert there.lower_points[cause] == pytest.approx(-back.upper_points[cause], abs=1e-12)


@settings(max_examples=200)
@given(window, window)
def test_points_are_the_mean_over_orders_that_keep_skill_together(old: tuple, new: tuple) -> None:
    def factors(row: tuple) -> dict[str, float]:
        tp, fn, fp, tn = row
        return {
            "prevalence": (tp + fn) / (fp + tn),
            "recall": tp / (tp + fn),
            "false_positives": fp / (fp + tn),
        }

    def precision(f: dict[str, float]) -> float:
        true = f["prevalence"] * f["recall"]
        return true / (true + f["false_positives"])

    orders = [
        order
        for order in itertools.permutations(CAUSES[:3])
        if abs(order.index("recall") - order.index("false_positives")) == 1
    ]
    expected = dict.fromkeys(CAUSES[:3], 0.0)
    for order in orders:
        state, target = factors(old), factors(new)
        for cause in order:
            start = precision(state)
            state[cause] = target[cause]
            expected[cause] += (precision(state) - start) / len(orders)
    found = attribute(counts_of(old), counts_of(new)).points
    for cause, part in expected.items():
        assert found[cause] == pytest.approx(part, abs=1e-12)


@settings(max_examples=200)
@given(window, window)
def test_parts_are_bounded_and_have_the_sign_of_their_cause(old: tuple, new: tuple) -> None:
    found = attribute(counts_of(old), counts_of(new))
    for cause in CAUSES:
        part = found.points[cause]
        assert -1 <= part <= 1
        assert found.lower_points[cause] <= part <= found.upper_points[cause]
        if abs(part) > 1e-12:
            assert part * found.logit[cause] >= 0 or abs(found.logit[cause]) < 1e-9


def test_undefined_parts_are_nan_and_no_others_are() -> None:
    whole = counts_of((80, 20, 45, 855))
    no_false = attribute(whole, counts_of((80, 20, 0, 900)))
    assert math.isnan(no_false.logit["false_positives"])
    assert math.isnan(no_false.change_logit)
    assert no_false.logit["prevalence"] == 0
    assert no_false.points["false_positives"] == pytest.approx(0.36)
    no_positives = attribute(whole, counts_of((0, 0, 45, 855)))
    assert math.isnan(no_positives.points["prevalence"])
    assert no_positives.change_points == pytest.approx(-0.64)
    nothing = attribute(whole, ConfusionCounts.zeros())
    assert math.isnan(nothing.precision_after)
    assert all(math.isnan(part) for part in nothing.points.values())
    nobody_called = attribute(whole, counts_of((0, 100, 0, 900)))
    assert math.isnan(nobody_called.points["skill"])
    assert nobody_called.logit["prevalence"] == 0


def test_blocks_give_the_same_parts_and_wider_intervals_where_days_differ() -> None:
    rng = np.random.default_rng(1)
    share = 1 / (1 + np.exp(2.2 + rng.normal(size=30)))
    positive = rng.binomial(1000, share)
    tp, fp = rng.binomial(positive, 0.8), rng.binomial(1000 - positive, 0.05)
    days = ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=1000 - positive - fp)
    now = counts_of((400, 100, 450, 9050))
    plain, by_day = attribute(days.sum(), now), attribute(days, now)
    assert by_day.points == pytest.approx(plain.points)
    for cause, factor in (("prevalence", 2), ("recall", 0.99)):
        width = by_day.upper_points[cause] - by_day.lower_points[cause]
        assert width > factor * (plain.upper_points[cause] - plain.lower_points[cause])


def test_dispersion_widens_the_intervals_by_its_root() -> None:
    old, new = counts_of((8000, 2000, 4500, 85500)), counts_of((350, 150, 475, 9025))
    plain, wide = attribute(old, new), attribute(old, new, 4)
    for cause in CAUSES:
        width = plain.upper_points[cause] - plain.lower_points[cause]
        assert wide.upper_points[cause] - wide.lower_points[cause] == pytest.approx(2 * width)


def test_many_series_are_split_as_one_by_one() -> None:
    rng = np.random.default_rng(2)
    old, new = (ConfusionCounts.from_cells(rng.integers(1, 999, (5, 4))) for _ in range(2))
    logit, points = causes(old, new)
    for index in range(5):
        found = attribute(old[index], new[index])
        assert logit[:, index].tolist() == pytest.approx(list(found.logit.values()))
        assert points[:, index].tolist() == pytest.approx(list(found.points.values()))


@pytest.mark.parametrize("level", [0, 1, -0.5])
def test_a_level_outside_its_range_is_refused(level: float) -> None:
    with pytest.raises(ValueError, match="level must lie in"):
        attribute(ConfusionCounts.zeros(), ConfusionCounts.zeros(), level=level)


def test_counts_of_more_axes_are_refused_with_the_way_out() -> None:
    many = ConfusionCounts.zeros((2, 3))
    with pytest.raises(ValueError, match=r"split many series with causes\(\)"):
        attribute(many, many)


@pytest.mark.parametrize(
    ("after", "moved"),
    [
        ((80, 500, 20, 8_500), True),  # rarer positives
        ((400, 125, 100, 2_125), True),  # more frequent ones, at the same rates
        ((300, 500, 700, 8_500), False),  # a lower recall
        ((800, 2_000, 200, 7_000), False),  # more false positives
        ((400, 2_000, 100, 7_000), False),  # rarer positives, and a larger part of false positives
        ((8, 6, 2, 84), False),  # too few to tell
        ((0, 0, 0, 9_000), False),  # undefined
    ],
)
def test_precision_moved_by_prevalence_where_that_is_certain_and_the_largest_part(after, moved):
    before = ConfusionCounts(tp=800, fp=500, fn=200, tn=8_500)
    found = attribute(before, ConfusionCounts.from_cells(np.array(after)))
    assert found.by_prevalence is moved


def test_an_interval_that_excludes_nothing_is_undefined():
    separated = ConfusionCounts(tp=8_000, fp=0, fn=0, tn=78_000)
    found = attribute(separated, separated, 1.0, between=BetweenDays(*(np.full((8,), 9.0),) * 3))
    assert np.isnan([found.lower_points["recall"], found.upper_points["recall"]]).all()
