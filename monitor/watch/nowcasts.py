"""Nowcasts: prevalence and precision of windows ahead of their labels, checked against the past.

At the start of each day (UTC), every window of whole days that ends there is estimated from
what is known: outcomes of mature days, and the predictions of younger ones. Once its labels
are mature, the estimates are compared with the outcomes (`monitor.drift.estimate_record`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift.checked_estimate import CheckedEstimate, WindowEstimates, Withheld
from monitor.drift.estimate_record import EstimateRecord
from monitor.drift.label_free import (
    ShiftEstimate,
    covariate_shift,
    label_shift,
    label_shift_by_segment,
)
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.verdicts import (
    COVARIATE_SHIFT,
    LABEL_SHIFT,
    LABEL_SHIFT_BY_SEGMENT,
    WindowVerdict,
)
from monitor.watch.cuts import Cuts
from monitor.watch.judging import Judge
from monitor.watch.model_days import DayReader, RecentDays
from monitor.watch.reference import MatureReference
from monitor.watch.window_parts import WindowParts, WindowRates, parts_of, rates_of
from monitor.windows import Windows
from monitor.windows.scores import Scores

_SHIFTS = (COVARIATE_SHIFT, *(LABEL_SHIFT, LABEL_SHIFT_BY_SEGMENT) * 2)
"""Label shift has a record for days whose scores fit the reference, and one for the others."""
_UNDEFINED = ShiftEstimate(float("nan"), float("nan"))
_RATES = 2
_Shifts: TypeAlias = list[tuple[float, ...]]


class DayStart(NamedTuple):
    """A day that begins, and what is known of the model then.

    Attributes:
        judge: of the model, with its reference.
        reader: of its days.
        cuts: its series by segment key.
        mature: outcomes up to this moment, epoch milliseconds, are mature.
        age: its maturity, milliseconds.
    """

    judge: Judge
    reader: DayReader
    cuts: Cuts
    mature: int
    age: int

    @property
    def day(self) -> int:
        """Number of the day since 1970, UTC."""
        return (self.mature + self.age) // DAY_MS

    @property
    def first_young(self) -> int:
        """Number of the first day that is not mature."""
        return self.mature // DAY_MS


class Nowcasts:
    """Estimates of one model's windows, and the records that they rest on.

    Do not use where labels are a sample: outcomes would be estimates themselves.

    Args:
        model: its number.
        windows: counts.
        scores: score histograms.
    """

    def __init__(self, model: int, windows: Windows, scores: Scores) -> None:
        self._model = model
        self._scores = scores
        self._windows = windows
        self._day: int | None = None
        self._days = {
            name: windows.length(name) // DAY_MS
            for name in windows.names
            if windows.length(name) % DAY_MS == 0
        }
        self._records = {name: _records() for name in self._days}
        self._published: dict[str, WindowEstimates] = {}

    def added_to(
        self,
        verdicts: Mapping[str, WindowVerdict],
        now: int,
        age: int,
        *,
        dead_since: int | None,
    ) -> dict[str, WindowVerdict]:
        """Return the verdicts with the estimates of their windows.

        An estimate is of the window's length, and ends with the last whole day (UTC). It is
        withheld where the labels of the window are not trustworthy now; where the window that
        is counted by mature labels ends as late or later, as each day does once it is as old
        as the maturity; and where the model is dead, from the day on on which it died.

        Args:
            verdicts: by the name of the window.
            now: current event time, epoch milliseconds.
            age: its maturity, milliseconds.
            dead_since: first moment of predictions that no working model makes, epoch
                milliseconds; None where the last ones are not of that kind.
        """
        found: dict[str, WindowEstimates | None] = dict.fromkeys(verdicts)
        for name in found.keys() & self._published.keys():
            why = self._withheld(name, verdicts[name], now, age, dead_since)
            known = self._published[name]
            found[name] = known if why is None else known.withheld_for(why)
        return {name: replace(one, nowcast=found[name]) for name, one in verdicts.items()}

    def steps(self, start: DayStart) -> Iterator[None]:
        """Compare the estimates that have matured, and estimate, once each day.

        Args:
            start: of the day.

        Yields:
            Nothing; after each window.
        """
        if self._day is not None and start.day <= self._day:
            return
        self._day = start.day
        longest = max(self._days.values(), default=0)
        days = self._read(start, start.first_young - longest, start.day)
        shifts: dict[int, _Shifts] = {}
        for name, length in self._days.items():
            mature = days.between(start.first_young - length, start.first_young)
            last = _trusted_rates(mature, start)
            self._learn(name, start, last)
            self._estimate(name, start, days, last, shifts)
            yield

    def state(self) -> State:
        """Serializable state."""
        return {
            "day": self._day,
            "records": {
                name: [record.state() for record in records]
                for name, records in self._records.items()
            },
            "published": {
                name: [found.prevalence.state(), found.precision.state()]
                for name, found in self._published.items()
            },
        }

    def restored(self, state: State) -> Self:
        """Load what `state` returned, and return itself; windows of other names start anew."""
        self._day = state["day"]
        for name in self._days.keys() & state["records"].keys():
            both = zip(_records(), state["records"][name], strict=True)
            self._records[name] = tuple(record.restored(kept) for record, kept in both)
        for name in (one for one in self._days if one in state["published"]):
            rates, precise = (CheckedEstimate.restored(one) for one in state["published"][name])
            self._published[name] = WindowEstimates(rates, precise, close=state["day"] * DAY_MS)
        return self

    def _withheld(
        self, name: str, verdict: WindowVerdict, now: int, age: int, dead_since: int | None
    ) -> Withheld | None:
        """Return why both estimates of a window are withheld now; None where they are not."""
        if verdict.label_fault:
            return Withheld.LABELS_NOT_TRUSTWORTHY
        close = self._published[name].close
        counted = self._windows.pane_range(name, now, age)
        if counted.end * self._windows.width(counted) >= close:
            return Withheld.LABELS_REACH_AS_FAR
        if dead_since is not None and dead_since < close:
            return Withheld.MODEL_DEAD
        return None

    def _read(self, start: DayStart, first: int, end: int) -> RecentDays:
        return start.reader.days(self._model, start.cuts, first, end)

    def _learn(self, name: str, start: DayStart, last: WindowRates) -> None:
        """Compare the estimates whose windows have matured with their outcomes.

        `last` has the rates of the last window that is mature.
        """
        records = self._records[name]
        awaited = {day for record in records for day in record.awaited}
        for day in sorted(day for day in awaited if day <= start.first_young):
            truth = last
            if day != start.first_young:
                truth = _trusted_rates(self._read(start, day - self._days[name], day), start)
            for record, rate in zip(records, truth, strict=True):
                if day in record.awaited:
                    record.learn(day, rate)

    def _estimate(
        self,
        name: str,
        start: DayStart,
        days: RecentDays,
        last: WindowRates,
        shifts: dict[int, _Shifts],
    ) -> None:
        """Estimate the window that ends with the last whole day.

        `shifts` has those of younger days by the number of the first of them, and takes new ones:
        windows longer than the maturity end with the same younger days.
        """
        length = self._days[name]
        first = start.day - length
        parts = parts_of(days.between(first, start.day), first, start.first_young)
        filled = parts.with_rates(last)
        if parts.first not in shifts:
            shifts[parts.first] = self._shifts(start, parts)
        shifted = [parts.with_rates(rates) for rates in shifts[parts.first]]
        overlap = length + start.day - start.first_young
        rates, precise = (
            record.estimate(
                start.day, last[at], filled[at], [one[at] for one in shifted], overlap=overlap
            )
            for at, record in enumerate(self._records[name])
        )
        if not parts.flagged:
            precise = precise.withheld_for(Withheld.NOTHING_FLAGGED)
        self._published[name] = WindowEstimates(rates, precise, close=start.day * DAY_MS)

    def _shifts(self, start: DayStart, parts: WindowParts) -> _Shifts:
        """Return the rates of the younger days by each shift, in the order of `_SHIFTS`."""
        reference, (total, positive) = start.judge.reference, parts.young
        scores = self._scores_of(start, parts)
        before = None if scores is None else reference.scores
        whole = covariate = _UNDEFINED
        with np.errstate(all="ignore"):
            if total:
                whole = label_shift(
                    predicted_positive=positive,
                    total=total,
                    reference=reference.counts,
                    scores=scores,
                    reference_scores=before,
                )
            if scores is not None and before is not None:
                covariate = covariate_shift(
                    predicted_positive=positive, scores=scores, reference_scores=before
                )
        by_segment = _by_segment(reference, parts, start.cuts, whole.prevalence)
        found, nothing = [whole, by_segment], [_UNDEFINED, _UNDEFINED]
        both = [*found, *nothing] if whole.fits else [*nothing, *found]
        return [one[:_RATES] for one in (covariate, *both)]

    def _scores_of(self, start: DayStart, parts: WindowParts) -> Int64Array | None:
        """Return the scores of the younger days; None without scores, or without any so old."""
        opens = parts.first * DAY_MS
        if start.judge.reference.scores is None or not self._scores.keeps(self._model, opens):
            return None
        found = self._scores.histogram(self._model, opens, start.day * DAY_MS).total
        return found if found.any() else None


def _records() -> tuple[EstimateRecord, ...]:
    return tuple(EstimateRecord(_SHIFTS) for _ in range(_RATES))


def _trusted_rates(window: RecentDays, start: DayStart) -> WindowRates:
    """Return the rates of mature days; NaN where their labels are at fault."""
    if not start.judge.trusts_labels(window, start.mature + start.age):
        return WindowRates(float("nan"), float("nan"))
    return rates_of(window.cells[:, 0])


def _by_segment(
    reference: MatureReference, parts: WindowParts, cuts: Cuts, otherwise: float
) -> ShiftEstimate:
    """Label shift within the values of each segment key; the mean over the keys."""
    if not len(reference.rows):
        return _UNDEFINED
    found, first = [], 1
    for rows in cuts.segments:
        before = ConfusionCounts.from_cells(reference.cells_of(rows))
        predicted = parts.series[first : first + len(rows)]
        found.append(label_shift_by_segment(predicted, before, otherwise)[:_RATES])
        first += len(rows)
    if not found:
        return _UNDEFINED
    return ShiftEstimate(*np.mean(found, axis=0).tolist())
