"""Predictions, and labels some time after them, that are followed and counted."""

import json

from monitor.config import Config
from monitor.engine import CountingMonitor

HOUR, DAY = 3_600, 86_400
FIRST = 1_790_000_000 // DAY * DAY


def lived(days, every, delay, *, name="p"):
    """Rows (time, line) in the order of their times.

    Args:
        days: how many.
        every: seconds between two predictions.
        delay: seconds between a prediction and its label.
        name: with which ids begin.
    """
    rows = []
    for number in range(days * DAY // every):
        ts = FIRST + number * every
        prediction = {"type": "prediction", "id": f"{name}{number}", "ts": ts, "prediction": 1}
        label = {"type": "label", "id": f"{name}{number}", "ts": ts + delay, "label": number % 2}
        rows += [(ts, as_line(prediction)), (ts + delay, as_line(label))]
    return sorted(rows, key=lambda row: row[0])


def as_line(event):
    return json.dumps(event).encode() + b"\n"


def joined(rows):
    return b"".join(line for _, line in rows)


def by_day(rows):
    """The lines of each day, in the order of days."""
    days = {}
    for ts, line in rows:
        days.setdefault(int(ts - FIRST) // DAY, []).append(line)
    return [b"".join(days[day]) for day in sorted(days)]


class Counted:
    """What comes from followed files, counted with a short time for labels.

    Args:
        timeout: of labels.
    """

    def __init__(self, timeout="2d"):
        self._monitor = CountingMonitor(Config(models={"default": {"label_timeout": timeout}}))

    def all_of(self, source):
        """Count all that a source has by now; return this."""
        while (batch := source.poll()) is not None:
            assert not batch.rejected
            self._monitor.apply(batch)
        return self

    @property
    def outcomes(self):
        """Predictions with a label, predictions that expired, and labels that were late."""
        snapshot = self._monitor.snapshot()
        (model,) = snapshot.models
        return model.matched, model.expired, snapshot.labels.late
