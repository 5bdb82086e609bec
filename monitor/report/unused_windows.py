"""Why short windows of a model are not shown under `windows: auto`."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.clock import DAY_MS
from monitor.config.quantities import parse_duration

_WEEK_MS = 7 * DAY_MS


def unused_windows_text(names: Sequence[str]) -> str:
    """Return one sentence; "" where every short window is shown.

    A window of a week or more is left out only where a shorter one is long enough, which
    needs no explanation.

    Args:
        names: windows that the model does not use.
    """
    unfilled = [name for name in names if parse_duration(name) < _WEEK_MS]
    if not unfilled:
        return ""
    plural = len(unfilled) > 1
    return (
        f"The window{'s' if plural else ''} {' and '.join(unfilled)} "
        f"{'are' if plural else 'is'} not shown: at the volume of the reference "
        f"{'they hold' if plural else 'it holds'} fewer than 20 positives or 20 flagged cases."
    )
