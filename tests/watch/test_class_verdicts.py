"""What the verdicts on classes say of the whole, and the law behind them: shares move no rate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.clock import DAY_MS
from monitor.config import ReferenceCounts
from monitor.counts import ConfusionCounts
from monitor.drift import Status, Verdict, judge, judge_within_segments
from monitor.drift.class_confusions import confusion_changes
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import OF_THE_MODEL
from monitor.drift.within_segments import accuracy_held
from monitor.labels.faults import LabelFault
from monitor.labels.regime import LabelRegime
from monitor.verdicts import NOT_COMPARED, WindowVerdict
from monitor.watch.class_verdicts import judged_together, verdict_on_whole
from monitor.watch.cuts import Cuts
from monitor.watch.judged_counts import Counts
from monitor.watch.judging_counts import CountsJudge
from monitor.watch.model_days import LearnedScatter
from monitor.watch.reference import MatureReference

BEFORE = np.array([[900, 40, 20, 5], [50, 800, 30, 10], [30, 100, 700, 5], [20, 60, 250, 480]]) * 20
OPEN = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE, because=Because.TOO_FEW)
COUNTS = ConfusionCounts(tp=8_000, fp=4_500, fn=2_000, tn=85_500)


def against_rest(matrix: np.ndarray, number: int) -> ConfusionCounts:
    """The actual classes as segments of a binary model, (classes,)."""
    own = np.arange(len(matrix)) == number
    hits, misses = matrix[number], matrix.sum(axis=0) - matrix[number]
    return ConfusionCounts(
        tp=np.where(own, hits, 0),
        fn=np.where(own, misses, 0),
        fp=np.where(own, 0, hits),
        tn=np.where(own, 0, misses),
    )


@given(st.lists(st.sampled_from([0.05, 0.2, 1, 3, 20]), min_size=4, max_size=4))
def test_where_only_the_shares_move_no_class_is_better_or_worse(factors: list[float]) -> None:
    after = BEFORE * np.array(factors)
    for number in range(4):
        sides = against_rest(BEFORE, number), against_rest(after, number)
        assert judge_within_segments(*sides).verdict not in OF_THE_MODEL
    days = ConfusionCounts(tp=np.full(28, 2_000), fn=np.full(28, 500), fp=0, tn=0)
    assert accuracy_held(BEFORE, after, (days, days))


def test_one_against_the_rest_alone_would_blame_the_model() -> None:
    after = BEFORE * [1, 1, 20, 1]
    sides = (against_rest(one, 3).sum(axis=0) for one in (BEFORE, after))
    assert judge(*sides).verdict in OF_THE_MODEL


def found_at(verdict: Verdict, shifted: Status = Status.CLEAN) -> WindowVerdict:
    judgement = replace(judge(COUNTS, COUNTS), verdict=verdict)
    return WindowVerdict(
        verdict=verdict,
        judgement=replace(judgement, status={**judgement.status, "class_ratio": shifted}),
    )


@pytest.mark.parametrize(
    ("classes", "held", "whole"),
    [
        ([Verdict.NO_CHANGE, Verdict.MODEL_DEGRADED], True, Verdict.MODEL_DEGRADED),
        ([Verdict.MODEL_IMPROVED, Verdict.MODEL_DEGRADED], False, Verdict.MODEL_DEGRADED),
        ([Verdict.MODEL_IMPROVED, Verdict.NO_CHANGE], False, Verdict.MODEL_IMPROVED),
        ([Verdict.OPERATING_POINT_MOVED, Verdict.NO_CHANGE], True, Verdict.OPERATING_POINT_MOVED),
        ([Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE], True, Verdict.NO_CHANGE),
        ([Verdict.NO_CHANGE, Verdict.NO_CHANGE], False, Verdict.INSUFFICIENT_EVIDENCE),
    ],
)
def test_the_whole_is_as_bad_as_its_worst_class(
    classes: list[Verdict], held: object, whole: Verdict
) -> None:
    found = verdict_on_whole([found_at(v) for v in classes], 100, held=bool(held), moved=False)
    assert found.verdict is whole
    assert found.rests_on == 100
    assert (found.because is not None) is (whole is Verdict.INSUFFICIENT_EVIDENCE)


def test_beside_a_page_or_a_certain_confusion_the_accuracy_does_not_say_that_nothing_changed() -> (
    None
):
    """A class of a thousandth of the cases does not move it."""
    classes = [found_at(Verdict.NO_CHANGE), found_at(Verdict.INSUFFICIENT_EVIDENCE)]
    found = verdict_on_whole(classes, 100, held=True, moved=True)
    assert (found.verdict, found.because) == (Verdict.INSUFFICIENT_EVIDENCE, Because.MOVED)


@pytest.mark.parametrize(
    ("because", "changed", "held", "expected"),
    [
        (Because.MOVED, "recall", True, Because.MOVED),
        (Because.MOVED, "recall", False, Because.MOVED),
        (Because.MOVED, "", True, Because.MOVED),
        (Because.MOVED, "", False, Because.MOVED),
        (Because.MOVED, "class_ratio", True, Verdict.PREVALENCE_SHIFT),
        (Because.MOVED, "class_ratio", False, Because.MOVED),
        (Because.STEADY, "", True, Verdict.NO_CHANGE),
        (Because.STEADY, "", False, Because.STEADY),
    ],
)
def test_the_whole_is_not_steady_above_a_class_that_moved(
    because: Because, changed: str, held: object, expected: Because | Verdict
) -> None:
    """The row of that class said that it moved, and the model was green."""
    steady = replace(found_at(Verdict.INSUFFICIENT_EVIDENCE), because=Because.STEADY)
    assert steady.judgement is not None
    status = dict.fromkeys(steady.judgement.status, Status.UNKNOWN)
    status |= {changed: Status.CHANGED} if changed else {}
    one = replace(steady, because=because, judgement=replace(steady.judgement, status=status))
    found = verdict_on_whole([steady, one, steady], 100, held=bool(held), moved=False)
    assert (found.because or found.verdict) is expected


CONFUSED = BEFORE + np.array([[-3_000, 0, 0, 0], [3_000, 0, 0, 0], [0] * 4, [0] * 4])
WORSE, BETTER = (BEFORE, CONFUSED), (CONFUSED, BEFORE)


def judged_by_confusions(
    sides: tuple[np.ndarray, np.ndarray], found: WindowVerdict, **changed: object
) -> WindowVerdict:
    """The verdict on the second class of four beside confusions; `changed` in its judgement."""
    assert found.judgement is not None
    one = replace(found, judgement=replace(found.judgement, **changed))
    before, after = (np.stack([side] * 14) for side in sides)
    judged = judged_together([OPEN, one, OPEN, OPEN], before, after).verdicts
    assert judged[0] is OPEN, "without a judgement nothing is settled"
    return judged[1]


@pytest.mark.parametrize(
    ("sides", "verdict", "odds_ratio", "shifted", "expected"),
    [
        (WORSE, OPEN.verdict, -1.0, Status.UNKNOWN, Verdict.MODEL_DEGRADED),
        (BETTER, OPEN.verdict, 1.0, Status.UNKNOWN, Verdict.MODEL_IMPROVED),
        (WORSE, OPEN.verdict, -1.0, Status.CHANGED, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED),
        (BETTER, OPEN.verdict, 1.0, Status.CHANGED, Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED),
        (WORSE, OPEN.verdict, 0.1, Status.UNKNOWN, OPEN.verdict),
        (BETTER, OPEN.verdict, -0.1, Status.UNKNOWN, OPEN.verdict),
        (WORSE, Verdict.NO_CHANGE, -1.0, Status.CLEAN, Verdict.NO_CHANGE),
        (WORSE, Verdict.MODEL_IMPROVED, -1.0, Status.CLEAN, Verdict.MODEL_IMPROVED),
        ((BEFORE, BEFORE), OPEN.verdict, -1.0, Status.UNKNOWN, OPEN.verdict),
    ],
)
def test_only_an_open_verdict_on_a_class_is_settled_by_its_confusions(
    sides: tuple[np.ndarray, np.ndarray],
    verdict: Verdict,
    odds_ratio: float,
    shifted: Status,
    expected: Verdict,
) -> None:
    found = found_at(verdict, shifted)
    assert found.judgement is not None
    change = {**found.judgement.change, "odds_ratio": odds_ratio}
    judged = judged_by_confusions(sides, found, change=change)
    assert judged.verdict is expected
    assert judged.judgement is not None
    assert judged.judgement.verdict is expected


def test_a_change_that_wrong_labels_explain_is_not_settled_by_confusions() -> None:
    found = found_at(OPEN.verdict, Status.UNKNOWN)
    assert found.judgement is not None
    change = {**found.judgement.change, "odds_ratio": -1.0}
    judged = judged_by_confusions(WORSE, found, change=change, labels_may_explain=True)
    assert judged.verdict is OPEN.verdict


def test_the_share_of_one_class_that_changed_is_a_shift_of_the_whole() -> None:
    shifted = found_at(Verdict.INSUFFICIENT_EVIDENCE, Status.CHANGED)
    steady = found_at(Verdict.NO_CHANGE)
    assert (
        verdict_on_whole([shifted, steady], 9, held=True, moved=False).verdict
        is Verdict.PREVALENCE_SHIFT
    )
    worse = found_at(Verdict.MODEL_DEGRADED)
    both = verdict_on_whole([shifted, worse], 9, held=False, moved=False).verdict
    assert both is Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED


def test_a_share_that_changed_is_no_steady_model_where_the_accuracy_may_have_moved() -> None:
    shifted, steady = found_at(Verdict.NO_CHANGE, Status.CHANGED), found_at(Verdict.NO_CHANGE)
    steady = replace(steady, verdict=Verdict.INSUFFICIENT_EVIDENCE, because=Because.STEADY)
    found = verdict_on_whole([shifted, steady, steady], 9, held=False, moved=False)
    assert (found.verdict, found.because) == (Verdict.INSUFFICIENT_EVIDENCE, Because.MOVED)
    alone = verdict_on_whole([steady, steady], 9, held=False, moved=False)
    assert alone.because is Because.STEADY


def test_without_a_judgement_of_any_class_nothing_is_said_of_the_whole() -> None:
    assert (
        verdict_on_whole([NOT_COMPARED] * 3, 50, held=True, moved=False).because
        is Because.NO_REFERENCE
    )
    fault = WindowVerdict(
        verdict=Verdict.LABELS_NOT_TRUSTWORTHY, label_fault=str(LabelFault.LABELS_MISSING)
    )
    assert verdict_on_whole([fault] * 2, 50, held=True, moved=False) == fault
    assert verdict_on_whole([OPEN] * 2, 50, held=True, moved=False).because is Because.TOO_FEW


@pytest.mark.parametrize(
    ("usual", "moved", "because"),
    [
        (Because.STEADY, False, Because.STEADY),
        (Because.STEADY, True, Because.MOVED),
        (Because.TOO_FEW, False, Because.TOO_FEW),
        (Because.TOO_FEW, True, Because.MOVED),
        (Because.NO_REFERENCE, True, Because.NO_REFERENCE),
    ],
)
def test_beside_a_page_or_a_certain_confusion_nothing_is_steady_or_too_few(
    usual: Because, moved: object, because: Because
) -> None:
    classes = [replace(found_at(Verdict.INSUFFICIENT_EVIDENCE), because=usual)] * 3
    assert verdict_on_whole(classes, 100, held=False, moved=bool(moved)).because is because
    few = [replace(classes[0], because=Because.TOO_FEW)]
    assert verdict_on_whole(few, 0, held=False, moved=True).because is Because.TOO_FEW


def test_confusions_and_recalls_are_named_with_their_rates() -> None:
    changes = confusion_changes(BEFORE, CONFUSED).named("abcd")
    assert [one.text for one in changes] == [
        "recall of a fell from 90.0 to 75.0 %",
        "a → b confusions rose from 5.0 to 20.0 %",
    ]
    back = confusion_changes(CONFUSED, BEFORE).named("abcd")
    assert [one.text for one in back][1] == "a → b confusions fell from 20.0 to 5.0 %"
    assert not confusion_changes(BEFORE, np.zeros_like(BEFORE)).named("abcd")


def test_twenty_judges_of_one_model_call_less_than_one_alone() -> None:
    given = ReferenceCounts(tp=8_000, fp=4_500, fn=2_000, tn=85_500)
    reference = MatureReference.given(given)
    regime = LabelRegime()

    def verdict(missed: int, alike: int) -> Verdict:
        cells = np.array([[[2_000 - missed, 1_125, 500 + missed, 21_375, 3_125, 21_875]]])
        counts = Counts(
            np.repeat(cells, 2, axis=1),
            np.zeros((1, 2, 8), np.int64),
            DAY_MS,
            np.zeros(1, np.int64),
        )
        learned = LearnedScatter(reference, regime)
        judge = CountsJudge(reference, regime, learned, lambda *_: None, alike)
        tested = judge.tested(counts, Cuts(0, ()))
        assert tested is not None
        return tested.judgement.verdict

    first = {
        alike: next(n for n in range(0, 2_000, 10) if verdict(n, alike) is Verdict.MODEL_DEGRADED)
        for alike in (1, 20)
    }
    assert first[1] < first[20] < 2 * first[1]
