"""Label delays: the delays of the labels in force, and the maturity they imply."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import FloatArray, Int64Array
from monitor.events.renumbering import State
from monitor.join import Deltas
from monitor.labels.cohorts import Coverage, DelayCurve, delay_curve
from monitor.labels.delay_bins import EDGES_SECONDS
from monitor.labels.delay_tables import DelayCounter, DelayTables
from monitor.labels.latest import LatestLabels
from monitor.labels.pace import Pace, pace
from monitor.labels.published_delays import ACTUAL_POSITIVE, PublishedDelays, published_delays
from monitor.windows.panes import PaneRing

_DAYS_BEYOND_TIMEOUT = 60
_HOURS_BEYOND_TIMEOUT = 7 * 24
_MOST_COHORTS = 400
_ENDLESS_MS = 90 * DAY_MS
_HOURLY_BELOW_MS = 4 * DAY_MS
_FEWEST_LABELS = 50
_AGES_SEEN = 2

_BINS = len(EDGES_SECONDS)
NEGATIVE, POSITIVE, BOTH = range(3)
"""Kinds of the curves by class: of actual negatives, of actual positives, of all."""


class _DelayCurves(NamedTuple):
    """The delay curves of one model, and the version of the delays behind them."""

    version: tuple[int, Hashable]
    curve: DelayCurve
    first: int | None
    maturity: dict[float, int | None]


class LabelDelays:
    """Delays from prediction to the label in force, by model, outcome and cohort.

    Counts are integers, so that revoking a label leaves no residue. A delay
    below 0 (a label dated before its prediction) counts as 0.

    Cohorts are days, stored for the label timeout and 60 days beyond; or hours where
    all labels time out within four days, stored for a week beyond.

    Args:
        config: its label timeouts decide how long cohorts are stored.
        catalogue: numbers of models and groups.
    """

    def __init__(self, config: Config, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._counts = np.zeros((0, len(Outcome), _BINS), dtype=np.int64)
        self._total_ms = np.zeros((0, len(Outcome)), dtype=np.int64)
        settings = [*config.models.values()] or [config.defaults]
        longest = max(s.label_timeout or _ENDLESS_MS for s in settings)
        hourly = longest < _HOURLY_BELOW_MS
        width = HOUR_MS if hourly else DAY_MS
        beyond = _HOURS_BEYOND_TIMEOUT if hourly else _DAYS_BEYOND_TIMEOUT
        span = min(-(-longest // width) + beyond, _MOST_COHORTS)
        self._changes = np.zeros(0, dtype=np.int64)
        self._known: dict[int, _DelayCurves] = {}
        self._paces: dict[int, tuple[tuple[int, Hashable], tuple[Pace, Pace]]] = {}
        self._published: dict[int, tuple[int, PublishedDelays]] = {}
        self._seen: dict[int, tuple[tuple[int, int], bytes]] = {}
        self._cohorts = PaneRing(width=width, span=span, cells=len(Outcome) * _BINS)
        self._reports = PaneRing(width=width, span=span, cells=1)
        self._latest = LatestLabels()
        self._room = -1
        self._counter = DelayCounter()

    def apply(self, deltas: Deltas) -> None:
        """Count the delays of outcomes that were added or removed."""
        self._ensure()
        self._counter.count(deltas, self._catalogue.model_of_group, self._tables)

    def advance(self, times: Int64Array) -> None:
        """Move the cohorts on to the times of the models, as `PaneRing.advance` takes them."""
        self._ensure()
        self._cohorts.advance(times)
        self._reports.advance(times)
        self._latest.advance(times)

    def last_label(self, model: int) -> int | None:
        """Return the end of the hour of a model's latest label in force, epoch milliseconds.

        None without a label in the last 90 days.
        """
        self._ensure()
        return self._latest.end_of_last(model, int(self._changes[model]))

    @property
    def width_ms(self) -> int:
        """Length of a cohort, milliseconds."""
        return self._cohorts.width

    def reports(self, model: int, until: int) -> tuple[int, Int64Array]:
        """Count positive labels by the time of the label, in stretches as long as a cohort.

        Args:
            model: its number.
            until: epoch milliseconds; only stretches that end by then are counted.

        Returns:
            Number of the first stored stretch with a label, counted from 1970, and the labels
            in each stretch from there on.
        """
        self._ensure()
        panes, counts = self._reports.series(model)
        passed = panes < until // self._reports.width
        panes, labels = panes[passed], counts[passed, 0]
        busy = np.flatnonzero(labels)
        first = int(busy[0]) if len(busy) else len(panes)
        return (int(panes[first]) if len(busy) else 0), labels[first:]

    def maturity(self, model: int, share: float, watermark: int | None) -> int | None:
        """Return the age, milliseconds, by which a share of the labels have come in both classes.

        This is the upper edge of a bin, so that the age is late rather than early. None
        before any label came.

        Args:
            model: its number.
            share: of the labels that ever come.
            watermark: up to which its labels have come, epoch milliseconds.
        """
        found = self._curves(model, watermark)
        if share not in found.maturity:
            ages = found.curve.age(share)[:BOTH]
            known = ages[~np.isnan(ages)]
            found.maturity[share] = int(np.ceil(known.max() * 1000)) if len(known) else None
        return found.maturity[share]

    def is_settled(self, model: int, maturity: int, watermark: int | None) -> bool:
        """Return whether the stream is long enough to show delays of twice the maturity.

        Args:
            model: its number.
            maturity: milliseconds.
            watermark: up to which its labels have come, epoch milliseconds.
        """
        first = self._curves(model, watermark).first
        oldest = -np.inf if first is None else self._limits(first, watermark)
        timeout = self._catalogue.settings[model].label_timeout
        needed = _AGES_SEEN * maturity if timeout is None else min(_AGES_SEEN * maturity, timeout)
        return oldest * 1000 >= needed

    def coverage(
        self, model: int, watermark: int | None, ages: FloatArray, weights: FloatArray
    ) -> Coverage:
        """Return the share of the eventual labels of predictions of these ages, by `Outcome`.

        An outcome with under 50 labels in all cohorts takes the delays of its class.

        Args:
            model: its number.
            watermark: up to which its labels have come, epoch milliseconds.
            ages: of the predictions, seconds.
            weights: how many predictions there are of each age.
        """
        counts, limits, _ = self._table(model, watermark)
        curve = delay_curve(counts, limits, EDGES_SECONDS)
        single = curve.over(ages, weights)
        whole = delay_curve(_by_class(counts), limits, EDGES_SECONDS).over(ages, weights)
        few = curve.labels < _FEWEST_LABELS
        of_class = np.where(ACTUAL_POSITIVE, POSITIVE, NEGATIVE)
        return Coverage(
            np.where(few, whole.share[of_class], single.share),
            np.where(few, whole.variance[of_class], single.variance),
        )

    def curves_by_class(self, model: int, watermark: int | None) -> DelayCurve:
        """Return the delay curves of negatives, of positives and of all.

        In the first days they ignore that young cohorts are incomplete.

        Args:
            model: its number.
            watermark: up to which its labels have come, epoch milliseconds.
        """
        return self._curves(model, watermark).curve

    def paces(self, model: int, watermark: int | None) -> tuple[Pace, Pace]:
        """Return the paces of the labels of negatives and of positives in young cohorts.

        Args:
            model: its number.
            watermark: up to which its labels have come, epoch milliseconds.
        """
        version = self._version(model, watermark)
        known = self._paces.get(model)
        if known is None or known[0] != version:
            counts, limits, _ = self._table(model, watermark)
            by_class = _by_class(counts)
            curve = delay_curve(by_class, limits, EDGES_SECONDS)
            negatives, positives = (pace(by_class, limits, curve, k) for k in (NEGATIVE, POSITIVE))
            known = self._paces[model] = (version, (negatives, positives))
        return known[1]

    def _curves(self, model: int, watermark: int | None) -> _DelayCurves:
        """Return the curves by class and the first cohort, cached until the delays change."""
        version = self._version(model, watermark)
        known = self._known.get(model)
        if known is None or known.version != version:
            counts, limits, first = self._table(model, watermark)
            if not len(limits) or limits[0] < 0:
                counts, limits = self._counts[model][None], np.array([np.inf])
            curve = delay_curve(_by_class(counts), limits, EDGES_SECONDS)
            known = self._known[model] = _DelayCurves(version, curve, first, {})
        return known

    def _version(self, model: int, watermark: int | None) -> tuple[int, Hashable]:
        """Return the version of the delays behind the curves and paces of a model."""
        self._ensure()
        return int(self._changes[model]), self._bins_seen(model, watermark)

    def _bins_seen(self, model: int, watermark: int | None) -> Hashable:
        """Return the number of delay bins that each cohort of a model is old enough to show.

        Curves and paces depend on the watermark through these alone. Return the watermark
        itself where it is ahead of the cohorts.
        """
        newest = self._cohorts.newest(model)
        if newest is None or watermark is None or watermark // self._cohorts.width > newest:
            return watermark
        known = self._seen.get(model)
        if known is None or known[0] != (watermark, newest):
            cohorts = np.arange(newest - self._cohorts.span + 1, newest + 1)
            limits = self._limits(cohorts, watermark)
            bins = np.searchsorted(EDGES_SECONDS[:-1], limits, side="right")
            known = self._seen[model] = ((watermark, newest), np.append(bins, newest).tobytes())
        return known[1]

    def _limits(self, cohort: Any, watermark: int | None) -> Any:
        """Return the seconds since the end of a cohort."""
        now = -1 if watermark is None else watermark
        return (now - (cohort + 1) * self._cohorts.width) / 1000

    def published(self, model: int) -> PublishedDelays:
        """Return the delays of a model's labels, the same object until one changes.

        Args:
            model: its number.
        """
        self._ensure()
        changes, known = int(self._changes[model]), self._published.get(model)
        if known is None or known[0] != changes:
            known = changes, published_delays(self._counts[model], self._total_ms[model])
            self._published[model] = known
        return known[1]

    def _table(
        self, model: int, watermark: int | None
    ) -> tuple[Int64Array, FloatArray, int | None]:
        """Return the labels by cohort, `Outcome` and bin, and the seconds since each cohort's end.

        The third value is the number of the first cohort, None without one.
        """
        self._ensure()
        panes, counts = self._cohorts.series(model)
        busy = np.flatnonzero(counts.any(axis=1))
        first = int(busy[0]) if len(busy) else len(panes)
        limits = self._limits(panes[first:], watermark)
        number = int(panes[first]) if len(busy) else None
        return counts[first:].reshape(-1, len(Outcome), _BINS), limits, number

    def state(self) -> State:
        """Serializable state: delays of the labels in force, in total and by cohort."""
        return {
            "counts": self._counts.copy(),
            "total_ms": self._total_ms.copy(),
            "cohorts": self._cohorts.state(),
            "reports": self._reports.state(),
            "latest": self._latest.state(),
        }

    def restore(self, state: State, models: Int64Array) -> None:
        """Load what `state` returned; cohorts of another width start empty.

        Args:
            state: of an earlier run.
            models: old numbers of the models that are still there.
        """
        stored = models[models < len(state["counts"])]
        self._counts, self._total_ms = state["counts"][stored], state["total_ms"][stored]
        self._latest.restore(state["latest"], models)
        if state["cohorts"]["width"] == self._cohorts.width:
            owners = np.arange(len(models))
            self._cohorts.restore(state["cohorts"], models, models, owners)
            self._reports.restore(state["reports"], models, models, owners)
        self._room = -1

    def _ensure(self) -> None:
        count = len(self._catalogue.models)
        if count == self._room:
            return
        self._room, models = count, np.arange(count)
        self._cohorts.ensure(models)
        self._reports.ensure(models)
        self._latest.ensure(count)
        more = count - len(self._changes)
        if more > 0:
            self._changes = np.concatenate([self._changes, np.zeros(more, dtype=np.int64)])
        more = count - len(self._counts)
        if more > 0:
            for name in ("_counts", "_total_ms"):
                array = getattr(self, name)
                setattr(self, name, np.pad(array, [(0, more), *[(0, 0)] * (array.ndim - 1)]))
        self._tables = DelayTables(
            edges=EDGES_SECONDS,
            actual_positive=ACTUAL_POSITIVE,
            counts=self._counts,
            total_ms=self._total_ms,
            changes=self._changes,
            cohorts=self._cohorts,
            latest=self._latest,
            reports=self._reports,
        )


def _by_class(counts: Int64Array) -> Int64Array:
    """Labels of (cohorts, `Outcome`, bins) by `NEGATIVE`, `POSITIVE` and `BOTH`."""
    negative = counts[:, Outcome.FP] + counts[:, Outcome.TN]
    positive = counts[:, Outcome.TP] + counts[:, Outcome.FN]
    return np.stack([negative, positive, negative + positive], axis=1)
