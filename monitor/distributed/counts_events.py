"""`counts` events as they are sent to a monitor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monitor.counts import Outcome
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.join.sampling import NO_STRATUM

CELL_NAMES = {
    "tp": Outcome.TP,
    "fp": Outcome.FP,
    "fn": Outcome.FN,
    "tn": Outcome.TN,
    "predicted_positive": PREDICTED_POSITIVE,
    "predicted_negative": PREDICTED_NEGATIVE,
}
"""Fields of an event and their cells, see `monitor.join.deltas`."""
_PER_OCTAVE = 8


def counts_event(
    model: str,
    segment: Mapping[str, str],
    times: tuple[int, int],
    stratum: int,
    cells: Sequence[int],
) -> dict[str, Any]:
    """Return an event by the names of its fields.

    Args:
        model: name of the model.
        segment: segment values by key.
        times: of the pane, and of the labels, epoch milliseconds.
        stratum: how the labels were sampled, see `monitor.join.sampling`.
        cells: what is added, see `monitor.join.deltas`.

    >>> event = counts_event("fraud", {}, (60_000, 61_500), 9, [1, 0, 0, 0, 2, 0])
    >>> event["ts"], event["label_ts"], event["sampling_probability"]
    (60, 61.5, 0.5)
    """
    pane, labelled = times
    event: dict[str, Any] = {
        "type": "counts",
        "model": model,
        "ts": seconds(pane),
        **{name: cells[cell] for name, cell in CELL_NAMES.items()},
    }
    if segment:
        event["segment"] = segment
    if labelled != pane:
        event["label_ts"] = seconds(labelled)
    if stratum != NO_STRATUM:
        event["sampling_probability"] = 2.0 ** (-(stratum - 1) / _PER_OCTAVE)
    return event


def seconds(milliseconds: int) -> float:
    """Return epoch seconds of epoch milliseconds; an integer where they are whole."""
    return milliseconds // 1000 if milliseconds % 1000 == 0 else milliseconds / 1000
