"""What watches one model: detectors, judges, its page, and how far they have come."""

from __future__ import annotations

from dataclasses import dataclass, field

from monitor.clock import DAY_MS
from monitor.drift.trend import Trend
from monitor.events.renumbering import State
from monitor.verdicts import Detected
from monitor.watch.day_detection import DayDetection
from monitor.watch.detection import Detection, RiverDetection
from monitor.watch.judging import Judge
from monitor.watch.live_ratio import LiveRatio
from monitor.watch.nowcasts import Nowcasts
from monitor.watch.page import ModelPage
from monitor.watch.skill_trend import trend_state


@dataclass(slots=True, kw_only=True)
class ModelWatch:
    """Detectors, judge and detections of one model.

    Attributes:
        detection: the detectors by pane; None where labels are a sample.
        by_day: the detector by days; None where a detector of river takes its place.
        judge: of its windows, against the reference.
        level: judge of days and pages, against the level that the detectors watch (see
            `monitor.watch.level`); the same one while that is the reference.
        page: the model's page.
        done: first coarse pane that the detectors have not seen.
        day: first day since 1970, UTC, that is not closed.
        learned_until: first day of the stretch that the scatter is learned from next.
        paged: True where the model paged when the last stretch ended.
        hold_ends: the reference stands in for longer first days and pages dead models alone; these
            are held back until outcomes up to this moment are mature, epoch milliseconds; None
            where it pages. See `monitor.watch.small_reference`.
        held: longer first days than those of the reference are known, and are not taken, since the
            model looks worse than in it.
        lost: of the level, see `monitor.watch.level.Stretch`.
        trend: since the level opened, as of the last week's end; None where none is certain.
        ratio: its live class ratio.
        nowcasts: its estimates ahead of the labels; None where labels are a sample.
        shifted_at: event time of the last alarm of the class ratio detector, milliseconds.
        detections: all detections so far.
    """

    detection: Detection | RiverDetection | None
    by_day: DayDetection | None
    judge: Judge
    level: Judge
    page: ModelPage
    done: int
    day: int
    learned_until: int
    ratio: LiveRatio
    nowcasts: Nowcasts | None
    paged: bool = False
    hold_ends: int | None = None
    held: bool = False
    lost: float = 0.0
    trend: Trend | None = None
    shifted_at: int | None = None
    detections: list[Detected] = field(default_factory=list)

    @property
    def evidence(self) -> float:
        """The largest of the statistics over their thresholds; NaN without a detector."""
        running = [one.evidence for one in (self.detection, self.by_day) if one is not None]
        return max(running, default=float("nan"))

    def awaits_page(self, at: int) -> bool:
        """Return whether a degraded judgement would start a page.

        Args:
            at: event time, epoch milliseconds.
        """
        return self.hold_ends is None and self.page.awaits_judgement(at)

    def awaits_day(self, mature: int) -> bool:
        """Return whether nothing is stepped before another day closes.

        Args:
            mature: outcomes up to this moment, epoch milliseconds, are mature.
        """
        by_pane = self.detection is not None or self.nowcasts is not None
        return not by_pane and mature < (self.day + 1) * DAY_MS

    def state(self) -> State:
        """Serializable state."""
        return {
            "detection": None if self.detection is None else self.detection.state(),
            "by_day": None if self.by_day is None else self.by_day.state(),
            "level": None if self.level is self.judge else self.level.reference.state(),
            "learned": self.level.learned.state(),
            "page": self.page.state(),
            "done": self.done,
            "day": self.day,
            "learned_until": self.learned_until,
            "paged": self.paged,
            "held": self.held,
            "lost": self.lost,
            "trend": None if self.trend is None else trend_state(self.trend),
            "nowcasts": None if self.nowcasts is None else self.nowcasts.state(),
            "shifted_at": self.shifted_at,
            "detections": [[found.at, found.kind] for found in self.detections],
        }
