"""Decides on a new version: a new reference, the beginning of a change, or news alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from monitor.clock import HOUR_MS
from monitor.config import OnVersion
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.change_point import change_point
from monitor.drift.verdict import MOVED_RATES
from monitor.events.catalogue import Catalogue
from monitor.events.version_starts import ModelVersions
from monitor.labels.regime import LabelRegime
from monitor.verdicts import ChangeBegan, NewVersion, WindowVerdict
from monitor.watch.reference import MatureReference
from monitor.windows import Windows

_WIDEST_MS = 7 * 24 * HOUR_MS
"""Length of an interval up to which a deployment inside it is no coincidence."""

VersionsOf = Callable[[str], ModelVersions]
"""Returns the versions of a model by its name."""


class VersionNews:
    """Relates the versions of a model to its reference and its changes.

    Args:
        catalogue: models and their settings.
        windows: counts.
        versions_of: returns the versions of a model.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows, versions_of: VersionsOf) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._versions_of = versions_of

    def restarts(self, model: int, mature: int) -> int | None:
        """Return the moment from which on the reference of a model begins anew.

        That is the first prediction of the version that began last, once it is mature, under
        `on_version: restart`. The first version of all restarts nothing.

        Args:
            model: its number.
            mature: up to this moment, epoch milliseconds, outcomes are mature.

        Returns:
            Epoch milliseconds; None where the reference stays.
        """
        if self._on_version(model) is not OnVersion.RESTART:
            return None
        later = [first for _, first in self._appeared(model)[1:] if first <= mature]
        return max(later, default=None)

    def began(
        self,
        model: int,
        reference: MatureReference,
        verdicts: Iterable[WindowVerdict],
        mature: int,
    ) -> ChangeBegan | None:
        """Return when the rates of a model changed, where one of its windows says so.

        Args:
            model: its number.
            reference: what windows are compared with.
            verdicts: on its windows.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
        """
        setting = self._catalogue.settings[model]
        estimated = LabelRegime.of(setting).is_estimated
        if estimated or not any(v.verdict in MOVED_RATES for v in verdicts):
            return None
        opens, cells = self._windows.past.history(model)
        since = 0 if reference.closes is None else reference.closes
        judged = (opens >= since) & (opens + HOUR_MS <= mature)
        opens = opens[judged]
        found = change_point(
            ConfusionCounts.from_cells(cells[judged, : len(Outcome)]),
            reference.counts,
            recall_dispersion=float(reference.dispersion.recall),
            false_positive_dispersion=float(reference.dispersion.false_positive_rate),
        )
        if found is None:
            return None
        return ChangeBegan(*(int(opens[step]) for step in found))

    def latest(self, model: int, now: int, began: ChangeBegan | None) -> NewVersion | None:
        """Return the version that began last, or the one that a change began with.

        Args:
            model: its number.
            now: current event time, epoch milliseconds; windows end maturity before it.
            began: when its rates changed; None where they did not.

        Returns:
            None under `on_version: keep`, and before a second version.
        """
        later = [(first, name) for name, first in self._appeared(model)[1:] if first <= now]
        if self._on_version(model) is OnVersion.KEEP or not later:
            return None
        inside = [] if began is None else [one for one in later if _within(one[0], began)]
        if began is not None and inside:
            at = began.at
            first, name = min(inside, key=lambda one: (abs(one[0] - at), one))
        else:
            first, name = max(later)
        return NewVersion(name, first, bool(inside))

    def _appeared(self, model: int) -> tuple[tuple[str, int], ...]:
        return self._versions_of(self._catalogue.models[model]).appeared

    def _on_version(self, model: int) -> OnVersion:
        return self._catalogue.settings[model].reference.on_version


def _within(first: int, began: ChangeBegan) -> bool:
    """Return whether a version began in the interval of a change, to the hour."""
    narrow = began.latest - began.earliest <= _WIDEST_MS
    return narrow and began.earliest - HOUR_MS <= first <= began.latest + HOUR_MS
