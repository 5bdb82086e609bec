"""Labels that audits contradict, and labels among which hardly a positive is missed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, chdtri, expit, logit, pdtr

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.labels.regime import LabelRegime
from monitor.metrics.audit_likelihood import greatest_log_likelihood, log_likelihood
from monitor.metrics.audited_errors import AuditFindings
from monitor.metrics.calibration import calibration_line, middles
from monitor.metrics.histogram import ScoreHistogram

MODEST_RECALL = 0.9
"""Recall at which unflagged cases are expected to hold some positives."""
_FEWEST_EXPECTED = 20.0
"""Missed positives that it has to leave before their absence says something."""
_FEWEST_UNFLAGGED = 1_000
_HARDLY_ANY = 0.01
"""Share of the expected missed positives up to which there are hardly any."""
_LIKELY = 0.95
HIGH_RECALL = 0.999
"""Recall above which hardly a model is: where it would leave missed positives, they are missing."""
_BY_CHANCE = 0.001
_LEAST_PART = 1 / 3
"""Part of the missed positives that scores show which there are at least."""
_FEWEST_CONFIRMED = 300
"""Flagged cases of which, at a precision of .99, one would be labelled negative (p = .95)."""
MODEST_PRECISION = 0.9
"""Precision at which flagged cases are expected to hold some false positives."""
_LEAST_RATE = 1e-6
_PLACES = 25
"""Rates of a range that are compared with what audits show."""
_TAKEN_AS_THEY_COME = frozenset({Labelling.COMPLETE, Labelling.NEGATIVES_BY_TIMEOUT})


def uncorrected(found: AuditFindings | None, regime: LabelRegime) -> bool:
    """Return whether audits found wrong labels that outcomes are not corrected for.

    Args:
        found: what audits show; None without audits.
        regime: how often labels are taken to be wrong.

    Returns:
        True where the rates changed and are taken to be the same all the time, and where labels
        were found to be wrong and are taken as they are.
    """
    if found is None:
        return False
    if found.earlier and not regime.earlier:
        return True
    stretches = (found, *(one for _, one in found.earlier))
    wrong = sum(int(one.cases.audited[:, (0, 1), (1, 0)].sum()) for one in stretches)
    return bool(wrong) and not regime.has_errors


def contradicted(found: AuditFindings | None, regime: LabelRegime) -> bool:
    """Return whether audits certainly (p < .001) show other rates than those that were configured.

    Args:
        found: what audits show; None without audits.
        regime: how often labels are taken to be wrong.

    Returns:
        False where no rates are configured, where labels exclude them, and with fewer audits than
        rates are learned from.
    """
    is_configured = regime.has_errors and not regime.is_learned and regime.errors.known
    if found is None or not is_configured or not found.rates.known:
        return False
    audited, labelled = (part[None, None] for part in found.cases)
    seen = found.cases.audited.sum(axis=(0, 1)).tolist()
    ends = (regime.errors.ranges.get(name, (one, one)) for name, one in regime.errors.rates.items())
    places = [
        # Half an audit is wrong in the likelihood even where the rate is 0.
        logit(np.geomspace(max(low, _LEAST_RATE), max(high, 0.5 / (1 + actual)), _PLACES))[None]
        for (low, high), actual in zip(ends, seen, strict=True)
    ]
    possible = float(log_likelihood(audited, labelled, *places).max())
    lost = 2 * (float(greatest_log_likelihood(audited, labelled)[0]) - possible)
    return bool(lost > chdtri(len(places), _BY_CHANCE))


def changed_between(found: AuditFindings, opens: int | None, closes: int | None) -> bool:
    """Return whether audits show that rates of wrong labels changed within a stretch of time.

    Args:
        found: what audits show.
        opens: first moment, epoch milliseconds; None for an unknown one.
        closes: first moment after it; None likewise.
    """
    first, end = -math.inf if opens is None else opens, math.inf if closes is None else closes
    return any(first < day * DAY_MS < end for day, _ in found.earlier)


class MissingMisses(NamedTuple):
    """Outcomes of two stretches of time: of both, or one, hardly an unflagged case is positive.

    Attributes:
        before: of the earlier one, a scalar.
        after: of the later one, a scalar.
        by_scores: positives among the unflagged cases of after with the highest scores, as
            many as are flagged, as the scores of flagged cases show (`misses_by_scores`); NaN where
            they show nothing, and where as few as are labelled may be all.
    """

    before: ConfusionCounts
    after: ConfusionCounts
    by_scores: float = math.nan

    @staticmethod
    def expected(counts: ConfusionCounts, recall: float = MODEST_RECALL) -> float:
        """Return the missed positives at a recall.

        Args:
            counts: outcomes, a scalar.
            recall: in (0, 1).
        """
        return float(counts.tp) * (1 - recall) / recall

    @property
    def lacking(self) -> tuple[ConfusionCounts, ...]:
        """Outcomes of the stretches that lack missed positives, the earlier one first."""
        if self.of_before_alone:
            return (self.before,)
        return (self.after,) if self.of_after_alone else (self.before, self.after)

    @property
    def of_before_alone(self) -> bool:
        """True where the later stretch has missed positives, and the earlier one lacks them."""
        return _lacks_misses(self.before) and not _lacks_misses(self.after)

    @property
    def of_after_alone(self) -> bool:
        """True where the earlier stretch has missed positives, and the later one lacks them."""
        return _lacks_misses(self.after) and not _lacks_misses(self.before)

    @property
    def repeat(self) -> bool:
        """True where labels are the predictions, without exception."""
        return not any(int(side.fp) or int(side.fn) for side in self.lacking)

    @property
    def are_evident(self) -> bool:
        """True where more than high recall speaks for labels that follow the decisions.

        Scores show missed positives; labels repeat the predictions; or recall is beyond .999.
        Elsewhere a recall of .999 leaves as few missed positives.
        """
        beyond = all(_lacks_misses(side, HIGH_RECALL) for side in self.lacking)
        return self.repeat or beyond or not math.isnan(self.by_scores)

    @property
    def audits(self) -> int:
        """Unflagged cases that hold a positive with a probability of 95 %, at that recall.

        Of after, or of before where that alone lacks them; drawn at random; at most all of them.
        """
        side = self.lacking[-1]
        unflagged = int(side.predicted_negative)
        share = min(self.expected(side) / unflagged, 0.5)
        return min(math.ceil(math.log(1 - _LIKELY) / math.log1p(-share)), unflagged)


def missing_misses(
    before: ConfusionCounts,
    after: ConfusionCounts,
    labelling: Labelling,
    audits: AuditFindings | None,
    scores: ScoreHistogram | None = None,
) -> MissingMisses | None:
    """Test for unflagged cases without positives, as where only flagged cases are looked at.

    A recall of .9 leaves a missed positive for each nine that are found. Where that is 20 or more,
    there are a thousand unflagged cases, and no more than 1 % of the expected number is labelled
    positive, before and after, recall is nearly 1, or labels follow the decisions. So it is where
    one of both lacks them alone, and the other one has certainly (p < .001) more: labels came to
    follow the decisions, or no longer do.

    Args:
        before: outcomes as labelled, a scalar.
        after: the same.
        labelling: how labels come. Those of a sample, and of flagged cases alone, say nothing.
        audits: what audits show; None without audits.
        scores: labelled cases of after by score; None where they have none.

    Returns:
        None where the labels show no such thing, and where audits answer: those of as many
        unflagged cases as `MissingMisses.audits`, or of labels that follow the predictions.

    >>> confirmed = ConfusionCounts(tp=500, fp=20, fn=0, tn=9_500)
    >>> found = missing_misses(confirmed, confirmed, Labelling.COMPLETE, None)
    >>> round(found.expected(confirmed)), found.audits
    (56, 511)
    >>> missed = ConfusionCounts(tp=500, fp=20, fn=5, tn=9_500)
    >>> missing_misses(confirmed, missed, Labelling.COMPLETE, None) is None
    True
    >>> many_missed = ConfusionCounts(tp=500, fp=20, fn=250, tn=9_250)
    >>> missing_misses(many_missed, confirmed, Labelling.COMPLETE, None).of_after_alone
    True
    """
    if labelling not in _TAKEN_AS_THEY_COME:
        return None
    lack = _lacks_misses(before), _lacks_misses(after)
    if not any(lack) or not (all(lack) or _has_fewer_misses(before, after, lack)):
        return None
    shown = _shown_by(scores, after) if lack[1] and scores is not None else math.nan
    found = MissingMisses(before, after, shown)
    unflagged = 0 if audits is None else int(audits.cases.audited[0].sum())
    follow = audits is not None and audits.follow_predictions is True
    return None if follow or unflagged >= found.audits else found


def confirmations_to_audit(counts: ConfusionCounts, audits: AuditFindings | None) -> int:
    """Test for labels that may confirm whatever is flagged: no flagged case is labelled negative.

    Where unflagged cases are labelled, `missing_misses` tests more.

    Args:
        counts: outcomes as labelled, a scalar.
        audits: what audits show; None without audits.

    Returns:
        Flagged cases, drawn at random, that hold a false positive with a probability of 95 % at a
        precision of .9. 0 where a label of a flagged case is negative, where an unflagged case is
        labelled, of fewer than 300 labels, and where as many flagged cases are audited.

    >>> confirmed = ConfusionCounts(tp=500, fp=0, fn=0, tn=0)
    >>> confirmations_to_audit(confirmed, None)
    29
    >>> confirmations_to_audit(ConfusionCounts(tp=500, fp=1, fn=0, tn=0), None)
    0
    """
    if int(counts.fp) or int(counts.predicted_negative) or int(counts.tp) < _FEWEST_CONFIRMED:
        return 0
    needed = math.ceil(math.log(1 - _LIKELY) / math.log(MODEST_PRECISION))
    flagged = 0 if audits is None else int(audits.cases.audited[1].sum())
    return needed if flagged < needed else 0


def misses_by_scores(scores: ScoreHistogram, flagged: float) -> tuple[float, int]:
    """Return how many positives unflagged cases hold, as scores of flagged ones show.

    The rate of positives by score among flagged cases (`calibration_line`) is carried on to the
    unflagged cases next to them, as many as are flagged. Labels that follow the decisions break
    off there.

    Args:
        scores: labelled cases by score, (bins,).
        flagged: share of the cases that is predicted positive: those of the highest scores.

    Returns:
        Expected positives, and labelled ones. NaN where flagged cases have no calibration line
        that rises, as where all of them are labelled positive.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> followed = ScoreHistogram(
    ...     positive=np.array([0, 0, 0, 0, 60, 70, 80, 90]),
    ...     negative=np.array([900, 200, 100, 100, 40, 30, 20, 10]),
    ...     unlabelled=np.zeros(8, dtype=np.int64))
    >>> expected, labelled = misses_by_scores(followed, 400 / 1_700)
    >>> round(expected), labelled
    (154, 0)
    """
    cases, places = scores.positive + scores.negative, np.arange(scores.bins)
    at_least = np.cumsum(cases[::-1])[::-1]
    first = int(np.argmin(np.abs(at_least - flagged * cases.sum())))
    line = calibration_line(
        ScoreHistogram(
            positive=np.where(places >= first, scores.positive, 0),
            negative=np.where(places >= first, scores.negative, 0),
            unlabelled=np.zeros_like(cases),
        )
    )
    if not line.slope > 0:  # NaN likewise
        return math.nan, 0
    near = (places < first) & (at_least <= 2 * at_least[first])
    rate = expit(line.intercept + line.slope * logit(middles(scores.bins)))
    return float(cases[near] @ rate[near]), int(scores.positive[near].sum())


def _shown_by(scores: ScoreHistogram, counts: ConfusionCounts) -> float:
    """Return `misses_by_scores`; NaN unless fewer are labelled than a third of them by chance."""
    expected, labelled = misses_by_scores(scores, float(counts.predicted_positive / counts.total))
    shows = pdtr(labelled, _LEAST_PART * expected) < _BY_CHANCE
    return expected if shows else math.nan


def _lacks_misses(counts: ConfusionCounts, recall: float = MODEST_RECALL) -> bool:
    expected = MissingMisses.expected(counts, recall)
    many = expected >= _FEWEST_EXPECTED and int(counts.predicted_negative) >= _FEWEST_UNFLAGGED
    return many and float(counts.fn) <= _HARDLY_ANY * expected


def _has_fewer_misses(
    before: ConfusionCounts, after: ConfusionCounts, lack: tuple[bool, bool]
) -> bool:
    """Return whether the one that lacks missed positives has certainly fewer than the other."""
    one, other = (before, after) if lack[0] else (after, before)
    positives = int(one.actual_positive), int(other.actual_positive)
    missed = int(one.fn) + int(other.fn)
    return bool(bdtr(int(one.fn), missed, positives[0] / sum(positives)) < _BY_CHANCE)
