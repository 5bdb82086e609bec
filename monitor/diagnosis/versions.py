"""Two versions of a model compared over the same stretch of recorded events.

versions   those asked for; else the two whose first predictions are the latest
stretch    the time in which both predicted, up to where outcomes are mature; of it the
           last days, where so many are asked for
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Labelling, ModelConfig
from monitor.config.quantities import format_time
from monitor.diagnosis.time_ranges import TimeRange
from monitor.diagnosis.version_events import VersionEvents, VersionTraffic
from monitor.drift.version_comparison import VersionComparison, compare_two
from monitor.errors import UsageError
from monitor.events.columns import EventBatch
from monitor.join.deltas import PREDICTED_POSITIVE

_COMPARABLE = (Labelling.COMPLETE, Labelling.NEGATIVES_BY_TIMEOUT)
_OUTCOMES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionsCompared:
    """Version B compared with version A over the same stretch.

    Attributes:
        model: its name.
        versions: A, the one to compare with, and B, the one that is judged.
        within: the stretch of event time.
        predictions: of A and of B in it, labelled or not.
        segments: keys whose combinations of values are strata.
        comparison: of their outcomes.
    """

    model: str
    versions: tuple[VersionTraffic, VersionTraffic]
    within: TimeRange
    predictions: tuple[int, int]
    segments: tuple[str, ...]
    comparison: VersionComparison

    @property
    def days_to_settle(self) -> float:
        """Days until the verdict settles at the present rate; NaN where no rate is known."""
        a_day = self.comparison.outcomes * DAY_MS / (self.within.closes - self.within.opens)
        known = a_day and not self.is_moment
        return self.comparison.outcomes_to_settle / a_day if known else float("nan")

    @property
    def is_moment(self) -> bool:
        """True where all predictions have one time, as where no time is known."""
        return self.within.closes - self.within.opens == 1


def compare_recorded(
    batches: Sequence[EventBatch],
    model: str,
    settings: ModelConfig,
    *,
    mature_until: int | None,
    versions: tuple[str, str] | None = None,
    last: int | None = None,
) -> VersionsCompared:
    """Compare two versions of a model.

    Args:
        batches: all events, as decoded.
        model: its name.
        settings: of the model.
        mature_until: moment up to which outcomes are mature, epoch milliseconds; None where
            no label came.
        versions: names of A, to compare with, and of B, to judge; None for the two whose
            first predictions are the latest.
        last: compare this length of time at the end of the stretch, milliseconds; None for
            all of it.

    Raises:
        UsageError: a version is unknown, there are fewer than two, the two never predicted
            in the same mature time, or labels do not allow a comparison.
    """
    if settings.labelling not in _COMPARABLE:
        raise UsageError(
            f"{model}: versions cannot be compared under labelling {settings.labelling}; they "
            f"can be under {' and '.join(_COMPARABLE)}"
        )
    events = VersionEvents(batches, model, settings)
    a, b = _chosen(events.versions, versions)
    within = _stretch(a, b, mature_until, last)
    names = (a.name, b.name)
    cells = events.cells(names, within)
    positive, negative = events.pairs(names, within)
    made = cells[..., PREDICTED_POSITIVE:].sum(axis=(1, 2, 3))
    return VersionsCompared(
        model=model,
        versions=(a, b),
        within=within,
        predictions=(int(made[0]), int(made[1])),
        segments=tuple(settings.segments),
        comparison=compare_two(
            cells[..., :_OUTCOMES].astype(np.float64),
            positive.astype(np.float64),
            negative.astype(np.float64),
        ),
    )


def _chosen(
    there: Sequence[VersionTraffic], asked: tuple[str, str] | None
) -> tuple[VersionTraffic, VersionTraffic]:
    by_name = {one.name: one for one in there}
    if asked is None:
        if len(there) < 2:  # noqa: PLR2004  # a comparison has two sides
            raise UsageError(
                f"--versions: two versions are compared, there is {_listed(there)}; predictions "
                "name theirs in the field version"
            )
        return there[-2], there[-1]
    for name in asked:
        if name not in by_name:
            near = get_close_matches(name, by_name, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise UsageError(
                f"--versions: no such version, got {name!r}; {hint}There is {_listed(there)}"
            )
    return by_name[asked[0]], by_name[asked[1]]


def _listed(there: Sequence[VersionTraffic]) -> str:
    return (
        "; ".join(
            f"{one.name!r} ({one.predictions:,} predictions, {format_time(one.first)} to "
            f"{format_time(one.last)})"
            for one in there
        )
        or "none"
    )


def _stretch(
    a: VersionTraffic, b: VersionTraffic, mature_until: int | None, last: int | None
) -> TimeRange:
    opens, closes = max(a.first, b.first), min(a.last, b.last) + 1
    if opens >= closes:
        raise UsageError(
            f"--versions: {a.name!r} and {b.name!r} never predicted at the same time; there is "
            f"{_listed((a, b))}; compare two stretches of time with diagnose"
        )
    if mature_until is None or mature_until <= opens:
        until = (
            "none are yet" if mature_until is None else f"they are to {format_time(mature_until)}"
        )
        raise UsageError(
            f"nothing can be compared: both versions predict since {format_time(opens)}, and "
            f"outcomes must be mature, {until}; record more"
        )
    closes = min(closes, mature_until)
    return TimeRange(opens if last is None else max(opens, closes - last), closes)
