"""Why windows of a model are not shown under `windows: auto`."""

from __future__ import annotations

from collections.abc import Sequence


def unused_windows_text(names: Sequence[str]) -> str:
    """Return one sentence; "" where every window is shown.

    Args:
        names: windows that the model does not use.
    """
    if not names:
        return ""
    plural = len(names) > 1
    return (
        f"The window{'s' if plural else ''} {' and '.join(names)} "
        f"{'are' if plural else 'is'} not shown: at the volume of the reference "
        f"{'they hold' if plural else 'it holds'} fewer than 20 positives or 20 flagged cases."
    )
