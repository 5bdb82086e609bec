"""Score histograms by model, day and class, for thresholds and label-free estimates."""

from __future__ import annotations

import numpy as np

from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.events.score_bins import NO_SCORE, SCORE_BINS
from monitor.join import Deltas
from monitor.metrics.histogram import ScoreHistogram
from monitor.windows.panes import PaneRing

DAY_MS = 86_400_000
DAYS = 62
"""Days for which histograms are stored."""

_MOST_CACHED = 8
_POSITIVE, _NEGATIVE, _ALL = range(3)
_Days = tuple[int, int]
_KIND_OF_CELL = np.array([_POSITIVE, _NEGATIVE, _POSITIVE, _NEGATIVE, _ALL, _ALL])
assert [Outcome.TP, Outcome.FP, Outcome.FN, Outcome.TN] == [0, 1, 2, 3]  # noqa: S101  # the order above


class Scores:
    """Score histograms by model and day of the prediction.

    Args:
        catalogue: numbers of models and groups.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._days = PaneRing(width=DAY_MS, span=DAYS, cells=3 * SCORE_BINS)
        self._changes = np.zeros(0, dtype=np.int64)
        self._known: dict[int, tuple[tuple[int, int | None], dict[_Days, ScoreHistogram]]] = {}

    def apply(self, deltas: Deltas) -> None:
        """Count scored predictions and their outcomes."""
        scored = np.flatnonzero(deltas.score_bin != NO_SCORE)
        self._ensure()
        if not len(scored):
            return
        model = self._catalogue.model_of_group[deltas.group[scored]]
        self._changes[model] += 1
        self._days.add(
            self._days.pane_of(deltas.time[scored]),
            model,
            _KIND_OF_CELL[deltas.cell[scored]] * SCORE_BINS + deltas.score_bin[scored],
            deltas.count[scored],
        )

    def advance(self, times: Int64Array) -> None:
        """Move the panes on to the times of the models, as `PaneRing.advance` takes them."""
        self._ensure()
        self._days.advance(times)

    def keeps(self, model: int, opens: int) -> bool:
        """Return whether the days of a model from a moment on are stored.

        Args:
            model: its number.
            opens: the moment, epoch milliseconds.
        """
        return self._days.reaches_back(opens // DAY_MS, model)

    def days(self, model: int, opens: int, closes: int) -> ScoreHistogram:
        """Return histograms of the whole days inside a stretch of event time, (days, bins).

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded up to a day.
            closes: first moment after it; rounded down.
        """
        self._ensure()
        start, end = -(-opens // DAY_MS), closes // DAY_MS
        table = self._days.table(start, max(start, end), np.array([model]))
        cells = table.reshape(len(table), 3, SCORE_BINS)
        positive, negative = cells[:, _POSITIVE], cells[:, _NEGATIVE]
        unlabelled = cells[:, _ALL] - positive - negative
        return ScoreHistogram(positive=positive, negative=negative, unlabelled=unlabelled)

    def state(self) -> State:
        """Serializable state."""
        return self._days.state()

    def restore(self, state: State, models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
            models: old numbers of the models that are still there.
        """
        self._days.restore(state, models, models, np.arange(len(models)))

    def histogram(self, model: int, opens: int, closes: int) -> ScoreHistogram:
        """Return the histogram of a model's scores in whole days of event time.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded down to its day.
            closes: first moment after it; rounded up.

        Returns:
            The same object until a count changes; do not write to it.
        """
        self._ensure()
        days = opens // DAY_MS, -(-closes // DAY_MS)
        state = int(self._changes[model]), self._days.newest(model)
        known = self._known.get(model)
        if known is None or known[0] != state:
            known = self._known[model] = (state, {})
        if days not in known[1]:
            known[1][days] = self._summed(model, *days)
            while len(known[1]) > _MOST_CACHED:
                del known[1][next(iter(known[1]))]
        return known[1][days]

    def _summed(self, model: int, start: int, end: int) -> ScoreHistogram:
        counted = self._days.sum(start, end, np.array([model])).reshape(3, SCORE_BINS)
        positive, negative = counted[_POSITIVE], counted[_NEGATIVE]
        unlabelled = counted[_ALL] - positive - negative
        return ScoreHistogram(positive=positive, negative=negative, unlabelled=unlabelled)

    def _ensure(self) -> None:
        models = len(self._catalogue.models)
        self._days.ensure(np.arange(models))
        if len(self._changes) < models:
            fresh = np.zeros(models - len(self._changes), dtype=np.int64)
            self._changes = np.concatenate([self._changes, fresh])
