"""What is answered to each question, and remembered while the state stays the same."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import xxhash

from monitor.config import Labelling
from monitor.diagnosis import Diagnosis
from monitor.diagnosis.comparison import Comparison, compared_live, mature_until
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.exporter.api.asking import Ask, UnansweredError
from monitor.exporter.api.compare import Kept, compared, is_mature, recall
from monitor.exporter.api.curve import curve_object
from monitor.exporter.api.series import MOST_STEPS, Background, Mark, series_object
from monitor.exporter.api.status import status_object
from monitor.exporter.api.trends import PATIENCE_SECONDS, Trend, Trends
from monitor.report.diagnosis_json import diagnosis_object
from monitor.snapshot import ModelState, Snapshot
from monitor.windows.history import History
from monitor.windows.recalled import Recalled

T = TypeVar("T")

_REMEMBERED = 64
_NAMED = 5


class UnknownModelError(UsageError):
    """There is no such model."""


class Explained(NamedTuple):
    """A diagnosis and what belongs to it.

    Attributes:
        diagnosis: what was found.
        as_json: the same as `diagnose --json` prints it.
        curve: precision against recall of what is judged.
    """

    diagnosis: Diagnosis
    as_json: dict[str, Any]
    curve: dict[str, Any]


class Answers:
    """Answers about the latest snapshot; safe to use from any thread.

    A second question alike is answered from memory, until the state changes: however
    many look, the thread that feeds the monitor is asked once. Where the counts behind
    an explanation are still the same, it is not made anew.

    Args:
        read_snapshot: gives the latest snapshot.
        ask: reaches the history; None where there is none to be had.
        patience: seconds that a list of models waits for its lines.
    """

    def __init__(
        self,
        read_snapshot: Callable[[], Snapshot],
        ask: Ask | None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._read = read_snapshot
        self._ask = ask
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._known: dict[Hashable, Any] = {}
        self._explained: dict[Hashable, Explained] = {}
        self._trends = Trends(self._asked, patience)

    def snapshot(self) -> Snapshot:
        """The state now."""
        return self._read()

    def status(
        self, *, matching: str = "", names: tuple[str, ...] = (), offset: int = 0, limit: int
    ) -> dict[str, Any]:
        """See `status_object`."""
        snapshot = self._read()
        key = ("status", matching, names, offset, limit)
        return self._once(
            snapshot,
            key,
            lambda: status_object(
                snapshot, matching=matching, names=names, offset=offset, limit=limit
            ),
        )

    def series(
        self,
        name: str | None,
        *,
        step: int | None = None,
        last: int | None = None,
        most: int = MOST_STEPS,
    ) -> dict[str, Any]:
        """See `series_object`.

        Raises:
            UnknownModelError: no such model.
            UnansweredError: the history cannot be reached.
        """
        snapshot = self._read()
        model = named(snapshot, name)

        def looked() -> History:
            return self._asked(lambda monitor: monitor.history(model.name))

        def made() -> dict[str, Any]:
            history = self._once(snapshot, ("history", model.name), looked)
            return series_object(
                history, background(snapshot, model), step=step, last=last, most=most
            )

        return self._once(snapshot, ("series", model.name, step, last, most), made)

    def trends(self, names: Sequence[str], *, step: int, last: int) -> dict[str, Trend]:
        """Precision over time of several models, for small lines: asked for all at once.

        As of the last full hour of event time: what is known of a model is kept until
        another hour of it is mature.

        Args:
            names: of models that there are.
            step: milliseconds.
            last: leave out all but so many steps.

        Returns:
            By name; what was known last, if anything, where the history is not told in time.
        """
        snapshot, wanted = self._read(), set(names)
        about = {m.name: background(snapshot, m) for m in snapshot.models if m.name in wanted}
        return self._trends.of(about, step=step, last=last)

    @property
    def looks_back(self) -> bool:
        """Whether the history can be asked for at all."""
        return self._ask is not None

    def explained(self, name: str | None, before: str | None, after: str | None) -> Explained:
        """Why precision moved between two stretches of time, and the curve of the later one.

        Raises:
            UnknownModelError: no such model.
            UsageError: the stretches cannot be compared.
            UnansweredError: the history cannot be reached.
        """
        snapshot = self._read()
        model = named(snapshot, name)

        def made() -> Explained:
            asked = compared_live(snapshot, model, before, after)
            reference = model.watched.reference
            given = None if reference is None else tuple(reference.counts.cells.tolist())
            labelling = Labelling(model.labelling)
            kept = self._asked(lambda monitor: recall(monitor, asked, labelling))
            counted = (_digest(kept), is_mature(snapshot, model, asked), given)
            return self._again((asked, counted), lambda: explain(asked, kept))

        def explain(asked: Comparison, kept: Kept) -> Explained:
            found = compared(snapshot, model, asked, kept)
            curve = curve_object(kept.after_scores, **aim(found, model.objective.get("precision")))
            return Explained(found, diagnosis_object(found), curve)

        return self._once(snapshot, ("explained", model.name, before, after), made)

    def _asked(self, read: Callable[[Monitor], T]) -> T:
        if self._ask is None:
            raise UnansweredError("history: is not served here")
        return self._ask(read)

    def _again(self, counted: Hashable, make: Callable[[], Explained]) -> Explained:
        """What was made of the same counts before, however old, or is made now."""
        with self._lock:
            known = self._explained.pop(counted, None)
        found = make() if known is None else known
        with self._lock:
            self._explained[counted] = found
            while len(self._explained) > _REMEMBERED:
                del self._explained[next(iter(self._explained))]
        return found

    def _once(self, snapshot: Snapshot, key: Hashable, make: Callable[[], T]) -> T:
        """What was made of this snapshot before, or is made now; two may make it at once."""
        with self._lock:
            if snapshot is not self._snapshot:
                self._snapshot, self._known = snapshot, {}
            if key in self._known:
                known: T = self._known[key]
                return known
        made = make()
        with self._lock:
            if snapshot is self._snapshot and len(self._known) < _REMEMBERED:
                self._known[key] = made
        return made


def _digest(kept: Kept) -> str:
    """Stands for all that was counted."""
    arrays: list[Any] = []
    for part in kept:
        if isinstance(part, Recalled):
            arrays += [part.cells, part.label_weights]
        elif part is not None:
            arrays += [part.positive, part.negative]
    digest = xxhash.xxh3_128()
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def named(snapshot: Snapshot, name: str | None) -> ModelState:
    """A model by its name; the only one there is where none is named.

    Raises:
        UnknownModelError: no such model.
        UsageError: none was named, and there are several, or none yet.
    """
    known = {model.name: model for model in snapshot.models}
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name is None:
        some = ", ".join(list(known)[:_NAMED]) or "none yet"
        fault = f"model: one must be named; there are {len(known)}: {some}"
        raise UsageError(fault if len(known) <= _NAMED else f"{fault}, …; see /api/v1/status")
    if name not in known:
        raise UnknownModelError(f"model: there is no such model, got {name!r}")
    return known[name]


def background(snapshot: Snapshot, model: ModelState) -> Background:
    """What a series needs to know of a model."""
    reference = model.watched.reference
    return Background(
        model=model.name,
        labelling=Labelling(model.labelling),
        mature_until=mature_until(snapshot, model),
        reference=None if reference is None else reference.counts,
        detections=[Mark(found.at, found.kind) for found in model.watched.detections],
    )


def aim(found: Diagnosis, objective: float | None) -> dict[str, float | None]:
    """What a threshold should bring back: the objective, or else the precision of before."""
    ratio = found.before.metrics["class_ratio"].estimate
    wanted = found.before.metrics["precision"].estimate if objective is None else objective
    return {
        "reference_ratio": ratio if 0 < ratio < float("inf") else None,
        "objective": wanted if 0 <= wanted <= 1 else None,
    }
