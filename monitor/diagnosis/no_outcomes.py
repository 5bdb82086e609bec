"""Advice where events hold no outcome, by the kinds of events that came."""

from __future__ import annotations

from monitor.config.quantities import count_of
from monitor.feeds.mapping.written import Notation
from monitor.snapshot import Snapshot


def without_outcomes(snapshot: Snapshot, notation: Notation) -> str:
    """Return what is missing, and what to do about it, in one line.

    Args:
        snapshot: after events of which none is an outcome.
        notation: how to complete the mapping of the events.
    """
    came = {kind for kind, number in snapshot.events.items() if number}
    if not came:
        return "the feed has no predictions; check the file"
    lacking = "prediction" if came == {"label"} else "label"
    if (rejected := sum(snapshot.rejected.values())) and lacking not in came:
        return (
            f"no {lacking} could be used, and {rejected:,} of "
            f"{count_of(snapshot.records, 'record')} were rejected: correct these, or give the "
            f"{lacking}s as well"
        )
    if came == {"counts"}:
        return (
            "tp, fp, fn and tn of all counts add up to 0, or one of them to less; send the counts "
            "that these correct"
        )
    if "label" not in came:
        return (
            "no label came; give the labels, too, in the same file or in another, such as "
            '{"id": "ID OF A PREDICTION", "ts": TIME, "label": 1}, or name the column that holds '
            f"the outcome: {notation.columns({'label': 'COLUMN'})}"
        )
    if came == {"label"}:
        return "labels came without predictions; give these, too, in the same file or in another"
    return "no label has the id of a prediction; check the ids"
