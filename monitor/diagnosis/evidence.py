"""Which labelling regimes allow which conclusions; what cannot be known is refused, not guessed."""

from __future__ import annotations

from typing import NamedTuple

from monitor.config import Labelling


class Refusal(NamedTuple):
    """What cannot be known from labels that come this way.

    Attributes:
        reason: why, for a person.
        keeps_precision: precision alone can be known all the same.
    """

    reason: str
    keeps_precision: bool


_REFUSALS = {
    Labelling.FLAGGED_ONLY: Refusal(
        "labelling flagged_only: only predicted positives are ever labelled, so that recall, "
        "false positives and prevalence cannot be known, nor why precision moved",
        keeps_precision=True,
    ),
    Labelling.SAMPLED: Refusal(
        "labelling sampled: predicted positives and negatives are labelled at different rates; "
        "diagnose does not weigh them yet, so that nothing but precision stands for all",
        keeps_precision=True,
    ),
    Labelling.WEIGHTED: Refusal(
        "labelling weighted: labels carry a sampling probability; "
        "diagnose does not weigh them yet, so that no ratio of them stands for all",
        keeps_precision=False,
    ),
    Labelling.NEGATIVES_BY_TIMEOUT: Refusal(
        "labelling negatives_by_timeout: silence is a negative; "
        "diagnose does not count silence yet, so that negatives are missing",
        keeps_precision=False,
    ),
}


def refusal(labelling: Labelling) -> Refusal | None:
    """What cannot be known under a labelling regime; None where everything can.

    >>> refusal(Labelling.COMPLETE) is None, refusal(Labelling.FLAGGED_ONLY).keeps_precision
    (True, True)
    """
    return _REFUSALS.get(labelling)
