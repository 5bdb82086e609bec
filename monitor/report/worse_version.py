"""A version of a model that is proven worse than the one before, and still decides."""

from __future__ import annotations

from monitor.clock import DAY_MS
from monitor.drift.version_verdict import VersionVerdict
from monitor.drift.versions_compared import VersionsCompared
from monitor.snapshot import ModelState


def worse_version_in_use(model: ModelState) -> VersionsCompared | None:
    """Return the comparison that proves the version that began last worse, while it is in use.

    A shadow version decides nothing; a version without a prediction in the day before the model's
    last one is rolled back, however late labels come; and under `on_version: keep` versions are
    ignored.

    Args:
        model: with its versions.

    Returns:
        None where there is no such version.
    """
    now = model.versions_now
    if now is None or now.ignored or now.compared is None:
        return None
    compared = now.compared
    worse = compared.comparison.decided_by.found.verdict is VersionVerdict.WORSE
    last = model.version_last_ms.get(compared.versions[1].name)
    latest = max(model.version_last_ms.values(), default=0)
    return compared if worse and last is not None and last > latest - DAY_MS else None
