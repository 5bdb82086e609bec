"""How texts and pages write a segment value."""

from __future__ import annotations

from monitor.events.columns import MISSING_VALUE
from monitor.report.printable import one_line


def segment_name(key: str | None, value: str | None, equals: str = "=") -> str:
    """Return a segment value with its key, in one line.

    Args:
        key: of the segment.
        value: of it; `__missing__` for predictions without the key.
        equals: what stands between the two.

    >>> segment_name("region", "eu"), segment_name("version", "__missing__")
    ('region=eu', 'without version')
    """
    return one_line(f"without {key}" if value == MISSING_VALUE else f"{key}{equals}{value}")
