"""Steps the detectors of one model over its mature panes and days."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import Outcome
from monitor.drift import Judgement
from monitor.drift.trend import CERTAIN
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.verdicts import Detected
from monitor.watch.cuts import Cuts
from monitor.watch.level import WEEK, Stretch, longer_level, renewal_days, renewed_level
from monitor.watch.model_days import STRETCH_DAYS, DayReader, RecentDays
from monitor.watch.model_watch import ModelWatch
from monitor.watch.nowcasts import DayStart
from monitor.watch.page import DEAD_DAYS, JUDGED_DAYS, certain_fall
from monitor.watch.skill_trend import MOST_DAYS, trend_of
from monitor.watch.small_reference import FEWEST_OF_THE_DEAD
from monitor.windows.outcome_reader import OutcomeReader


class _Pane(NamedTuple):
    """A coarse pane: its number, and the outcomes (series, 4) of some series by number."""

    number: int
    cells: Int64Array
    rows: Int64Array


ReplaceLevel = Callable[[int, ModelWatch, Cuts, Stretch], None]
"""Replaces the level of a model, by its number, with the outcomes of a stretch of time."""


class Stepper:
    """Steps detectors over panes and days, and lists what they detect.

    Args:
        catalogue: models and their settings.
        windows: counts.
        days: the same counts by days.
        replace_level: replaces the level of a model.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        windows: OutcomeReader,
        days: DayReader,
        replace_level: ReplaceLevel,
    ) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._replace_level = replace_level
        self._days = days

    def steps(
        self, model: int, watch: ModelWatch, cuts: Cuts, mature: int, age: int
    ) -> Iterator[None]:
        """Step the detectors over the panes and days that have matured since the last call.

        Args:
            model: its number.
            watch: its detectors.
            cuts: its series by segment key.
            mature: outcomes up to this moment, epoch milliseconds, are mature.
            age: its maturity, milliseconds.

        Yields:
            Nothing; after each pane with outcomes, each day, and each estimated window.
        """
        yield from self.pane_steps(model, watch, cuts, mature, age)
        yield from self._close_days(model, watch, cuts, mature, age)
        if watch.nowcasts is not None:
            yield from watch.nowcasts.steps(DayStart(watch.judge, self._days, cuts, mature, age))

    def pane_steps(
        self, model: int, watch: ModelWatch, cuts: Cuts, mature: int, age: int
    ) -> Iterator[None]:
        """Step the detectors over the panes alone; days are closed that end before one of them.

        The last day stays open where `mature` is its end, so that it can be closed against
        another reference than the one that its panes are stepped with.

        Args:
            model: its number.
            watch: its detectors.
            cuts: its series by segment key.
            mature: outcomes up to this moment, epoch milliseconds, are mature.
            age: its maturity, milliseconds.

        Yields:
            Nothing; after each pane with outcomes, and each day.
        """
        step = self._windows.step_ms
        first, end = watch.done, mature // step
        if watch.detection is not None:
            watch.detection.follow(cuts.watched)
        if end > first and watch.detection is not None:
            rows = cuts.rows
            table = self._windows.panes(first, end, rows)[..., : len(Outcome)]
            for i in np.flatnonzero(table.any(axis=(1, 2))).tolist():
                yield from self._close_days(model, watch, cuts, (first + i) * step, age)
                self._step(watch, cuts, _Pane(first + i, table[i], rows), age)
                watch.done = first + i + 1
                yield
            watch.done = end

    def open_panes(
        self, model: int, watch: ModelWatch, cuts: Cuts, mature: int, age: int
    ) -> Iterator[None]:
        """Step the detectors over the panes of the day that is open; no day is closed.

        Args:
            model: its number.
            watch: its detectors.
            cuts: its series by segment key.
            mature: outcomes up to this moment, epoch milliseconds, are mature.
            age: its maturity, milliseconds.

        Yields:
            Nothing; after each pane with outcomes.
        """
        if watch.detection is not None:
            closes = (watch.day + 1) * DAY_MS
            yield from self.pane_steps(model, watch, cuts, min(mature, closes), age)

    def judged(self, model: int, watch: ModelWatch, cuts: Cuts, days: int) -> Judgement | None:
        """Judge the last closed days of a model, those of the reference left out.

        Args:
            model: its number.
            watch: its detectors.
            cuts: its series by segment key.
            days: how many.

        Returns:
            None where nothing can be judged, or labels are at fault.
        """
        return self._judged(model, watch, cuts, watch.day, days)

    def judged_until(self, model: int, watch: ModelWatch, cuts: Cuts, end: int) -> Judgement | None:
        """Judge as many days as a page rests on at most, those of the reference left out.

        Args:
            model: its number.
            watch: its detectors.
            cuts: its series by segment key.
            end: number of the day after the last one since 1970, closed or not.

        Returns:
            None where nothing can be judged, or labels are at fault.
        """
        return self._judged(model, watch, cuts, end, max(JUDGED_DAYS))

    def start_page(self, model: int, watch: ModelWatch, cuts: Cuts, days: int, age: int) -> None:
        """Page a model that is certainly worse, where the odds ratio of its last days fell, too.

        Args:
            model: its number.
            watch: its detectors.
            cuts: its series by segment key.
            days: how many last closed days.
            age: its maturity, milliseconds.
        """
        at, found = watch.day * DAY_MS + age, self.judged(model, watch, cuts, days)
        if found is None or found.labels_may_explain or found.change["odds_ratio"] >= 0:
            return
        if not (watch.page.active or watch.by_day is None or self._is_silent(watch, at, age)):
            _start(watch, at, found)

    def length(self, window: str) -> int:
        """Return the length of a window by its name, milliseconds."""
        return self._windows.length(window)

    def is_active(self, at: int | None, now: int) -> bool:
        """Return whether a detection lies no further back than the longest window.

        Args:
            at: event time of the detection, epoch milliseconds; None without one.
            now: epoch milliseconds.
        """
        return at is not None and now - at <= self._windows.longest

    def _step(self, watch: ModelWatch, cuts: Cuts, pane: _Pane, age: int) -> None:
        """Step the detectors by pane, and start a page where a window confirms them."""
        if watch.detection is None:
            return
        step, (number, cells, rows) = self._windows.step_ms, pane
        alarms = watch.detection.update(cells, rows, number * step, cuts.totals)
        at = (number + 1) * step + age
        silent = any(alarms) and self._is_silent(watch, at, age)
        if alarms.degraded and not silent:
            watch.page.fire(at)
        if watch.awaits_page(at):
            found = watch.level.degradation(at, age, cuts)
            if found is not None and watch.page.is_sudden(found):
                _start(watch, at, found)
        if alarms.shifted and not silent and not watch.judge.may_be_labels(at, age, cuts.totals):
            if not self.is_active(watch.shifted_at, at):
                watch.detections.append(Detected(at, "prevalence_shift"))
            watch.shifted_at = at

    def _close_days(
        self, model: int, watch: ModelWatch, cuts: Cuts, until: int, age: int
    ) -> Iterator[None]:
        """Close the days that end by a moment, epoch milliseconds."""
        while (watch.day + 1) * DAY_MS <= until:
            watch.day += 1
            self._close_day(model, watch, cuts, watch.day, age)
            yield

    def _close_day(self, model: int, watch: ModelWatch, cuts: Cuts, end: int, age: int) -> None:
        """Step the detector by days over the day before day `end`, judge, and learn."""
        at, page, learned = end * DAY_MS + age, watch.page, watch.level.learned
        if watch.by_day is not None:
            day = self._days.days(model, cuts, end - 1, end)
            if watch.by_day.update(day, cuts, learned.scatter):
                watch.by_day.restart()
                if not self._is_silent(watch, at, age):
                    page.fire(at)
        self._judge_page(model, watch, cuts, end, at)
        if not page.dead and not self._is_silent(watch, at, age):
            self._page_the_dead(model, watch, cuts, end, at)
        finished = watch.paged is not page.active or end - watch.learned_until >= STRETCH_DAYS
        if finished or learned.knows_little:
            stretch = self._days.days(model, cuts, watch.learned_until, end)
            trusted = watch.level.trusts_labels(stretch, at)
            learned.learn(stretch if trusted else stretch.between(end, end), goes_on=not finished)
        if finished:
            watch.paged, watch.learned_until = page.active, end
        if end % WEEK == 0:
            self._look_back(model, watch, cuts, end, age)
            if not page.active:
                self._move_level(model, watch, cuts, end)

    def _judge_page(self, model: int, watch: ModelWatch, cuts: Cuts, end: int, at: int) -> None:
        """Start or end the page by the last days before day `end`."""
        page = watch.page
        awaits = watch.awaits_page(at)
        lengths = JUDGED_DAYS if awaits else page.days_to_judge(at)
        found = {
            length: judgement
            for length in lengths
            if (judgement := self._judged(model, watch, cuts, end, length)) is not None
        }
        if not awaits:
            for length, judgement in found.items():
                if length in page.days_to_judge(at):
                    page.judge_return(length, judgement)
            return
        degraded = certain_fall(found.values())
        if degraded is None and watch.level.reference.ends_at_change and len(found) == len(lengths):
            week, month = (found[length] for length in JUDGED_DAYS)
            degraded = month if page.confirms_fall(week, month) else None
        if degraded is not None:
            _start(watch, at, degraded)

    def _page_the_dead(self, model: int, watch: ModelWatch, cuts: Cuts, end: int, at: int) -> None:
        """Start a page, or note on it, that the model was dead on the last days before day `end`.

        A detector needs a reference of a thousand positives; that a model flags nothing any
        more shows against a shorter one. Against one too small for another page, the days hold
        positives enough that no chance explains it.
        """
        if watch.by_day is None and watch.hold_ends is None:
            return
        fewest = FEWEST_OF_THE_DEAD if watch.by_day is None else 0
        days = self._last_days(model, watch, cuts, end, max(DEAD_DAYS))
        stretches = (days.between(end - length, end) for length in DEAD_DAYS)
        # Soon after the reference closes, several of them are the same days.
        for last in {len(one.numbers): one for one in stretches}.values():
            if last.positives < fewest:
                continue
            found = watch.level.of_days(last, cuts, only_dead=True)
            if found is not None and found.dead and not found.labels_may_explain:
                if not watch.page.active:
                    watch.page.fire(at)
                    _start(watch, at, found)
                watch.page.find_dead()
                return

    def _look_back(self, model: int, watch: ModelWatch, cuts: Cuts, end: int, age: int) -> None:
        """Look for a trend of the model, not of its labels; a fall that lasts starts the page."""
        at, level, page = end * DAY_MS + age, watch.level, watch.page
        first = max((level.reference.opens or 0) // DAY_MS, end - MOST_DAYS)
        days = self._days.days(model, cuts, first, end)
        certain = CERTAIN / level.alike
        trend = trend_of(days, cuts, level.regime, level.learned.scatter, certain=certain)
        if trend is not None and not level.trusts_labels(days, at):
            trend = None
        watch.trend = trend
        if trend is None or trend.change > 0:
            return
        week, month = (self._judged(model, watch, cuts, end, length) for length in JUDGED_DAYS)
        if week is None or month is None:
            return
        labels = month.labels_may_explain or level.shows_wrong_labels(end - max(JUDGED_DAYS), end)
        watch.trend = None if labels else trend
        off = page.active or watch.by_day is None or watch.hold_ends is not None
        silent = labels or off or self._is_silent(watch, at, age)
        if not silent and page.confirms_trend(trend.p_value * level.alike, week, month):
            page.fire(at)
            _start(watch, at, month)

    def _move_level(self, model: int, watch: ModelWatch, cuts: Cuts, end: int) -> None:
        """Replace the level where a longer one is known, or the model was better or moved since."""
        level, days = watch.level, renewal_days(self._catalogue.settings[model].reference)
        found = longer_level(level.reference, end)
        if found is None and days is not None:

            def judged(first: int, last: int) -> Judgement | None:
                return level.of_days(self._days.days(model, cuts, first, last), cuts)

            found = renewed_level(level.reference, days, end, judged, watch.lost)
        if found is not None:
            self._replace_level(model, watch, cuts, found)

    def _judged(
        self, model: int, watch: ModelWatch, cuts: Cuts, end: int, length: int
    ) -> Judgement | None:
        """Judge the last days before day `end`, those of the reference left out."""
        return watch.level.of_days(self._last_days(model, watch, cuts, end, length), cuts)

    def _last_days(
        self, model: int, watch: ModelWatch, cuts: Cuts, end: int, length: int
    ) -> RecentDays:
        """Return the last days before day `end`, those of the reference left out."""
        closes = watch.level.reference.closes
        first = end - length if closes is None else max(end - length, -(-closes // DAY_MS))
        return self._days.days(model, cuts, min(first, end), end)

    def _is_silent(self, watch: ModelWatch, at: int, age: int) -> bool:
        """Return whether silence in the longest window may be missing reports."""
        longest = max(self._windows.names, key=self._windows.length)
        return watch.judge.reports_are_missing(longest, at, age)


def _start(watch: ModelWatch, at: int, found: Judgement) -> None:
    watch.page.start(at, found.change["odds_ratio"])
    watch.detections.append(Detected(at, "model_degraded"))
