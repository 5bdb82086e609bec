"""What sources of labels show of each model, read again where a label of a source came."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.events.catalogue import Catalogue
from monitor.events.columns import BoolArray, Int64Array
from monitor.join.source_labels import WEEK_MS, SourceLabels
from monitor.metrics.source_errors import NO_LABEL
from monitor.metrics.source_findings import SourceFindings
from monitor.metrics.source_shares import SourceShares

_BINARY = 2


class _Known(NamedTuple):
    """What sources show, and the edition of their labels that it is of."""

    edition: int
    findings: SourceFindings | None


class SourcesFound:
    """Gives what the sources of each model show.

    Args:
        sources: labels of sources.
        catalogue: models and their settings.
    """

    def __init__(self, sources: SourceLabels, catalogue: Catalogue) -> None:
        self._sources = sources
        self._catalogue = catalogue
        self._known: dict[int, _Known] = {}

    def of(self, model: int) -> SourceFindings | None:
        """Return what the sources of a model show; None where no label has a source.

        Args:
            model: its number.
        """
        known = self._known.get(model)
        if known is None or known.edition != self._sources.edition:
            found = self._read(model)
            if known and known.findings and found and known.findings.is_same(found):
                found = known.findings
            known = self._known[model] = _Known(self._sources.edition, found)
        return known.findings

    def _read(self, model: int) -> SourceFindings | None:
        week, labels, cases = self._sources.cases(model)
        if not len(cases):
            return None
        used = np.flatnonzero((labels != NO_LABEL).any(axis=0))
        ratings, row = np.unique(labels[:, used], axis=0, return_inverse=True)
        total = np.zeros(len(ratings), dtype=np.int64)
        np.add.at(total, row.reshape(-1), cases)
        return SourceFindings(
            tuple(map(self._sources.names.name, used.tolist())),
            ratings,
            total,
            int(self._sources.outranked[model]),
            self._sources.left_out,
            max(len(self._catalogue.settings[model].classes), _BINARY),
            _shares(week, labels[:, used] != NO_LABEL, cases),
        )


def _shares(week: Int64Array, given: BoolArray, cases: Int64Array) -> SourceShares:
    begins, place = np.unique(week, return_inverse=True)
    every, labelled = np.zeros((len(begins), 1)), np.zeros((len(begins), given.shape[1]))
    np.add.at(every, place, cases[:, None])
    np.add.at(labelled, place, given * cases[:, None])
    return SourceShares(begins, WEEK_MS, every[:, 0].astype(np.int64), labelled.astype(np.int64))
