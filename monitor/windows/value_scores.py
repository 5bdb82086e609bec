"""Labelled scores of segment values and versions, for the past year: days, then weeks.

Bins are wider here than those of a whole model, and only some values have histograms, so that
those of a model take half a megabyte at most. A wide bin is read as the fine bins in it, in
which the cases are spread as all cases of their class and model are; this takes the scores of a
value to be distributed within a wide bin as those of the model are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import Outcome, add_once
from monitor.events.catalogue import Catalogue
from monitor.events.columns import (
    MISSING_VALUE,
    NO_TIME,
    OTHER_VALUE,
    VERSION_KEY,
    Int64Array,
    Series,
)
from monitor.events.renumbering import State
from monitor.events.score_bins import NO_SCORE, SCORE_BINS
from monitor.join import Deltas
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray
from monitor.windows.compiled_tallies import compiled_tallies, tallied
from monitor.windows.days_then_weeks import DaysThenWeeks
from monitor.windows.scores import Scores

MOST_VALUES = 24
"""Segment values of a model with histograms, versions among them: those that came first."""
MOST_VERSIONS = 4
"""Versions of a model with histograms, where `version` is a segment key: those that came last."""

_EDGES = np.r_[2, 5, 10, 25, 50, 100:901:80, 950, 975, 990, 995, 998]
_STARTS = np.r_[0, _EDGES]
_BINS = len(_STARTS)
_WIDE = np.searchsorted(_EDGES, np.arange(SCORE_BINS), side="right")
"""Wide bin of each fine one."""
_NO_ROW = -1
_Fresh = tuple[Series, Series | None]
"""A series, and the one whose number it has taken over; None for one with a number of its own."""
_CELLS = np.stack([_WIDE + _BINS * (kind in (Outcome.FP, Outcome.TN)) for kind in Outcome])
"""Column of a case by its outcome and fine bin."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoresByValue:
    """Labelled scores of the segment values of one model in a stretch of time.

    Attributes:
        cells: cases of each value by block of time, class and wide bin, (blocks, 2, bins).
        whole: cases of the model by class and fine bin, (2, fine bins).
    """

    cells: Mapping[Series, Int64Array] = field(default_factory=dict)
    whole: Int64Array = field(default_factory=lambda: np.zeros((2, SCORE_BINS), dtype=np.int64))

    def of(self, series: Series) -> ScoreHistogram | None:
        """Return the scores of a segment value by block of time, (blocks, fine bins).

        Args:
            series: the segment value.

        Returns:
            Cases of each class, spread over the fine bins, so that they are no whole numbers;
            their sum is. None where it has no labelled scores in the stretch, or no histograms.
        """
        cells = self.cells.get(series)
        if cells is None or not cells.any():
            return None
        spread = cells[:, :, _WIDE] * _shares(self.whole)
        nothing = np.zeros_like(spread[:, 0])
        return ScoreHistogram(positive=spread[:, 0], negative=spread[:, 1], unlabelled=nothing)


class ValueScores:
    """Histograms of labelled scores by segment value and day, those of older days by the week.

    The values of a model have histograms from its first labelled score on. With `version` among
    its segment keys, the `MOST_VERSIONS` versions that came last have some. Up to `MOST_VALUES`,
    the values of other keys that come first in the catalogue have some, too. `OTHER_VALUE` has
    none, nor has what a version predicted while it counted there.

    Args:
        catalogue: numbers of models, groups and series.
        scores: histograms of the models, which count the same changes.
    """

    def __init__(self, catalogue: Catalogue, scores: Scores) -> None:
        self._catalogue = catalogue
        self._scores = scores
        self._past = DaysThenWeeks(2 * _BINS)
        self._times = np.zeros(0, dtype=np.int64)
        self._rows: dict[Series, int] = {}
        self._by_kind: dict[tuple[str, bool], dict[Series, int]] = {}
        self._owners = np.zeros(0, dtype=np.int64)
        self._changes = np.zeros(0, dtype=np.int64)
        self._seen: tuple[Series, ...] = ()
        self._rows_of_groups = np.zeros((0, 1), dtype=np.int64)
        self._compiled = compiled_tallies()
        self._in_use = any(one.segments for one in catalogue.possible_settings)

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self._past.nbytes

    def apply(self, deltas: Deltas) -> None:
        """Count changes of labelled scores; order does not matter."""
        if not self._in_use or not len(deltas):
            return
        self._ensure()
        if self._compiled is not None and self._tallied(self._compiled, deltas):
            return
        scored = np.flatnonzero((deltas.score_bin != NO_SCORE) & (deltas.cell < len(Outcome)))
        group = deltas.group[scored]
        model = self._catalogue.model_of_group[group]
        self._ensure(model)
        add_once(self._changes, model)
        event, key = np.nonzero(self._rows_of_groups[group] != _NO_ROW)
        row, chosen = self._rows_of_groups[group[event], key], scored[event]
        cell = _CELLS[deltas.cell[chosen], deltas.score_bin[chosen]]
        self._past.add(deltas.time[chosen] // DAY_MS, row, cell, deltas.count[chosen])

    def _tallied(self, compiled: Any, deltas: Deltas) -> bool:
        """Count as `apply` does, with the kernel; return False if it leaves that to Python."""
        return tallied(
            compiled.count_value_scores,
            deltas,
            "score_bin",
            self._catalogue.model_of_group,
            self._rows_of_groups,
            _CELLS,
            NO_SCORE,
            self._changes,
            rings=(self._past.days,),
        )

    def advance(self, times: Int64Array) -> None:
        """Move on to the times of the models, as `PaneRing.advance` takes them."""
        self._times = times
        models = self._past.models
        if models:
            new = np.full(max(0, models - len(times)), NO_TIME, dtype=np.int64)
            self._past.advance(np.append(times[:models], new))

    def blocks(self, model: str, opens: int, closes: int) -> ScoresByValue:
        """Return the labelled scores of a model's segment values in a stretch of the past year.

        Args:
            model: its name.
            opens: first moment, epoch milliseconds; rounded up to a day (UTC).
            closes: first moment after it; rounded down.
        """
        self._ensure()
        rows = {one: row for one, row in self._rows.items() if one.model == model}
        if not rows:
            return ScoresByValue()
        number, stretch = self._catalogue.models.index(model), (opens, closes)
        whole = self._scores.blocks(number, *stretch).sum()
        days = -(-opens // DAY_MS), closes // DAY_MS
        cells = self._past.blocks(number, np.array([*rows.values()]), *days)
        by_class = np.maximum(cells, 0).reshape(len(cells), len(rows), 2, _BINS)
        return ScoresByValue(
            {one: by_class[:, place] for place, one in enumerate(rows)},
            np.stack([whole.positive, whole.negative]),
        )

    def by_day_since(self, model: str) -> int:
        """Return the first moment of a model that is stored by the day, epoch milliseconds.

        Args:
            model: its name.
        """
        return self._past.since(self._catalogue.models.index(model)) * DAY_MS

    def state(self) -> State:
        """Serializable state; empty where no value has histograms."""
        self._ensure()
        if not self._rows:
            return {}
        return {**self._past.state(), "values": [[*one, row] for one, row in self._rows.items()]}

    def restore(self, state: State, models: Int64Array) -> None:
        """Load what `state` returned; the catalogue is restored before.

        Args:
            state: of an earlier run.
            models: old numbers of the models that are still there.
        """
        there = set(self._catalogue.series)
        known = {Series(*one): row for *one, row in state.get("values", ())}
        left = {one: row for one, row in known.items() if one in there}
        if not left:
            return
        rows = np.sort([*left.values()])
        self._rows = {one: int(np.searchsorted(rows, row)) for one, row in left.items()}
        for one, row in self._rows.items():
            self._held(one)[one] = row
        numbers = {name: number for number, name in enumerate(self._catalogue.models)}
        owner_of = {row: numbers[one.model] for one, row in self._rows.items()}
        self._owners = np.array([owner_of[row] for row in range(len(rows))])
        self._past.restore(state, rows, models, self._owners)
        self._changes = np.zeros(len(self._catalogue.models), dtype=np.int64)
        self._changes[self._owners] = 1
        self._note(self._catalogue.series)

    def _ensure(self, scored: Int64Array | None = None) -> None:
        """Give histograms to the values of models with labelled scores, as far as there is room.

        Args:
            scored: model numbers of labelled scores that come now; None for none.
        """
        models, names = self._catalogue.models, self._catalogue.series
        if more := len(models) - len(self._changes):
            self._changes = np.append(self._changes, np.zeros(more, dtype=np.int64))
        first = [] if scored is None else np.unique(scored[self._changes[scored] == 0]).tolist()
        if names is not self._seen or first:
            scored_before = {models[number] for number in np.flatnonzero(self._changes)}
            first_now = {models[number] for number in first}
            known = [*self._seen, *[None] * (len(names) - len(self._seen))]
            fresh = [
                (one, earlier)
                for one, earlier in zip(names, known, strict=True)
                if one.model in first_now or (one.model in scored_before and one != earlier)
            ]
            for one, earlier in self._as_they_came(fresh):
                self._enter(one, earlier)
            self._past.ensure(self._owners)
            self.advance(self._times)
            self._note(names)
        elif len(self._rows_of_groups) < len(self._catalogue.rows):
            self._note(names)

    def _as_they_came(self, fresh: list[_Fresh]) -> list[_Fresh]:
        """Return series with the versions among them in the order in which they came.

        Series change hands between versions, so that their order is another; groups do not.
        """
        versions = [both for both in fresh if both[0].segment == VERSION_KEY]
        if len(versions) <= 1:
            return fresh
        came: dict[Series, int] = {}
        for place, (model, values) in enumerate(self._catalogue.named_groups()):
            version = values.get(VERSION_KEY, MISSING_VALUE)
            came.setdefault(Series(model, VERSION_KEY, version), place)
        in_order = iter(sorted(versions, key=lambda both: came.get(both[0], -1)))
        return [next(in_order) if both[0].segment == VERSION_KEY else both for both in fresh]

    def _enter(self, series: Series, earlier: Series | None) -> None:
        """Give a segment value a histogram if there is room; a version takes that of another."""
        if series.segment is None or series.value == OTHER_VALUE:
            return
        is_version, held = series.segment == VERSION_KEY, self._held(series)
        if earlier not in held:
            earlier = next(iter(held)) if is_version and len(held) == MOST_VERSIONS else None
        if earlier is not None:
            self._rows[series] = held[series] = row = self._rows.pop(earlier)
            del held[earlier]
            self._past.ensure(self._owners)
            self._past.drop(row)
            return
        number = self._catalogue.models.index(series.model)
        has_versions = VERSION_KEY in self._catalogue.settings[number].segments
        others = MOST_VALUES - MOST_VERSIONS if has_versions else MOST_VALUES
        if len(held) < (MOST_VERSIONS if is_version else others):
            self._rows[series] = held[series] = len(self._owners)
            self._owners = np.append(self._owners, number)

    def _held(self, series: Series) -> dict[Series, int]:
        """Return the rows of a model's versions, or of its other values, as they were entered."""
        return self._by_kind.setdefault((series.model, series.segment == VERSION_KEY), {})

    def _note(self, names: tuple[Series, ...]) -> None:
        """Remember the series, and the rows that each group counts in."""
        rows = [*(self._rows.get(one, _NO_ROW) for one in names), _NO_ROW]
        # NO_ROW, in place of a missing key, is the last one
        self._seen, self._rows_of_groups = names, np.array(rows, np.int64)[self._catalogue.rows]


def _shares(whole: Int64Array) -> FloatArray:
    """Return the share of each fine bin in the cases of its wide bin, (2, fine bins).

    In a wide bin without a case, the fine bins have equal shares.
    """
    cases = np.maximum(whole, 0).astype(np.float64)
    in_wide = np.add.reduceat(cases, _STARTS, axis=-1)[..., _WIDE]
    width = np.diff(_STARTS, append=SCORE_BINS)[_WIDE]
    return np.where(in_wide > 0, cases / np.maximum(in_wide, 1), 1 / width)
