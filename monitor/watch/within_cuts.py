"""Judges a model within the values of its segment keys, or a class within the actual classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift import Judgement, Verdict, attribute_segments, judge_within_segments
from monitor.drift.compared_outcomes import ComparedOutcomes, are_all
from monitor.drift.component_changes import BetweenDays
from monitor.drift.dispersion import Dispersion
from monitor.drift.value_scatter import ValueDays, with_scatter_of_values
from monitor.drift.verdict import MOVED_RATES
from monitor.drift.within_segments import explains
from monitor.drift.worse_values import CERTAIN, WorseValue, worse_value
from monitor.events.columns import Int64Array
from monitor.watch.cuts import Cuts
from monitor.watch.reference import MatureReference


class WithinCuts(NamedTuple):
    """Outcomes of the series of a model that its totals consist of.

    Attributes:
        reference: what is compared with.
        cells: outcomes to judge, (series, blocks, 4), in the order of `cuts` without the totals.
        cuts: the series by segment key.
    """

    reference: MatureReference
    cells: CountArray
    cuts: Cuts

    def by_key(self) -> Iterator[ComparedOutcomes]:
        """Yield the outcomes before and after of each segment key, (values, blocks)."""
        start = 0
        for rows in self.cuts.segments:
            after = ConfusionCounts.from_cells(self.cells[start : start + len(rows)])
            before = self.reference.blocks_of(rows)
            start += len(rows)
            if before is not None:
                yield ComparedOutcomes(before, after)

    def by_version(
        self, days: ComparedOutcomes, in_days: Callable[[ConfusionCounts], ComparedOutcomes]
    ) -> ComparedOutcomes | None:
        """Return the outcomes by versions and days, (versions, days).

        Args:
            days: all outcomes by days.
            in_days: returns blocks of time by days.

        Returns:
            Those after of the versions that have outcomes, and the reference by days alone,
            (days,), where those of its versions are not all of its outcomes, as of given counts.
            None with fewer than two versions, and where not all outcomes are those of a version,
            as of days whose segment values are not stored.
        """
        rows = self.cuts.versions
        cells = self.cells[len(self.cells) - len(rows) :]
        if len(rows) <= 1 or not are_all(cells, days.after):
            return None
        after = [in_days(ConfusionCounts.from_cells(one)).after for one in cells if one.any()]
        before = self.reference.days_of(rows)
        if before is None or not are_all(before.cells, days.before):
            before = days.before
        cells = np.stack([one.cells for one in after])
        return ComparedOutcomes(before, ConfusionCounts.from_cells(cells))

    def worse(self, between: BetweenDays, after_days: float) -> tuple[WorseValue, ...]:
        """Return the segment values in which a rate certainly became worse, the surest first.

        Args:
            between: what the scatter of days adds.
            after_days: number of days that the outcomes to judge stem from.
        """
        behind = self.reference.days_behind, after_days
        keys = len(self.cuts.segments) + bool(len(self.cuts.versions))
        found, start = [], 0
        for rows in self.cuts.segments:
            after = ConfusionCounts.from_cells(self.cells[start : start + len(rows)])
            start += len(rows)
            before = self.reference.blocks_of(rows)
            if before is not None:
                days = self.reference.days_of(rows)
                by_day = ValueDays(
                    [] if days is None else [days[i] for i in range(len(rows))], behind
                )
                found += list(_worse(rows, before, after, (between, by_day), keys))
        return tuple(sorted(found, key=lambda one: one.p_value))

    def judged(
        self,
        whole: Judgement,
        dispersion: Dispersion,
        between: BetweenDays,
        *,
        alike: int,
    ) -> Judgement:
        """Judge within the values of each segment key.

        Args:
            whole: the judgement on the totals.
            dispersion: variance of rows over that of independent ones.
            between: what the scatter of days adds.
            alike: how many judges judge the same model, each a class of it.

        Returns:
            The judgement within a key where that explains the one on the totals, of a class
            always; else that on the totals.
        """
        for before, after in self.by_key():
            within = judge_within_segments(
                before,
                after,
                dispersion,
                between=between,
                below_reference_curve=whole.below_reference_curve,
            )
            if alike > 1:
                return _of_class(within, whole)
            if explains(within, whole):
                return replace(within, curve_z=whole.curve_z, label_change=whole.label_change)
        return whole


def _worse(
    rows: Int64Array,
    before: ConfusionCounts,
    after: ConfusionCounts,
    scatter: tuple[BetweenDays, ValueDays],
    keys: int,
) -> Iterator[WorseValue]:
    """Yield the values of one segment key in which a rate certainly became worse.

    The scatter of their own days is learned only where that of all cases leaves one.
    """
    seen = np.flatnonzero(before.total.sum(axis=-1) + after.total.sum(axis=-1))
    if not len(seen):
        return
    old, new = before[seen], after[seen]
    between, days = scatter
    _, recall, false = keys * attribute_segments(old, new, between=between).p_values
    if not (np.minimum(recall, false) < CERTAIN).any():
        return
    between = with_scatter_of_values(between, days)
    _, recall, false = keys * attribute_segments(old, new, between=between).p_values
    for place in np.flatnonzero(np.minimum(recall, false) < CERTAIN).tolist():
        found = worse_value(
            old[place].sum(),
            new[place].sum(),
            recall_p=float(recall[place]),
            false_positives_p=float(false[place]),
            row=int(rows[seen[place]]),
        )
        if found is not None:
            yield found


def _of_class(within: Judgement, whole: Judgement) -> Judgement:
    """Return the judgement on a class within the actual classes.

    Where its rates moved and those within every actual class did not, the shares of the other
    classes moved.
    """
    if within.verdict is Verdict.NO_CHANGE and whole.verdict in MOVED_RATES:
        return replace(within, verdict=Verdict.PREVALENCE_SHIFT)
    return within
