"""What the counts of a window say of all classes of a model together.

Computed again only where the counts, or the verdicts on the classes, changed.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift.change_point import change_point
from monitor.drift.class_attribution import ClassAttribution, attribute_classes
from monitor.drift.class_confusions import Confusion, ConfusionBegan
from monitor.drift.class_moves import class_moves, taken_for
from monitor.drift.odds_ratio_within import in_days
from monitor.drift.verdict import MOVED_RATES
from monitor.drift.within_segments import accuracy_held
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.verdicts import Watched, WindowVerdict
from monitor.watch.class_days import class_days
from monitor.watch.class_verdicts import as_confused, changed_confusions, occupied
from monitor.watch.class_watch_builder import WatchedModel
from monitor.watch.judged_counts import block_length
from monitor.watch.moved_classes import CERTAINLY_WORSE
from monitor.watch.reference import MatureReference
from monitor.watch.watched_now import Moment
from monitor.windows import Windows


class SeenWindow(NamedTuple):
    """What follows from the matrices of the reference and of a window.

    Attributes:
        before: matrices of the reference by blocks of time, (blocks, classes, classes).
        after: those of the window.
        against_rest: verdicts on the window, of each class against all others together.
        verdicts: the same, where the classes that are certainly predicted worse are degraded.
        causes: what moved the precision of each class.
        confusions: those that certainly changed.
        held: the accuracy within the actual classes certainly stayed.
    """

    before: Int64Array
    after: Int64Array
    against_rest: tuple[WindowVerdict, ...]
    verdicts: tuple[WindowVerdict, ...]
    causes: ClassAttribution
    confusions: tuple[Confusion, ...]
    held: bool

    def holds(
        self, before: Int64Array, after: Int64Array, against_rest: tuple[WindowVerdict, ...]
    ) -> bool:
        """Return whether it was made from these.

        Args:
            before: as above.
            after: as above.
            against_rest: as above.
        """
        same = len(against_rest) == len(self.against_rest) and all(
            one is other for one, other in zip(against_rest, self.against_rest, strict=True)
        )
        return same and self.before is before and np.array_equal(self.after, after)


class ClassesTogether:
    """Compares all classes of a window with the reference.

    Args:
        catalogue: models and their settings.
        windows: counts.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._matrices: dict[int, tuple[WatchedModel, Int64Array]] = {}
        self._seen: dict[tuple[int, str], SeenWindow] = {}

    def reference(self, model: int, known: WatchedModel) -> Int64Array:
        """Return the matrices of a model's reference by blocks, (blocks, classes, classes).

        Args:
            model: its number.
            known: its classes.
        """
        cached = self._matrices.get(model)
        if cached is None or cached[0] is not known:
            cached = self._matrices[model] = known, known.matrices()
        return cached[1]

    def window(
        self,
        model: int,
        known: WatchedModel,
        name: str,
        at: Moment,
        by_class: Mapping[str, Watched],
    ) -> SeenWindow:
        """Return what follows from the matrices of a window.

        Args:
            model: its number.
            known: its classes.
            name: of the window.
            at: the moment.
            by_class: what is known of each class.
        """
        own = tuple(watched.verdicts[name] for watched in by_class.values())
        panes, length = self._windows.pane_range(name, at.now, at.age), self._windows.length(name)
        block_ms = block_length(self._windows, name, at.now, at.age)
        each = block_ms // self._windows.width(panes)
        after = self._windows.classes.blocks(model, panes, each)
        before, seen = self.reference(model, known), self._seen.get((model, name))
        if seen is None or not seen.holds(before, after, own):
            blocks_a_day = max(1, DAY_MS // block_ms)
            worse = _worse(known, after, blocks_a_day) if length >= DAY_MS else ()
            verdicts = tuple(
                as_confused(one) if number in worse else one for number, one in enumerate(own)
            )
            moved = {
                one: watched.degradation_detected or found.verdict in MOVED_RATES
                for (one, watched), found in zip(by_class.items(), verdicts, strict=True)
            }
            changed = changed_confusions(before, occupied(after), moved)
            closes = panes.end * self._windows.width(panes)
            seen = self._seen[model, name] = SeenWindow(
                before,
                after,
                own,
                verdicts,
                attribute_classes(before, occupied(after)),
                self._dated(model, known, changed, closes),
                _accuracy_held(known.whole, before, after, blocks_a_day),
            )
        return seen

    def _dated(
        self, model: int, known: WatchedModel, found: tuple[Confusion, ...], closes: int
    ) -> tuple[Confusion, ...]:
        """Return confusions with the days on which they changed.

        The days are those from the end of the reference to the end of the window. On the first of
        them a confusion may have changed before: the reference may hold the change.
        """
        if not found:
            return found
        first, end = (known.whole.closes or 0) // DAY_MS, -(-closes // DAY_MS)
        held, days = class_days(self._windows, model, len(known.classes), first, end)
        names = self._catalogue.settings[model].classes
        before = self.reference(model, known).sum(axis=0)
        dated = []
        for one in found:
            predicted, actual = names.index(one.predicted), names.index(one.actual)
            found_at = change_point(
                taken_for(days, predicted, actual),
                taken_for(before, predicted, actual),
                recall_dispersion=float(known.classes[actual].reference.dispersion.recall),
            )
            began = None
            if found_at is not None:
                at, earliest, latest = (int(held[step]) * DAY_MS for step in found_at)
                began = ConfusionBegan(at, earliest if found_at.step else None, latest + DAY_MS)
            dated.append(one._replace(began=began))
        return tuple(dated)


def _worse(known: WatchedModel, after: Int64Array, blocks_a_day: int) -> Container[int]:
    """Return the classes that are certainly predicted worse, and in nothing better."""
    missing = -len(after) % blocks_a_day
    days = np.pad(after, ((missing, 0), (0, 0), (0, 0)))
    days = days.reshape(-1, blocks_a_day, *after.shape[1:]).sum(axis=1)
    if not days.any():
        return ()
    moves = class_moves(known.days(), occupied(days), certain=CERTAINLY_WORSE)
    return frozenset(np.flatnonzero(moves.worse).tolist())


def _accuracy_held(
    whole: MatureReference, before: Int64Array, after: Int64Array, blocks_a_day: int
) -> bool:
    right = after.trace(axis1=1, axis2=2)
    pooled = ConfusionCounts(tp=right, fp=0, fn=after.sum(axis=(1, 2)) - right, tn=0)
    days = _of_reference(whole), in_days(pooled, blocks_a_day)
    return accuracy_held(before.sum(axis=0), after.sum(axis=0), days)


def _of_reference(reference: MatureReference) -> ConfusionCounts:
    """Return the right (tp) and wrong (fn) predictions of each day of a reference."""
    days = reference.by_day or reference.blocks
    return ConfusionCounts(tp=days.tp, fn=days.fp, fp=0, tn=0)
