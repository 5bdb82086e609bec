"""The detector by days of one model, within the values of each segment key."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.day_detector import DayDetector
from monitor.drift.day_scatter import DayScatter
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State, new_numbers
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.watch.cuts import Cuts
from monitor.watch.detection import AlarmLimits
from monitor.watch.model_days import RecentDays
from monitor.watch.reference import MatureReference


class DayDetection:
    """Watches the odds ratio of one model against its reference, a day at a time.

    There is one statistic for each segment key (one of the totals without segment keys),
    and all of them must alarm, so that a change of mix by any one key does not.

    Args:
        reference: of the model.
        regime: how labels come, and how often they are wrong.
        cuts: the model's series by segment key.
        limits: of the statistics, see `monitor.drift.day_detector.day_threshold`.
    """

    def __init__(
        self, reference: MatureReference, regime: LabelRegime, cuts: Cuts, limits: AlarmLimits
    ) -> None:
        self._reference = reference
        self._regime = regime
        self._limits = limits
        self._cuts: list[Int64Array] = []
        self._detectors: list[DayDetector] = []
        self.follow(cuts)

    @property
    def evidence(self) -> float:
        """The lowest of the statistics over its threshold; an alarm from 1 on."""
        return min(detector.evidence for detector in self._detectors)

    def follow(self, cuts: Cuts) -> None:
        """Add new segment values, and retain the evidence so far."""
        watched = cuts.watched
        if [len(cut) for cut in watched] == [len(cut) for cut in self._cuts]:
            return
        states = [detector.state() for detector in self._detectors]
        self._cuts = list(watched)
        self._detectors = [self._detector(cut) for cut in self._cuts]
        for detector, state in zip(self._detectors, states, strict=False):
            detector.restore(state)

    def update(self, day: RecentDays, cuts: Cuts, scatter: DayScatter) -> bool:
        """Add one day and return whether all statistics alarm after it.

        Args:
            day: one day, or none where it has no prediction.
            cuts: the model's series by segment key, in the order of the day's series.
            scatter: how days scatter.
        """
        self.follow(cuts)
        outcomes, sampling = expected(self._regime, day.cells, day.weights, day.opens)
        total: CountArray = outcomes.sum(axis=0)
        places = places_by_key(cuts)
        alarms = [
            detector.update(ConfusionCounts.from_cells(total[place]), scatter, sampling or 1.0)
            for detector, place in zip(self._detectors, places, strict=True)
        ]
        return all(alarms)

    def continue_from(self, older: DayDetection) -> None:
        """Take over the evidence of a detector of the same series.

        Args:
            older: with the same level, at other rates of wrong labels.
        """
        for detector, known in zip(self._detectors, older._detectors, strict=False):
            detector.restore(known.state())

    def restart(self) -> None:
        """Forget the evidence."""
        for detector in self._detectors:
            detector.restart()

    def state(self) -> State:
        """Serializable state: the evidence, and its series."""
        return {
            "cuts": [cut.copy() for cut in self._cuts],
            "detectors": [dict(detector.state()) for detector in self._detectors],
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned, for the same reference.

        Args:
            state: of an earlier run.
            left: the models and series that are still there.
        """
        self._cuts = [new_numbers(left.series)[cut] for cut in state["cuts"]]
        self._detectors = [self._detector(cut) for cut in self._cuts]
        for detector, evidence in zip(self._detectors, state["detectors"], strict=True):
            detector.restore(evidence)

    def _detector(self, cut: Int64Array) -> DayDetector:
        cells = self._reference.cells_of(cut)
        if not len(self._reference.rows):
            cells = self._reference.counts.cells[None, :]
        return DayDetector(
            reference=ConfusionCounts.from_cells(cells),
            days=self._reference.days_behind,
            threshold=self._limits.threshold,
            margin=self._limits.margin,
            sampling=self._reference.sampling(self._regime),
        )


def places_by_key(cuts: Cuts) -> Sequence[Int64Array]:
    """Return the places of each key's values among a day's series; of the totals without keys."""
    if not cuts.segments:
        return [np.array([0])]
    ends = np.cumsum([1, *(len(rows) for rows in cuts.segments)])
    return [np.arange(start, end) for start, end in pairwise(ends.tolist())]
