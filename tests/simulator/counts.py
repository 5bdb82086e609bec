"""What a monitor has counted, and what it must have: by names that both sides use.

("cell", model, segment key, its value, tp|fp|fn|tn)    outcomes of a series
("class", predicted, actual)                            outcomes of the model of many classes
("pair", hour, k, first, second, label, way)            pairs of versions, see `WAYS`
("audit", day, predicted, label, actual)                audited labels
("event", type)                                         events, and "rejected" records
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from recount import CELLS, Recount
from simulator.events import BINARY, CLASSES, HOUR, MANY, SHADOWS, is_shadow

from monitor.join import pairs
from monitor.snapshot import Snapshot

DAY = 24 * HOUR
NAMES = ("tp", "fp", "fn", "tn")
WAYS = {(1, 1): "both", (1, 0): "first", (0, 1): "second", (0, 0): "none"}
KINDS = ("all", "positive", "negative")
EVENT = "event"
_RETRACTED = 2
Counts = dict[tuple[str | int, ...], int]
Tally = Counter[tuple[str | int, ...]]


def counted(monitor: Any, snapshot: Snapshot) -> Counts:
    """Return what a monitor has counted.

    Args:
        monitor: a `monitor.engine.Monitor` without waiting events.
        snapshot: of it.
    """
    found: Tally = Counter()
    for row, (model, segment, value) in enumerate(snapshot.series):
        for name, n in zip(NAMES, snapshot.lifetime.counts.cells[row].tolist(), strict=True):
            found["cell", model, segment or "", value or "", name] = n
    for kind, n in {**snapshot.events, "rejected": sum(snapshot.rejected.values())}.items():
        found[EVENT, kind] = n
    for number, model in enumerate(snapshot.models):
        for report in (one for name, one in model.classes.items() if name == "all"):
            found.update(matrix_cells(report.matrix.tolist()))
        found.update(_audits(monitor.label_errors.counts(number)))
        if model.versions_now is not None and model.versions_now.shadows is not None:
            found.update(_pairs(monitor._stages.pairs.held(number), monitor._catalogue))
    return {key: n for key, n in found.items() if n}


def matrix_cells(matrix: list[list[int]]) -> Counts:
    """Return the cells of a matrix of classes that are not empty."""
    rows = enumerate(matrix)
    cells = {("class", CLASSES[i], CLASSES[j]): n for i, row in rows for j, n in enumerate(row)}
    return {key: n for key, n in cells.items() if n}


def _audits(counts: Any) -> Tally:
    found: Tally = Counter()
    for day, cell, n in zip(
        counts.day.tolist(), counts.cell.tolist(), counts.count.tolist(), strict=True
    ):
        found["audit", day, cell >> 2, cell >> 1 & 1, cell & 1] += n
    return found


def _pairs(held: Any, catalogue: Any) -> Tally:
    found: Tally = Counter()
    values = catalogue.group_values()  # (k, version) of each group
    groups = (one.tolist() for one in pairs.groups_of_pairs(held.group))
    for hour, deciding, first, second, cells in zip(
        held.hour.tolist(), *groups, held.cells.tolist(), strict=True
    ):
        place = ("pair", hour, values[deciding][0], values[first][1], values[second][1])
        for index, n in enumerate(cells):
            found[(*place, KINDS[index // 4], [*WAYS.values()][index % 4])] += n
    return found


class Truth:
    """What must have been counted of some events, in any order, by a recount.

    Args:
        events: that fit, of both models.
        timeout: of labels, seconds.
    """

    def __init__(self, events: list[dict], timeout: float) -> None:
        two = [event for event in events if not _is_of_many(event) and _is_named(event, (0, 1))]
        many = [event for event in events if _is_of_many(event) and _is_named(event, CLASSES)]
        self._audits = [event for event in two if event.get("audit")]
        self._shadows = [event for event in two if is_shadow(event)]
        self._of_two, self._outcomes_of_two = _joined(two, timeout)
        self._of_many, self._outcomes_of_many = _joined([*map(_numbered, many)], timeout)

    def counts(self) -> Counts:
        """Everything but the events by type, as `counted` has it."""
        found = self.matrix()
        for (_, predicted, actual), n in [*found.items()]:
            found["cell", MANY, "", "", "tp" if predicted == actual else "fp"] += n
        for event, cell in self._labelled():
            found["cell", BINARY, "", "", cell] += 1
            found["cell", BINARY, "k", event["segment"]["k"], cell] += 1
            if "version" in event:
                found["cell", BINARY, "version", event["version"], cell] += 1
        return dict(found + self._pairs() + self._audited())

    def cells(self, since: float, before: float) -> Counter[str]:
        """Outcomes of the model of two classes, predicted in [since, before)."""
        return Counter(c for event, c in self._labelled() if since <= event["ts"] < before)

    def matrix(self, since: float = -math.inf, before: float = math.inf) -> Tally:
        """Outcomes of the model of many classes, predicted in [since, before)."""
        known = self._of_many.predictions.items()
        outcomes = [(event, self._of_many.label_of(name)) for name, event in known]
        outcomes += [(event, event["label"]) for event in self._outcomes_of_many]
        return Counter(
            ("class", CLASSES[event["prediction"]], CLASSES[label])
            for event, label in outcomes
            if label is not None and since <= event["ts"] < before
        )

    def _labelled(self) -> Iterator[tuple[dict, str]]:
        for event, cell in self._of_two.outcomes():
            yield event, cell
        for event in self._outcomes_of_two:
            yield event, CELLS[event["prediction"], event["label"]]

    def _pairs(self) -> Tally:
        found: Tally = Counter()
        truth, decided = self._of_two, self._of_two.predictions
        scored = [
            Recount([event for event in self._shadows if event["version"] == name]).predictions
            for name in SHADOWS
        ]
        for one, other in combinations((decided, *scored), 2):
            for name in decided.keys() & one.keys() & other.keys():
                hour, k = int(decided[name]["ts"] // HOUR), decided[name]["segment"]["k"]
                place = ("pair", hour, k, one[name]["version"], other[name]["version"])
                way, label = (
                    WAYS[one[name]["prediction"], other[name]["prediction"]],
                    truth.label_of(name),
                )
                found[(*place, "all", way)] += 1
                if label is not None:
                    found[(*place, KINDS[2 - label], way)] += 1
        return found

    def _audited(self) -> Tally:
        found: Tally = Counter()
        latest: dict[str, tuple[float, int]] = {}
        for audit in self._audits:
            value = _RETRACTED if audit["label"] is None else audit["label"]
            name = audit["id"]
            latest[name] = max(latest.get(name, (-math.inf, 0)), (audit["ts"], value))
        for name, (_, actual) in latest.items():
            if actual != _RETRACTED and name in self._of_two.predictions:
                made, label = self._of_two.predictions[name], self._of_two.label_of(name)
                if label is not None:
                    found["audit", int(made["ts"] // DAY), made["prediction"], label, actual] += 1
        return found


def _joined(events: list[dict], timeout: float) -> tuple[Recount, list[dict]]:
    """Return the recount of the predictions that decide and their labels, and the outcomes."""
    deciding = [event for event in events if not is_shadow(event) and not event.get("audit")]
    joined = [event for event in deciding if event["type"] != "outcome"]
    return Recount(joined, timeout), [e for e in deciding if e["type"] == "outcome"]


def _is_of_many(event: dict) -> bool:
    return event.get("model", BINARY) == MANY or event.get("id", "").startswith("m")


def _is_named(event: dict, classes: tuple[int | str, ...]) -> bool:
    """Whether its label is a class of its model."""
    return event.get("label") in (None, *classes)


def _numbered(event: dict) -> dict:
    """Return an event of the model of many classes with numbers for names."""
    fields = {name: event[name] for name in ("prediction", "label") if name in event}
    return event | {k: None if v is None else CLASSES.index(v) for k, v in fields.items()}


def check_windows(snapshot: Snapshot, truth: Truth) -> None:
    """Compare the windows of a snapshot with a recount.

    Args:
        snapshot: of the monitor.
        truth: of what it must have counted.

    Raises:
        AssertionError: a window has other counts.
    """
    for model in snapshot.models:
        for window in snapshot.windows:
            within = window.open[model.row] / 1000, window.close[model.row] / 1000
            if model.name == BINARY:
                found = window.counts.cells[model.row].tolist()
                expected = truth.cells(*within)
                assert found == [expected[name] for name in NAMES], window.name
            else:
                matrix = model.classes[window.name].matrix.tolist()
                assert matrix_cells(matrix) == truth.matrix(*within), window.name
