"""Audits decide whether labels changed or the model, where the rates leave it open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import logit, rel_entr

from monitor.counts import ConfusionCounts
from monitor.drift import Judgement, Verdict
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import BetweenDays, changes
from monitor.drift.dispersion import Dispersion
from monitor.drift.label_quality import LabelChange, WrongLabels, explaining_labels
from monitor.labels.changed_within_ranges import unless_labels_changed
from monitor.labels.error_ranges import Corner, LabelledBlocks, certain_at
from monitor.metrics.audit_likelihood import log_likelihood
from monitor.metrics.audited_errors import AuditedLabels
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.ratio import FloatArray

_TWENTY_TIMES = 5.991464547107982
"""2 ln 20: of twice the log-likelihoods, where one explanation is twenty times as likely."""
_NEAR = 2.0
"""Factor by which the share of wrong labels may differ from the one that explains most."""
_POINTS = 9
_LEAST = 1e-6


AuditedDuring: TypeAlias = Callable[[int, int], AuditedLabels | None]
"""Returns the audited cases between two moments, epoch milliseconds; None without audits."""


def no_audits(opens: int, closes: int) -> AuditedLabels | None:  # noqa: ARG001  # as `AuditedDuring`
    """Return None: no case is audited.

    Args:
        opens: first moment, epoch milliseconds.
        closes: first moment after it.
    """
    return None


class Blamed(StrEnum):
    """What audits blame for a change."""

    MODEL = "model"
    LABELS = "labels"


class AuditedWindow(NamedTuple):
    """A window whose judgement audits may decide.

    Attributes:
        whole: outcomes before and after, one axis each.
        dispersion: variance of rows over that of independent ones.
        between: what the scatter of days adds.
        corners: the comparison at the ends of the ranges of wrong labels.
        labelled: blocks of the outcomes after, and the rates of wrong labels that they are
            corrected for; None where they are not.
        audited: returns the audited cases of a part of the window; None where there are none.
        days: outcomes before and after by days; None where they are not known by days.
        usual: blocks of the outcomes before, as `labelled`; the outcomes where counts were given;
            None where they are not corrected.
    """

    whole: ComparedOutcomes
    dispersion: Dispersion
    between: BetweenDays | None
    corners: tuple[Corner, ...]
    labelled: LabelledBlocks | None
    audited: AuditedDuring
    days: ComparedOutcomes | None = None
    usual: LabelledBlocks | ConfusionCounts | None = None

    def judged(self, ask: Callable[[LabelChange | None], tuple[Judgement, bool | None]]) -> Judged:
        """Judge the window as far as it holds at all corners, and as its audits decide.

        Args:
            ask: `judge_on_curve` of the window, by `by_labels`.
        """
        middle, below = ask(None)
        judgement = certain_at(middle, self.corners, self.between, days=self.days)
        compared = (self.whole, *(ComparedOutcomes(*one[:2]) for one in self.corners))
        judgement = unless_labels_changed(judgement, compared, self.usual, self.labelled)
        blamed = self._blamed(judgement.label_change) if judgement.labels_may_explain else None
        if blamed is Blamed.LABELS:
            verdict = Verdict.LABELS_NOT_TRUSTWORTHY
            judgement = replace(judgement, verdict=verdict, by_audits=True)
        if blamed is Blamed.MODEL:
            none = LabelChange.NONE
            middle, below = ask(none)
            judgement = certain_at(
                middle, self.corners, self.between, days=self.days, by_labels=none
            )
        if self.corners:
            below = judgement.below_reference_curve
        return Judged(judgement, middle, below)

    def _blamed(self, change: LabelChange) -> Blamed | None:
        if self.labelled is None:
            return None
        before, blocks = self.whole
        first = changed_since(before.sum(axis=-1), blocks)
        opens = self.labelled.opens
        found = self.audited(int(opens[first]), int(opens[-1]) + 1)
        if found is None:
            return None
        changed = ConfusionCounts.from_cells(blocks.cells[first:])
        moved = changes(before, changed, self.dispersion, self.between)
        explains = explaining_labels(before.sum(axis=-1), changed.sum(axis=-1), moved, change)
        return blamed_by_audits(found, self.labelled.errors, explains)


class Judged(NamedTuple):
    """A judgement of a window.

    Attributes:
        judgement: as far as it holds at all corners.
        middle: at the middle of the ranges of wrong labels.
        below_curve: whether recall lies below the ROC curve of before, at all corners; None for not
            known.
    """

    judgement: Judgement
    middle: Judgement
    below_curve: bool | None


def changed_since(before: ConfusionCounts, blocks: ConfusionCounts) -> int:
    """Return the block from which on the labels of a window differ most from those of before.

    Audits of earlier blocks are of labels before the change, and say nothing of it.

    Args:
        before: outcomes to compare with, a scalar.
        blocks: outcomes of the window by blocks of time along one axis, at least one.

    Returns:
        Its place. From it on, shares of positive labels among flagged and unflagged cases of their
        own are most likely, beside those of before until then.

    >>> before = ConfusionCounts(tp=160, fp=98, fn=40, tn=9_702)
    >>> blocks = ConfusionCounts(tp=[16] * 4, fp=[10] * 4, fn=[4, 4, 14, 14], tn=[970] * 4)
    >>> changed_since(before, blocks)
    2
    """
    usual = before.cells.reshape(2, 2) + 0.5
    cases = blocks.cells.reshape(-1, 2, 2)
    since = np.cumsum(cases[::-1], axis=0)[::-1]
    usual_shares, shares = (
        one / np.maximum(one.sum(axis=-1, keepdims=True), 1) for one in (usual, since)
    )
    gained = since.sum(axis=-1) * rel_entr(shares, usual_shares).sum(axis=-1)
    return int(gained.sum(axis=-1).argmax())


def blamed_by_audits(
    found: AuditedLabels, known: ErrorRates, explains: WrongLabels
) -> Blamed | None:
    """Return whether the audits of a window blame its labels, or the model.

    The audits of the window are as likely as the most likely rates of two kinds make them: the
    rates that are known, within their limits; and these with the share of wrong labels that
    explains the change, by a factor of two either way.

    Args:
        found: audited and labelled cases of the window.
        known: rates of wrong labels that its outcomes are corrected for.
        explains: the labels that explain the change.

    Returns:
        What is blamed where one kind is twenty times as likely as the other; None for neither, and
        where the rates are not known.

    Source:
        Royall 1997, ch. 1 (a likelihood ratio of twenty misleads in 5 % of cases at most).

    >>> known, labelled = ErrorRates.within((0.0, 0.002), 0.0), np.array([[9_000, 90], [20, 190]])
    >>> right, wrong = np.zeros((2, 2, 2, 2), dtype=np.int64)
    >>> right[0, 1, 1], wrong[0, 1] = 20, (18, 2)
    >>> explains = WrongLabels(0.009, 0.0, more=True)
    >>> [str(blamed_by_audits(AuditedLabels(one, labelled), known, explains))
    ...  for one in (right, wrong)]
    ['model', 'labels']
    """
    if not (known.known and found.audited.any()):
        return None
    usual = [
        np.linspace(rate - below, rate + above, _POINTS)
        for rate, below, above in (
            (known.false_positive, known.false_positive_below, known.false_positive_above),
            (known.false_negative, known.false_negative_below, known.false_negative_above),
        )
    ]
    times = np.geomspace(1 / _NEAR, _NEAR, _POINTS) * (1 if explains.more else -1)
    others = [
        known_rates[:, None] + share * times
        for known_rates, share in zip(
            usual, (explains.of_negatives, explains.of_positives), strict=True
        )
    ]
    of_model, of_labels = (_greatest(found, *map(np.ravel, rates)) for rates in (usual, others))
    ratio = 2 * (of_model - of_labels)
    if abs(ratio) <= _TWENTY_TIMES:
        return None
    return Blamed.MODEL if ratio > 0 else Blamed.LABELS


def _greatest(found: AuditedLabels, first: FloatArray, second: FloatArray) -> float:
    """Return the greatest log-likelihood of some rates."""
    logits = [logit(np.clip(one, _LEAST, 1 - _LEAST))[None] for one in (first, second)]
    value = log_likelihood(found.audited[None, None], found.labelled[None, None], *logits)
    return float(value.max())
