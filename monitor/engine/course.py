"""How the times of models go through a batch: found once, however often its rest is planned."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import EventBatch, Int64Array
from monitor.events.crossings import TimePath
from monitor.events.model_times import EPOCH_ROWS, ModelTimes


class Course:
    """The times of models through a batch, of which some rows may have been counted.

    Behind the end of an epoch, which may carry times, and where a model becomes quiet, or is no
    longer, it is found anew.

    Args:
        times: of the models.
        model_of_group: model number of each group of the batch.
    """

    def __init__(self, times: ModelTimes, model_of_group: Int64Array) -> None:
        self._times = times
        self._model_of_group = model_of_group
        self._paths: list[TimePath] | None = None
        self._seen: ModelTimes | None = None
        self._rows = 0
        self._quiet = times.quiet

    @property
    def outdated(self) -> bool:
        """Whether other models are quiet than when it was found."""
        quiet = self._times.quiet
        return quiet is not self._quiet and not np.array_equal(quiet, self._quiet)

    def seen(self, batch: EventBatch, rows: int) -> ModelTimes:
        """Return the times behind the batch.

        Args:
            batch: all of it, or its rest.
            rows: that came before, since the first batch.
        """
        ends = rows // EPOCH_ROWS != self._rows // EPOCH_ROWS
        if self._seen is None or ends or self.outdated:
            self._quiet = self._times.quiet
            self._seen, self._paths = self._times.seeing(batch, self._model_of_group), None
            self._rows = rows
        return self._seen

    def paths(self, batch: EventBatch, rows: int) -> list[TimePath]:
        """Return the paths of the models through a batch, or its rest; call it after `seen`.

        Args:
            batch: as in `seen`.
            rows: as in `seen`.
        """
        if self._paths is None:
            self._paths = self._times.paths(batch, self._model_of_group)
        else:
            self._paths = [path.behind(rows - self._rows) for path in self._paths]
        self._rows = rows
        return self._paths
