"""Monitors that take the same records in batches that end at different places."""

import numpy as np
from same import through_disk

from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings


def monitor_of(lines, cuts, config, *, kind=Monitor):
    """A monitor that took these records in batches that end at these places."""
    monitor = kind(config)
    decoder = Decoder(DecodeSettings.from_config(config))
    ends = sorted({*cuts, len(lines)})
    for start, end in zip([0, *ends], ends, strict=False):
        monitor.apply(decoder.decode_lines(b"\n".join(lines[start:end]), source="t"))
    return monitor


def known_by(monitor):
    """The state that a checkpoint keeps, but for detectors and for empty panes."""
    state = through_disk(monitor.state())
    monitor.snapshot()
    del state["watch"]
    del state["join"]["books"]["most_predictions"], state["join"]["books"]["most_applied"]
    held = state["join"]["held"]
    order = np.lexsort([*held.values()])
    state["join"]["held"] = {name: column[order] for name, column in held.items()}
    return plain(state)


def plain(value):
    if isinstance(value, dict):
        if "panes" in value:
            return [*map(list, ring(value)[1:]), ring(value)[0]]
        return {str(name): plain(part) for name, part in sorted(value.items(), key=str)}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def ring(state):
    """The panes in which anything counts, by the newest pane of each model."""
    counted = {
        (int(pane) % state["span"], *map(int, at)): int(table[tuple(at)])
        for pane, table in zip(state["panes"], state["counts"], strict=True)
        for at in np.argwhere(table)
    }
    ahead = sorted(tuple(row) for row in state["ahead"].tolist() if row[-1])
    return state["newest"].tolist(), sorted(counted.items()), ahead
