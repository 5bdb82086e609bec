"""A version of a model that is proven worse than the one beside it, and still decides."""

from __future__ import annotations

from monitor.drift.versions_compared import VersionsCompared
from monitor.events.version_starts import is_in_use
from monitor.snapshot import ModelState


def worse_version_in_use(model: ModelState) -> VersionsCompared | None:
    """Return the comparison that proves the latest worse version worse, while it is in use.

    A shadow version decides nothing; a version without a prediction in the day before the model's
    last one is rolled back, however late labels come; and under `on_version: keep` versions are
    ignored.

    Args:
        model: with its versions.

    Returns:
        None where there is no such version.
    """
    now = model.versions_now
    if now is None or now.ignored or now.worse is None:
        return None
    last = model.version_last_ms.get(now.worse.versions[1].name)
    latest = max(model.version_last_ms.values(), default=0)
    return now.worse if last is not None and is_in_use(last, latest) else None
