"""What is seen of the days that have not closed, where batches end: panes, and predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import gcd

import numpy as np

from monitor.events.columns import NO_TIME, Int64Array
from monitor.watch.class_watch import ClassWatch
from monitor.watch.cuts import CutsByModel
from monitor.watch.model_watch import ModelWatch
from monitor.watch.predictions import PredictionWatch
from monitor.watch.stepping import Stepper
from monitor.windows import Windows


class OpenDays:
    """Looks at predictions, and steps the detectors by pane, within days that have not closed.

    It finds no reference, closes no day and estimates nothing ahead of the labels: what does so
    must not depend on where batches end.

    Args:
        windows: counts.
        models: what watches each model, by number.
        classes: what watches models of many classes.
        predictions: looks at what is predicted.
        stepper: steps detectors.
        cuts: series by model.
    """

    def __init__(
        self,
        windows: Windows,
        models: Mapping[int, ModelWatch],
        classes: ClassWatch,
        *,
        predictions: PredictionWatch,
        stepper: Stepper,
        cuts: CutsByModel,
    ) -> None:
        self._windows, self._models, self._classes = windows, models, classes
        self._predictions, self._stepper, self._cuts = predictions, stepper, cuts
        self._step = gcd(windows.step_ms, predictions.step_ms)
        self._steps = np.empty(0, dtype=np.int64)  # of each model when it was looked at last

    def steps(self, times: Int64Array, age_of: Callable[[int], int | None]) -> Iterator[None]:
        """Look at all models as they are at the end of a batch.

        Args:
            times: of each model, epoch milliseconds; `NO_TIME` for one whose time is not
                settled.
            age_of: returns the maturity by which the days of a model, by its number, close, in
                milliseconds; None where it is not known yet.

        Yields:
            Nothing; after each pane with outcomes, and after each look at predictions.
        """
        steps = times // self._step
        if np.array_equal(steps, self._steps):
            return
        self._steps, width = steps, self._windows.step_ms
        yield from self._predictions.steps(times)
        for model in np.flatnonzero(times != NO_TIME).tolist():
            if (age := age_of(model)) is None:
                continue
            mature = int(times[model]) // width * width - age
            if (known := self._models.get(model)) is not None:
                yield from self._stepper.open_panes(model, known, self._cuts.of(model), mature, age)
            yield from self._classes.open_panes(model, mature, age)
