"""Rates of wrong labels by segment value, where audits show that they differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.special import chdtri

from monitor.metrics.audit_likelihood import greatest_log_likelihood
from monitor.metrics.audited_errors import AuditedLabels, AuditedValue, learned_rates

_BY_CHANCE = 0.001
"""Probability that values of a key differ by chance; audits are looked at again and again."""


def differing_values(segment: str, cases: Mapping[str, AuditedLabels]) -> tuple[AuditedValue, ...]:
    """Return the rates of wrong labels of each value of a segment key, where they certainly differ.

    Args:
        segment: the key.
        cases: audited and labelled ones of its values.

    Returns:
        Nothing where the same rates fit all values that have audits enough (likelihood ratio,
        p < .001; shares of positives differ all the same), or fewer than two have.

    >>> audited = np.array([[[250, 0], [197, 53]], [[245, 5], [11, 239]]])
    >>> labelled = np.array([[28_843, 360], [578, 219]])
    >>> found = AuditedLabels(audited, labelled)
    >>> differing_values("site", {"a": found, "b": found})
    ()
    """
    enough = {value: found for value, found in cases.items() if found.are_enough}
    if len(enough) < 2:  # noqa: PLR2004  # one value differs from none
        return ()
    audited, labelled = (np.stack(part) for part in zip(*enough.values(), strict=True))
    apart = greatest_log_likelihood(audited[:, None], labelled[:, None]).sum()
    gain = 2 * (apart - greatest_log_likelihood(audited[None], labelled[None])[0])
    if gain <= chdtri(2 * (len(enough) - 1), _BY_CHANCE):
        return ()
    found = [
        AuditedValue(segment, value, cases, learned_rates(cases)) for value, cases in enough.items()
    ]
    return tuple(one for one in found if one.rates.known)
