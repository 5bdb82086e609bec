"""Finds the reference of each model as its configuration says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from monitor.config import Labelling
from monitor.drift.reference_news import AwaitedReference, ReferenceRestart
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import Numbers, State
from monitor.join.deltas import CELLS
from monitor.labels.learned_errors import LearnedErrors
from monitor.labels.regime import LabelRegime
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.label_errors import NO_ERRORS
from monitor.watch.as_labelled import AsLabelled
from monitor.watch.awaited_reference import awaited_reference, longer_first_days, next_close
from monitor.watch.changes_since import ChangesSince
from monitor.watch.cuts import CutsByModel
from monitor.watch.first_days import FIRST_MS, CountsUpTo, end_of_first_days, end_of_trailing
from monitor.watch.level import Stretch
from monitor.watch.longer_first_days import LongerFirstDays, LooksWorse
from monitor.watch.model_faults import ModelFault
from monitor.watch.reference import MatureReference
from monitor.watch.reference_cut import StretchScores, cut_reference
from monitor.watch.young_reference import AllDays
from monitor.windows import Windows
from monitor.windows.pane_widths import SPARE_MS
from monitor.windows.scores import Scores


def _no_fault(_: int) -> ModelFault | None:
    return None


def _as_ever(_model: int, _days: AllDays) -> bool:
    return False


class ReferenceFinder:
    """Finds each model's reference once it is mature.

    Args:
        catalogue: models, their settings and series.
        windows: counts.
        scores: score histograms.
        errors: how often labels are wrong.
    """

    def __init__(
        self, catalogue: Catalogue, windows: Windows, scores: Scores, errors: LearnedErrors
    ) -> None:
        self._catalogue = catalogue
        self._errors = errors
        self._windows = windows
        self._scores = scores
        self._cuts = CutsByModel(catalogue)
        self._found: dict[int, MatureReference] = {}
        self._longer = LongerFirstDays(catalogue, windows, errors, self.cut)
        self._changes = ChangesSince(catalogue, windows, errors, self.cut, self._all_scores)

    def of(
        self,
        model: int,
        mature: int,
        fault_of: Callable[[int], ModelFault | None] = _no_fault,
        looks_worse: LooksWorse = _as_ever,
        *,
        since: int | None = None,
    ) -> MatureReference | None:
        """Return the reference of a model; None while it is not mature.

        A provisional reference of the first days is replaced by the configured one once
        that is mature. While the model looks moved, it holds the days before that alone: what
        moved the model would else become the normal state. So it does, for four weeks at most,
        while a model looks worse that it is too small to page for. Where the longer one would
        hold a fault that is over, or a change of level, it ends before that for good: days of two
        states are no normal state. So does one of the first days in which the days after it show a
        change, see `young_reference`; one that stands in for longer days, in which any later day
        shows a fall since, ends before that.

        Args:
            model: its number.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
            fault_of: returns the fault of a model, by its number, since its reference; None
                where it had none.
            looks_worse: see `LooksWorse`.
            since: the reference opens at this moment or later, epoch milliseconds; an earlier
                one no longer holds. None for any.
        """
        last = self.at_rates(model)
        known = None if last is None or last.is_before(since) else last
        if known is not None:
            before = self._changes.before(model, known, self._longer.known(model), mature)
            if before is not None:
                return self._replaced(model, before)
            if not self.is_outdated(model, known, mature):
                return known
        fault = None if known is None else fault_of(model)
        if known is not None and known.source == "first":
            found = self._longer.after(model, known, mature, fault, looks_worse)
        elif fault is None or fault.over:
            found = self._next(model, mature, last, since)
        else:
            found = None
        return known if found is None else self._replaced(model, found)

    def _replaced(self, model: int, found: MatureReference) -> MatureReference:
        """Take a reference from now on, and drop what was read for a longer one."""
        self._found[model] = found
        first = self._catalogue.settings[model].reference.first
        if first is None or not found.is_shorter_than(first):
            self._windows.forget_beginning(model)
            self._longer.forget(model)
        return found

    def awaited(
        self, model: int, mature: int, age: int, *, since: int | None = None
    ) -> AwaitedReference | None:
        """Return what a model lacks of its configured reference.

        Args:
            model: its number.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
            age: age at which they are, milliseconds.
            since: the reference opens at this moment or later; None for any.

        Returns:
            None where it lacks nothing, or nothing is known of it.
        """
        setting, found = self._catalogue.settings[model].reference, self._found.get(model)
        if found is not None and not found.is_before(since):
            if found.opens is None or found.closes is None or found.cut_short is not None:
                return None
            return longer_first_days(setting, found.opens, found.closes, mature + age, age)
        opens = self._opens(model, since)
        return awaited_reference(
            setting,
            opens,
            mature,
            age,
            self._sums(model, opens, since),
            silent=self._errors.of(model).labelling is Labelling.NEGATIVES_BY_TIMEOUT,
        )

    def awaits(
        self, model: int, mature: int, *, restarts: Callable[[int, int], ReferenceRestart | None]
    ) -> int | None:
        """Return a moment at which the reference may close that a model without one awaits.

        Args:
            model: its number.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
            restarts: returns from when on the reference begins anew; None where it does not.

        Returns:
            Epoch milliseconds; it may also close whole days later. None where one is in use.
        """
        restart, found = restarts(model, mature), self._found.get(model)
        since = None if restart is None else restart.at
        if found is not None and not found.is_before(since):
            return None
        return next_close(self._catalogue.settings[model].reference, self._opens(model, since))

    def at_rates(self, model: int) -> MatureReference | None:
        """Return the latest reference of a model at the rates of wrong labels learned by now."""
        found = self._found.get(model)
        if found is not None and found.as_labelled is not None:
            found = self._found[model] = found.at_rates(self._errors.of(model))
        return found

    def ends_before_change(self, model: int, known: MatureReference) -> bool:
        """Return whether a reference ends before a change that days since it showed.

        Args:
            model: its number.
            known: its reference.
        """
        return self._changes.cut(model) is known

    def found(self, model: int) -> MatureReference | None:
        """Return the latest reference of a model that `of` found."""
        return self._found.get(model)

    def is_outdated(self, model: int, known: MatureReference, mature: int) -> bool:
        """Return whether a trailing reference, which lags, moves on, or a provisional one ends.

        Args:
            model: its number.
            known: its reference.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
        """
        setting = self._catalogue.settings[model].reference
        if known.closes is None or known.opens is None:
            return False
        if setting.trailing is not None:
            return mature - setting.trailing >= known.closes + setting.trailing
        if setting.first is None or known.closes - known.opens >= setting.first:
            return False
        return known.cut_short is None and mature >= known.opens + setting.first + SPARE_MS

    def states(self) -> dict[str, State]:
        """Serializable states of the references found, by model number."""
        return {
            str(model): {
                **one.state(),
                **self._changes.state(model),
                **self._longer.state(model),
            }
            for model, one in self._found.items()
        }

    def restored(self, model: int, state: State, left: Numbers) -> MatureReference:
        """Load the reference of a model from `states`, and return it as it is now.

        Args:
            model: its number.
            state: of the reference, found in an earlier run.
            left: the models and series that are still there.
        """
        found = MatureReference.restored(state, left).examined(self._errors.of(model))
        self._found[model] = found
        self._changes.restore(model, state)
        self._longer.restore(model, state, left)
        return found

    def _next(
        self, model: int, mature: int, last: MatureReference | None, since: int | None
    ) -> MatureReference | None:
        """Return the first reference of a model, or the next of one that trails; None for none."""
        known = None if last is None or last.is_before(since) else last
        found = self._find(model, mature, known, since)
        if found is None or (known is not None and found.closes == known.closes):
            return None
        self._longer.forget(model)
        number = 1 if last is None else last.version + 1
        return replace(found, version=number).examined(self._errors.of(model))

    def _find(
        self, model: int, mature: int, known: MatureReference | None, since: int | None
    ) -> MatureReference | None:
        setting = self._catalogue.settings[model].reference
        if setting.counts is not None:
            given = MatureReference.given(setting.counts)
            if not self._rates_may_move(model):
                return given
            nothing = np.empty((0, 1, CELLS), dtype=np.int64)
            return replace(given, as_labelled=AsLabelled(self._rates(model), nothing))
        if setting.window is not None:
            opens, closes = setting.window.open, setting.window.end
            return self.cut(model, Stretch("window", opens, closes)) if closes <= mature else None
        if setting.trailing is not None:
            first = self._opens(model, since)
            if first is None or first > mature - 2 * setting.trailing:
                return None
            length, last = setting.trailing, None if known is None else known.closes
            earliest = first + length if last is None else last
            closes = end_of_trailing(earliest, length, mature)
            return self.cut(model, Stretch("trailing", closes - length, closes))
        return self._first(model, setting.first or FIRST_MS, mature, since)

    def _opens(self, model: int, since: int | None) -> int | None:
        """First moment that a reference may open at; None before the model's first prediction."""
        step, first = self._windows.step_ms, self._windows.first_pane(model)
        if first is None or since is None:
            return None if first is None else first * step
        return max(first, -(-since // step)) * step

    def _first(
        self, model: int, length: int, mature: int, since: int | None
    ) -> MatureReference | None:
        """Cut the first days once enough are known."""
        opens = self._opens(model, since)
        if opens is None:
            return None
        closes = end_of_first_days(opens, length, mature, self._sums(model, opens, since))
        return None if closes is None else self.cut(model, Stretch("first", opens, closes))

    def _sums(self, model: int, opens: int | None, since: int | None) -> CountsUpTo:
        step, row = self._windows.step_ms, np.array([self._totals_row(model)])

        def from_first(ends: Sequence[int]) -> Int64Array:
            return self._windows.sums_from_first(model, [closes // step for closes in ends])

        def from_opens(ends: Sequence[int]) -> Int64Array:
            start, panes = (opens or 0) // step, [closes // step for closes in ends]
            counted = self._windows.panes(start, panes[-1], row)[:, 0].cumsum(axis=0)
            nothing = np.zeros((1, counted.shape[1]), dtype=np.int64)
            return np.concatenate([nothing, counted])[[end - start for end in panes]]

        return from_first if since is None else from_opens

    def _totals_row(self, model: int) -> int:
        return self._catalogue.totals_row(self._catalogue.models[model])

    def cut(self, model: int, stretch: Stretch) -> MatureReference:
        """Return the outcomes of a mature stretch as a reference.

        Args:
            model: its number.
            stretch: of time; its panes are still stored.
        """
        opens, closes = stretch.opens, stretch.closes
        whole = self._all_scores(model, opens, closes)
        return cut_reference(
            self._windows,
            stretch,
            self._cuts.of(model),
            self._rates(model),
            StretchScores(whole, self._scores_by_day(model, opens, closes)),
            rates_move=self._rates_may_move(model),
        )

    def _rates_may_move(self, model: int) -> bool:
        """Return whether rates of wrong labels may move: by audits, or by what labels exclude."""
        return self._catalogue.settings[model].label_errors.any

    def _rates(self, model: int) -> LabelRegime:
        """Return how a reference is corrected: as labelled while rates are undefined."""
        regime = self._errors.of(model)
        return regime if regime.errors.known else regime._replace(errors=NO_ERRORS, earlier=())

    def _all_scores(self, model: int, opens: int, closes: int) -> ScoreHistogram | None:
        found = self._scores.histogram(model, opens, closes)
        return found if found.counts[0].total else None

    def _scores_by_day(self, model: int, opens: int, closes: int) -> ScoreHistogram | None:
        if self._errors.of(model).labelling is not Labelling.COMPLETE:
            return None
        return self._scores.labelled(model, opens, closes)
