"""The page of one model: when it starts, and when the model has certainly recovered."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Self

from monitor.clock import DAY_MS
from monitor.drift import Judgement
from monitor.drift.label_quality import LabelChange
from monitor.drift.verdict import DEGRADED, Verdict
from monitor.events.renumbering import State

ALARM_MS = 28 * DAY_MS
"""How long after an alarm of a detector a certain degradation starts a page."""
JUDGED_DAYS = (7, 28)
"""Lengths of the stretches of whole days that are judged beside the windows."""
DEAD_DAYS = (1, 3, 7, 14)
"""Lengths of the stretches of whole days on which a dead model may show."""
DEAD_LEVEL = 0.998
"""Of the interval of a fall that starts a page for a dead model."""
SUDDEN_LEVEL = 0.9999
"""Of the interval of a fall that starts a page before the day is over."""
_BACK_SHARE = 0.5
_LEVEL_DAYS = 7
_BELOW_CURVE, _SUDDENLY_BELOW = 3.3, 4.4
"""Standard errors below the ROC curve: p = .0005 of whole days, .000005 of a window at any pane."""
_TREND_BELOW = 2.0
"""Standard errors of what a trend has to show besides the fall."""
_TREND_PAGES = 0.005
"""P-value below which a trend pages: at .01, 27 of 7,000 models as ever do so by day 67, not 16."""
_LASTS = 0.95
_CERTAINTY = 0.9
"""Coverage of the two-sided interval whose lower bound is certain at p < .05."""


def certain_fall(found: Iterable[Judgement], *, sudden: bool = False) -> Judgement | None:
    """Return the first judgement that is degraded; None where labels may be the cause.

    Args:
        found: judgements of stretches that end together, from the shortest to the longest.
        sudden: ask for what a page before the day is over needs.

    Returns:
        None as well where a longer one may show half of the fall (p > .025), and labels that are
        wrong more often leave its verdict open: it has more outcomes, and days enough to ask
        their scores. Before the day is over, it counts without a verdict on the model, too, and
        one that labels leave open counts unless the fall certainly goes further: of days with
        worse labels, the worst would page. A shorter one counts where labels leave its verdict
        open, and it fell further by more than its error: the longer one then began before the
        fault.
    """
    found, errors = list(found), _SUDDENLY_BELOW if sudden else _BELOW_CURVE
    at = next((at for at, one in enumerate(found) if _is_degraded(one, errors)), None)
    if at is None:
        return None
    fall = found[at].change["odds_ratio"]
    _, least = found[at].interval("odds_ratio", level=SUDDEN_LEVEL)
    as_far = sudden and any(
        one.labels_may_explain and one.change["odds_ratio"] <= least for one in found[at:]
    )
    half_shown = any(
        (one.labels_may_explain or (sudden and one.label_change is not LabelChange.NONE))
        and one.interval("odds_ratio", level=_LASTS)[0] < _BACK_SHARE * fall
        for one in found[at:]
    )
    fell_further = any(
        one.labels_may_explain
        and one.change["odds_ratio"] + one.standard_error["odds_ratio"] < fall
        for one in found[:at]
    )
    return None if half_shown or as_far or fell_further else found[at]


def _is_degraded(found: Judgement, errors: float) -> bool:
    """Return whether a model is degraded, and so many standard errors below the ROC curve.

    A slide of the threshold lowers the odds ratio for good, so that detectors fire and the curve
    alone tells it from a worse model, at many looks.

    Args:
        found: the judgement.
        errors: asked for where the curve was asked.
    """
    unasked = found.dead or math.isnan(found.curve_z)
    return found.verdict in DEGRADED and (unasked or found.curve_z < -errors)


def fell_at(found: Judgement, level: float) -> bool:
    """Return whether the odds ratio certainly fell, whatever the rates of wrong labels are.

    Args:
        found: the judgement of a stretch.
        level: of the interval of the fall, in (0, 1).
    """
    every = found, *found.at_rates
    return all(one.interval("odds_ratio", level=level)[1] < 0 for one in every)


class ModelPage:
    """The page of one model: from a certain degradation on, until it has certainly recovered.

    A page starts where a detector has fired within 28 days and the last 7 or 28 days are
    judged degraded; a fall that is large enough starts it within the day. The last 1, 3, 7 or 14
    days on which the model was dead start it without a detector, as does a trend over weeks with
    p < .005 that the last 28 days confirm. It ends once the odds ratio is certainly (p < .05)
    above half of its fall, over the last 7 or 28 days, all of them since the page started, or
    once the last 28 lie on the ROC curve of the scores, or other labels explain them. So one
    lasting degradation is one page, and it does not fade as the fault fills the windows.

    Where scores come, a degraded stretch also has to lie below the ROC curve by `_BELOW_CURVE`
    standard errors, or by `_SUDDENLY_BELOW` within the day, unless both rates certainly became
    worse: a slide of the threshold fires detectors, too.
    """

    def __init__(self) -> None:
        self._fired: int | None = None
        self._began: int | None = None
        self._fall = 0.0
        self._dead = False

    @property
    def active(self) -> bool:
        """True while the model pages."""
        return self._began is not None

    @property
    def dead(self) -> bool:
        """True while the model pages and was dead on some last days since."""
        return self.active and self._dead

    def find_dead(self) -> None:
        """Note, while the model pages, that it was dead on the last days."""
        self._dead = True

    def fire(self, at: int) -> None:
        """Note an alarm of a detector.

        Args:
            at: event time, epoch milliseconds.
        """
        self._fired = at

    def awaits_judgement(self, at: int) -> bool:
        """Return whether a degraded judgement would start a page.

        Args:
            at: event time, epoch milliseconds.
        """
        fired = self._fired is not None and at - self._fired <= ALARM_MS
        return fired and not self.active

    def is_open(self, at: int) -> bool:
        """Return whether the model pages, or an alarm awaits its judgement.

        Args:
            at: event time, epoch milliseconds.
        """
        return self.active or self.awaits_judgement(at)

    def is_sudden(self, found: Judgement) -> bool:
        """Return whether a judgement of a window starts a page before the day is over.

        A window is judged after every pane, so that chance has many more looks at it than at
        whole days: the odds ratio must have fallen at p < .0001, or the model be dead.

        Args:
            found: a judgement on a window of a day or more.
        """
        fell = fell_at(found, SUDDEN_LEVEL)
        return _is_degraded(found, _SUDDENLY_BELOW) and (found.dead or fell)

    def confirms_trend(self, p_value: float, week: Judgement, month: Judgement) -> bool:
        """Return whether a fall over weeks is certain enough for a page, and the last days agree.

        Args:
            p_value: of the trend, times the number of series of the model that are looked at.
            week: judgement of the last 7 days.
            month: judgement of the last 28 days.

        Returns:
            True where the trend has p < .005, and the last days confirm it.
        """
        return p_value < _TREND_PAGES and self.confirms_fall(week, month)

    def confirms_fall(self, week: Judgement, month: Judgement) -> bool:
        """Return whether the last days confirm a fall that all days of a model show.

        Args:
            week: judgement of the last 7 days.
            month: judgement of the last 28 days.

        Returns:
            True where the odds ratio of the month is certainly (p < .025) below the level, and that
            of the week by at least half as much, so that the model is not back already;
            False where the operating point of the month moved along the curve, or does not
            certainly lie below that of the scores, and where other labels explain its change:
            also of one without a verdict, where positives became more frequent, or labels leave
            the verdict on the week open. False as well where they do, the class ratio
            of the week moved with them (two errors), and the week fell more than twice as far as
            the month: what labels explain then began within it.
        """
        moved = month.verdict in (Verdict.OPERATING_POINT_MOVED, Verdict.THRESHOLD_MOVED)
        if month.labels_may_explain or moved:
            return False
        more = month.change["class_ratio"] > _TREND_BELOW * month.standard_error["class_ratio"]
        by_labels = month.label_change is LabelChange.FALSE_NEGATIVES or (
            month.label_change is LabelChange.FALSE_POSITIVES and (more or week.labels_may_explain)
        )
        fall = month.change["odds_ratio"]
        ratio, error = (of["class_ratio"] for of in (week.change, week.standard_error))
        began = week.labels_may_explain and abs(ratio) > _TREND_BELOW * error
        began = began and _BACK_SHARE * week.change["odds_ratio"] < fall
        if month.curve_z > -_TREND_BELOW or by_labels or began:
            return False
        return fell_at(month, _LASTS) and week.change["odds_ratio"] < _BACK_SHARE * fall

    def start(self, at: int, fall: float) -> None:
        """Start the page.

        Args:
            at: event time, epoch milliseconds.
            fall: change of the log odds ratio, below 0 where it fell.
        """
        self._began, self._fall = at, fall

    def days_to_judge(self, at: int) -> tuple[int, ...]:
        """Return over how many last days it is judged whether the model is back.

        Args:
            at: event time, epoch milliseconds.
        """
        if self._began is None:
            return ()
        return tuple(days for days in JUDGED_DAYS if at - self._began >= days * DAY_MS)

    def judge_return(self, days: int, found: Judgement) -> None:
        """End the page if the model has certainly recovered, or a month is not that of a worse one.

        That is one on the ROC curve, or one that labels that are wrong more often explain, on
        which no page would start.

        Args:
            days: number of last days judged.
            found: the judgement on them.
        """
        change = found.change["odds_ratio"]
        lower, _ = found.interval("odds_ratio", level=_CERTAINTY)
        if days == _LEVEL_DAYS:
            self._fall = min(self._fall, change)
        back = lower > _BACK_SHARE * self._fall and found.verdict not in DEGRADED
        otherwise = found.on_reference_curve or found.labels_may_explain
        if back or (otherwise and days > _LEVEL_DAYS):
            self._began = self._fired = None
            self._dead = False

    def state(self) -> State:
        """Serializable state."""
        return {"fired": self._fired, "began": self._began, "fall": self._fall, "dead": self._dead}

    def restored(self, state: State) -> Self:
        """Load what `state` returned, and return itself."""
        self._fired, self._began = state["fired"], state["began"]
        self._fall, self._dead = state["fall"], state.get("dead", False)
        return self
