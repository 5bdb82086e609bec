"""Rates that likely changed, by their part in the change of precision, though no status says so."""

from __future__ import annotations

from monitor.report.compared import Compared
from monitor.report.rate_changes import both_known, change_text
from monitor.report.vocabulary import METRIC_WORDS

RATE_OF = {"recall": "recall", "false_positives": "false_positive_rate"}
"""The rate of each cause that is one."""


def likely_changes(found: Compared) -> str:
    """Return the rates whose part in the change of precision leaves out 0, a clause; or "".

    Args:
        found: what was found.
    """
    likely = _likely_rates(found)
    if not likely or not both_known(found.rates):
        return ""
    return " and ".join(
        f"{METRIC_WORDS[name].phrase} likely {change_text(*found.rates[name])}" for name in likely
    )


def is_likely_better(found: Compared) -> bool:
    """Return whether all rates that likely changed are better, and none of them is worse.

    Args:
        found: what was found.
    """
    return all(
        found.parts[cause].estimate > 0
        for cause, name in RATE_OF.items()
        if name in _likely_rates(found)
    )


def _likely_rates(found: Compared) -> list[str]:
    known = {cause: name for cause, name in RATE_OF.items() if cause in found.parts}
    certain = [name for cause, name in known.items() if found.parts[cause].certain]
    return [] if found.few else certain
