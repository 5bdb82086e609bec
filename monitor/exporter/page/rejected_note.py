"""What the page says of records that are rejected: how many of the last day, and why."""

from __future__ import annotations

import htpy as h

from monitor.report.printable import one_line
from monitor.report.rejected_lately import RejectedLately, kind_text, rejected_text


def rejected_note(found: RejectedLately | None) -> h.Node:
    """Return how many records are rejected; a fault where they are more than a few.

    Args:
        found: of the last day; None where nobody counts them.

    Returns:
        None where none is rejected.
    """
    if found is None or not found.rejected:
        return None
    kinds = h.ul[(h.li[one_line(kind_text(kind))] for kind in found.kinds)]
    if not found.needs_attention:
        return h.details(".muted")[h.summary[rejected_text(found)], kinds]
    return h.div(".fault")[h.p[h.strong["Records are rejected. "], rejected_text(found)], kinds]
