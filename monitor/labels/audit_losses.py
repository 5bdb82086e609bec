"""How many audits have no effect, and which horizon would do."""

from __future__ import annotations

from collections.abc import Callable

from monitor.clock import DAY_MS
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.lost_audits import LostAudits
from monitor.join.audits import Audits
from monitor.windows import Windows


class AuditLosses:
    """Counts the audits without effect.

    The first hour of a model is read again only where its counts have changed, since every snapshot
    has the answer.

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
        self._first: dict[int, tuple[tuple[int, int | None], int | None]] = {}

    def found(self) -> LostAudits | None:
        """Return how many audits have no effect, of all models; None without any."""
        if not (count := self._audits.unmet):
            return None
        horizons, ages = [], []
        for model, setting in enumerate(self._catalogue.settings):
            first = None if setting.horizon_ms is None else self._first_hour(model)
            age = 0 if first is None else int(self._times()[model]) - first
            if setting.horizon_ms is not None and age > setting.horizon_ms:
                horizons.append(setting.horizon_ms)
                ages.append(age)
        if not ages:
            return LostAudits(count)
        return LostAudits(count, min(horizons), -(-max(ages) // DAY_MS) * DAY_MS)

    def _first_hour(self, model: int) -> int | None:
        """Return the first stored hour with predictions of a model; None without one."""
        edition = self._windows.history_edition(model)
        known = self._first.get(model)
        if known is None or known[0] != edition:
            known = self._first[model] = edition, self._windows.past.first_hour(model, 0)
        return known[1]
