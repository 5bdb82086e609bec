"""What the counts of a window say of all classes of a model together.

Computed again only where the counts, or the verdicts on the classes, changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.drift.change_point import change_point
from monitor.drift.class_attribution import ClassAttribution, attribute_classes
from monitor.drift.class_confusions import Confusion, ConfusionBegan
from monitor.drift.share_tests import taken_for
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.verdicts import Watched, WindowVerdict
from monitor.watch.class_days import class_days
from monitor.watch.class_verdicts import (
    JudgedTogether,
    judged_together,
    occupied,
)
from monitor.watch.class_watch_builder import WatchedModel
from monitor.watch.judged_counts import block_length
from monitor.watch.watched_now import Moment
from monitor.windows import Windows


class SeenWindow(NamedTuple):
    """What follows from the matrices of the reference and of a window.

    Attributes:
        before: matrices of the reference by day, (days, classes, classes).
        after: those of the window by blocks of time.
        against_rest: verdicts on the window, of each class against all others together.
        judged: the classes together.
        causes: what moved the precision of each class.
        changes: confusions, and recalls of classes, that certainly changed.
    """

    before: Int64Array
    after: Int64Array
    against_rest: tuple[WindowVerdict, ...]
    judged: JudgedTogether
    causes: ClassAttribution
    changes: tuple[Confusion, ...]

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
        """Return the matrices of a model's reference by day, (days, classes, classes).

        Args:
            model: its number.
            known: its classes.
        """
        cached = self._matrices.get(model)
        if cached is None or cached[0] is not known:
            cached = self._matrices[model] = known, known.days()
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
        panes = self._windows.pane_range(name, at.now, at.age)
        block_ms = block_length(self._windows, name, at.now, at.age)
        each = block_ms // self._windows.width(panes)
        after = self._windows.classes.blocks(model, panes, each)
        before, seen = self.reference(model, known), self._seen.get((model, name))
        if seen is None or not seen.holds(before, after, own):
            days = occupied(_in_days(after, max(1, DAY_MS // block_ms)))
            judged = judged_together(own, before, days)
            closes = panes.end * self._windows.width(panes)
            changed = judged.changes.named(tuple(by_class))
            seen = self._seen[model, name] = SeenWindow(
                before,
                after,
                own,
                judged,
                attribute_classes(before, days),
                self._dated(model, known, changed, closes),
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


def _in_days(blocks: Int64Array, blocks_a_day: int) -> Int64Array:
    """Return matrices by days that end with the last block, (days, classes, classes)."""
    missing = -len(blocks) % blocks_a_day
    days = np.pad(blocks, ((missing, 0), (0, 0), (0, 0)))
    return np.asarray(days.reshape(-1, blocks_a_day, *blocks.shape[1:]).sum(axis=1))
