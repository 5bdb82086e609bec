"""Steps the detectors of one model over its mature panes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.renumbering import State
from monitor.verdicts import Detected
from monitor.watch.cuts import Cuts
from monitor.watch.detection import Alarms, Detection, RiverDetection
from monitor.watch.judging import Judge
from monitor.watch.live_ratio import LiveRatio
from monitor.windows import Windows


@dataclass(slots=True, kw_only=True)
class ModelWatch:
    """Detectors, judge and detections of one model.

    Attributes:
        detection: the detectors; None where the labels allow none.
        judge: of its windows.
        done: first coarse pane that the detectors have not seen.
        ratio: its live class ratio.
        degraded_at: event time of the last alarm of the skill detectors, epoch milliseconds.
        confirmed: a verdict has agreed with that alarm, and it is listed.
        shifted_at: event time of the last alarm of the class ratio detector.
        detections: all detections so far.
    """

    detection: Detection | RiverDetection | None
    judge: Judge
    done: int
    ratio: LiveRatio
    degraded_at: int | None = None
    confirmed: bool = False
    shifted_at: int | None = None
    detections: list[Detected] = field(default_factory=list)

    def state(self) -> State:
        """Serializable state."""
        return {
            "detection": None if self.detection is None else self.detection.state(),
            "done": self.done,
            "ratio": self.ratio.state(),
            "degraded_at": self.degraded_at,
            "confirmed": self.confirmed,
            "shifted_at": self.shifted_at,
            "detections": [[found.at, found.kind] for found in self.detections],
        }


class Stepper:
    """Steps detectors over panes, and lists what they detect.

    Args:
        catalogue: models and series.
        windows: counts.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows) -> None:
        self._catalogue = catalogue
        self._windows = windows

    def steps(
        self, model: int, watch: ModelWatch, cuts: Cuts, mature: int, age: int
    ) -> Iterator[None]:
        """Step the detectors over the panes that have matured since the last call.

        Args:
            model: its number.
            watch: its detectors.
            cuts: its series by segment key.
            mature: outcomes up to this moment, epoch milliseconds, are mature.
            age: its maturity, milliseconds.

        Yields:
            Nothing; after each pane with outcomes.
        """
        detection, step = watch.detection, self._windows.step_ms
        first, end = watch.done, mature // step
        if end <= first or detection is None:
            return
        rows = self._catalogue.rows_of(model)
        own = int(np.searchsorted(rows, cuts.totals))
        table = self._windows.panes(first, end, rows)[..., : len(Outcome)]
        for i in np.flatnonzero(table.any(axis=(1, 2))).tolist():
            pane = first + i
            watch.ratio.update(table[i, own], pane)
            alarms = detection.update(table[i], rows, pane * step, cuts.totals)
            self._note(watch, cuts, alarms, (pane + 1) * step + age, age)
            watch.done = pane + 1
            yield
        watch.done = end

    def is_active(self, at: int | None, now: int) -> bool:
        """Return whether a detection lies no further back than the longest window.

        Args:
            at: event time of the detection, epoch milliseconds; None without one.
            now: epoch milliseconds.
        """
        return at is not None and now - at <= self._windows.longest

    def _note(self, watch: ModelWatch, cuts: Cuts, alarms: Alarms, at: int, age: int) -> None:
        """Add what the detectors say after a pane to the detections, unless labels explain it."""
        longest = max(self._windows.names, key=self._windows.length)
        silent = any(alarms) and watch.judge.reports_are_missing(longest, at, age)
        self._note_degraded(watch, cuts, at, age, alarm=alarms.degraded and not silent)
        if not alarms.shifted or silent:
            return
        if not watch.judge.may_be_labels(at, age, cuts.totals):
            if not self.is_active(watch.shifted_at, at):
                watch.detections.append(Detected(at, "prevalence_shift"))
            watch.shifted_at = at

    def _note_degraded(
        self, watch: ModelWatch, cuts: Cuts, at: int, age: int, *, alarm: bool
    ) -> None:
        """List a page once the detector has fired and a verdict agrees."""
        if not self.is_active(watch.degraded_at, at):
            watch.confirmed = False
            watch.degraded_at = None
        if alarm:
            watch.degraded_at = at
        if watch.degraded_at is None or watch.confirmed:
            return
        if watch.judge.says_degraded(at, age, cuts):
            watch.confirmed = True
            watch.detections.append(Detected(at, "model_degraded"))
