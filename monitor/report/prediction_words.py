"""The words for predictions outside the usual range of their model; see `vocabulary`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from monitor.drift.degenerate import Degeneracy
from monitor.verdicts import DegeneratePredictions

DEGENERACIES: Mapping[Degeneracy, str] = {
    Degeneracy.CONSTANT_SCORE: "gives every case the same score",
    Degeneracy.ALWAYS_NEGATIVE: "flags nothing any more",
    Degeneracy.ALWAYS_POSITIVE: "flags everything",
    Degeneracy.NARROW_SCORES: "gives scores that lie closer together than ever",
    Degeneracy.RATE_FAR_BELOW: "flags only {times} times its lowest rate so far",
    Degeneracy.RATE_FAR_ABOVE: "flags {times} times its highest rate so far",
}
"""Words that follow "the model", by kind, the worst first; `{times}` is a number."""
NO_ALARM = (
    "no alarm: the share of flagged cases stays between a third of its lowest and three times its "
    "highest rate so far"
)
"""What nothing wrong means, a clause: changes that are smaller than an alarm may be there."""


def degenerate_text(found: DegeneratePredictions) -> str:
    """Return what the model does, such as "flags nothing any more"; "" where nothing is wrong.

    Args:
        found: its predictions against all that is known of them.
    """
    if found.kind is None:
        return ""
    return DEGENERACIES[found.kind].format(times=f"{found.times:.2g}")


def degenerate_since(found: DegeneratePredictions) -> str:
    """Return what the model does and since when, a phrase; "" where nothing is wrong.

    Args:
        found: its predictions against all that is known of them.

    >>> degenerate_since(DegeneratePredictions(
    ...     known=True, kind=Degeneracy.ALWAYS_NEGATIVE, since=1_771_000_000_000))
    'the model flags nothing any more (since 2026-02-13 16:26)'
    """
    text = degenerate_text(found)
    if not text or found.since is None:
        return ""
    since = datetime.fromtimestamp(found.since / 1000, UTC)
    return f"the model {text} (since {since:%Y-%m-%d %H:%M})"
