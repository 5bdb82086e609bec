"""How often labels are wrong: as configured, or as learned from audits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config.labelling import LearnedLabelErrors
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.join.audits import AUDITED_CELLS, AuditCounts, Audits, LabelledCases
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_errors import AuditedLabels, AuditFindings
from monitor.windows import Windows

_LABELLED = np.array([[Outcome.TN, Outcome.FN], [Outcome.FP, Outcome.TP]])
"""The outcome by predicted class and label."""


class _Known(NamedTuple):
    """What audits show, and the edition of the audits and the day that it is of."""

    edition: int
    day: int
    findings: AuditFindings


class LearnedErrors:
    """Gives the labelling regime of each model, its rates of wrong labels included.

    Under `label_errors: audit` they are learned from all audits of predictions within a year.
    The labelled cases that these stand for are those predicted on the same days. They are
    learned again where an audit came or a day passed.

    Args:
        catalogue: models and their settings.
        audits: of predictions.
        windows: counts.
        times: returns the time of each model, epoch milliseconds.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        audits: Audits,
        windows: Windows,
        times: Callable[[], Int64Array],
    ) -> None:
        self._catalogue = catalogue
        self._audits = audits
        self._windows = windows
        self._times = times
        self._fixed: list[LabelRegime] = []
        self._learned: dict[int, _Known] = {}

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
            return fixed
        findings = self.findings(model)
        return fixed if findings is None else fixed._replace(errors=findings.rates)

    def audited(self, model: int) -> AuditedLabels:
        """Return the audited cases of a model, and the labelled ones of the same days.

        Args:
            model: its number.
        """
        counts = self.counts(model)
        opens, cells = self._windows.past.history(model)
        cells, day = cells[:, : len(Outcome)], opens // DAY_MS
        held = np.isin(counts.day, day[cells.any(axis=1)])
        audited = np.bincount(
            counts.cell[held], weights=counts.count[held], minlength=AUDITED_CELLS
        ).astype(np.int64)
        audited = audited.reshape(2, 2, 2)
        labelled = cells[np.isin(day, counts.day[held])].sum(axis=0)[_LABELLED]
        return AuditedLabels(audited, np.maximum(labelled, audited.sum(axis=2)))

    def counts(self, model: int) -> AuditCounts:
        """Return the audited cases of a model by group, day and cell, as labelled now.

        Args:
            model: its number.
        """
        every = self._audits.counts()
        return every.take(self._catalogue.model_of_group[every.group] == model)

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
        times = self._times()
        day = int(times[model]) // DAY_MS if model < len(times) else 0
        known = self._learned.get(model)
        if known is None or (known.edition, known.day) != (self._audits.edition, day):
            found = self.audited(model)
            same = known is not None and all(map(np.array_equal, known.findings.cases, found))
            findings = known.findings if known and same else AuditFindings.of(found)
            known = self._learned[model] = _Known(self._audits.edition, day, findings)
        return known.findings if known.findings.cases.audited.any() else None
