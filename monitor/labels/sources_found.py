"""What sources of labels show of each model, read again where a label of a source came."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.join.source_labels import SOURCE_BITS, SourceLabels
from monitor.metrics.source_findings import SourceFindings

_CODES = 1 << SOURCE_BITS


class _Known(NamedTuple):
    """What sources show, and the edition of their labels that it is of."""

    edition: int
    findings: SourceFindings | None


class SourcesFound:
    """Gives what the sources of each model show.

    Args:
        sources: labels of sources.
    """

    def __init__(self, sources: SourceLabels) -> None:
        self._sources = sources
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
        combination, cases = self._sources.cases(model)
        if not len(cases):
            return None
        numbers = np.arange(self._sources.names.count)
        codes = (combination[:, None] >> (SOURCE_BITS * numbers)) % _CODES
        used = np.flatnonzero(codes.any(axis=0))
        return SourceFindings(
            tuple(map(self._sources.names.name, used.tolist())),
            (codes[:, used] - 1).astype(np.int8),
            cases,
            int(self._sources.outranked[model]),
            self._sources.left_out,
        )
