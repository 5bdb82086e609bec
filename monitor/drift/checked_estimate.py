"""Rates of a window ahead of its labels, as far as their record supports them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self

LABELS_ALONE = "labels"
ESTIMATED_RATES = "prevalence", "precision"
"""Rates of a window that are estimated ahead of its labels, fields of `WindowEstimates`."""


class Withheld(StrEnum):
    """Why an estimate is withheld."""

    NO_MATURE_WINDOW = "no_mature_window"
    LABELS_NOT_TRUSTWORTHY = "labels_not_trustworthy"
    RECORD_TOO_SHORT = "record_too_short"
    WORSE_THAN_LAST_MATURE = "worse_than_last_mature"
    INTERVALS_MISSED = "intervals_missed"
    NOTHING_FLAGGED = "nothing_flagged"
    MODEL_DEAD = "model_dead"
    LABELS_REACH_AS_FAR = "labels_reach_as_far"
    INTERVAL_TOO_WIDE = "interval_too_wide"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedEstimate:
    """A rate ahead of its labels, as far as the record supports it.

    Attributes:
        estimate: in [0, 1]; NaN where withheld.
        lower: lower limit of the interval; NaN where withheld.
        upper: upper limit; NaN where withheld.
        method: what it rests on: `LABELS_ALONE`, or the name of a shift beside labels; what it
            would rest on where it is withheld by `withheld_for`.
        weight: of that shift, in [0, 1]; 0 for labels alone.
        comparisons: number of past estimates in the record.
        days: days that these span.
        median_error: median of their absolute errors; NaN without any.
        moved_further: predictions moved further than on any day of the record, and the interval
            reaches to where they point.
        withheld: why it is withheld; None where it is published.
    """

    estimate: float = float("nan")
    lower: float = float("nan")
    upper: float = float("nan")
    method: str = LABELS_ALONE
    weight: float = 0.0
    comparisons: int = 0
    days: int = 0
    median_error: float = float("nan")
    moved_further: bool = False
    withheld: Withheld | None = Withheld.NO_MATURE_WINDOW

    @property
    def is_supported(self) -> bool:
        """True where its record supports it, although labels may reach as far."""
        return self.withheld in (None, Withheld.LABELS_REACH_AS_FAR)

    def withheld_for(self, why: Withheld) -> Self:
        """Return what is known of the record, without the estimate.

        Args:
            why: it is withheld.
        """
        nothing = float("nan")
        return replace(self, estimate=nothing, lower=nothing, upper=nothing, withheld=why)

    def state(self) -> dict[str, Any]:
        """Serializable state."""
        return {**asdict(self), "withheld": None if self.withheld is None else str(self.withheld)}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Self:
        """Return the estimate whose state this is."""
        why = state["withheld"]
        return cls(**{**state, "withheld": None if why is None else Withheld(why)})


class WindowEstimates(NamedTuple):
    """Rates of a window that ended with a whole day (UTC), ahead of its labels.

    Attributes:
        prevalence: share of actual positives.
        precision: share of actual positives among predicted ones.
        close: first moment after the window, epoch milliseconds.
    """

    prevalence: CheckedEstimate
    precision: CheckedEstimate
    close: int

    def withheld_for(self, why: Withheld) -> WindowEstimates:
        """Return what is known of both records, without the estimates.

        Args:
            why: they are withheld.
        """
        both = self.prevalence.withheld_for(why), self.precision.withheld_for(why)
        return WindowEstimates(*both, close=self.close)
