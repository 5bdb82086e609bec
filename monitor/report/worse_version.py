"""A version of a model that is proven worse than the one before, and still decides."""

from __future__ import annotations

from monitor.clock import DAY_MS
from monitor.drift.version_verdict import VersionVerdict
from monitor.drift.versions_compared import VersionsCompared
from monitor.snapshot import ModelState


def worse_version_in_use(model: ModelState) -> VersionsCompared | None:
    """Return the comparison that proves the version that began last worse, while it is in use.

    A shadow version decides nothing; a version without a prediction for a day of event time is
    rolled back; and under `on_version: keep` versions are ignored.

    Args:
        model: with its versions.

    Returns:
        None where there is no such version.
    """
    now = model.versions_now
    if now is None or now.ignored or now.compared is None or model.now_ms is None:
        return None
    compared = now.compared
    worse = compared.comparison.decided_by.found.verdict is VersionVerdict.WORSE
    last = model.version_last_ms.get(compared.versions[1].name)
    return compared if worse and last is not None and last > model.now_ms - DAY_MS else None
