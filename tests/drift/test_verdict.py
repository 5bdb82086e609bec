"""The rule of the verdict, against a second reading of it in plain Python."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift import Status, Verdict, judge, verdicts
from monitor.drift.component_changes import Changes
from monitor.drift.day_scatter import DayScatter
from monitor.drift.verdict_rule import judge_changes

NORMAL = NormalDist()
BEFORE = ConfusionCounts(tp=80_000, fp=45_000, fn=20_000, tn=855_000)
NAMES = (
    "class_ratio",
    "recall",
    "false_positive_rate",
    "log_likelihood_ratio",
    "negative_log_likelihood_ratio",
    "odds_ratio",
)


def after(prevalence: float, recall: float, false: float, size: float = 1e5) -> ConfusionCounts:
    p, n = size * prevalence, size * (1 - prevalence)
    return ConfusionCounts(tp=p * recall, fn=p * (1 - recall), fp=n * false, tn=n * (1 - false))


def oracle(d: list[float], se: list[float], *, on_curve: bool = False) -> tuple[Verdict, bool]:
    """The rule's text, clause by clause, on six changes and their errors."""
    certain_z = NORMAL.inv_cdf(0.99)
    clean = [abs(x) + certain_z * e < 0.2 for x, e in zip(d, se, strict=True)]
    p = [2 * NORMAL.cdf(-abs(x) / e) for x, e in zip(d, se, strict=True)]
    changed = [False] * 3 + [not c and q < 0.01 for c, q in zip(clean[3:5], p[3:5], strict=True)]
    for rank, index in enumerate(sorted(range(3), key=lambda i: p[i])):
        if p[index] >= 0.01 / (3 - rank):
            break
        changed[index] = not clean[index]
    together = d[1] * d[2] > 0 and _moved_together(d, p, changed)
    skill = _skill(d, p, clean, changed, together=together)
    if on_curve and d[1] * d[2] > 0 and (changed[1] or changed[2] or _odds_certain(d, p, clean)):
        shift = changed[0] and clean[3]
        return (Verdict.PREVALENCE_SHIFT if shift else Verdict.THRESHOLD_MOVED), True
    if skill == "clean":
        if clean[0]:
            return Verdict.NO_CHANGE, together
        shift = Verdict.PREVALENCE_SHIFT if changed[0] else Verdict.INSUFFICIENT_EVIDENCE
        return shift, together
    if skill == "moved":
        shift = changed[0] and clean[3]
        return (Verdict.PREVALENCE_SHIFT if shift else Verdict.OPERATING_POINT_MOVED), together
    if skill == "unknown":
        return Verdict.INSUFFICIENT_EVIDENCE, together
    return Verdict(("prevalence_shift_and_" if changed[0] else "") + f"model_{skill}"), together


def _moved_together(d: list[float], p: list[float], changed: list[bool]) -> bool:
    if changed[1] and changed[2]:
        return True
    both_certain = max(p[1], p[2]) < 0.01
    return (changed[1] or changed[2]) and both_certain and _comparable(d)


def _comparable(d: list[float]) -> bool:
    return min(abs(d[1]), abs(d[2])) >= 0.25 * max(abs(d[1]), abs(d[2]))


def _odds_certain(d: list[float], p: list[float], clean: list[bool]) -> bool:
    large = max(abs(d[1]), abs(d[2])) >= 0.4
    return p[5] < (0.002 if large else 0.001) and not clean[5]


def _skill(
    d: list[float], p: list[float], clean: list[bool], changed: list[bool], *, together: bool
) -> str:
    recall, false, plus, minus, odds = 1, 2, 3, 4, 5
    large = max(abs(d[recall]), abs(d[false])) >= 0.4
    certain = _odds_certain(d, p, clean)
    opposite = d[recall] * d[false] <= 0
    for name, sign in (("degraded", 1), ("improved", -1)):
        moved = [sign * x for x in d]
        if moved[odds] >= 0 and not (name == "improved" and moved[odds] == 0):
            continue
        if (changed[recall] or changed[false]) and large and opposite:
            return name
        both = changed[recall] and changed[false]
        if certain and (opposite or not (both or _comparable(d))):
            return name
        index, direction = (plus, -1) if moved[recall] + moved[false] < 0 else (minus, 1)
        shown = moved[index] * direction > 0 and (changed[index] or not both)
        if certain and not opposite and shown:
            return name
    if together:
        return "moved"
    any_changed = changed[recall] or changed[false]
    both_clean = clean[recall] and clean[false]
    return "clean" if not any_changed and (both_clean or clean[plus]) else "unknown"


small = st.floats(-0.4, 0.4).filter(lambda x: x == 0 or abs(x) > 1e-6)
large = st.floats(-2, 2).filter(lambda x: x == 0 or abs(x) > 1e-6)


@settings(max_examples=600)
@given(
    st.lists(small, min_size=6, max_size=6) | st.lists(large, min_size=6, max_size=6),
    st.lists(st.floats(0.005, 0.1), min_size=6, max_size=6)
    | st.lists(st.floats(0.005, 0.5), min_size=6, max_size=6),
    st.booleans(),
)
@example(
    [0.25, 0.25, 0.25, 0.05879357803692581, 0.0, 0.0],
    [0.0625, 0.0625, 0.0625, 0.06070631742222934, 0.0625, 0.0625],
    False,
)
def test_the_rule_is_that_of_its_text(d: list[float], se: list[float], on_curve: bool) -> None:  # noqa: FBT001  # drawn
    changes = Changes(np.array([*d, 0.0, 0.0]), np.array([*se, 1.0, 1.0]))
    found = judge_changes(changes, on_reference_curve=on_curve)
    assert (found.verdict, found.operating_point_moved) == oracle(d, se, on_curve=on_curve)


windows = st.tuples(*[st.one_of(st.integers(0, 60), st.integers(0, 100_000))] * 4).map(
    lambda row: ConfusionCounts(tp=row[0], fp=row[1], fn=row[2], tn=row[3])
)
FLIPPED = {
    Verdict.MODEL_DEGRADED: Verdict.MODEL_IMPROVED,
    Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED: Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED,
}
FLIPPED |= {value: key for key, value in FLIPPED.items()}


@settings(max_examples=300)
@given(windows, windows)
def test_swapped_windows_flip_degraded_and_improved(
    one: ConfusionCounts, other: ConfusionCounts
) -> None:
    there, back = judge(one, other), judge(other, one)
    if there.dead or back.dead:
        return
    assert back.verdict == FLIPPED.get(there.verdict, there.verdict)
    assert there.fell == back.rose
    assert there.status == back.status


@settings(max_examples=300)
@given(windows, windows)
def test_prevalence_is_never_blamed_when_the_class_ratio_is_clean(
    one: ConfusionCounts, other: ConfusionCounts
) -> None:
    found = judge(one, other)
    if found.status["class_ratio"] is not Status.CHANGED:
        assert "prevalence" not in found.verdict
    assert set(found.status) == set(NAMES[:4])
    assert (found.verdict is Verdict.NO_CHANGE) <= (found.status["class_ratio"] is Status.CLEAN)


@settings(max_examples=200)
@given(st.lists(st.tuples(windows, windows), min_size=1, max_size=5))
def test_many_series_are_judged_as_one_by_one(
    pairs: list[tuple[ConfusionCounts, ConfusionCounts]],
) -> None:
    old = ConfusionCounts.from_cells([pair[0].cells for pair in pairs])
    new = ConfusionCounts.from_cells([pair[1].cells for pair in pairs])
    together = verdicts(old, new)
    assert together.tolist() == [judge(*pair).verdict for pair in pairs]


def test_many_series_by_blocks_are_judged_as_one_by_one() -> None:
    rng = np.random.default_rng(3)
    old = ConfusionCounts.from_cells(rng.poisson([80, 45, 20, 855], (6, 30, 4)))
    new = ConfusionCounts.from_cells(rng.poisson([40, 45, 20, 855], (6, 24, 4)))
    together = verdicts(old, new, blocks=True)
    assert together.tolist() == [judge(old[i], new[i]).verdict for i in range(6)]


@pytest.mark.parametrize(
    ("now", "verdict"),
    [
        (after(0.1, 0.8, 0.05), Verdict.NO_CHANGE),
        (after(0.05, 0.8, 0.05), Verdict.PREVALENCE_SHIFT),
        (after(0.2, 0.8, 0.05), Verdict.PREVALENCE_SHIFT),
        (after(0.1, 0.6, 0.05), Verdict.MODEL_DEGRADED),
        (after(0.1, 0.8, 0.1), Verdict.MODEL_DEGRADED),
        (after(0.1, 0.9, 0.05), Verdict.MODEL_IMPROVED),
        (after(0.1, 0.8, 0.02), Verdict.MODEL_IMPROVED),
        (after(0.05, 0.6, 0.05), Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED),
        (after(0.2, 0.6, 0.05), Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED),
        (after(0.05, 0.9, 0.03), Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED),
        (after(0.1, 0.9, 0.11), Verdict.OPERATING_POINT_MOVED),
        (after(0.1, 0.65, 0.025), Verdict.OPERATING_POINT_MOVED),
        (after(0.1, 0.8, 0.05, size=300), Verdict.INSUFFICIENT_EVIDENCE),
        (ConfusionCounts.zeros(), Verdict.INSUFFICIENT_EVIDENCE),
    ],
)
def test_each_verdict_has_its_scenario(now: ConfusionCounts, verdict: Verdict) -> None:
    assert judge(BEFORE, now).verdict is verdict


def test_a_slide_of_the_threshold_beside_rarer_positives_is_a_prevalence_shift() -> None:
    found = judge(BEFORE, after(0.05, 0.64, 0.04))
    assert found.verdict is Verdict.PREVALENCE_SHIFT
    assert found.operating_point_moved
    assert found.fell[:3] == ("class_ratio", "recall", "false_positive_rate")


def test_a_slid_point_that_is_dominated_is_degraded_and_one_that_dominates_improved() -> None:
    assert judge(BEFORE, after(0.1, 0.3, 0.03)).verdict is Verdict.MODEL_DEGRADED
    assert judge(BEFORE, after(0.1, 0.85, 0.4)).verdict is Verdict.MODEL_DEGRADED
    assert judge(BEFORE, after(0.1, 0.795, 0.001)).verdict is Verdict.MODEL_IMPROVED


def test_scores_decide_what_two_rates_leave_open() -> None:
    slid = after(0.1, 0.9, 0.11)
    assert judge(BEFORE, slid, below_reference_curve=True).verdict is Verdict.MODEL_DEGRADED
    same = after(0.1, 0.8, 0.05)
    assert judge(BEFORE, same, below_reference_curve=True).verdict is Verdict.NO_CHANGE


@pytest.mark.parametrize(
    ("reference", "now"),
    [
        ((8_000, 0, 2_000, 9_000), (1_000, 0, 9_000, 9_000)),
        ((800, 2, 200, 100_000), (500, 2, 500, 100_000)),
        ((8_000, 20, 2_000, 1_000_000), (600, 3, 400, 100_000)),
        ((160, 0, 40, 1_800), (120, 0, 80, 1_800)),
    ],
)
def test_a_fall_of_recall_is_found_however_few_false_positives_there_are(
    reference: tuple[int, ...], now: tuple[int, ...]
) -> None:
    cells = [
        ConfusionCounts(tp=row[0], fp=row[1], fn=row[2], tn=row[3]) for row in (reference, now)
    ]
    assert judge(*cells).verdict is Verdict.MODEL_DEGRADED


def test_more_false_positives_are_no_slide_where_recall_hardly_rose() -> None:
    for false in (0.079, 0.1, 0.15):
        assert judge(BEFORE, after(0.1, 0.808, false, size=1e6)).verdict is Verdict.MODEL_DEGRADED


def test_labels_that_are_not_trustworthy_leave_no_other_verdict() -> None:
    found = judge(BEFORE, after(0.05, 0.8, 0.05), labels_trustworthy=False)
    assert found.verdict is Verdict.LABELS_NOT_TRUSTWORTHY
    assert found.status["class_ratio"] is Status.CHANGED


def test_insufficient_evidence_names_what_is_known_and_what_is_not() -> None:
    found = judge(BEFORE, after(0.01, 0.8, 0.05, size=3_000))
    assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert found.fell == ("class_ratio",)
    assert {"recall", "log_likelihood_ratio"} <= set(found.unknown)


def test_an_unknown_class_ratio_is_named_beside_a_worse_model() -> None:
    found = judge(BEFORE, after(0.11, 0.5, 0.05, size=3_000))
    assert found.verdict is Verdict.MODEL_DEGRADED
    assert "class_ratio" in found.unknown


def test_what_is_significant_but_certainly_small_is_clean() -> None:
    found = judge(BEFORE, after(0.1, 0.81, 0.05, size=1e6))
    assert abs(found.change["recall"] / found.standard_error["recall"]) > 5
    assert found.status["recall"] is Status.CLEAN
    assert found.verdict is Verdict.NO_CHANGE


def test_dispersion_turns_a_finding_into_insufficient_evidence() -> None:
    now = after(0.1, 0.7, 0.05, size=1e4)
    assert judge(BEFORE, now).verdict is Verdict.MODEL_DEGRADED
    assert judge(BEFORE, now, 50).verdict is Verdict.INSUFFICIENT_EVIDENCE


def test_the_main_driver_is_the_largest_share_and_certain_only_if_the_rest_is_small() -> None:
    shift = judge(BEFORE, after(0.05, 0.8, 0.05)).main_driver
    assert (shift.cause, shift.certain) == ("prevalence", True)
    assert shift.share == pytest.approx(1, abs=0.01)
    both = judge(BEFORE, after(0.05, 0.8, 0.08)).main_driver
    assert (both.cause, both.certain) == ("prevalence", False)
    alarms = judge(BEFORE, after(0.1, 0.8, 0.2)).main_driver
    assert (alarms.cause, alarms.certain) == ("false_positives", True)
    misses = judge(BEFORE, after(0.1, 0.1, 0.05)).main_driver
    assert (misses.cause, misses.certain) == ("recall", True)


def test_the_share_is_undefined_where_nothing_changed() -> None:
    driver = judge(BEFORE, BEFORE).main_driver
    assert math.isnan(driver.share)
    assert not driver.certain


def test_statuses_and_verdicts_are_strings() -> None:
    found = judge(BEFORE, after(0.05, 0.8, 0.05))
    assert found.verdict == "prevalence_shift"
    assert found.status["class_ratio"] == "changed"
    assert {str(verdict) for verdict in Verdict} == {
        "no_change",
        "prevalence_shift",
        "model_degraded",
        "model_improved",
        "prevalence_shift_and_model_degraded",
        "prevalence_shift_and_model_improved",
        "operating_point_moved",
        "threshold_moved",
        "insufficient_evidence",
        "labels_not_trustworthy",
    }


def test_counts_of_more_axes_are_refused_with_the_way_out() -> None:
    many = ConfusionCounts.zeros((2, 3))
    with pytest.raises(ValueError, match=r"judge many series with verdicts\(\)"):
        judge(many, many)


@pytest.mark.parametrize("one_way", [(0, 0, 6, 20), (0, 0, 12, 30), (12, 30, 0, 0)])
def test_a_few_cases_that_are_all_called_alike_are_no_slide(one_way):
    """Each ROC curve ends at (0, 0) and at (1, 1)."""
    day = ConfusionCounts(tp=[71] * 28, fp=[144] * 28, fn=[29] * 28, tn=[256] * 28)
    between = DayScatter.learn([day]).between(28, 1)
    tp, fp, fn, tn = one_way
    after = ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn)
    for on_curve in (False, True):
        found = judge(day, after, between=between, on_reference_curve=on_curve)
        assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
        assert not found.operating_point_moved
    few = ConfusionCounts(tp=1, fp=2, fn=19, tn=78)
    assert judge(day, few, between=between).operating_point_moved
