"""What a reference is, and when it is far from what is compared with it, in one line each."""

from __future__ import annotations

import math

from monitor.config.quantities import format_time
from monitor.snapshot import Before, WindowVerdict

_WHERE_FROM = {
    "counts": "given counts",
    "window": "the dated window",
    "first": "the first days",
    "trailing": "trailing days",
}


def reference_text(before: Before) -> str:
    """Where it comes from, its version, its time, its outcomes and its r0.

    >>> from monitor.counts import ConfusionCounts
    >>> counts = ConfusionCounts(tp=80, fp=50, fn=20, tn=850)
    >>> reference_text(Before(source="counts", opens=None, closes=None, counts=counts))
    'given counts, version 1, 1,000 outcomes, r0 = 0.1111'
    """
    parts = [_WHERE_FROM[before.source], f"version {before.version}"]
    if before.opens is not None and before.closes is not None:
        parts.append(f"{format_time(before.opens)}..{format_time(before.closes)}")
    parts += [f"{round(before.counts.total.item()):,} outcomes", f"r0 = {before.class_ratio:.4g}"]
    return ", ".join(parts)


def far_text(found: WindowVerdict) -> str:
    """How far the class ratio is from the reference's; "" where that is not far."""
    if not found.far_from_reference or found.judgement is None:
        return ""
    change = found.judgement.change["class_ratio"]
    way = "below" if change < 0 else "above"
    return (
        f"the class ratio is {math.exp(abs(change)):.1f} times {way} the reference's; precision at "
        "r0 is an extrapolation, in which a small error of the false positive rate weighs heavily"
    )
