"""Rates of wrong labels by segment value, where audits show that they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import chdtri

from monitor.metrics.audit_likelihood import greatest_log_likelihood
from monitor.metrics.audited_errors import AuditedLabels, AuditedValue, learned_rates_of

_FEWEST_VALUES = 2
_BY_CHANCE = 0.001
"""Probability that values of a key differ by chance; audits are looked at again and again."""


def differing_values(
    segment: str, stretches: Sequence[Mapping[str, AuditedLabels]]
) -> tuple[AuditedValue, ...]:
    """Return the rates of wrong labels of each value of a segment key, where they certainly differ.

    Args:
        segment: the key.
        stretches: audited and labelled cases of its values, between the changes of the rates of the
            whole, the oldest first.

    Returns:
        The values with audits enough in every stretch, and rates there. Nothing where the same
        rates fit them all in each stretch (likelihood ratio, p < .001; shares of positives differ
        all the same), or there are fewer than two of them.

    >>> audited = np.array([[[250, 0], [197, 53]], [[245, 5], [11, 239]]])
    >>> labelled = np.array([[28_843, 360], [578, 219]])
    >>> found = AuditedLabels(audited, labelled)
    >>> differing_values("site", [{"a": found, "b": found}])
    ()
    """
    enough = [{v for v, cases in one.items() if cases.are_enough} for one in stretches]
    values = [value for value in stretches[-1] if all(value in held for held in enough)]
    if len(values) < _FEWEST_VALUES:
        return ()
    gain = 0.0
    for cases in stretches:
        held = [cases[value] for value in values]
        audited, labelled = (np.stack(part) for part in zip(*held, strict=True))
        apart = greatest_log_likelihood(audited[:, None], labelled[:, None]).sum()
        gain += 2 * (apart - greatest_log_likelihood(audited[None], labelled[None])[0])
    if gain <= chdtri(2 * (len(values) - 1) * len(stretches), _BY_CHANCE):
        return ()
    rates = [learned_rates_of([cases[value] for value in values]) for cases in stretches]
    found = [
        AuditedValue(segment, value, stretches[-1][value], by_stretch)
        for value, by_stretch in zip(values, zip(*rates, strict=True), strict=True)
    ]
    return tuple(one for one in found if all(rates.known for rates in one.by_stretch))
