"""Advice where events hold no outcome, by the kinds of events that came."""

from __future__ import annotations

import json

from monitor.config.quantities import count_of
from monitor.feeds.mapping.written import Notation
from monitor.snapshot import Snapshot

_NAMED = 10


def without_outcomes(snapshot: Snapshot, notation: Notation) -> str:
    """Return what is missing, and what to do about it, in one line.

    Args:
        snapshot: after events of which none is an outcome.
        notation: how to complete the mapping of the events.
    """
    came = {kind for kind, number in snapshot.events.items() if number}
    rejected = sum(snapshot.rejected.values())
    if not came:
        unusable = "no record could be used; correct those that were rejected"
        return unusable if rejected else "the feed has no predictions; check the file"
    lacking = "prediction" if came == {"label"} else "label"
    if rejected and lacking not in came:
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
            f'{{"id": "ID OF A PREDICTION", "ts": TIME, "label": {_example(snapshot)}}}, or name '
            f"the column that holds the outcome: {notation.columns({'label': 'COLUMN'})}"
        )
    if came == {"label"}:
        return "labels came without predictions; give these, too, in the same file or in another"
    return _no_use_of_labels(snapshot)


def _no_use_of_labels(snapshot: Snapshot) -> str:
    if snapshot.labels.misnamed:
        return f"no label that could be used came; {_classes(snapshot)}"
    return "no label has the id of a prediction; check the ids"


def _example(snapshot: Snapshot) -> str:
    """Return a label as JSON: of the first model of many classes, the first of them; else 1."""
    named = [model.classes["all"].names for model in snapshot.models if model.classes]
    return json.dumps(named[0][0]) if named and len(named) == len(snapshot.models) else "1"


def _classes(snapshot: Snapshot) -> str:
    """Return which labels models of many classes take."""
    texts = []
    for model in snapshot.models:
        if model.classes:
            names = model.classes["all"].names
            more = f" or {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            one_of = ", ".join(map(repr, names[:_NAMED]))
            texts.append(f"those of {model.name!r} must be one of {one_of}{more}, or null")
    return "; ".join(texts)
