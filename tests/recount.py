"""An independent batch recount of a stream: plain dictionaries, no code shared with the monitor.

What the counters of a monitor must equal, after any event, in any order.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict

CELLS = {(1, 1): "tp", (1, 0): "fp", (0, 1): "fn", (0, 0): "tn"}


class Recount:
    """Counts of a list of event dictionaries (ts in epoch seconds), all of it in mind.

    Args:
        events: predictions and labels, in any order.
        label_timeout: seconds; labels later than this do not count.
    """

    def __init__(self, events: list[dict], label_timeout: float = math.inf) -> None:
        self.predictions: dict[str, dict] = {}
        self.labels: defaultdict[str, list[dict]] = defaultdict(list)
        for event in events:
            if event["type"] == "prediction":
                known = self.predictions.get(event["id"])
                if known is None or self._rank(event) < self._rank(known):
                    self.predictions[event["id"]] = event
            else:
                self.labels[event["id"]].append(event)
        self.timeout = label_timeout

    @staticmethod
    def _rank(event: dict) -> tuple:
        score = event.get("score")
        bin_ = 1023 if score is None else min(int(score * 1000 + 1e-9), 999)
        names = (event.get("model", "default"), tuple(event.get("segment", {}).values()))
        return (event["ts"], names, int(event["prediction"]), bin_)

    def label_of(self, identity: str) -> int | None:
        """The label in force, None where none came, came in time, or it was retracted."""
        prediction = self.predictions[identity]
        in_time = [
            label
            for label in self.labels[identity]
            if label["ts"] - prediction["ts"] <= self.timeout
        ]
        if not in_time:
            return None
        latest = max(label["ts"] for label in in_time)
        labels_in_force = {label["label"] for label in in_time if label["ts"] == latest}
        return None if None in labels_in_force else max(labels_in_force)

    def outcomes(self, *, since: float = -math.inf, before: float = math.inf) -> list[tuple]:
        """(prediction event, cell name) of those with a label, made in [since, before)."""
        found = []
        for identity, prediction in self.predictions.items():
            label = self.label_of(identity)
            if label is not None and since <= prediction["ts"] < before:
                found.append((prediction, CELLS[int(prediction["prediction"]), label]))
        return found

    def counts(self, *, since: float = -math.inf, before: float = math.inf) -> Counter:
        """Outcomes by cell name."""
        return Counter(cell for _, cell in self.outcomes(since=since, before=before))

    def by_segment(self, key: str) -> dict[str, Counter]:
        """Outcomes by value of a segment key and cell name."""
        found: defaultdict[str, Counter] = defaultdict(Counter)
        for prediction, cell in self.outcomes():
            found[prediction.get("segment", {}).get(key, "__missing__")][cell] += 1
        return dict(found)
