"""Watches what models predict, without labels: a model that has died is found within hours.

Each model is looked at every half-hour of its own time, from the end of its first week on. What is
usual is learned anew every day, and every week once four weeks are known, from the hours of the
past year up to a day ago. Stretches in which predictions were wrong do not count. An alarm ends

- where predictions are certainly as usual again;
- where a reference window is configured that opens after the alarm began;
- where only the rate of flagged cases is another one, and a week of mature labels since shows no
  worse model;
- where that rate is another one for 28 days.

After the last three, what is usual is learned from the predictions since that reference opens, or
since the rate is another one.

Counts from elsewhere (`counts`) are watched by their numbers of predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.drift import Judgement
from monitor.drift.degenerate import Present, fewest_same
from monitor.drift.known_predictions import FEWEST_DAYS, Hours, KnownPredictions
from monitor.drift.score_spread import KnownSpread
from monitor.drift.verdict import IMPROVED, NOT_OF_THE_MODEL
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.metrics.ratio import ratio
from monitor.verdicts import UNKNOWN_PREDICTIONS, DegeneratePredictions
from monitor.watch.latest_scores import LatestScores
from monitor.watch.model_predictions import ModelPredictions, Spans
from monitor.watch.reference import MatureReference
from monitor.windows import Windows
from monitor.windows.history import HISTORY_DAYS
from monitor.windows.scores import Scores

LOOK_MS = 1_800_000
"""Event time between two looks, milliseconds; a longer pane makes it a pane."""
JUDGED_DAYS = 7
"""Days of mature labels since an alarm that can show that the model is not worse."""

_REACH_MS = 28 * DAY_MS
_FINE_MS = DAY_MS
_SCORED_MS = 28 * DAY_MS
_FEWEST_SCORED = 20


class PredictionWatch:
    """Checks the predictions of every model, and stores what it has learned of them.

    Args:
        catalogue: models.
        windows: counts.
        scores: score histograms.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows, scores: Scores) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._scores = scores
        self._models: dict[int, ModelPredictions] = {}
        self._step = max(1, LOOK_MS // windows.pane_ms) * windows.pane_ms
        self._looks: dict[int, int] = {}

    def steps(self, times: Int64Array) -> Iterator[None]:
        """Look at the predictions once for each half-hour since the last call.

        Args:
            times: of each model, epoch milliseconds; `NO_TIME` for one whose time is not
                settled, which is skipped, as models of many classes are.

        Yields:
            Nothing; after each model that enters another half-hour.
        """
        for model in np.flatnonzero(times != NO_TIME).tolist():
            look = int(times[model]) // self._step
            many = self._catalogue.settings[model].has_many_classes
            if look != self._looks.get(model) and not many:
                self._looks[model] = look
                self._steps(model, look * self._step)
                yield

    @property
    def step_ms(self) -> int:
        """Event time between two looks at a model, milliseconds."""
        return self._step

    def of(self, model: int) -> DegeneratePredictions:
        """Return what is wrong with a model's predictions, if anything.

        Args:
            model: its number.
        """
        watched = self._models.get(model)
        if watched is None or (watched.known is None and watched.alarm is None):
            return UNKNOWN_PREDICTIONS
        if watched.alarm is None:
            return DegeneratePredictions(known=True)
        found = watched.alarm.found
        return DegeneratePredictions(
            known=True, kind=found.kind, since=found.began, times=found.times
        )

    def alarm_since(self, model: int) -> int | None:
        """Return since when a model's predictions are wrong as they are now.

        Args:
            model: its number.

        Returns:
            Epoch milliseconds; None without an alarm.
        """
        watched = self._models.get(model)
        return None if watched is None or watched.alarm is None else watched.alarm.since

    def accept(self, model: int, since: int) -> None:
        """End a model's alarm, and learn what is usual from the predictions since a moment.

        Args:
            model: its number.
            since: epoch milliseconds.
        """
        if (watched := self._models.get(model)) is not None:
            watched.accept(since)

    def accept_by(
        self,
        model: int,
        reference: MatureReference,
        day: int,
        judged: Callable[[], Judgement | None],
    ) -> None:
        """Accept another rate of flagged cases by a reference, or by labels, made since.

        Args:
            model: its number.
            reference: that its windows are compared with.
            day: the first day since 1970 that is not closed.
            judged: judges its last closed days.
        """
        began = self.alarm_since(model)
        if began is None:
            return
        opens = reference.opens if reference.source == "window" else None
        if opens is not None and opens >= began:
            self.accept(model, opens)
        elif day * DAY_MS - began >= (JUDGED_DAYS + 1) * DAY_MS:
            found = judged()
            if found is not None and found.verdict in NOT_OF_THE_MODEL | IMPROVED:
                self._accept_rate(model)

    def _accept_rate(self, model: int) -> None:
        """Take the rate of flagged cases since a model's alarm as usual; no dead model's."""
        watched = self._models.get(model)
        alarm = None if watched is None else watched.alarm
        if watched is not None and alarm is not None and alarm.changed is not None:
            watched.accept(alarm.changed)

    def state(self) -> State:
        """Serializable state: the last looks, what is known, and alarms, by model number."""
        return {
            "looks": {str(model): look for model, look in self._looks.items()},
            "models": {str(model): watched.state() for model, watched in self._models.items()},
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; one from before models had times of their own has no
                looks, and each model is looked at once more.
            left: the models that are still there.
        """
        looks = state.get("looks", {})
        for model, old in enumerate(left.models.tolist()):
            if (look := looks.get(str(old))) is not None:
                self._looks[model] = look
            if (known := state["models"].get(str(old))) is not None:
                self._models[model] = ModelPredictions.restored(known)

    def _steps(self, model: int, until: int) -> None:
        watched = self._models.get(model)
        if watched is None:
            first = self._windows.past.first_hour(model, until - HISTORY_DAYS * DAY_MS)
            if first is None or first > until:
                return
            watched = self._models[model] = ModelPredictions(done=first, since=first)
        while watched.done < until:
            day = watched.done // DAY_MS
            if watched.alarm is None and watched.is_to_learn(day):
                self._learn(model, watched, day)
            end = min(until, (day + 1) * DAY_MS)
            watched.done = self._look_at(model, watched, end)

    def _learn(self, model: int, watched: ModelPredictions, day: int) -> None:
        """Learn what is usual from the hours up to a day before the start of a day."""
        watched.learned, closes = day, (day - 1) * DAY_MS
        opens = max(watched.since, closes - HISTORY_DAYS * DAY_MS) // HOUR_MS * HOUR_MS
        if closes - opens < FEWEST_DAYS * DAY_MS:
            return
        hours = self._hours(model, opens, closes)
        for began, ended in watched.wrong:
            hours = hours.take((hours.opens + HOUR_MS <= began) | (hours.opens >= ended))
        scored = self._scored_days(model, opens, closes, watched.wrong)
        watched.known = KnownPredictions.learn(hours, _modal_share(scored)) or watched.known
        watched.spread = KnownSpread.learn(scored, FEWEST_DAYS) or watched.spread

    def _scored_days(
        self, model: int, opens: int, closes: int, wrong: list[tuple[int, int]]
    ) -> Int64Array:
        """Return the scores of days in which nothing was wrong, (days, bins)."""
        kept = max(opens, closes - _SCORED_MS)
        days = self._scores.days(model, kept, closes).total
        first = -(-kept // DAY_MS)
        numbers = np.arange(first, first + len(days))
        usable = np.ones(len(days), dtype=bool)
        for began, ended in wrong:
            usable &= (numbers < began // DAY_MS) | (numbers > ended // DAY_MS)
        return days[usable]

    def _hours(self, model: int, opens: int, closes: int) -> Hours:
        cells = self._windows.past.predictions(model, opens, closes)
        return _hours_of(np.arange(opens, closes, HOUR_MS), cells)

    def _present(self, model: int, watched: ModelPredictions, end: int) -> tuple[Hours, Int64Array]:
        """Return the last 28 days up to a moment, the last of them in looks, and their ends."""
        start = max(watched.from_moment, end - _REACH_MS)
        fine = max(start, watched.done - _FINE_MS, self._windows.fine_since(model))
        fine = min(-(-fine // HOUR_MS), end // HOUR_MS) * HOUR_MS
        by_hour = self._hours(model, min(-(-start // HOUR_MS) * HOUR_MS, fine), fine)
        looks = np.arange(-(-fine // self._step) * self._step, end, self._step)
        cells = np.zeros((0, 2), dtype=np.int64)
        if len(looks):
            panes = self._windows.fine_predictions(
                model, int(looks[0]), int(looks[-1]) + self._step
            )
            cells = panes.reshape(len(looks), -1, 2).sum(axis=1)
        pairs = zip(by_hour, _hours_of(looks, cells), strict=True)
        both = Hours(*(np.concatenate(pair) for pair in pairs))
        return both, np.concatenate([by_hour.opens + HOUR_MS, looks + self._step])

    def _look_at(self, model: int, watched: ModelPredictions, end: int) -> int:
        """Look at the predictions since the last look up to a moment, or to the end of an alarm.

        Returns:
            The moment, epoch milliseconds.
        """
        scored, looked = self._scored(model, watched, end), dict[int, Spans]()
        if watched.known is not None:
            present = Present(watched.known, *self._present(model, watched, end))
            if (done := _alarms(watched, present, scored, looked)) is not None:
                return done
        if end % DAY_MS == 0:
            watched.learn_spans(scored, end, looked)
        return end

    def _scored(self, model: int, watched: ModelPredictions, end: int) -> LatestScores:
        """Return the latest scores, and learn how long runs of one score are."""
        opens, scores = self._scores.recent(model, watched.from_moment, end)
        scored = LatestScores.of(opens, scores)
        if watched.alarm is None:
            watched.longest_same = max(watched.longest_same, scored.longest_ended)
        return scored


def _alarms(
    watched: ModelPredictions,
    present: Present,
    scored: LatestScores,
    looked: dict[int, Spans],
) -> int | None:
    """Start an alarm of a model where predictions are wrong since the last look, or end it.

    Args:
        watched: the model; it is known what is usual.
        present: its latest stretches.
        scored: its latest scores.
        looked: takes the spans of the latest scores by the moment at which they end.

    Returns:
        The moment at which an alarm ends, epoch milliseconds, to be looked at anew from there on;
        None where none does.
    """
    suspicious, fewest = present.suspicious, fewest_same(present.known, watched.longest_same)
    new = np.flatnonzero(present.ends > watched.done)
    moments = present.ends[new]
    looked.update(scored.spans(moments))
    healthy = watched.alarm is None and not suspicious[new].any()
    if healthy and not (scored.ever_found(moments, fewest) or watched.ever_narrow(looked)):
        return None
    for at in new.tolist():
        moment = int(present.ends[at])
        same = scored.found(moment, fewest)
        narrow = watched.narrow_scores(looked[moment], moment)
        if watched.alarm is None and not suspicious[at] and same is None and narrow is None:
            continue
        found = same or present.found(at) or narrow
        if watched.may_end(found) and watched.is_back(present, scored, at, moment):
            watched.end(moment)
            return moment
        if found is not None:
            watched.raise_alarm(found, moment)
        if watched.alarm is not None and watched.has_lasted(moment):
            watched.accept(watched.alarm.since)
            return moment
    return None


def _modal_share(days: Int64Array) -> float:
    """Largest share of a day's scored cases that had one score; NaN without such days."""
    days = days[days.sum(axis=1) >= _FEWEST_SCORED]
    if len(days) < FEWEST_DAYS:
        return float("nan")
    return float(ratio(days.max(axis=1), days.sum(axis=1)).max())


def _hours_of(opens: Int64Array, cells: Int64Array) -> Hours:
    """Return numbers of predictions, none below 0, as corrections may make them."""
    cells = np.maximum(cells, 0)
    return Hours(opens, cells[:, 0], cells.sum(axis=1))
