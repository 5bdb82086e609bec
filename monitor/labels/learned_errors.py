"""How often labels are wrong: as configured, or as learned from audits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config.labelling import LearnedLabelErrors
from monitor.counts import ConfusionCounts, Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.lost_audits import LostAudits
from monitor.events.renumbering import State
from monitor.join.audits import AUDITED_CELLS, AuditCounts, Audits, LabelledCases
from monitor.labels.audit_losses import AuditLosses
from monitor.labels.faults import LabelFault, fault_of_rates
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_changes import audit_findings
from monitor.metrics.audited_errors import AuditedDays, AuditedLabels, AuditFindings
from monitor.metrics.audited_values import differing_values
from monitor.metrics.label_errors import (
    NO_ERRORS,
    UNKNOWN_ERRORS,
    EarlierErrors,
    ErrorRates,
    ValueErrors,
)
from monitor.metrics.possible_rates import LabelLimits
from monitor.windows import Windows

_LABELLED = np.array([[Outcome.TN, Outcome.FN], [Outcome.FP, Outcome.TP]])
"""The outcome by predicted class and label."""

_DAYS_READ = 4
"""Days of models for which the audited cases are held, as read on each of them."""


class _Known(NamedTuple):
    """What audits show, and the edition of the audits, the day and the cases that it is of.

    Attributes:
        edition: of the audits.
        day: of the model, since 1970.
        counts: its audited cases by group.
        cases: these and the labelled ones, by day.
        findings: what they show.
    """

    edition: int
    day: int
    counts: AuditCounts
    cases: AuditedDays
    findings: AuditFindings


class LearnedErrors:
    """Gives the labelling regime of each model, its rates of wrong labels included.

    Under `label_errors: audit` they are learned from all audits of predictions within a year.
    The labelled cases that these stand for are those predicted on the same days. They are
    learned again where an audit came or a day passed. Where audits show that they changed, each
    stretch of time has its own.

    Configured rates are those that the labels allow, see `LabelRegime.as_far_as_possible`: of all
    predictions within a year that were mature when the day began.

    Args:
        catalogue: models and their settings.
        audits: of predictions.
        windows: counts.
        times: returns the time of each model, epoch milliseconds.
        age: returns the maturity of a model in verdicts, by its number and time, milliseconds; None
            where no label has come yet.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        audits: Audits,
        windows: Windows,
        times: Callable[[], Int64Array],
        age: Callable[[int, int], int | None],
    ) -> None:
        self._catalogue = catalogue
        self._audits = audits
        self._windows = windows
        self._times = times
        self._age = age
        self._losses = AuditLosses(catalogue, audits, windows, times)
        self._fixed: list[LabelRegime] = []
        self._possible: dict[int, tuple[int, LabelRegime]] = {}
        self._learned: dict[int, _Known] = {}
        self._read: dict[tuple[int, int], AuditCounts] = {}

    def of(self, model: int) -> LabelRegime:
        """Return how labels of a model come, and how often they are wrong.

        Args:
            model: its number.
        """
        settings = self._catalogue.settings
        while len(self._fixed) < len(settings):
            self._fixed.append(LabelRegime.of(settings[len(self._fixed)]))
        fixed = self._fixed[model]
        if not isinstance(settings[model].label_errors, LearnedLabelErrors):
            return self._as_far_as_possible(model, fixed) if fixed.has_errors else fixed
        findings = self.findings(model)
        if findings is None:
            return fixed
        earlier = [EarlierErrors(day * DAY_MS, one.rates) for day, one in findings.earlier]
        return fixed._replace(
            errors=findings.rates,
            earlier=tuple(earlier),
            by_value=tuple(
                ValueErrors(one.segment, one.value, one.by_stretch) for one in findings.by_value
            ),
        )

    def state(self) -> State:
        """Serializable state: what labels allow of configured rates, since the day began.

        What audits show is found again from these, and from the counts.
        """
        return {
            str(model): {
                "day": day,
                "given": [*self._fixed[model].errors],
                "possible": [*found.errors] if found.errors.known else None,
                "excludes": any(found.configured),
                "limits": found.limits._asdict(),
            }
            for model, (day, found) in self._possible.items()
        }

    def restore(self, state: State, left: Int64Array) -> None:
        """Restore from `state`; of rates that are configured otherwise now nothing holds.

        Args:
            state: by model number.
            left: the old numbers of the models that are left.
        """
        for model, old in enumerate(left.tolist()):
            found = state.get(str(old))
            fixed = LabelRegime.of(self._catalogue.settings[model])
            if found is None or found["given"] != [*fixed.errors]:
                continue
            left_of_them = found["possible"]
            possible = fixed._replace(
                errors=UNKNOWN_ERRORS if left_of_them is None else ErrorRates(*left_of_them),
                configured=fixed.errors if found["excludes"] else NO_ERRORS,
                limits=LabelLimits(**found["limits"]),
            )
            self._possible[model] = found["day"], possible

    def why_undefined(self, model: int) -> LabelFault:
        """Return why rates of wrong labels of a model are undefined.

        Args:
            model: its number.
        """
        return fault_of_rates(self.of(model).configured, self.findings(model))

    def _as_far_as_possible(self, model: int, fixed: LabelRegime) -> LabelRegime:
        """Return configured rates without those that the labels of mature days exclude."""
        day = self._day(model)
        known = self._possible.get(model)
        if known is None or known[0] != day:
            mature = day * DAY_MS - (self._age(model, day * DAY_MS) or 0)
            hours, cells = self._windows.past.history(model)
            cells = cells[hours + HOUR_MS <= mature, : len(Outcome)]
            days, place = np.unique(hours[: len(cells)] // DAY_MS, return_inverse=True)
            by_day = np.zeros((len(days), len(Outcome)), dtype=np.int64)
            np.add.at(by_day, place, cells)
            possible = fixed.as_far_as_possible(ConfusionCounts.from_cells(by_day))
            known = self._possible[model] = day, possible
        return known[1]

    def _day(self, model: int) -> int:
        """Return the day of a model since 1970; one before its first where it has no time."""
        times = self._times()
        return int(times[model]) // DAY_MS if model < len(times) else 0

    def audited(self, model: int, opens: int, closes: int) -> AuditedLabels | None:
        """Return the audited cases of a model in a stretch of time, by days.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds.
            closes: first moment after it.

        Returns:
            None without audits, and where rates of wrong labels are not learned from them.
        """
        if not isinstance(self._catalogue.settings[model].label_errors, LearnedLabelErrors):
            return None
        found = self.findings(model)
        return None if found is None or found.days is None else found.days.during(opens, closes)

    def varying(self) -> list[int]:
        """Return the models whose rates of wrong labels differ by time or segment value."""
        if self._audits.is_empty:
            return []
        regimes = map(self.of, range(len(self._catalogue.settings)))
        return [model for model, one in enumerate(regimes) if one.earlier or one.by_value]

    def _audited(self, model: int, counts: AuditCounts) -> AuditedDays:
        """Return the audited cases of a model, and the labelled ones of the same days."""
        opens, cells = self._windows.past.history(model)
        cells, day = cells[:, : len(Outcome)], opens // DAY_MS
        held = np.isin(counts.day, day[cells.any(axis=1)])
        days, place = np.unique(counts.day[held], return_inverse=True)
        by_cell = np.zeros((len(days), AUDITED_CELLS), dtype=np.int64)
        np.add.at(by_cell, (place, counts.cell[held]), counts.count[held])
        audited = by_cell.reshape(-1, 2, 2, 2)
        labelled = np.zeros((len(days), len(Outcome)), dtype=np.int64)
        same = np.isin(day, days)
        np.add.at(labelled, np.searchsorted(days, day[same]), cells[same])
        return AuditedDays(days, audited, np.maximum(labelled[:, _LABELLED], audited.sum(axis=3)))

    def counts(self, model: int) -> AuditCounts:
        """Return the audited cases of a model by group, day and cell, as labelled now.

        Args:
            model: its number.
        """
        return self._of_model(self._audits.counts(), model)

    def _of_model(self, every: AuditCounts, model: int) -> AuditCounts:
        return every.take(self._catalogue.model_of_group[every.group] == model)

    def _on(self, day: int, model: int) -> AuditCounts:
        """Return the audited cases of a model, read once on each day for all models."""
        edition = self._audits.edition
        if any(known != edition for known, _ in self._read) or len(self._read) >= _DAYS_READ:
            self._read.clear()
        if (edition, day) not in self._read:
            self._read[edition, day] = self._audits.counts()
        return self._of_model(self._read[edition, day], model)

    def lost(self) -> LostAudits | None:
        """Return how many audits have no effect, of all models; None without any."""
        return self._losses.found()

    def not_audited(self, model: int) -> LabelledCases:
        """Return the remembered cases of a model that have a label and no audit.

        Args:
            model: its number.
        """
        parts = [
            cases.take(self._catalogue.model_of_group[cases.group] == model)
            for cases in self._audits.not_audited()
        ]
        nothing = LabelledCases(np.empty(0, np.uint64), *(np.empty((3, 0), np.int64)))
        return LabelledCases(*map(np.concatenate, zip(nothing, *parts, strict=True)))

    def findings(self, model: int) -> AuditFindings | None:
        """Return what the audits of a model show; None without audits.

        Args:
            model: its number.
        """
        if self._audits.is_empty:
            return None
        day = self._day(model)
        known = self._learned.get(model)
        if known is None or (known.edition, known.day) != (self._audits.edition, day):
            counts = self._on(day, model)
            found = self._audited(model, counts)
            same = known is not None and known.cases.is_same(found)
            same = same and known is not None and known.counts.is_same(counts)
            findings = known.findings if known and same else self._found(model, found, counts)
            edition = self._audits.edition
            known = self._learned[model] = _Known(edition, day, counts, found, findings)
        return known.findings if len(known.cases.days) else None

    def _found(self, model: int, days: AuditedDays, counts: AuditCounts) -> AuditFindings:
        """Return what audited cases show, of the totals and by segment value."""
        found = audit_findings(days)
        if not found.rates.known or not self._catalogue.settings[model].segments:
            return found
        ends = np.searchsorted(days.days, [day for day, _ in found.earlier])
        stretches = [
            self._by_value(model, held, counts.take(np.isin(counts.day, held)))
            for held in np.split(days.days, ends)
        ]
        values = [
            differing_values(key, [cases.get(key, {}) for cases in stretches])
            for key in self._catalogue.settings[model].segments
        ]
        return found._replace(by_value=tuple(chain.from_iterable(values)))

    def _by_value(
        self, model: int, days: Int64Array, counts: AuditCounts
    ) -> dict[str, dict[str, AuditedLabels]]:
        """Return the audited and the labelled cases of some days, by segment key and value.

        Args:
            model: its number.
            days: since 1970, ascending.
            counts: the audited cases of these days.
        """
        first, end = int(days[0]) * DAY_MS, (int(days[-1]) + 1) * DAY_MS
        past = self._windows.past.recall(model, first, end, DAY_MS)
        labelled = past.cells[np.isin(past.numbers, days)].sum(axis=0)
        place, series = self._catalogue.series_of_groups(counts.group)
        place = np.arange(len(counts))[place]
        columns = {one: at for at, one in enumerate(past.columns)}
        found: dict[str, dict[str, AuditedLabels]] = {}
        for row in self._catalogue.rows_of(model).tolist():
            one = self._catalogue.series[row]
            at = columns.get(one)
            if at is None or one.segment is None or one.value is None:
                continue
            own = counts.take(place[series == row])
            audited = np.bincount(own.cell, weights=own.count, minlength=AUDITED_CELLS)
            cells = audited.astype(np.int64).reshape(2, 2, 2)
            of_labels = np.maximum(labelled[at, : len(Outcome)][_LABELLED], cells.sum(axis=2))
            found.setdefault(one.segment, {})[one.value] = AuditedLabels(cells, of_labels)
        return found
