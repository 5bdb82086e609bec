"""Labels that audits contradict, and labels among which hardly a positive is missed."""

from __future__ import annotations

import math
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_errors import AuditFindings

MODEST_RECALL = 0.9
"""Recall at which unflagged cases are expected to hold some positives."""
_FEWEST_EXPECTED = 20.0
"""Missed positives that it has to leave before their absence says something."""
_FEWEST_UNFLAGGED = 1_000
_HARDLY_ANY = 0.01
"""Share of the expected missed positives up to which there are hardly any."""
_LIKELY = 0.95
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
    """Outcomes of two stretches of time in which hardly an unflagged case is labelled positive.

    Attributes:
        before: of the earlier one, a scalar.
        after: of the later one, a scalar.
    """

    before: ConfusionCounts
    after: ConfusionCounts

    @staticmethod
    def expected(counts: ConfusionCounts) -> float:
        """Return the missed positives at a recall of `MODEST_RECALL`.

        Args:
            counts: outcomes, a scalar.
        """
        return float(counts.tp) * (1 - MODEST_RECALL) / MODEST_RECALL

    @property
    def audits(self) -> int:
        """Unflagged cases of after that hold a positive with a probability of 95 %, at that recall.

        Drawn at random; at most all of them.
        """
        unflagged = int(self.after.predicted_negative)
        share = min(self.expected(self.after) / unflagged, 0.5)
        return min(math.ceil(math.log(1 - _LIKELY) / math.log1p(-share)), unflagged)


def missing_misses(
    before: ConfusionCounts,
    after: ConfusionCounts,
    labelling: Labelling,
    audits: AuditFindings | None,
) -> MissingMisses | None:
    """Test for unflagged cases without positives, as where only flagged cases are looked at.

    A recall of .9 leaves a missed positive for each nine that are found. Where that is 20 or more,
    there are a thousand unflagged cases, and no more than 1 % of the expected number is labelled
    positive, before and after, recall is nearly 1, or labels follow the decisions.

    Args:
        before: outcomes as labelled, a scalar.
        after: the same.
        labelling: how labels come. Those of a sample, and of flagged cases alone, say nothing.
        audits: what audits show; None without audits.

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
    """
    if labelling not in _TAKEN_AS_THEY_COME or not all(map(_lacks_misses, (before, after))):
        return None
    found = MissingMisses(before, after)
    unflagged = 0 if audits is None else int(audits.cases.audited[0].sum())
    follow = audits is not None and audits.follow_predictions is True
    return None if follow or unflagged >= found.audits else found


def _lacks_misses(counts: ConfusionCounts) -> bool:
    expected = MissingMisses.expected(counts)
    many = expected >= _FEWEST_EXPECTED and int(counts.predicted_negative) >= _FEWEST_UNFLAGGED
    return many and float(counts.fn) <= _HARDLY_ANY * expected
