"""One window against the reference: verdict, causes, and a look ahead of the labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
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
    judge,
    judge_within_segments,
)
from monitor.drift.dispersion import Dispersion
from monitor.drift.roc import below_reference_curve, standardised_to
from monitor.drift.verdict import DEGRADED, NOT_OF_THE_MODEL, OF_THE_MODEL, roc_decides
from monitor.events.columns import Int64Array
from monitor.labels.checks import (
    AT_AN_ALARM,
    OF_A_WINDOW,
    OF_LATE,
    Strictness,
    in_order,
    label_fault,
    lacks_one_side,
)
from monitor.labels.faults import LabelFault
from monitor.labels.sampled import SAMPLES, expected, labels_by_stratum
from monitor.labels.stopped_reports import Reports
from monitor.snapshot import WindowVerdict
from monitor.watch.nowcasts import Nowcasts
from monitor.watch.reference import Reference
from monitor.windows import Windows
from monitor.windows.days import DAY_MS
from monitor.windows.scores import Scores
from monitor.windows.windows import Edition

_LATE_PANES = 6
_NO_SHIFT = 0.02
_SMALL_SHIFT = 0.35
"""More than slower labels take from the class ratio of a window that was .99 mature."""
_LONGEST_LATE_MS = 7 * DAY_MS

_SHIFT = Verdict.PREVALENCE_SHIFT
_UNJUDGED = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE)


class Cuts(NamedTuple):
    """How the outcomes of a model are cut into series.

    Attributes:
        totals: series of all its outcomes.
        segments: for each segment key that is kept, the series of its values.
    """

    totals: int
    segments: tuple[Int64Array, ...]


class _Known(NamedTuple):
    """A verdict, and the counts and weights that it is of."""

    edition: Edition | None
    cells: Int64Array
    weights: Int64Array
    verdict: WindowVerdict

    def holds(self, cells: Int64Array, weights: Int64Array) -> bool:
        return np.array_equal(self.cells, cells) and np.array_equal(self.weights, weights)


class Judge:
    """Judges the windows of one model against one reference.

    Where segments are kept, a verdict that lays a change to the model must hold
    within them too: if in some cut into segments it does not, the mix has
    changed, and the verdict within the segments is taken.

    Args:
        model: its number.
        reference: what its windows are compared with.
        windows: where counts are kept.
        scores: where score histograms are kept.
        labelling: how labels come.
        reports: where silence is a negative, whether it can be one; else None.
    """

    def __init__(
        self,
        model: int,
        reference: Reference,
        windows: Windows,
        scores: Scores,
        *,
        labelling: Labelling,
        reports: Reports | None,
    ) -> None:
        self.reference = reference
        self._model = model
        self._windows = windows
        self._labelling = labelling
        self._reports = reports
        self._known: dict[str, _Known] = {}
        self._late: tuple[Int64Array, LabelFault | None] | None = None
        self._late_edition: Hashable = None
        self._nowcasts = None
        if labelling not in SAMPLES:
            self._nowcasts = Nowcasts(model, reference, windows, scores)

    def all(
        self,
        now: int,
        age: int,
        cuts: Cuts,
        fault: LabelFault | None = None,
        *,
        doubt: bool = False,
    ) -> dict[str, WindowVerdict]:
        """The verdict on each window by name.

        Args:
            now: the moment that windows end by, epoch milliseconds.
            age: the model's maturity, milliseconds.
            cuts: the totals' series, and for each segment key those of its values.
            fault: what is known to be wrong with the labels.
            doubt: labels may come at another pace, which looks like a small shift.
        """
        found = {name: self._verdict(name, now, age, cuts, fault) for name in self._windows.names}
        # What is left of a loss of labels in a shorter window is a small shift, too.
        doubt = doubt or any(one.label_fault for one in found.values())
        return {
            name: replace(
                _doubted(one) if doubt and _is_small_shift(one) else one,
                nowcast=None if self._nowcasts is None else self._nowcasts.of(name, now),
            )
            for name, one in found.items()
        }

    def says_degraded(self, now: int, age: int, cuts: Cuts) -> bool:
        """Whether the verdict on some window lays a fall to the model."""
        names = self._windows.names
        return any(self._verdict(name, now, age, cuts).verdict in DEGRADED for name in names)

    def may_be_labels(self, now: int, age: int, totals: int) -> bool:
        """Whether a shift of prevalence that is seen now may be a lack of labels."""
        if self._labelling is not Labelling.COMPLETE:
            return False
        cells = self._late_cells(now, age, totals)
        lengths = sorted({len(cells), *range(_LATE_PANES, len(cells), _LATE_PANES)})
        if self.reference.opens is not None and any(
            lacks_one_side(self.reference.labelling, cells[-n:]) for n in lengths
        ):
            return True
        return any(self._fault(cells[-n:], AT_AN_ALARM) is not None for n in lengths)

    def reports_are_missing(self, name: str, now: int, age: int) -> bool:
        """Whether silence on predictions of a window may be for want of reports."""
        length = self._windows.length(name)
        reports = self._reports
        return reports is not None and reports.are_missing(now - age - length, now - age, now)

    def fault_of_late(self, now: int, age: int, totals: int) -> LabelFault | None:
        """What is wrong with the labels of the last stretch that is mature, if anything."""
        if self._labelling is not Labelling.COMPLETE:
            return None
        edition = self._edition_of_late(now, age)
        if self._late is not None and edition is not None and edition == self._late_edition:
            return self._late[1]
        self._late_edition = edition
        cells = self._late_cells(now, age, totals)
        if self._late is None or not np.array_equal(self._late[0], cells):
            self._late = (cells, self._fault(cells, OF_LATE))
        return self._late[1]

    def _late_cells(self, now: int, age: int, totals: int) -> Int64Array:
        start, end = self._late_panes(now, age)
        return self._windows.panes(start, end, np.array([totals]))[:, 0]

    def _late_panes(self, now: int, age: int) -> tuple[int, int]:
        step = self._windows.step_ms
        end = (now - age) // step
        return end - max(_LATE_PANES, min(age, _LONGEST_LATE_MS) // step), end

    def _edition_of_late(self, now: int, age: int) -> Hashable:
        """Stands for the last stretch that is mature; None where no window holds all of it."""
        windows, panes = self._windows, self._late_panes(now, age)
        first, last = (pane * windows.step_ms for pane in panes)
        for name in windows.names:
            edition = windows.edition(name, self._model, now, age)
            if edition is None:
                continue
            width = windows.width(edition.panes)
            if edition.panes.start * width <= first and last <= edition.panes.end * width:
                return panes, name, edition
        return None

    def _fault_behind(self, cells: Int64Array, shift: float) -> LabelFault | None:
        """What is wrong with a window's labels, be it half of a shift of its log class ratio."""
        if self._labelling is not Labelling.COMPLETE:
            return None
        least = min(OF_A_WINDOW.shift, max(abs(shift) / 2, _NO_SHIFT))
        return self._fault(cells, OF_A_WINDOW._replace(shift=least))

    def _fault(self, cells: Int64Array, strictness: Strictness) -> LabelFault | None:
        given = self.reference.opens is None
        return label_fault(self.reference.labelling, cells, strictness, given=given)

    def _verdict(
        self, name: str, now: int, age: int, cuts: Cuts, fault: LabelFault | None = None
    ) -> WindowVerdict:
        """Judged again only where the counts have changed."""
        length, closes = self._windows.length(name), self.reference.closes
        if self.reports_are_missing(name, now, age):
            fault = LabelFault.REPORTS_STOPPED
        fault = fault or self.fault_of_late(now, age, cuts.totals)
        if closes is not None and now - age - length < closes:
            return _UNJUDGED if fault is None else _untrusted(fault)
        edition = self._windows.edition(name, self._model, now, age)
        known = self._known.get(name)
        if known is None or edition is None or known.edition != edition:
            known = self._known[name] = self._seen(name, now, age, cuts, edition)
        return known.verdict if fault is None else _untrusted(fault)

    def _seen(self, name: str, now: int, age: int, cuts: Cuts, edition: Edition | None) -> _Known:
        """The window as it stands now."""
        block_ms = int(block_seconds(self._windows.length(name) / 1000)) * 1000
        rows = np.concatenate([[cuts.totals], *cuts.segments]).astype(np.int64)
        cells = self._windows.blocks(name, rows, now, age, block_ms)
        weights = self._windows.weight_blocks(name, rows, now, age, block_ms)
        known = self._known.get(name)
        if known is not None and known.holds(cells, weights):
            return known._replace(edition=edition)
        return _Known(edition, cells, weights, self._judged(cells, weights, cuts, block_ms))

    def _judged(
        self, cells: Int64Array, weights: Int64Array, cuts: Cuts, block_ms: int
    ) -> WindowVerdict:
        """From counts (blocks, series, 6), the totals first and then each cut."""
        if not self._has_both_strata(cells[:, 0].sum(axis=0), weights[:, 0].sum(axis=0)):
            return _UNJUDGED
        outcomes, sampling = expected(self._labelling, cells, weights)
        outcomes = np.moveaxis(outcomes, 0, 1)
        after = ConfusionCounts.from_cells(outcomes[0])
        if not after.total.any():
            fault = self._fault_behind(cells[:, 0], 0.0)
            return _UNJUDGED if fault is None else _untrusted(fault)
        before, dispersion = self.reference.blocks, self._dispersion(block_ms).larger(sampling)
        judgement = judge(before, after, dispersion)
        below = roc_decides(judgement) and self._is_below_curve(outcomes, cuts, dispersion)
        if below:
            judgement = judge(before, after, dispersion, below_reference_curve=True)
        fault = self._fault_behind(cells[:, 0], judgement.change["class_ratio"])
        if judgement.verdict in OF_THE_MODEL:
            judgement = self._within_segments(judgement, outcomes[1:], cuts, dispersion)
        found = WindowVerdict(
            verdict=judgement.verdict,
            judgement=judgement,
            attribution=attribute(before, after, dispersion),
            labels_in_order=self._in_order(cells[:, 0], judgement),
        )
        return found if fault is None else _untrusted(fault)

    def _in_order(self, cells: Int64Array, judgement: Judgement) -> bool:
        if self._labelling is Labelling.COMPLETE:
            return in_order(self.reference.labelling, cells)
        return judgement.status["class_ratio"] is Status.CLEAN

    def _has_both_strata(self, cells: Int64Array, weights: Int64Array) -> bool:
        """Whether a sample of labels speaks of predicted positives and of the others."""
        if self._labelling not in SAMPLES:
            return True
        return min(labels_by_stratum(self._labelling, cells, weights)) > 0

    def _dispersion(self, block_ms: int) -> Dispersion:
        """The reference's where blocks are hours: these do not show how whole days scatter."""
        days = min(block_ms, self.reference.block_ms) >= DAY_MS
        of_days = days and self._labelling not in SAMPLES
        return Dispersion.of(1.0) if of_days else self.reference.dispersion

    def _is_below_curve(self, outcomes: CountArray, cuts: Cuts, dispersion: Dispersion) -> bool:
        """Whether TPR lies below the reference's ROC curve, whatever became of the mix."""
        scores = self.reference.scores_by_day
        if scores is None:
            return False
        points = [ConfusionCounts.from_cells(outcomes[0])]
        points += [standardised_to(*both) for both in self._by_segment(outcomes[1:], cuts)]
        before = self.reference.blocks
        return all(below_reference_curve(scores, p, dispersion, before=before) for p in points)

    def _by_segment(
        self, cells: CountArray, cuts: Cuts
    ) -> Iterator[tuple[ConfusionCounts, ConfusionCounts]]:
        """Outcomes before and after of each cut into segments, (segments, blocks)."""
        start = 0
        for rows in cuts.segments:
            after = ConfusionCounts.from_cells(cells[start : start + len(rows)])
            before = self.reference.blocks_of(rows)
            start += len(rows)
            if before is not None:
                yield before, after

    def _within_segments(
        self,
        whole: Judgement,
        cells: CountArray,
        cuts: Cuts,
        dispersion: Dispersion,
    ) -> Judgement:
        below = whole.below_reference_curve
        for before, after in self._by_segment(cells, cuts):
            within = judge_within_segments(before, after, dispersion, below_reference_curve=below)
            if within.verdict in NOT_OF_THE_MODEL:
                return within
        return whole


def _untrusted(fault: LabelFault) -> WindowVerdict:
    """Nothing is concluded, and no cause is told: the labels have gone astray."""
    return WindowVerdict(verdict=Verdict.LABELS_NOT_TRUSTWORTHY, label_fault=str(fault))


def _is_small_shift(found: WindowVerdict) -> bool:
    judgement = found.judgement
    small = judgement is not None and abs(judgement.change["class_ratio"]) <= _SMALL_SHIFT
    return small and found.verdict is _SHIFT


def _doubted(found: WindowVerdict) -> WindowVerdict:
    """The same window, whose shift of prevalence may be its labels' doing."""
    verdict, judgement = Verdict.INSUFFICIENT_EVIDENCE, found.judgement
    return replace(
        found,
        verdict=verdict,
        judgement=None if judgement is None else replace(judgement, verdict=verdict),
    )
