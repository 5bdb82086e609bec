"""Labels that are wrong more often, within the ranges that their rates of wrong ones may have.

A comparison takes the same rates before and after, at the ends of ranges as well. Labels that get
worse then look like more positives, of which more are missed. Where the rates leave no missed
positive before, how many are missed is hardly known, so that the corrected rates show no fall that
other labels could explain, while more positives are certain. The labels as they are show it: there
other labels explain what would blame the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift import Judgement, Verdict
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import as_blocks
from monitor.drift.day_levels import at_one_level
from monitor.drift.day_scatter import DayScatter
from monitor.drift.label_quality import LabelChange
from monitor.drift.verdict import OF_THE_MODEL
from monitor.drift.verdict_rule import judge
from monitor.labels.error_ranges import LabelledBlocks

_ALONE = frozenset({Verdict.INSUFFICIENT_EVIDENCE, Verdict.PREVALENCE_SHIFT})


def unless_labels_changed(
    judgement: Judgement,
    compared: Sequence[ComparedOutcomes],
    before: LabelledBlocks | ConfusionCounts | None,
    after: LabelledBlocks | None,
) -> Judgement:
    """Return a judgement at rates of wrong labels, open where labels that changed explain it.

    Args:
        judgement: as far as it holds at all ends of the ranges.
        compared: corrected outcomes, in the middle of the ranges and at their ends; at known rates
            the first alone.
        before: counts as labelled; outcomes where they are right; None without rates.
        after: counts as labelled; None without rates.

    Returns:
        The same where the rates of before and after differ, so that audits show what changed,
        where other labels are named already, and where neither ranges nor cells that are cut off
        at 0 leave open what known rates show. Else open, and only if labels are as before, where
        other labels explain the change of the counts as labelled, and these would blame the model,
        or rates of wrong labels that stay make a change certain: in place of no verdict and of
        more, or fewer, positives, and where cells are cut off, of a verdict on the model.
    """
    if after is None or not isinstance(before, LabelledBlocks):
        return judgement
    if judgement.labels_may_explain or before.rates != after.rates:
        return judgement
    cut_off = any(map(_is_cut_off, compared))
    doubted = _ALONE | OF_THE_MODEL if cut_off else _ALONE if len(compared) > 1 else frozenset()
    if judgement.verdict not in doubted:
        return judgement
    found, certain = _as_labelled(before, after), bool(judgement.fell or judgement.rose)
    explained = certain and found.label_change is not LabelChange.NONE
    if not (explained or found.labels_may_explain):
        return judgement
    return replace(
        judgement,
        verdict=Verdict.INSUFFICIENT_EVIDENCE,
        labels_may_explain=True,
        label_change=found.label_change,
    )


def _as_labelled(before: LabelledBlocks, after: LabelledBlocks) -> Judgement:
    """Return the judgement of labels taken as right, with the scatter of the days of both."""
    days = [_by_day(one) for one in (before, after)]
    scatter = DayScatter.learn([part for one in days for part in at_one_level(one)])
    between = scatter.between(*(max(float((one.total > 0).sum()), 1.0) for one in days))
    old, new = (one.sum(axis=-1) for one in days)
    return judge(old, new, between=between)


def _by_day(blocks: LabelledBlocks) -> ConfusionCounts:
    cells = blocks.cells[:, : len(Outcome)]
    days, at = np.unique(blocks.opens // DAY_MS, return_inverse=True)
    sums = np.zeros((len(days), len(Outcome)), dtype=np.int64)
    np.add.at(sums, at, cells)
    return ConfusionCounts.from_cells(sums)


def _is_cut_off(compared: ComparedOutcomes) -> bool:
    """Return whether corrected outcomes lie at 0, cut off there."""
    return any(bool((as_blocks(one).sum(axis=-1).cells <= 0).any()) for one in compared)
