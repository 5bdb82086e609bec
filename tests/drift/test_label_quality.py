"""A change of label quality is no worse model, and a worse model is no change of labels."""

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, judge, label_quality
from monitor.drift.component_changes import Changes, changes
from monitor.drift.label_quality import (
    LABEL_CHANGES,
    LabelChange,
    explaining_labels,
    labels_explain,
)
from monitor.drift.verdict import DEGRADED, IMPROVED
from monitor.drift.verdict_rule import verdicts

WORLDS = [(0.01, 0.005), (0.02, 0.02), (0.1, 0.05)]
"""Prevalence and false positive rate."""


def outcomes(prevalence, recall, false, *, flips=0.0, cases=200_000):
    """Expected outcomes with a share of all labels flipped, cell by cell."""
    tp, fp = prevalence * recall, (1 - prevalence) * false
    fn, tn = prevalence - tp, 1 - prevalence - fp
    right, wrong = 1 - flips, flips
    cells = [tp * right + fp * wrong, fp * right + tp * wrong]
    cells += [fn * right + tn * wrong, tn * right + fn * wrong]
    return ConfusionCounts.from_cells(np.round(np.array(cells) * cases).astype(np.int64))


@pytest.mark.parametrize(("prevalence", "false"), WORLDS)
@pytest.mark.parametrize("flips", [(0.0, 0.005), (0.0, 0.01), (0.01, 0.02), (0.0, 0.03)])
def test_more_wrong_labels_are_not_called_a_worse_model(prevalence, false, flips):
    before, after = (outcomes(prevalence, 0.8, false, flips=share) for share in flips)
    found = judge(before, after)
    assert found.verdict not in DEGRADED
    if found.labels_may_explain:
        assert found.verdict is Verdict.INSUFFICIENT_EVIDENCE
        assert found.change["recall"] < 0 < found.change["class_ratio"]


def test_it_is_named_where_one_label_in_a_hundred_becomes_wrong():
    found = judge(outcomes(0.01, 0.8, 0.005), outcomes(0.01, 0.8, 0.005, flips=0.01))
    assert found.labels_may_explain
    assert "recall" in found.fell
    assert "class_ratio" in found.rose


@pytest.mark.parametrize(("prevalence", "false"), WORLDS)
def test_better_labels_are_not_called_a_better_model(prevalence, false):
    worse, better = (outcomes(prevalence, 0.8, false, flips=share) for share in (0.01, 0.0))
    assert judge(worse, better).verdict not in IMPROVED


@pytest.mark.parametrize(("prevalence", "false"), WORLDS)
@pytest.mark.parametrize("flips", [0.0, 0.01])
@pytest.mark.parametrize("recall", [0.65, 0.5, 0.2])
def test_a_fall_of_recall_alone_is_a_worse_model_beside_wrong_labels_too(
    prevalence, false, flips, recall
):
    before, after = (
        outcomes(prevalence, one, false, flips=flips, cases=1_000_000) for one in (0.8, recall)
    )
    found = judge(before, after)
    assert found.verdict in DEGRADED
    assert not found.labels_may_explain


def test_more_positives_of_which_fewer_are_found_are_a_worse_model():
    """Fewer of the flagged cases are positive than before, which wrong labels do not explain."""
    found = judge(outcomes(0.02, 0.8, 0.02), outcomes(0.025, 0.4, 0.02))
    assert found.verdict is Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED


def test_rarer_positives_of_which_fewer_are_found_are_a_worse_model():
    found = judge(outcomes(0.02, 0.8, 0.02), outcomes(0.01, 0.4, 0.02))
    assert found.verdict is Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED


BESIDE = {
    "higher threshold": (0.02, 0.6, 0.008),
    "lower threshold": (0.02, 0.88, 0.035),
    "rarer positives": (0.015, 0.8, 0.02),
    "both": (0.0155, 0.65, 0.01),
}
"""Prevalence, recall and false positive rate that come beside wrong labels."""


@pytest.mark.parametrize("now", BESIDE.values(), ids=BESIDE.keys())
def test_wrong_labels_beside_another_threshold_or_class_ratio_wait_for_the_scores(now):
    before, after = outcomes(0.02, 0.8, 0.02), outcomes(*now, flips=0.012)
    for pair in ((before, after), (after, before)):
        assert judge(*pair, label_support=0.0).verdict not in DEGRADED | IMPROVED


def test_more_positives_of_which_fewer_are_found_wait_for_the_scores():
    pair = outcomes(0.02, 0.8, 0.02), outcomes(0.025, 0.4, 0.02)
    assert judge(*pair, label_support=0.0).labels_may_explain


def test_fewer_found_among_more_false_positives_are_a_worse_model():
    found = judge(outcomes(0.02, 0.8, 0.02), outcomes(0.025, 0.4, 0.04))
    assert found.verdict is Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED


def test_new_positives_that_the_model_does_not_find_look_like_wrong_labels():
    """As many as before are found and flagged; nothing in the counts tells them apart."""
    found = judge(outcomes(0.02, 0.8, 0.02), outcomes(0.03, 0.8 * 2 / 3, 0.0202))
    assert found.labels_may_explain


def test_more_false_positives_are_a_worse_model():
    found = judge(outcomes(0.02, 0.8, 0.02), outcomes(0.02, 0.8, 0.04))
    assert found.verdict is Verdict.MODEL_DEGRADED


def test_a_class_without_cases_is_not_explained():
    none = ConfusionCounts(tp=0, fp=10, fn=0, tn=990)
    assert not judge(outcomes(0.02, 0.8, 0.02), none).labels_may_explain


def test_many_series_are_judged_as_each_alone():
    pairs = [
        (outcomes(p, 0.8, f), outcomes(p, recall, f, flips=share))
        for p, f in WORLDS
        for recall in (0.8, 0.5)
        for share in (0.0, 0.01)
    ]
    before, after = (
        ConfusionCounts.from_cells([pair[side].cells for pair in pairs]) for side in (0, 1)
    )
    alone = [judge(*pair).verdict for pair in pairs]
    assert verdicts(before, after).tolist() == alone
    assert {Verdict.INSUFFICIENT_EVIDENCE, Verdict.MODEL_DEGRADED} <= set(alone)


@pytest.mark.parametrize("of_positives", [0.0, 1.0])
def test_the_share_that_explains_a_change_is_that_of_the_labels_that_are_wrong(of_positives):
    tp, fp, fn, tn = 80_000.0, 49_000.0, 20_000.0, 2_401_000.0
    added, lost = 0.02, 0.02 * of_positives
    before = ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn)
    after = ConfusionCounts(
        tp=tp * (1 - lost) + fp * added,
        fp=fp * (1 - added) + tp * lost,
        fn=fn * (1 - lost) + tn * added,
        tn=tn * (1 - added) + fn * lost,
    )
    for ends, more in (((before, after), True), ((after, before), False)):
        found = explaining_labels(*ends, changes(*ends), LabelChange.FALSE_POSITIVES)
        assert found.of_negatives == pytest.approx(0.02, rel=0.06)
        assert found.of_positives == pytest.approx(lost, rel=0.06)
        assert found.more is more


def missed(counts, share):
    """The same outcomes where labels miss a share of the positives."""
    tp, fn = counts.tp * (1 - share), counts.fn * (1 - share)
    return ConfusionCounts(
        tp=tp, fn=fn, fp=counts.fp + counts.tp - tp, tn=counts.tn + counts.fn - fn
    )


USUAL = ConfusionCounts(tp=8_000.0, fp=1_800.0, fn=2_000.0, tn=88_200.0)


def test_labels_that_miss_positives_explain_false_positives_beside_rarer_positives():
    after = missed(USUAL, 0.3)
    for ends, more in (((USUAL, after), True), ((after, USUAL), False)):
        found = judge(*ends)
        assert (found.verdict, found.labels_may_explain) == (Verdict.INSUFFICIENT_EVIDENCE, True)
        assert found.label_change is LabelChange.FALSE_NEGATIVES
        explains = explaining_labels(*ends, changes(*ends), found.label_change)
        assert explains.of_negatives == 0
        assert explains.of_positives == pytest.approx(0.3, rel=0.08)
        assert explains.more is more


@pytest.mark.parametrize(
    "after",
    [
        ConfusionCounts(tp=8_000, fp=3_600, fn=2_000, tn=86_400),
        ConfusionCounts(tp=5_600, fp=3_600, fn=1_400, tn=89_400),
        ConfusionCounts(tp=10_400, fp=3_600, fn=2_600, tn=83_400),
    ],
    ids=["alone", "too many for as few positives", "beside more frequent positives"],
)
def test_more_false_positives_than_labels_miss_are_of_the_model(after):
    found = judge(USUAL, after)
    assert found.verdict in DEGRADED
    assert found.label_change is LabelChange.NONE


NEARER_TO = {
    LabelChange.FALSE_POSITIVES: (
        ConfusionCounts(tp=268, fp=117, fn=247, tn=9_368),
        ConfusionCounts(tp=273, fp=77, fn=353, tn=9_297),
    ),
    LabelChange.FALSE_NEGATIVES: (
        ConfusionCounts(tp=435, fp=1_474, fn=146, tn=27_945),
        ConfusionCounts(tp=402, fp=1_607, fn=98, tn=27_893),
    ),
}
"""Outcomes that wrong labels of either kind explain, with distances of 7.7 and 8.2, 6.7 and 6.2."""


@pytest.mark.parametrize("nearer", NEARER_TO)
def test_of_two_kinds_of_wrong_labels_that_fit_the_nearer_one_explains(nearer, monkeypatch):
    assert explained(*NEARER_TO[nearer]) is nearer
    kinds = label_quality._KINDS
    for number in (1, 2):
        alone = tuple(one for one in kinds if one[0] == number)
        monkeypatch.setattr(label_quality, "_KINDS", alone)
        assert explained(*NEARER_TO[nearer]) is LABEL_CHANGES[number]


def both_wrong(prevalence, made, missed, cases=140_000):
    """Outcomes of recall .8 and FPR .02, where labels make positives and miss others."""
    before = outcomes(prevalence, 0.8, 0.02, cases=cases)
    tp, fp, fn, tn = before.cells
    cells = (
        tp * (1 - missed) + fp * made,
        fp * (1 - made) + tp * missed,
        fn * (1 - missed) + tn * made,
        tn * (1 - made) + fn * missed,
    )
    return before, ConfusionCounts.from_cells(np.rint(cells).astype(int))


@pytest.mark.parametrize(("prevalence", "missed"), [(0.03, 0.03), (0.03, 0.05), (0.1, 0.05)])
def test_labels_that_make_some_positives_and_miss_more_explain_both_rates(prevalence, missed):
    before, after = both_wrong(prevalence, 0.01, missed)
    moved = changes(before, after)
    assert judge(before, after).verdict is Verdict.INSUFFICIENT_EVIDENCE
    assert explained(before, after) is LabelChange.FALSE_POSITIVES
    found = explaining_labels(before, after, moved, LabelChange.FALSE_POSITIVES)
    assert found.of_negatives == pytest.approx(0.01, rel=0.35)
    assert found.of_positives > found.of_negatives


def test_a_model_that_is_worse_by_both_rates_is_not_explained_by_labels_that_miss_more():
    before = outcomes(0.2, 0.8, 0.05, cases=1_000)
    after = outcomes(0.2, 0.6, 0.12, cases=1_000)
    assert explained(before, after) is LabelChange.NONE


def explained(before, after):
    return LABEL_CHANGES[int(labels_explain(before, after, changes(before, after)))]


SHORT_OF_MOVED = {
    "neither recall nor the odds ratio, by 1.93 and 1.97": (
        LabelChange.FALSE_POSITIVES,
        ConfusionCounts(tp=80, fp=128, fn=58, tn=2_734),
        ConfusionCounts(tp=88, fp=135, fn=99, tn=2_678),
    ),
    "neither false positives nor the odds ratio, by 1.96 and .72": (
        LabelChange.FALSE_NEGATIVES,
        ConfusionCounts(tp=144, fp=23, fn=16, tn=2_817),
        ConfusionCounts(tp=121, fp=39, fn=5, tn=2_835),
    ),
}
"""Changes that wrong labels fit, of which one that they must move is within two standard errors."""


@pytest.mark.parametrize("what", SHORT_OF_MOVED)
def test_labels_are_blamed_for_a_change_of_two_standard_errors(what):
    """So many that a fifth more cases have it."""
    kind, *sides = SHORT_OF_MOVED[what]
    assert explained(*sides) is LabelChange.NONE
    more = (
        ConfusionCounts.from_cells(np.round(1.2 * side.cells).astype(np.int64)) for side in sides
    )
    assert explained(*more) is kind


A_TENTH_MISSED = (
    ConfusionCounts(tp=476, fp=92, fn=30, tn=9_402),
    ConfusionCounts(tp=429, fp=154, fn=17, tn=9_400),
)
"""The class ratio fell by 1.99 standard errors, and false positives rose by 4."""


@pytest.mark.parametrize("support", [None, 0.0])
def test_labels_that_miss_positives_need_not_certainly_move_the_class_ratio(support):
    found = labels_explain(*A_TENTH_MISSED, changes(*A_TENTH_MISSED), support)
    assert LABEL_CHANGES[int(found)] is LabelChange.FALSE_NEGATIVES


def test_labels_that_miss_positives_are_ruled_out_where_the_class_ratio_moved_the_other_way():
    before, after = A_TENTH_MISSED
    more = ConfusionCounts(tp=after.tp + 60, fp=after.fp, fn=after.fn + 8, tn=after.tn)
    assert changes(before, more).change[0] > 0
    assert explained(before, more) is LabelChange.NONE


def test_a_worse_model_must_be_ten_times_likelier_than_labels_that_miss_a_tenth():
    """With errors twice as large, labels are nearly ten times less likely, and stay possible."""
    before = ConfusionCounts(tp=4_000, fp=900, fn=1_000, tn=44_100)
    after = ConfusionCounts(tp=3_970, fp=1_300, fn=990, tn=43_740)
    found = changes(before, after)
    assert explained(before, after) is LabelChange.NONE
    wider = Changes(found.change, 2 * found.standard_error)
    assert LABEL_CHANGES[int(labels_explain(before, after, wider))] is LabelChange.FALSE_NEGATIVES
