"""Ends forwarding in a state directory, while no monitor runs on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from monitor.config.quantities import count_of
from monitor.state import Checkpoints, StateError


def stop_forwarding(directory: Path) -> str:
    """Write a checkpoint like the newest one, from which nothing more is forwarded.

    The state stays one that was forwarded: with `forward` configured again, a start refuses it.

    Args:
        directory: state directory; its lock is held.

    Returns:
        What was done, as a sentence.

    Raises:
        StateError: there is no checkpoint, or it forwards nothing.
    """
    checkpoints = Checkpoints(directory / "checkpoints")
    newest = checkpoints.newest()
    if newest is None:
        raise StateError(f"{directory}: has no checkpoint")
    engine, forwarded = dict(newest.state["engine"]), newest.state.get("forwarded")
    collected = engine.pop("forwarding", None)
    if collected is None or forwarded is None:
        raise StateError(f"{newest.path}: forwards nothing; nothing is written")
    sealed = forwarded["batch"]
    unsent = int(np.abs(collected["count"]).sum())
    unsent += 0 if sealed is None else int(np.abs(sealed["cells"]).sum())
    checkpoints.write({**newest.state, "engine": engine, "forwarded": {**forwarded, "batch": None}})
    lost = f"{count_of(unsent, 'change')} of counts" if unsent else "no counts"
    return f"forwarding ends; {lost} of the newest checkpoint were left to send"
