"""The words for predictions outside the usual range of their model; see `vocabulary`."""

from __future__ import annotations

from collections.abc import Mapping

from monitor.drift.degenerate import Degeneracy
from monitor.verdicts import DegeneratePredictions

DEGENERACIES: Mapping[Degeneracy, str] = {
    Degeneracy.CONSTANT_SCORE: "gives every case the same score",
    Degeneracy.ALWAYS_NEGATIVE: "flags nothing any more",
    Degeneracy.ALWAYS_POSITIVE: "flags everything",
    Degeneracy.RATE_FAR_BELOW: "flags only {times} times its lowest rate so far",
    Degeneracy.RATE_FAR_ABOVE: "flags {times} times its highest rate so far",
}
"""Words that follow "the model", by kind, the worst first; `{times}` is a number."""


def degenerate_text(found: DegeneratePredictions) -> str | None:
    """Return what the model does, such as "flags nothing any more"; None where nothing is wrong.

    Args:
        found: its predictions against all that is known of them.
    """
    if found.kind is None:
        return None
    return DEGENERACIES[found.kind].format(times=f"{found.times:.2g}")
