"""Metrics of the classes of each window, computed again only where counts change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from monitor.events.catalogue import Catalogue
from monitor.metrics.class_report import ClassReport, class_report
from monitor.snapshot import ModelState, Window
from monitor.windows import Windows
from monitor.windows.class_counts import ClassTable

_MATURE = "mature"


class ClassWindows:
    """Reports on the classes of models of many classes.

    Args:
        catalogue: models and their settings.
        windows: counts.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._known: dict[tuple[int, str], tuple[bool, ClassReport]] = {}

    def added(
        self,
        models: Iterable[ModelState],
        windows: Sequence[Window],
        lifetime: Window,
        now: Sequence[int],
        ages: Sequence[int | None],
    ) -> tuple[ModelState, ...]:
        """Return the models, those of many classes, once there are some, with reports by window.

        Args:
            models: in the order of their numbers.
            windows: the configured windows.
            lifetime: everything ever counted.
            now: the moment that windows of each model end by, epoch milliseconds.
            ages: at which windows of each model end, milliseconds; None before any label.
        """
        out = []
        for number, model in enumerate(models):
            setting = self._catalogue.settings[number]
            if not setting.has_many_classes or not setting.classes:  # none was predicted yet
                out.append(model)
                continue
            ever = self._windows.classes.ever(number)
            found = {lifetime.name: self._report(number, model, lifetime, ever)}
            for window in windows:
                panes = self._windows.pane_range(window.name, now[number], ages[number] or 0)
                table = self._windows.classes.window(number, panes)
                found[window.name] = self._report(number, model, window, table)
            out.append(replace(model, classes=found))
        return tuple(out)

    def _report(
        self, number: int, model: ModelState, window: Window, table: ClassTable
    ) -> ClassReport:
        withheld = str(window.status[model.row]) != _MATURE
        known = self._known.get((number, window.name))
        if known is not None and known[0] == withheld and _same(known[1], table):
            return known[1]
        names = self._catalogue.settings[number].classes
        report = class_report(names, table.matrix, table.predictions, withheld=withheld)
        self._known[number, window.name] = withheld, report
        return report


def _same(known: ClassReport, table: ClassTable) -> bool:
    alike = np.array_equal(known.matrix, table.matrix)
    return alike and np.array_equal(known.predictions, table.predictions)
