"""Events of one model by version, and their outcomes by hour and stratum.

Two versions may score the same ids, as champion and challenger do: one label then serves
both. So each version has a join of its own, in which a second prediction of an id is no
duplicate. A stratum is a combination of segment values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config, Labelling, ModelConfig
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift.rates_of_two import Joint
from monitor.drift.version_choice import by_beginning
from monitor.drift.version_outcomes import HOURS_A_DAY, VersionOutcomes, VersionRows
from monitor.drift.versions_compared import VersionTraffic
from monitor.events.batches import concatenate, with_groups_in_use
from monitor.events.catalogue import MAX_GROUPS, Catalogue
from monitor.events.columns import (
    MISSING_VALUE,
    NO_TIME,
    BoolArray,
    EventBatch,
    Group,
    Int64Array,
    Labels,
    Predictions,
)
from monitor.events.early_predictions import earliest
from monitor.events.version_starts import VersionTimes
from monitor.join import CELLS, Deltas, Join, Over
from monitor.join.deltas import known, rarer_class, unlabelled_as_negative
from monitor.metrics.histogram import ScoreHistogram
from monitor.windows.range_scores import RangeScores

_STRATUM = "stratum"
_GROUPED = ("predictions", "outcomes", "counts")


class VersionEvents:
    """All events of a model, in memory: about 100 bytes each.

    Args:
        batches: as decoded, of all models.
        model: its name.
        settings: of the model; `segments` are those that the batches were decoded by.
    """

    def __init__(self, batches: Sequence[EventBatch], model: str, settings: ModelConfig) -> None:
        whole = concatenate([replace(batch, rejected=()) for batch in batches])
        mine = np.array([group.model == model for group in whole.groups], np.bool_)
        self._batch = with_groups_in_use(_rows_of_groups(whole, mine))
        self._model, self._settings = model, settings

    @cached_property
    def versions(self) -> tuple[VersionTraffic, ...]:
        """The versions, in the order of `by_beginning`."""
        names = [group.version or MISSING_VALUE for group in self._batch.groups]
        made: Counter[str] = Counter()
        found: dict[str, VersionTimes] = {}
        for kind in _GROUPED:
            columns = getattr(self._batch, kind)
            many = _many(columns, kind)
            for code in np.unique(columns.group).tolist():
                rows, name = columns.group == code, names[code]
                times, early = columns.time[rows], earliest(columns.time[rows], many[rows])
                one = VersionTimes(int(times.min()), int(times.max()), early)
                made[name] += int(many[rows].sum())
                found[name] = found[name].with_others(one) if name in found else one
        return by_beginning(
            VersionTraffic(name, made[name], one.first or 0, one.last, one.settled)
            for name, one in found.items()
        )

    def made_since(self, name: str, moment: int) -> int:
        """Return how many predictions a version made from a moment on.

        Args:
            name: of the version.
            moment: epoch milliseconds.
        """
        mine, made = self._of(name), 0
        for kind in _GROUPED:
            columns = getattr(mine, kind)
            many = _many(columns, kind)
            made += int(many[columns.time >= moment].sum())
        return made

    def rarer_outcomes(self, name: str, mature_until: int | None) -> int:
        """Return how many mature outcomes a version has of the class that it has fewer of.

        Args:
            name: of the version.
            mature_until: moment up to which outcomes are mature, epoch milliseconds; None
                where none are.
        """
        (first,) = (one.first for one in self.versions if one.name == name)
        if mature_until is None or mature_until <= first:
            return 0
        outcomes = self.outcomes((name,), TimeRange(first, mature_until))
        return rarer_class(outcomes.cells.sum(axis=(0, 1)))

    def outcomes(self, names: Sequence[str], within: TimeRange) -> VersionOutcomes:
        """Return the outcomes of versions.

        Args:
            names: of the versions.
            within: of the times of the predictions.

        Returns:
            The versions in order, with the six cells of `monitor.join.deltas`. Where silence is a
            negative, a prediction without a label is one.
        """
        strata = sorted({group.values for group in self._batch.groups})
        counted = [self._counted(self._of(name), strata, within) for name in names]
        found = VersionOutcomes.of_rows(counted)
        return replace(found, cells=self._with_silence(found.cells))

    def pairs(self, names: tuple[str, str], within: TimeRange) -> tuple[Int64Array, Int64Array]:
        """Return the outcomes of ids that both versions scored, by which flagged them.

        Args:
            names: of the versions, A and B.
            within: of the times of both predictions.

        Returns:
            Actual positives, and actual negatives, (days, 4) each, see `Joint`.
        """
        a, b = (_earliest(self._of(name).predictions, within) for name in names)
        _, of_a, of_b = np.intersect1d(a.key, b.key, assume_unique=True, return_indices=True)
        both, flags = a.take(of_a), (a.predicted_positive[of_a], b.predicted_positive[of_b])
        kinds = [int(one) for one in (Joint.BOTH, Joint.ONLY_A, Joint.ONLY_B)]
        joint = np.select([flags[0] & flags[1], *flags], kinds, int(Joint.NEITHER))
        strata = [(str(one.value),) for one in Joint]
        batch = EventBatch(
            predictions=replace(both, group=joint.astype(np.int64)),
            labels=self._batch.labels,
            groups=tuple(Group(self._model, "", values) for values in strata),
        )
        counted = self._counted(batch, strata, within)
        first, end = within.opens // DAY_MS, -(-within.closes // DAY_MS)
        cells = np.zeros((end - first, len(strata), CELLS), dtype=np.int64)
        np.add.at(cells, (counted.hour // HOURS_A_DAY - first, counted.segment), counted.cells)
        cells = self._with_silence(cells)
        return cells[..., [0, 2]].sum(axis=-1), cells[..., [1, 3]].sum(axis=-1)

    def scores(self, name: str, within: TimeRange) -> ScoreHistogram | None:
        """Return the labelled scores of a version by day (UTC), (days, bins).

        Args:
            name: of the version.
            within: of the times of the predictions.

        Returns:
            None without scores of both classes, and where a prediction without a label is a
            negative: how many of these have a score is not known.
        """
        if self._settings.labelling is not Labelling.COMPLETE:
            return None
        strata = sorted({group.values for group in self._batch.groups})
        found, catalogue, _ = self._deltas(self._of(name), strata, within)
        first, end = within.opens // DAY_MS, -(-within.closes // DAY_MS)
        scores = RangeScores(catalogue, first * DAY_MS, end * DAY_MS)
        scores.apply(found)
        return scores.days(self._model)

    def _of(self, name: str) -> EventBatch:
        names = np.array([group.version or MISSING_VALUE for group in self._batch.groups])
        return _rows_of_groups(self._batch, names == name)

    def _counted(
        self, batch: EventBatch, strata: Sequence[tuple[str, ...]], within: TimeRange
    ) -> VersionRows:
        """Outcomes by hour and stratum, six cells each."""
        found, _, stratum_of = self._deltas(batch, strata, within)
        where = np.stack([found.time // HOUR_MS, stratum_of[found.group]])
        places, row = np.unique(where, axis=1, return_inverse=True)
        cells = np.zeros((places.shape[1], CELLS), dtype=np.int64)
        np.add.at(cells, (row.ravel(), found.cell), found.count)
        return VersionRows(places[0], places[1], cells)

    def _deltas(
        self, batch: EventBatch, strata: Sequence[tuple[str, ...]], within: TimeRange
    ) -> tuple[Deltas, Catalogue, Int64Array]:
        """Outcomes one by one, the catalogue of their groups, and the stratum of each group."""
        place = {values: number for number, values in enumerate(strata)}
        stratum = np.array([place[group.values] for group in batch.groups], dtype=np.int64)
        catalogue = Catalogue(_config_of(self._model, self._settings))
        names = [Group(self._model, "", (str(number),)) for number in range(len(strata))]
        numbers, _ = catalogue.groups_of(names)
        stratum_of = np.full(int(numbers.max(initial=0)) + 1, 0)
        stratum_of[numbers] = np.arange(len(strata))
        columns = {
            kind: replace(some, group=numbers[stratum[some.group]])
            for kind in _GROUPED
            for some in [getattr(batch, kind)]
            if len(some)
        }
        found = Deltas.concatenate(_joined(replace(batch, **columns), catalogue))
        found = found.take((found.time >= within.opens) & (found.time < within.closes))
        return found, catalogue, stratum_of

    def _with_silence(self, cells: Int64Array) -> Int64Array:
        silent = self._settings.labelling is Labelling.NEGATIVES_BY_TIMEOUT
        return unlabelled_as_negative(known(cells)) if silent else known(cells)


def scored_again(batches: Sequence[EventBatch]) -> int:
    """Return how many predictions are the first of their version for an id that another one scored.

    Args:
        batches: as decoded, of all models.
    """
    whole = concatenate([replace(batch, rejected=()) for batch in batches])
    versions = {group[:2]: number for number, group in enumerate(whole.groups)}
    models = {group.model: number for number, group in enumerate(whole.groups)}
    version = np.array([versions[group[:2]] for group in whole.groups], dtype=np.uint64)
    model = np.array([models[group.model] for group in whole.groups], dtype=np.uint64)
    made = whole.predictions
    once, each = (
        np.unique(np.stack([made.key, of[made.group]]), axis=1).shape[1] if len(made) else 0
        for of in (model, version)
    )
    return each - once


def _many(columns: Any, kind: str) -> Int64Array:
    """Return how many predictions each row of a kind of columns stands for."""
    if kind == "counts":
        return np.asarray(columns.population.sum(axis=1), dtype=np.int64)
    return np.ones(len(columns), dtype=np.int64)


def _config_of(model: str, settings: ModelConfig) -> Config:
    """A configuration of this model alone, whose groups are strata."""
    strata = settings.with_segments((_STRATUM,))
    own = strata.model_copy(update={"max_segment_values": MAX_GROUPS})
    limits = {"max_series": 2 * MAX_GROUPS, "models": {model: own}}
    return Config.without_file().model_copy(update=limits)


def _joined(batch: EventBatch, catalogue: Catalogue) -> list[Deltas]:
    join = Join(catalogue, max_pending=len(batch.predictions) + 1)
    found = [*join.steps(batch.predictions, _labels_of(batch), Over.nothing())]
    if len(batch.outcomes):
        found.append(join.count(batch.outcomes))
    if len(batch.counts):
        found.append(join.add(batch.counts))
    return found


def _labels_of(batch: EventBatch) -> Labels:
    """The labels of a batch's predictions.

    A label that came in the record of another version's prediction counts like one that
    came alone.
    """
    labels = batch.labels.take(np.isin(batch.labels.key, batch.predictions.key))
    theirs = ~np.isin(labels.row, batch.predictions.row)
    return replace(labels, prediction_time=np.where(theirs, NO_TIME, labels.prediction_time))


def _rows_of_groups(batch: EventBatch, wanted: BoolArray) -> EventBatch:
    """The predictions, outcomes and counts of some groups; all labels."""
    columns = {}
    for kind in _GROUPED:
        some = getattr(batch, kind)
        columns[kind] = some.take(wanted[some.group]) if len(some) else some
    return replace(batch, **columns)


def _earliest(predictions: Predictions, within: TimeRange) -> Predictions:
    """The prediction of each id that counts, the earliest, where it lies in the range."""
    order = np.lexsort((predictions.predicted_positive, predictions.time, predictions.key))
    _, first = np.unique(predictions.key[order], return_index=True)
    found = predictions.take(order[first])
    return found.take((found.time >= within.opens) & (found.time < within.closes))
