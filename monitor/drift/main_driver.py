"""The cause with the largest share of a change of precision."""

from __future__ import annotations

from dataclasses import dataclass

from monitor.drift.component_changes import Changes
from monitor.drift.components import Component
from monitor.drift.skill import Z_TWO_SIDED

_CERTAIN_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class MainDriver:
    """The cause with the largest share of the change of logit(precision).

    Attributes:
        cause: `prevalence`, `recall` or `false_positives`.
        share: its contribution over the whole change, by point estimate; above 1 where
            the other causes act in the opposite direction, NaN where precision did not
            change at all.
        certain: True where the 99 % bound on all other contributions together is below
            a quarter of the change. It does not show that the model is unchanged.
    """

    cause: str
    share: float
    certain: bool


def main_driver(found: Changes) -> MainDriver:
    """Return the main driver of the changes of one series, (8,) in the order of `Component`."""
    change, margin = found.change, found.margin(Z_TWO_SIDED)
    whole = change[Component.CLASS_RATIO] + change[Component.LOG_LIKELIHOOD_RATIO]
    rest = {
        "prevalence": Component.LOG_LIKELIHOOD_RATIO,
        "recall": Component.ALL_BUT_RECALL,
        "false_positives": Component.ALL_BUT_FALSE_POSITIVES,
    }
    parts = {cause: float(whole - change[index]) for cause, index in rest.items()}
    direction = 1.0 if whole >= 0 else -1.0
    cause = max(parts, key=lambda name: direction * parts[name])
    others = rest[cause]
    bound = abs(change[others]) + margin[others]
    return MainDriver(
        cause=cause,
        share=float(parts[cause] / whole) if whole else float("nan"),
        certain=bool(bound < _CERTAIN_SHARE * abs(whole)),
    )
