"""Judges counts of a model against its reference: verdict, causes, and what is excluded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.drift import Judgement, Status, Verdict, attribute
from monitor.drift.all_looks import Looks
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import BetweenDays, changes
from monitor.drift.components import Component, SmoothedRates
from monitor.drift.day_scatter import days_behind
from monitor.drift.detectors import is_too_small
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import change_within_days, flags_by_chance, judge_on_curve
from monitor.drift.no_skill import flags_one_way, separates_nothing
from monitor.drift.odds_ratio_within import in_days
from monitor.drift.recall_evidence import (
    Because,
    false_positive_rate_above,
    fewest_outcomes,
    recall_evidence,
    visible_recall,
)
from monitor.drift.verdict import OF_THE_MODEL
from monitor.drift.worse_values import MAY_HIDE
from monitor.events.columns import Int64Array
from monitor.labels.audits_decide import AuditedDuring, AuditedWindow, no_audits
from monitor.labels.checks import in_order
from monitor.labels.error_ranges import LabelledBlocks, at_corners
from monitor.labels.faults import LabelFault
from monitor.labels.regime import SAMPLES, LabelRegime
from monitor.labels.sampled_labels import expected, labels_by_stratum
from monitor.labels.widened import (
    RangeFindings,
    why_open_within,
    widened,
    widened_false_positive_rate,
    widened_recall,
)
from monitor.metrics.rates import recall as usual_recall
from monitor.verdicts import NOT_COMPARED, WindowVerdict
from monitor.watch.cuts import Cuts
from monitor.watch.judged_counts import UNJUDGED, Counts, Tested, ratio_change, untrusted
from monitor.watch.model_days import LearnedScatter
from monitor.watch.reference import MatureReference
from monitor.watch.within_cuts import WithinCuts

FaultBehind: TypeAlias = Callable[[Int64Array, float], LabelFault | None]

_CLEARLY = 2.0
_CHANCE = 0.005
"""Probability that a judge calls a component fallen, or risen, by chance."""


class CountsJudge:
    """Judges counts of one model against one reference; `Judge` reads them of windows.

    Where segments are configured, a verdict that blames the model must hold within the
    values of every segment key. Where it does not, the mix has changed, and the verdict
    within the values is taken. The segments of a class of a model of many are the actual classes,
    and the verdict within these is always taken.

    Args:
        reference: what is compared with.
        regime: how labels come, and how often they are wrong.
        learned: how days scatter.
        fault_behind: returns the fault of labels, counts by blocks of time, (blocks, 6), that
            explains half of a shift of the log class ratio, or more; see `LabelChecks`.
        alike: how many judges judge the same model, each a class of it; the errors of each are
            widened so that all together call as few changes by chance as one does alone.
        audited: returns the audited cases of a stretch of time.
    """

    def __init__(
        self,
        reference: MatureReference,
        regime: LabelRegime,
        learned: LearnedScatter,
        fault_behind: FaultBehind,
        alike: int = 1,
        *,
        audited: AuditedDuring = no_audits,
    ) -> None:
        self._reference = reference
        self._regime = regime
        self._learned = learned
        self._fault_behind = fault_behind
        self._alike = alike
        self._audited = audited
        self._by_day = reference.blocks if (days := reference.by_day) is None else days
        self._days_behind = reference.days_behind
        self._sampling = reference.sampling(regime)
        self._widening = float(ndtri(_CHANCE / alike) / ndtri(_CHANCE)) ** 2
        self._curve = reference.curve(regime)
        self._too_small = is_too_small(reference.counts)

    def total(self, counts: Counts) -> ConfusionCounts:
        """Return all outcomes of some counts as labels come, a scalar.

        Args:
            counts: of a stretch of time.
        """
        return self._totals(counts)[0].sum(axis=-1)

    def fault_of(self, counts: Counts) -> LabelFault | None:
        """Return what is wrong with the labels of some counts, without judging the model.

        Args:
            counts: of a stretch of time.
        """
        cells, weights, *_ = counts
        if not self._has_both_strata(cells[:, 0].sum(axis=0), weights[:, 0].sum(axis=0)):
            return None
        after = self.total(counts)
        return self._fault_behind(cells[:, 0], ratio_change(self._reference.counts, after))

    def may_have_fallen(self, counts: Counts) -> bool:
        """Return whether it is worth judging counts for a fall of the odds ratio, or a dead model.

        Args:
            counts: of a stretch of time.

        Returns:
            False where the errors of rows alone, which are less than those of days and rows,
            leave the fall within two standard errors, and the model cannot be dead.
        """
        blocks, _ = self._totals(counts)
        old, new = (SmoothedRates.of(one) for one in (self._reference.counts, blocks.sum(axis=-1)))
        change = new.components()[Component.ODDS_RATIO] - old.components()[Component.ODDS_RATIO]
        variance = old.variances(Dispersion.of(1.0)) + new.variances(Dispersion.of(1.0))
        fallen = change < -_CLEARLY * np.sqrt(variance[Component.ODDS_RATIO])
        return bool(fallen) or self.may_be_dead(counts)

    def may_have_fallen_at(self, counts: Counts, level: float) -> bool:
        """Return whether judging counts may give a certain fall of the odds ratio, or a dead model.

        Args:
            counts: of a stretch of time.
            level: of the interval of the fall, in (0, 1).

        Returns:
            As `may_have_fallen` for a class of many, which is judged within the others.
        """
        if self._alike > 1:
            return self.may_have_fallen(counts)
        blocks, sampling = self._totals(counts)
        days = self._by_days(blocks, counts.block_ms)
        dispersion = self._dispersion(sampling)
        between = self._between(days_behind(days.after.total, 1))
        found = changes(self._reference.counts, blocks, dispersion, between)
        found = found.within_days(change_within_days(days))
        return found.fell(Component.ODDS_RATIO, level) or self.may_be_dead(counts)

    def may_be_dead(self, counts: Counts) -> bool:
        """Return whether it is worth judging counts for a dead model.

        Args:
            counts: of a stretch of time.

        Returns:
            False where half of TPR - FPR is left, and the days are not those of a model that
            flags one way, or by chance.
        """
        return self.has_lost_half(counts) or self.flags_like_the_dead(counts)

    def has_lost_half(self, counts: Counts) -> bool:
        """Return whether less than half of the TPR - FPR of the reference is left.

        Args:
            counts: of a stretch of time.
        """
        blocks, _ = self._totals(counts)
        old, new = (SmoothedRates.of(one) for one in (self._reference.counts, blocks.sum(axis=-1)))
        usual, left = (one.recall - one.false_positive_rate for one in (old, new))
        return bool(left < usual / 2)

    def flags_like_the_dead(self, counts: Counts) -> bool:
        """Return whether a model flags one way, or by chance, whatever its rates are.

        Args:
            counts: of a stretch of time.
        """
        blocks, sampling = self._totals(counts)
        if flags_one_way(self._reference.counts, blocks.sum(axis=-1)):
            return True
        days = self._by_days(blocks, counts.block_ms)
        between = self._between(days_behind(days.after.total, 1))
        return flags_by_chance(days, self._dispersion(sampling), between)

    def tested(self, counts: Counts, cuts: Cuts, *, known_dead: bool = False) -> Tested | None:
        """Judge counts.

        Args:
            counts: of a stretch of time.
            cuts: the model's series by segment key.
            known_dead: see `flags_by_chance`.

        Returns:
            None where there is nothing to judge, and where the reference is too small.
        """
        if self._too_small:
            return None
        cells, weights, block_ms, opens, scores_after, grows = counts
        if not self._has_both_strata(cells[:, 0].sum(axis=0), weights[:, 0].sum(axis=0)):
            return None
        outcomes, sampling = expected(self._regime, cells, weights, opens)
        outcomes = np.moveaxis(outcomes, 0, 1)
        after = ConfusionCounts.from_cells(outcomes[0])
        if not after.total.any():
            return None
        dispersion = self._dispersion(sampling)
        days = self._by_days(after, block_ms)
        between = self._between(days_behind(days.after.total, 1))
        within = WithinCuts(self._reference, outcomes[1:], cuts)
        labelled = LabelledBlocks(self._regime, cells[:, 0], opens)
        usual = self._reference.labelled_blocks(self._regime)
        corners = at_corners(usual, labelled, self._reference.scores_by_day)
        whole = ComparedOutcomes(self._reference.blocks, after)
        window = AuditedWindow(
            whole, dispersion, between, corners, labelled, self._audited, days, usual
        )
        judgement, middle, _ = window.judged(
            lambda by_labels: judge_on_curve(
                whole,
                dispersion,
                between=between,
                scores=self._curve,
                scores_after=None if self._regime.has_errors else scores_after,
                by_key=within.by_key(),
                days=days,
                by_version=within.by_version(days, partial(self._by_days, block_ms=block_ms)),
                known_dead=known_dead,
                by_labels=by_labels,
            )
        )
        fault = self._fault_behind(cells[:, 0], judgement.change["class_ratio"])
        if fault is None and not (judgement.label_errors_changed or labelled.rates_fit):
            fault = LabelFault.LABEL_ERRORS_TOO_HIGH
        if self._alike > 1 or judgement.verdict in OF_THE_MODEL:
            judgement = middle = within.judged(judgement, dispersion, between, alike=self._alike)
        looks = Looks(after.shape[-1] * block_ms / max(DAY_MS, block_ms), grows)
        total = after.sum(axis=-1)
        return Tested(judgement, middle, fault, total, looks, dispersion, between, corners, within)

    def verdict(self, counts: Counts, cuts: Cuts, *, known_dead: bool = False) -> WindowVerdict:
        """Return the verdict on counts, their causes, and what they exclude.

        Args:
            counts: of a stretch of time.
            cuts: the model's series by segment key.
            known_dead: see `flags_by_chance`.
        """
        tested = self.tested(counts, cuts, known_dead=known_dead)
        if tested is None:
            if (fault := self.fault_of(counts)) is not None:
                return untrusted(fault)
            return NOT_COMPARED if self._too_small else UNJUDGED
        judgement, middle, fault, total, looks, dispersion, between, corners, within = tested
        if fault is not None:
            return untrusted(fault)
        fewest = fewest_outcomes(total, judgement)
        before, because = self._reference.counts, None
        causes = attribute(before, total, dispersion, between=between)
        found = widened(causes, corners, between)
        if judgement.label_errors_changed:
            changed = untrusted(LabelFault.LABEL_ERRORS_CHANGED)
            return replace(changed, judgement=judgement, as_labelled=found, rests_on=fewest)
        seen = recall_evidence(total, dispersion, between, looks)
        recall = widened_recall(seen, corners, between, looks)
        above = false_positive_rate_above(total, dispersion, between, looks)
        if judgement.verdict is Verdict.INSUFFICIENT_EVIDENCE:
            because = Because.NO_REFERENCE
            if not separates_nothing(before):
                usual = float(usual_recall(before))
                because = why_open_within(
                    RangeFindings(judgement, found, recall),
                    RangeFindings(middle, causes, seen),
                    usual,
                    fewest=fewest,
                )
        return WindowVerdict(
            verdict=judgement.verdict,
            judgement=judgement,
            attribution=found,
            labels_in_order=self._in_order(counts.cells[:, 0], judgement),
            because=because,
            rests_on=fewest,
            recall=recall,
            false_positive_rate_above=widened_false_positive_rate(above, corners, between, looks),
            visible_recall=visible_recall(before, total, judgement),
            worse_values=within.worse(between, looks.days) if self._names_values(judgement) else (),
        )

    def _names_values(self, judgement: Judgement) -> bool:
        """Return whether segment values that became worse are named beside what all cases show."""
        plain = self._regime.labelling not in SAMPLES and not self._regime.has_errors
        return plain and self._alike == 1 and judgement.verdict in MAY_HIDE

    def _totals(self, counts: Counts) -> tuple[ConfusionCounts, Dispersion | None]:
        """Return the outcomes of all predictions by block, and what a sample of labels adds."""
        outcomes, sampling = expected(
            self._regime, counts.cells[:, :1], counts.weights[:, :1], counts.opens
        )
        return ConfusionCounts.from_cells(outcomes[:, 0]), sampling

    def _by_days(self, after: ConfusionCounts, block_ms: int) -> ComparedOutcomes:
        """Return the reference by days, or as it was given, and blocks of time by days."""
        return ComparedOutcomes(self._by_day, in_days(after, max(1, DAY_MS // block_ms)))

    def _in_order(self, cells: Int64Array, judgement: Judgement) -> bool:
        if self._regime.labelling is Labelling.COMPLETE:
            return in_order(self._reference.labelling, cells)
        return judgement.status["class_ratio"] is Status.CLEAN

    def _has_both_strata(self, cells: Int64Array, weights: Int64Array) -> bool:
        """Return whether a sample of labels covers predicted positives and negatives."""
        labelling = self._regime.labelling
        return labelling not in SAMPLES or min(labels_by_stratum(labelling, cells, weights)) > 0

    def _dispersion(self, sampling: Dispersion | None) -> Dispersion:
        """Return the variance of rows over that of independent ones, of window or reference."""
        found = self._sampling.larger(sampling)
        return found if self._widening == 1 else found.times(self._widening)

    def _between(self, after_days: float) -> BetweenDays:
        """Return what the scatter of days adds to the errors of a change."""
        wider = self._widening
        found = self._learned.scatter.between(self._days_behind, after_days)
        return found._replace(before=found.before * wider, after=found.after * wider)
