"""Maturity: the age that predictions must have to count.

Labels come late. Windows end at the age by which enough labels have come: a configured
age, or one learned from the delays. Where the configured age is younger than the
learned one, the distribution of delays gives the share of labels that has come, and the
window is corrected by it or withheld. A window with a label fault is withheld as well.
Detectors and verdicts never use predictions younger than the learned age.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.config import AutoMaturity, Labelling, WindowClock
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EARLIEST_MS, LATEST_MS, Int64Array
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.labels.cohorts import Coverage
from monitor.labels.delays import LabelDelays
from monitor.labels.estimates import LEAST_COVERAGE
from monitor.labels.evidence import CORRECTED_KIND_OF, Evidence, Kind, kind_of
from monitor.labels.faults import SIDES
from monitor.labels.learned_errors import LearnedErrors
from monitor.metrics.label_errors import NO_ERRORS
from monitor.windows import Windows

_ENOUGH = AutoMaturity().share
_BLOCKS = 256
_FLAGGED = [Outcome.TP, Outcome.FP]
_COMPLETE = Coverage(np.ones(len(Outcome)), np.zeros(len(Outcome)))

Ages = list[int | None]
"""Ages by model number, milliseconds; None where no label has come yet."""

Times = list[int | None]
"""Times by model number, epoch milliseconds; None where no event has come yet."""


class Maturities:
    """Ages at which windows end, by model, and the estimation method of each window.

    Args:
        catalogue: models and their settings.
        windows: counts.
        delays: label delays.
        errors: how often labels are wrong.
    """

    def __init__(
        self, catalogue: Catalogue, windows: Windows, delays: LabelDelays, errors: LearnedErrors
    ) -> None:
        self._catalogue = catalogue
        self._errors = errors
        self._windows = windows
        self._delays = delays

    def age(self, model: int, time: int | None) -> int | None:
        """Return the age at which a model's windows end, configured or learned.

        Args:
            model: its number.
            time: up to which its labels have come, epoch milliseconds; None without events.

        Returns:
            Milliseconds; None where no label has come yet.
        """
        setting = self._catalogue.settings[model]
        rule, timeout = setting.maturity, setting.label_timeout
        if not isinstance(rule, AutoMaturity):
            return rule
        if setting.labelling is Labelling.NEGATIVES_BY_TIMEOUT and timeout is not None:
            return max(rule.min, timeout)
        learned = self._learned(model, time)
        if learned is None:
            return None
        return max(rule.min, min(learned, rule.max or timeout or learned))

    def judged(self, model: int, time: int | None) -> int | None:
        """Return the age of a model's predictions in verdicts, at least the learned one.

        Args:
            model: its number.
            time: up to which its labels have come, epoch milliseconds; None without events.

        Returns:
            Milliseconds; None where no label has come yet.
        """
        age = self.age(model, time)
        return None if age is None else max(age, self._learned(model, time) or 0)

    def is_settled(self, model: int, age: int | None, watermark: int | None) -> bool:
        """Return whether an age is configured, or learned from a long enough stream.

        Args:
            model: its number.
            age: at which its windows end, milliseconds; None where it is not known.
            watermark: up to which labels have come, epoch milliseconds.
        """
        setting = self._catalogue.settings[model]
        if not isinstance(setting.maturity, AutoMaturity):
            return True
        if setting.labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            return True
        return age is not None and self._delays.is_settled(model, age, watermark)

    def evidence(
        self,
        name: str,
        now: Int64Array,
        times: Times,
        ages: Ages,
        cells: Int64Array,
        *,
        faults: Sequence[str] = (),
    ) -> Evidence:
        """Return the evidence of a window for all series.

        Args:
            name: of the window.
            now: the moment that windows of each model end by, epoch milliseconds.
            times: up to which labels of each model have come; None without events.
            ages: at which windows end.
            cells: counts of the window, (series, 6).
            faults: the label fault of each model by number; "" for none.
        """
        found = self._come(cells)
        for model in self._errors.varying():
            closes = int(now[model]) - (ages[model] or 0)
            self._set_rates(found, model, closes - self._windows.length(name), closes)
        for model, age in enumerate(ages):
            rows = self._catalogue.rows_of(model)
            if found.kind[rows[0]] == Kind.WEIGHTED:
                panes = self._windows.pane_range(name, int(now[model]), age or 0)
                found.weights[rows] = self._windows.weights.sum(panes, rows)
            time = times[model]
            if time is None or age is None or self._has_come(model, age, time):
                continue
            coverage = self._coverage(model, name, int(now[model]), time, age)
            found.kind[rows] = kind = self._kind(model, coverage)
            if kind in CORRECTED_KIND_OF.values():
                found.coverage.share[rows] = coverage.share
                found.coverage.variance[rows] = coverage.variance
        for model, fault in enumerate(faults):
            if fault and fault not in SIDES:
                found.distrust(self._catalogue.rows_of(model), fault)
        self._distrust_undefined(found)
        found.exclude_impossible_rates()
        found.distrust_sides(self._complete())
        return found

    def lifetime(self, cells: Int64Array) -> Evidence:
        """Return the evidence of the counts since the start, (series, 6)."""
        found = self._come(cells)
        if self._windows.weights.stored:
            found.weights[:] = self._windows.weights.lifetime
        for model in self._errors.varying():
            self._set_rates(found, model)
        self._distrust_undefined(found)
        found.exclude_impossible_rates()
        found.distrust_sides(self._complete())
        return found

    def _complete(self) -> Int64Array:
        """Return the series of models with complete labelling that count by prediction time."""
        complete = [
            s.labelling is Labelling.COMPLETE
            and s.clock is WindowClock.PREDICTION
            and not s.has_many_classes
            for s in self._catalogue.settings
        ]
        held = np.array(complete, dtype=np.bool_)[self._catalogue.model_of_series()]
        return np.flatnonzero(held)

    def _come(self, cells: Int64Array) -> Evidence:
        """Return the evidence of all series as if their labels had come."""
        settings, model = self._catalogue.settings, self._catalogue.model_of_series()
        kinds = np.array([kind_of(s) for s in settings], dtype=np.int64)
        found = Evidence.of(kinds[model], cells)
        regimes = [self._errors.of(number) for number in range(len(settings))]
        if regimes:
            found.errors[:] = np.array([one.errors for one in regimes])[model]
            found.share_dispersion[:] = np.array([one.limits.dispersion for one in regimes])[model]
        return found

    def _set_rates(
        self, found: Evidence, model: int, opens: int = EARLIEST_MS, closes: int = LATEST_MS
    ) -> None:
        """Set the rates of wrong labels of each series of a model.

        Args:
            found: of all series.
            model: its number.
            opens: first moment of the window, epoch milliseconds.
            closes: first moment after it.
        """
        regime, (hours, cells) = self._errors.of(model), self._windows.past.history(model)
        held = slice(*np.searchsorted(hours, (opens, closes)))
        cases = cells[held, : len(Outcome)].sum(axis=1)
        for row in self._catalogue.rows_of(model).tolist():
            _, segment, value = self._catalogue.series[row]
            own = regime.of_series(segment, value)
            found.errors[row] = own.of_blocks(hours[held], cases).errors

    def _distrust_undefined(self, found: Evidence) -> None:
        """Mark the series of models whose rates of wrong labels are undefined."""
        undefined = np.isnan(found.errors).any(axis=1)
        model = self._catalogue.model_of_series()
        for number in np.unique(model[undefined]).tolist():
            rows = np.flatnonzero(undefined & (model == number))
            found.distrust(rows, self._errors.why_undefined(number))
        found.errors[undefined] = NO_ERRORS

    def _learned(self, model: int, time: int | None) -> int | None:
        setting = self._catalogue.settings[model]
        if setting.labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            return None
        share = setting.maturity.share if isinstance(setting.maturity, AutoMaturity) else _ENOUGH
        learned = self._delays.maturity(model, share, time)
        return learned if learned is None else min(learned, setting.label_timeout or learned)

    def _has_come(self, model: int, age: int, time: int) -> bool:
        """Return whether all labels have come at this age, or the model counts by label time."""
        if self._catalogue.settings[model].clock is WindowClock.LABEL:
            return True
        return age >= (self._learned(model, time) or 0)

    def _coverage(self, model: int, name: str, now: int, time: int, age: int) -> Coverage:
        """Return the share of the eventual labels that a window has, by `Outcome`."""
        row = np.array([self._catalogue.totals_row(self._catalogue.models[model])])
        panes = self._windows.pane_range(name, now, age)
        width = self._windows.width(panes)
        block = width * max(1, (panes.end - panes.start) // _BLOCKS)
        cells = self._windows.blocks(name, row, now, age, block)[:, 0]
        middles = panes.start * width + block * (np.arange(len(cells)) + 0.5)
        predicted = cells[:, PREDICTED_POSITIVE:].sum(axis=1)
        if not predicted.any():
            return _COMPLETE
        seconds = (time - middles) / 1000
        found = self._delays.coverage(model, time, seconds, predicted.astype(np.float64))
        unknown = np.isnan(found.share)
        return Coverage(np.where(unknown, 1.0, found.share), np.where(unknown, 0.0, found.variance))

    def _kind(self, model: int, coverage: Coverage) -> int:
        setting = self._catalogue.settings[model]
        complete = kind_of(setting)
        seen = _FLAGGED if complete == Kind.FLAGGED else slice(None)
        least = coverage.share[seen].min()
        if least >= _ENOUGH:
            return complete
        if least >= LEAST_COVERAGE and not setting.has_many_classes:
            return CORRECTED_KIND_OF.get(setting.labelling, Kind.IMMATURE)
        return Kind.IMMATURE
