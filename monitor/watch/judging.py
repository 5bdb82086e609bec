"""Judges windows against the reference: verdict and causes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.config import Labelling
from monitor.counts import ConfusionCounts, CountArray
from monitor.drift import (
    Judgement,
    Status,
    Verdict,
    attribute,
    block_seconds,
    judge_within_segments,
)
from monitor.drift.component_changes import BetweenDays
from monitor.drift.day_scatter import days_behind
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import ComparedOutcomes, judge_on_curve
from monitor.drift.odds_ratio_within import in_days
from monitor.drift.recall_evidence import (
    Because,
    fewest_outcomes,
    recall_evidence,
    visible_recall,
    why_open,
)
from monitor.drift.verdict import DEGRADED, OF_THE_MODEL
from monitor.drift.within_segments import explains
from monitor.events.columns import Int64Array
from monitor.labels.checks import in_order
from monitor.labels.faults import LabelFault
from monitor.labels.sampled_labels import SAMPLES, expected, labels_by_stratum
from monitor.labels.stopped_reports import Reports
from monitor.metrics.rates import recall as usual_recall
from monitor.verdicts import WindowVerdict
from monitor.watch.cuts import Cuts
from monitor.watch.label_checks import LabelChecks
from monitor.watch.model_days import LearnedScatter, RecentDays
from monitor.watch.reference import MatureReference
from monitor.windows import Windows
from monitor.windows.days import DAY_MS
from monitor.windows.windows import Edition

_SMALL_SHIFT = 0.35
"""More than slower labels take from the class ratio of a window that was .99 mature."""

_SHIFT = Verdict.PREVALENCE_SHIFT
_UNJUDGED = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE, because=Because.TOO_FEW)


class _Judged(NamedTuple):
    """A verdict, and the counts and weights that it was made from."""

    edition: Edition | None
    cells: Int64Array
    weights: Int64Array
    verdict: WindowVerdict

    def holds(self, cells: Int64Array, weights: Int64Array) -> bool:
        return np.array_equal(self.cells, cells) and np.array_equal(self.weights, weights)


class Judge:
    """Judges the windows of one model against one reference.

    Where segments are configured, a verdict that blames the model must hold within the
    values of every segment key. Where it does not, the mix has changed, and the verdict
    within the values is taken.

    Args:
        model: its number.
        reference: what its windows are compared with.
        windows: counts.
        labelling: the labelling regime.
        reports: tests whether reports have stopped, where silence is a negative; else None.
    """

    def __init__(
        self,
        model: int,
        reference: MatureReference,
        windows: Windows,
        *,
        labelling: Labelling,
        reports: Reports | None,
    ) -> None:
        self.reference = reference
        self.learned = LearnedScatter(reference, labelling)
        self._scatter_of_verdicts = self.learned.scatter
        self._model = model
        self._windows = windows
        self._labelling = labelling
        self._reports = reports
        self._judged_windows: dict[str, _Judged] = {}
        self._labels = LabelChecks(model, reference, windows, labelling)

    def all(
        self,
        now: int,
        age: int,
        cuts: Cuts,
        fault: LabelFault | None = None,
        *,
        doubt: bool = False,
    ) -> dict[str, WindowVerdict]:
        """Return the verdict on each window by name.

        Args:
            now: the moment that windows end by, epoch milliseconds.
            age: the model's maturity, milliseconds.
            cuts: the totals' series, and for each segment key those of its values.
            fault: of the labels, if one is known.
            doubt: the pace of labels may have changed, which looks like a small shift.
        """
        found = {name: self._verdict(name, now, age, cuts, fault) for name in self._windows.names}
        # A loss of labels in a shorter window looks like a small shift in a longer one.
        doubt = doubt or any(one.label_fault for one in found.values())
        return {
            name: _doubted(one) if doubt and _is_small_shift(one) else one
            for name, one in found.items()
        }

    def degradation(self, now: int, age: int, cuts: Cuts) -> Judgement | None:
        """Return the judgement of the first window of a day or more that is degraded, or None.

        Args:
            now: the moment that windows end by, epoch milliseconds.
            age: the model's maturity, milliseconds.
            cuts: its series by segment key.
        """
        for name in self._windows.names:
            if self._windows.length(name) >= DAY_MS:
                found = self._verdict(name, now, age, cuts)
                if found.verdict in DEGRADED:
                    return found.judgement
        return None

    def of_days(self, days: RecentDays, cuts: Cuts) -> Judgement | None:
        """Judge days of the model; None where nothing can be judged, or labels are at fault.

        Args:
            days: some days that end with the last mature one.
            cuts: its series by segment key.
        """
        if not len(days.cells):
            return None
        found = self._judgement(days.cells, days.weights, cuts, DAY_MS)
        return None if found.label_fault else found.judgement

    def trusts_labels(self, days: RecentDays, cuts: Cuts, now: int) -> bool:
        """Return whether the labels of some days show no fault.

        Args:
            days: successive days of the model.
            cuts: its series by segment key.
            now: the moment of the test, epoch milliseconds.
        """
        if not len(days.numbers):
            return False
        opens, closes = (int(days.numbers[at]) * DAY_MS for at in (0, -1))
        if self._reports is not None and self._reports.are_missing(opens, closes + DAY_MS, now):
            return False
        return not self._judgement(days.cells, days.weights, cuts, DAY_MS).label_fault

    def may_be_labels(self, now: int, age: int, totals: int) -> bool:
        """Return whether missing labels may explain a shift of prevalence that is seen now.

        Args:
            now: epoch milliseconds.
            age: the model's maturity, milliseconds.
            totals: series of all its outcomes.
        """
        return self._labels.may_explain_shift(now, age, totals)

    def reports_are_missing(self, name: str, now: int, age: int) -> bool:
        """Return whether silence in a window may be missing reports instead of negatives.

        Args:
            name: of the window.
            now: the moment that windows end by, epoch milliseconds.
            age: the model's maturity, milliseconds.
        """
        length = self._windows.length(name)
        reports = self._reports
        return reports is not None and reports.are_missing(now - age - length, now - age, now)

    def _verdict(
        self, name: str, now: int, age: int, cuts: Cuts, fault: LabelFault | None = None
    ) -> WindowVerdict:
        """Return the verdict on a window, judged again only where its counts have changed."""
        length, closes = self._windows.length(name), self.reference.closes
        if self.reports_are_missing(name, now, age):
            fault = LabelFault.REPORTS_STOPPED
        fault = fault or self._labels.latest_fault(now, age, cuts.totals)
        if self._scatter_of_verdicts is not self.learned.scatter:
            self._scatter_of_verdicts = self.learned.scatter
            self._judged_windows.clear()
        edition = self._windows.edition(name, self._model, now, age)
        known = self._judged_windows.get(name)
        if known is None or edition is None or known.edition != edition:
            known = self._judged_windows[name] = self._seen(name, now, age, cuts, edition)
        if fault is not None:
            return _untrusted(fault)
        if closes is not None and now - age - length < closes:
            return replace(_UNJUDGED, recall=known.verdict.recall)
        return known.verdict

    def _seen(self, name: str, now: int, age: int, cuts: Cuts, edition: Edition | None) -> _Judged:
        """Read the window, and judge it unless its counts are as before."""
        block_ms = int(block_seconds(self._windows.length(name) / 1000)) * 1000
        rows = np.concatenate([[cuts.totals], *cuts.segments]).astype(np.int64)
        cells = self._windows.blocks(name, rows, now, age, block_ms)
        weights = self._windows.weight_blocks(name, rows, now, age, block_ms)
        known = self._judged_windows.get(name)
        if known is not None and known.holds(cells, weights):
            return known._replace(edition=edition)
        return _Judged(edition, cells, weights, self._judgement(cells, weights, cuts, block_ms))

    def _judgement(
        self, cells: Int64Array, weights: Int64Array, cuts: Cuts, block_ms: int
    ) -> WindowVerdict:
        """Judge counts (blocks, series, 6), of the totals and then of each segment key."""
        if not self._has_both_strata(cells[:, 0].sum(axis=0), weights[:, 0].sum(axis=0)):
            return _UNJUDGED
        outcomes, sampling = expected(self._labelling, cells, weights)
        outcomes = np.moveaxis(outcomes, 0, 1)
        after = ConfusionCounts.from_cells(outcomes[0])
        if not after.total.any():
            fault = self._labels.fault_behind(cells[:, 0], 0.0)
            return _UNJUDGED if fault is None else _untrusted(fault)
        dispersion = self._dispersion(sampling)
        a_day = max(1, DAY_MS // block_ms)
        before_days = self.reference.by_day
        if before_days is None:
            before_days = self.reference.blocks
        after_days = days_behind(after.total, a_day)
        between = self.learned.scatter.between(self.reference.days_behind, after_days)
        total = after.sum(axis=-1)
        length = after.shape[-1] / a_day
        recall = recall_evidence(total, dispersion, between, days=length)
        judgement, _ = judge_on_curve(
            ComparedOutcomes(self.reference.blocks, after),
            dispersion,
            between=between,
            scores=self.reference.scores_by_day,
            by_key=self._by_segment(outcomes[1:], cuts),
            days=ComparedOutcomes(before_days, in_days(after, a_day)),
        )
        fault = self._labels.fault_behind(cells[:, 0], judgement.change["class_ratio"])
        if judgement.verdict in OF_THE_MODEL:
            judgement = self._within_segments(judgement, outcomes[1:], cuts, dispersion, between)
        if fault is not None:
            return _untrusted(fault)
        before = self.reference.counts
        found = attribute(before, total, dispersion, between=between)
        because, fewest = None, fewest_outcomes(total, judgement)
        if judgement.verdict is Verdict.INSUFFICIENT_EVIDENCE:
            usual = float(usual_recall(before))
            because = why_open(judgement, found, usual, recall.excluded, fewest=fewest)
        return WindowVerdict(
            verdict=judgement.verdict,
            judgement=judgement,
            attribution=found,
            labels_in_order=self._in_order(cells[:, 0], judgement),
            because=because,
            rests_on=fewest,
            recall=recall,
            visible_recall=visible_recall(before, judgement),
        )

    def _in_order(self, cells: Int64Array, judgement: Judgement) -> bool:
        if self._labelling is Labelling.COMPLETE:
            return in_order(self.reference.labelling, cells)
        return judgement.status["class_ratio"] is Status.CLEAN

    def _has_both_strata(self, cells: Int64Array, weights: Int64Array) -> bool:
        """Return whether a sample of labels covers predicted positives and negatives."""
        if self._labelling not in SAMPLES:
            return True
        return min(labels_by_stratum(self._labelling, cells, weights)) > 0

    def _dispersion(self, sampling: Dispersion | None) -> Dispersion:
        """Return the variance of rows over that of independent ones, of window or reference."""
        return self.reference.sampling(self._labelling).larger(sampling)

    def _by_segment(self, cells: CountArray, cuts: Cuts) -> Iterator[ComparedOutcomes]:
        """Yield the outcomes before and after of each segment key, (values, blocks)."""
        start = 0
        for rows in cuts.segments:
            after = ConfusionCounts.from_cells(cells[start : start + len(rows)])
            before = self.reference.blocks_of(rows)
            start += len(rows)
            if before is not None:
                yield ComparedOutcomes(before, after)

    def _within_segments(
        self,
        whole: Judgement,
        cells: CountArray,
        cuts: Cuts,
        dispersion: Dispersion,
        between: BetweenDays,
    ) -> Judgement:
        below = whole.below_reference_curve
        for before, after in self._by_segment(cells, cuts):
            within = judge_within_segments(
                before, after, dispersion, between=between, below_reference_curve=below
            )
            if explains(within, whole):
                return within
        return whole


def _untrusted(fault: LabelFault) -> WindowVerdict:
    """Return the verdict on a window whose labels are faulty; without causes."""
    return WindowVerdict(verdict=Verdict.LABELS_NOT_TRUSTWORTHY, label_fault=str(fault))


def _is_small_shift(found: WindowVerdict) -> bool:
    judgement = found.judgement
    small = judgement is not None and abs(judgement.change["class_ratio"]) <= _SMALL_SHIFT
    return small and found.verdict is _SHIFT


def _doubted(found: WindowVerdict) -> WindowVerdict:
    """Return the window without the verdict on its shift, which its labels may explain."""
    verdict, judgement = Verdict.INSUFFICIENT_EVIDENCE, found.judgement
    return replace(
        found,
        verdict=verdict,
        judgement=None if judgement is None else replace(judgement, verdict=verdict),
        because=Because.MOVED,
    )
