"""Estimates ahead of the labels, checked against what came true.

Each day a rate of a window is estimated before its labels are complete. When they are, the
estimate is compared with the rate that the window turned out to have. What is published
rests on this record alone:

    last mature     the rate of the last mature window, as it is
    filled          the mature days of the window, its younger days at that rate
    a shift         the mature days, the younger ones estimated from their predictions

Each step mixes what it has with what comes next, A + w (B - A): first last mature and
filled, then that and each shift. w is the slope, in [0, 1], that past days support, by least
squares over a record that fades, shrunk towards 0. A shift is taken only if its past mixtures
had a squared error at least a twentieth below that of the mixture without it.

The interval reaches as far as past errors of the same mixture did. Its level adapts to how
often past intervals failed. Errors of overlapping windows hang together, so that they count as
fewer when the level is corrected for their number. Where a shift lies further from labels alone
than on any day of the record, past errors say little of this one: the interval reaches to the
shift as well.

Source:
    Cesa-Bianchi and Lugosi 2006, ch. 2 (experts by their past losses) and ch. 11 (ridge
    regression day by day; here with one slope at a time). Gibbs and Candès 2021 (adaptive
    conformal intervals), over quantiles corrected for their number (Vovk et al. 2005).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from monitor.drift.checked_estimate import LABELS_ALONE, CheckedEstimate, Withheld
from monitor.metrics.ratio import FloatArray

LEVEL = 0.95
"""Coverage that intervals aim at."""
LEAST_COVERAGE = 0.93
"""Coverage of past intervals below which nothing is published."""
FEWEST = 20
"""Comparisons below which nothing is published."""
MOST = 300
"""Comparisons that the record holds."""

_SPANS = 3
"""Lengths of overlap that the comparisons must span."""
_HALF_LIFE_DAYS = 60.0
_SHRINKAGE = 10.0
"""Days on which the slope would have been 0, added to the record."""
_LEAST_GAIN = 0.05
_PACE = 0.02
_LARGEST_MISS_RATE = 0.5
_WIDEST = 2 / 3
"""Length of an interval above which nothing is published: it leaves out too little."""
_BEYOND = 1.25
"""Factor of the largest distance of a shift in the record, beyond which a distance is new."""
_LAST_MATURE, _FILLED, _START, _PUBLISHED, _LOWER, _UPPER = range(1, 7)
_FIXED = 7
_XX, _XY, _N, _LOSS, _LOSS_WITHOUT = range(5)


class EstimateRecord:
    """The record of one rate of one window of one model.

    Args:
        shifts: names of the shifts. Two may have one name.

    >>> record = EstimateRecord(["label_shift"])
    >>> for day in range(40):
    ...     truth = 0.2 + 0.1 * (day % 2)
    ...     found = record.estimate(day, 0.3 - 0.1 * (day % 2), 0.25, [truth], overlap=1)
    ...     record.learn(day, truth)
    >>> found.method, round(found.estimate, 1), found.withheld
    ('label_shift', 0.3, None)
    """

    def __init__(self, shifts: Sequence[str]) -> None:
        self._names = tuple(shifts)
        self._pending = np.empty((0, _FIXED + 2 * len(shifts)))
        self._moments = np.zeros((1 + len(shifts), 5))
        self._losses = np.zeros(2)
        self._errors = np.empty((0, 3 + len(shifts)))
        self._distances = np.empty((0, len(shifts)))
        self._hits = np.empty(0)
        self._miss_rate = 1 - LEVEL
        self._day: int | None = None

    def estimate(
        self, day: int, last_mature: float, filled: float, shifts: Sequence[float], *, overlap: int
    ) -> CheckedEstimate:
        """Return the estimate of the window that ends with a day, and await its truth.

        Args:
            day: number of the day that begins; later than the last one.
            last_mature: rate of the last mature window; NaN where undefined.
            filled: mature days of the window, its younger days at that rate.
            shifts: mature days of the window, its younger days by each shift; NaN where a
                shift is undefined.
            overlap: days within which estimates rest on common outcomes, at least 1.
        """
        known = self._described()
        if np.isnan(last_mature) or np.isnan(filled):
            return CheckedEstimate(**known)
        start = float(last_mature + self._weight(0) * (filled - last_mature))
        weights = [self._weight(1 + at) for at in range(len(shifts))]
        mixed = [
            float(start + w * (shift - start)) for w, shift in zip(weights, shifts, strict=True)
        ]
        chosen = self._chosen(mixed)
        published = start if chosen is None else mixed[chosen]
        reach = self._reach(chosen, overlap)
        new = self._new(np.asarray(shifts, dtype=np.float64), start)
        ends = [published, *new]
        lower, upper = max(min(ends) - reach, 0.0), min(max(ends) + reach, 1.0)
        row = [day, last_mature, filled, start, published, lower, upper, *shifts, *mixed]
        self._pending = np.vstack([self._pending, row])
        if withheld := self._withheld(reach, upper - lower):
            return CheckedEstimate(**{**known, "withheld": withheld})
        return CheckedEstimate(
            **{**known, "withheld": None},
            estimate=published,
            lower=lower,
            upper=upper,
            moved_further=bool(new),
            method=LABELS_ALONE if chosen is None else self._names[chosen],
            weight=0.0 if chosen is None else weights[chosen],
        )

    @property
    def awaited(self) -> list[int]:
        """The days whose truth is awaited, in order."""
        return [int(day) for day in self._pending[:, 0].tolist()]

    def learn(self, day: int, truth: float) -> None:
        """Compare the estimate of a day with what came true, and await it no longer.

        Args:
            day: one of `awaited`.
            truth: rate of its window; NaN where it is undefined or its labels are not
                trustworthy, so that nothing is compared.
        """
        at = self.awaited.index(day)
        row, self._pending = self._pending[at], np.delete(self._pending, at, axis=0)
        if np.isnan(truth):
            return
        self._fade(day)
        shift, mixed = np.split(row[_FIXED:], 2)
        x, y = row[_FILLED] - row[_LAST_MATURE], truth - row[_LAST_MATURE]
        self._moments[0, :_LOSS] += [x * x, x * y, 1.0]
        alone = truth - row[_START]
        known = np.flatnonzero(~np.isnan(shift))
        x, losses = shift[known] - row[_START], np.square(truth - mixed[known])
        ones = np.ones(len(known))
        added = x * x, x * alone, ones, losses, ones * alone**2
        self._moments[1 + known] += np.stack(added, axis=1)
        self._losses += [(truth - row[_LAST_MATURE]) ** 2, (truth - row[_PUBLISHED]) ** 2]
        errors = np.abs([row[_PUBLISHED] - truth, alone, *(mixed - truth)])
        self._errors = np.vstack([self._errors, [day, *errors]])[-MOST:]
        distances = np.abs(shift - row[_START])
        self._distances = np.vstack([self._distances, distances])[-MOST:]
        if np.isfinite(row[_LOWER]):
            hit = bool(row[_LOWER] <= truth <= row[_UPPER])
            self._hits = np.append(self._hits, float(hit))[-MOST:]
            moved = self._miss_rate + _PACE * (1 - LEVEL - (not hit))
            self._miss_rate = float(np.clip(moved, 0.0, _LARGEST_MISS_RATE))

    def state(self) -> dict[str, Any]:
        """Serializable state."""
        return {
            "pending": self._pending.copy(),
            "moments": self._moments.copy(),
            "losses": self._losses.copy(),
            "errors": self._errors.copy(),
            "distances": self._distances.copy(),
            "hits": self._hits.copy(),
            "miss_rate": self._miss_rate,
            "day": self._day,
        }

    def restored(self, state: Mapping[str, Any]) -> Self:
        """Load what `state` returned, and return itself."""
        arrays: list[NDArray[np.float64]] = [
            state[name].copy() for name in ("pending", "moments", "losses", "errors", "hits")
        ]
        self._pending, self._moments, self._losses, self._errors, self._hits = arrays
        self._miss_rate, self._day = state["miss_rate"], state["day"]
        if "distances" in state:
            self._distances = state["distances"].copy()
        return self

    def _described(self) -> dict[str, Any]:
        if not len(self._errors):
            return {}
        return {
            "comparisons": len(self._errors),
            "days": int(self._errors[-1, 0] - self._errors[0, 0]) + 1,
            "median_error": _median(self._errors[:, 1]),
        }

    def _fade(self, day: int) -> None:
        if self._day is not None:
            faded = 0.5 ** ((day - self._day) / _HALF_LIFE_DAYS)
            self._moments *= faded
            self._losses *= faded
        self._day = day

    def _weight(self, step: int) -> float:
        xx, xy, number = self._moments[step, :_LOSS].tolist()
        if not xx > 0:
            return 0.0
        return float(min(max(xy / (xx * (1 + _SHRINKAGE / number)), 0.0), 1.0))

    def _chosen(self, mixed: Sequence[float]) -> int | None:
        """Return the shift that helped most, of those that are defined and known well enough."""
        loss, without = self._moments[1:, _LOSS:].T
        gain, known = without - loss, np.isfinite(self._errors[:, 3:]).sum(axis=0) >= FEWEST
        usable = known & np.isfinite(mixed) & (gain > _LEAST_GAIN * without)
        if not usable.any():
            return None
        return int(np.where(usable, gain, 0.0).argmax())

    def _new(self, shifts: FloatArray, start: float) -> list[float]:
        """Return the shifts that lie further from labels alone than the record has seen any."""
        known = np.isfinite(self._distances)
        seen = np.where(known, self._distances, 0.0).max(axis=0, initial=0.0)
        new = (known.sum(axis=0) >= FEWEST) & (np.abs(shifts - start) > _BEYOND * seen)
        found: list[float] = shifts[new].tolist()
        return found

    def _reach(self, chosen: int | None, overlap: int) -> float:
        """Return half the length of the interval; NaN where the record is too short."""
        if not len(self._errors):
            return float("nan")
        errors: FloatArray = self._errors[:, 2 if chosen is None else 3 + chosen]
        errors = np.sort(errors[np.isfinite(errors)])
        spanned = self._errors[-1, 0] - self._errors[0, 0] + 1
        if len(errors) < FEWEST or spanned < _SPANS * overlap:
            return float("nan")
        independent = max(len(errors) / overlap, 1.0)
        rank = (1 - self._miss_rate) * (1 + 1 / independent) * len(errors)
        largest = float(errors[min(int(np.ceil(rank)), len(errors)) - 1])
        return largest * max(rank / len(errors), 1.0)

    def _withheld(self, reach: float, length: float) -> Withheld | None:
        if np.isnan(reach):
            return Withheld.RECORD_TOO_SHORT
        last_mature, published = self._losses
        if published > last_mature:
            return Withheld.WORSE_THAN_LAST_MATURE
        if len(self._hits) >= FEWEST and self._hits.mean() < LEAST_COVERAGE:
            return Withheld.INTERVALS_MISSED
        if length > _WIDEST:
            return Withheld.INTERVAL_TOO_WIDE
        return None


def _median(values: FloatArray) -> float:
    """Return the median of at least one defined value: `np.median` takes ten times as long."""
    ordered = np.sort(values)
    return float(ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2
