"""Judges windows against the reference: verdict and causes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.drift import Judgement
from monitor.drift.beyond_reference import BeyondReference
from monitor.drift.judgement_on_curve import no_scores
from monitor.drift.missed_positives import SETTLED, label_support
from monitor.drift.verdict import DEGRADED
from monitor.events.columns import Int64Array
from monitor.labels.audits_decide import AuditedDuring, no_audits
from monitor.labels.faults import LabelFault
from monitor.labels.regime import LabelRegime
from monitor.labels.stopped_reports import Reports
from monitor.metrics.histogram import ScoreHistogram
from monitor.verdicts import NOT_COMPARED, ReferenceOutcomes, WindowVerdict
from monitor.watch.cuts import Cuts
from monitor.watch.judged_counts import (
    Counts,
    block_length,
    blocks_between,
    untrusted,
    without_small_shift,
)
from monitor.watch.judging_counts import CountsJudge
from monitor.watch.label_checks import LabelChecks
from monitor.watch.model_days import LearnedScatter, RecentDays
from monitor.watch.page import DEAD_LEVEL, SUDDEN_LEVEL, certain_fall, fell_at
from monitor.watch.reference import MatureReference
from monitor.watch.windows_in_use import uses_longer
from monitor.windows.outcome_reader import OutcomeReader
from monitor.windows.scores import Scores
from monitor.windows.windows import Edition


class _Judged(NamedTuple):
    """A verdict, and the counts and weights that it was made from."""

    edition: Edition | None
    counts: Counts
    verdict: WindowVerdict

    def holds(self, counts: Counts) -> bool:
        known = self.counts
        same = known.grows == counts.grows and np.array_equal(known.cells, counts.cells)
        return same and np.array_equal(known.weights, counts.weights)


class Judge:
    """Judges the windows of one model against one reference, see `CountsJudge`.

    Args:
        model: its number.
        reference: what its windows are compared with.
        windows: counts.
        regime: how labels come, and how often they are wrong.
        reports: tests whether reports have stopped, where silence is a negative; else None.
        longer: names of longer windows that are judged as well where `uses_longer` says so.
        whole: outcomes by whose number alone it says so; None for the reference, and the scatter
            of one that does not trail: that of a few days would change with each.
        alike: see `CountsJudge`.
        scores: score histograms; None where scores do not settle whether labels changed.
        audited: returns the audited cases of a stretch of time.

    Attributes:
        names: windows that are judged.
        reference: as given.
        regime: as given.
        alike: as given.
    """

    def __init__(
        self,
        model: int,
        reference: MatureReference,
        windows: OutcomeReader,
        *,
        regime: LabelRegime,
        reports: Reports | None,
        longer: tuple[str, ...] = (),
        whole: ReferenceOutcomes | None = None,
        alike: int = 1,
        scores: Scores | None = None,
        audited: AuditedDuring = no_audits,
    ) -> None:
        self.reference = reference
        self._grows = reference.source != "trailing"  # the stretch since one that trails restarts
        self.regime = regime
        self.alike = alike
        self.learned = LearnedScatter(reference, regime)
        self._scatter_of_verdicts = self.learned.scatter
        self._known_dead = False
        self._model = model
        self._windows = windows
        self._reports = reports
        self._scores = scores
        self._judged_windows: dict[str, _Judged] = {}
        scatter = self.learned.scatter if whole is None and self._grows else None
        uses = uses_longer(whole or reference.outcomes, scatter)
        self.names = (*windows.names, *(longer if uses else ()))
        self._labels = LabelChecks(model, reference, windows, regime.labelling)
        self._judge = CountsJudge(
            reference, regime, self.learned, self._labels.fault_behind, alike, audited=audited
        )

    def all(
        self,
        now: int,
        age: int,
        cuts: Cuts,
        fault: LabelFault | None = None,
        *,
        doubt: bool = False,
        known_dead: bool = False,
    ) -> dict[str, WindowVerdict]:
        """Return the verdict on each window by name.

        Args:
            now: current event time, epoch milliseconds; windows end maturity before it.
            age: the model's maturity, milliseconds.
            cuts: the totals' series, and for each segment key those of its values.
            fault: of the labels, if one is known.
            doubt: the pace of labels may have changed, which looks like a small shift.
            known_dead: see `CountsJudge.tested`.
        """
        if self._known_dead is not known_dead:
            self._known_dead = known_dead
            self._judged_windows.clear()
        found = {name: self._verdict(name, now, age, cuts, fault) for name in self.names}
        # A loss of labels in a shorter window looks like a small shift in a longer one.
        doubt = doubt or any(one.label_fault for one in found.values())
        return {name: without_small_shift(one) if doubt else one for name, one in found.items()}

    def degradation(self, now: int, age: int, cuts: Cuts) -> Judgement | None:
        """Return the judgement of the first window of a day or more that is degraded, or None.

        None as well where wrong labels explain the change of one of them as well, and where no
        window can be degraded as certainly as `ModelPage.is_sudden` asks for.

        Args:
            now: current event time, epoch milliseconds; windows end maturity before it.
            age: the model's maturity, milliseconds.
            cuts: its series by segment key.
        """
        whole, judge, level = cuts._replace(segments=()), self._judge, SUDDEN_LEVEL
        totals = {
            name: self._counts(name, now, age, whole)
            for name in self._windows.names
            if self._windows.length(name) >= DAY_MS and not self._is_open(name, now, age, cuts)
        }
        tested = partial(self._tested, now, age, cuts)
        found = {n: tested(n) for n, one in totals.items() if judge.may_have_fallen_at(one, level)}
        if not any(one is not None and one.verdict in DEGRADED for one in found.values()):
            return None
        others = {n: one for n, one in totals.items() if n not in found}
        found |= {n: tested(n) for n, one in others.items() if judge.may_have_fallen(one)}
        known = [one for n in totals if (one := found.get(n)) is not None]
        return certain_fall(known, sudden=True)

    def of_days(self, days: RecentDays, cuts: Cuts, *, only_dead: bool = False) -> Judgement | None:
        """Judge days of the model; None where nothing can be judged, or labels are at fault.

        Args:
            days: some days that end with the last mature one.
            cuts: its series by segment key.
            only_dead: return None as well where the days are not certainly those of a dead
                model, which mostly takes a fraction of the time. That TPR - FPR is gone is not
                enough: their odds ratio must have fallen (p < .002), or the days be flagged one
                way or by chance.
        """
        if not len(days.cells):
            return None
        opens, closes = int(days.numbers[0]) * DAY_MS, (int(days.numbers[-1]) + 1) * DAY_MS
        counts = Counts(
            days.cells, days.weights, DAY_MS, days.opens, self._scores_of(opens, closes)
        )
        flags = only_dead and self._judge.flags_like_the_dead(counts)
        if only_dead and not (flags or self._judge.has_lost_half(counts)):
            return None
        found = self._judge.tested(counts, cuts)
        if found is None or found.fault:
            return None
        if only_dead and not (flags or fell_at(found.judgement, DEAD_LEVEL)):
            return None
        return found.judgement

    def shows_wrong_labels(self, first: int, end: int) -> bool:
        """Return whether the scores of positives are those of labels that are wrong more often.

        Args:
            first: number of the first of some days since 1970.
            end: number of the day after them.
        """
        before, after = (
            self.reference.scores_by_day,
            self._scores_of(first * DAY_MS, end * DAY_MS)(),
        )
        if before is None or after is None:
            return False
        return label_support(before, after) >= SETTLED

    def trusts_labels(self, days: RecentDays, now: int) -> bool:
        """Return whether the labels of some days show no fault.

        Args:
            days: successive days of the model.
            now: the moment of the test, epoch milliseconds.
        """
        if not len(days.numbers):
            return False
        opens, closes = (int(days.numbers[at]) * DAY_MS for at in (0, -1))
        if self._reports is not None and self._reports.are_missing(opens, closes + DAY_MS, now):
            return False
        return self._judge.fault_of(Counts(days.cells, days.weights, DAY_MS, days.opens)) is None

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
            now: current event time, epoch milliseconds; windows end maturity before it.
            age: the model's maturity, milliseconds.
        """
        length = self._windows.length(name)
        reports = self._reports
        return reports is not None and reports.are_missing(now - age - length, now - age, now)

    def _tested(self, now: int, age: int, cuts: Cuts, name: str) -> Judgement | None:
        """Judge a window by its name; None where it cannot be, or its labels are at fault."""
        found = self._judge.tested(self._counts(name, now, age, cuts), cuts)
        return None if found is None or found.fault else found.judgement

    def _verdict(
        self, name: str, now: int, age: int, cuts: Cuts, fault: LabelFault | None = None
    ) -> WindowVerdict:
        """Return the verdict on a window, judged again only where its counts have changed."""
        if self.reports_are_missing(name, now, age):
            fault = LabelFault.REPORTS_STOPPED
        fault = fault or self._labels.latest_fault(now, age, cuts.totals)
        if self._scatter_of_verdicts is not self.learned.scatter:
            self._scatter_of_verdicts = self.learned.scatter
            self._judged_windows.clear()
        edition = self._windows.edition(name, self._model, now, age)
        closes = self._overlapped(name, now, age)
        known = self._judged_windows.get(name)
        if edition is None or known is None or known.edition != edition:
            known = self._judged_windows[name] = self._seen(name, now, age, cuts, edition)
        if fault is not None:
            return untrusted(fault)
        return known.verdict if closes is None else self._reaching_back(known, now - age - closes)

    def _reaching_back(self, known: _Judged, length_ms: int) -> WindowVerdict:
        """Return the verdict on a window of which only what lies beyond the reference is judged."""
        seen = known.verdict
        if seen.label_fault:
            return NOT_COMPARED
        return replace(
            NOT_COMPARED,
            recall=seen.recall,
            false_positive_rate_above=seen.false_positive_rate_above,
            beyond=BeyondReference(
                length_ms=length_ms,
                verdict=seen.verdict,
                because=seen.because,
                judgement=seen.judgement,
                rests_on=seen.rests_on,
                outcomes=self._judge.total(known.counts),
                attribution=seen.attribution,
                visible_recall=seen.visible_recall,
                worse_values=seen.worse_values,
            ),
        )

    def _overlapped(self, name: str, now: int, age: int) -> int | None:
        """Return the end of the reference where a window reaches back into it; else None."""
        closes = self.reference.closes
        reaches = closes is not None and now - age - self._windows.length(name) < closes
        return closes if reaches else None

    def _is_open(self, name: str, now: int, age: int, cuts: Cuts) -> bool:
        """Return True where a window cannot be judged, or its labels are at fault."""
        if self._overlapped(name, now, age) is not None or self.reports_are_missing(name, now, age):
            return True
        return self._labels.latest_fault(now, age, cuts.totals) is not None

    def _seen(self, name: str, now: int, age: int, cuts: Cuts, edition: Edition | None) -> _Judged:
        """Read the window, and judge it unless its counts are as before."""
        counts = self._counts(name, now, age, cuts)
        known = self._judged_windows.get(name)
        if known is not None and known.holds(counts):
            return known._replace(edition=edition)
        verdict = self._judge.verdict(counts, cuts, known_dead=self._known_dead)
        return _Judged(edition, counts, verdict)

    def _counts(self, name: str, now: int, age: int, cuts: Cuts) -> Counts:
        """Read a window; of one that reaches back into the reference, what lies beyond that."""
        rows = cuts.in_order
        if (closes := self._overlapped(name, now, age)) is not None:
            cells, weights, block_ms = blocks_between(self._windows, rows, closes, now - age)
            found = self._read(cells, weights, block_ms, closes, now - age)
            return found._replace(grows=self._grows)
        block_ms = block_length(self._windows, name, now, age)
        cells = self._windows.blocks(name, rows, now, age, block_ms)
        weights = self._windows.weight_blocks(name, rows, now, age, block_ms)
        opens = now - age - self._windows.length(name)
        return self._read(cells, weights, block_ms, opens, now - age)

    def _read(
        self, cells: Int64Array, weights: Int64Array, block_ms: int, opens: int, closes: int
    ) -> Counts:
        """Return the counts of [opens, closes), whose last block may be shorter."""
        starts = opens + block_ms * np.arange(len(cells), dtype=np.int64)
        return Counts(cells, weights, block_ms, starts, self._scores_of(opens, closes))

    def _scores_of(self, opens: int, closes: int) -> Callable[[], ScoreHistogram | None]:
        """Return what reads the labelled scores of the whole days inside a stretch."""
        if self._scores is None:
            return no_scores
        return partial(self._scores.labelled, self._model, opens, closes)
