"""Tables of cases of Python programs, read by the same columns for every table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from monitor.config import Config
from monitor.config.mapping import MappedRecords
from monitor.config.quantities import count_of
from monitor.diagnosis.time_ranges import TimeRange
from monitor.errors import FeedError
from monitor.events.columns import RETRACTED, EventBatch
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.record_faults import UNLABELLED
from monitor.feeds.mapping.field_sources import fields_of
from monitor.feeds.mapping.guessing import mapping_for_table
from monitor.python.frames import index_hint
from monitor.python.rejected_rows import RejectedRows
from monitor.python.table_columns import own_names
from monitor.python.tables import TableReader, keywords, mapping_of

_THRESHOLD = "write threshold=0.5"
_MANY = (
    "or, of more than two, compare them with `precision-monitor diagnose FILE`, which learns the "
    "classes of a file"
)
_CALLER = 4
"""Calls from a warning to the program that compares."""


class CaseReader:
    """Reads tables of which each row is a case.

    Args:
        columns: column of each field, see `Monitor.feed`.
        values: values of the classes, likewise.
        time: zone and unit of times, likewise.
        threshold: score from which a case is predicted positive, where there are scores alone.

    Attributes:
        config: of a monitor that counts the cases.
    """

    def __init__(
        self,
        columns: Mapping[str, Any],
        values: Mapping[str, Any] | None,
        time: Mapping[str, Any] | None,
        threshold: float | None,
    ) -> None:
        self._columns = columns
        self._values, self._time = values, time
        segments = columns.get("segment")
        keys = tuple(segments) if isinstance(segments, Mapping) else ()
        config = Config.without_file()
        chosen = {"segments": keys, "threshold": threshold}
        defaults = config.defaults.model_copy(update=chosen)
        self.config = config.model_copy(update={"defaults": defaults})
        self._decoder = Decoder(DecodeSettings.from_config(self.config))

    def is_timed(self, table: Any) -> bool:
        """Return whether some column holds the time: one that is named, or has a common name."""
        if "ts" in self._columns:
            return True
        mapping = mapping_of(self._columns, self._values, self._time)
        names = own_names(table)
        if "ts" in fields_of(names, mapping):
            return True
        try:
            TableReader(table, mapping, self._decoder)
        except ValueError:
            return False
        return True

    def batches(self, name: str, table: Any, *, timed: bool) -> list[EventBatch]:
        """Return the cases of a table.

        Args:
            name: of the table, for messages.
            table: a frame, an Arrow table, or arrays by name.
            timed: False to give all cases the time 0.

        Raises:
            ValueError: the table has no rows, or none that can be used, or no column is known
                to hold the predictions, or the labels.

        Warns:
            UserWarning: more than half of the rows cannot be used, or those of a class, or
                no row has a positive value of `values` and several others came.
        """
        columns = dict(self._columns) if timed else {**self._columns, "ts": {"value": 0}}
        mapping = mapping_of(columns, self._values, self._time)
        self._check_cases(name, table, mapping)
        reader = TableReader(table, mapping, self._decoder)
        found = list(reader.batches())
        rejected = RejectedRows(mapping.time.unit, reader.columns, _THRESHOLD, _MANY)
        for batch in found:
            rejected.add(batch.rejected)
        rows = sum(batch.records for batch in found)
        if not rows:
            raise ValueError(f"{name}: has no rows")
        _check_labelled(name, found, reader.columns.get("label"))
        if rejected.spoil(rows):
            hint = rejected.hint()
            shown = f"{rejected.first[0].position}: {rejected.first[0].detail}{hint and '; '}{hint}"
            if rejected.total == rows:
                raise ValueError(f"{name}: none of {count_of(rows, 'row')} can be used; {shown}")
            most = f"{rejected.total:,} of {count_of(rows, 'row')} cannot be used"
            warnings.warn(f"{name}: {most}; {shown}", stacklevel=_CALLER)
        for fault in reader.contradictions:
            warnings.warn(f"{name}: {fault}", stacklevel=_CALLER)
        return found

    def _check_cases(self, name: str, table: Any, mapping: MappedRecords) -> None:
        """Raise ValueError where rows are no cases: they lack the prediction, or the label."""
        columns = list(own_names(table))
        try:
            found = mapping_for_table(name, columns, mapping, lambda _: None, keywords)
        except FeedError as error:
            raise ValueError(f"{error}{index_hint(table)}") from error
        known = fields_of(columns, found) | mapping.fields.keys()
        by_score = "score" in known and self.config.defaults.threshold is not None
        lacks = [
            field
            for field, is_known in (
                ("prediction", by_score or "prediction" in known),
                ("label", "label" in known),
            )
            if not is_known
        ]
        if not lacks or {"type", "tp"} & known:
            return
        if "score" in known and "prediction" in lacks:
            raise ValueError(
                f"{name}: has scores and no predictions; write the score from which a case is "
                "positive, as in threshold=0.5, or prediction='COLUMN'"
            )
        raise ValueError(
            f"{name}: no column is known to hold the {' and the '.join(lacks)}, got "
            f"{', '.join(columns) or 'none'}; write {keywords(dict.fromkeys(lacks, 'COLUMN'))}"
        )


def _check_labelled(name: str, batches: Sequence[EventBatch], column: str | None) -> None:
    """Raise ValueError where no case of a table has a label, and its column says nothing else."""
    for batch in batches:
        if len(batch.outcomes) or len(batch.counts) or (batch.labels.value != RETRACTED).any():
            return
        if any(UNLABELLED not in rejection.detail for rejection in batch.rejected):
            return
    where = "" if column is None else f" in column {column!r}"
    raise ValueError(
        f"{name}: has no label{where}; give cases whose labels came, or name the column that "
        "holds them, label='COLUMN'"
    )


def span_of(batches: Sequence[EventBatch]) -> TimeRange:
    """Return the time from the first prediction of some batches to their last."""
    times = np.concatenate(
        [part.time for batch in batches for part in (batch.predictions, batch.outcomes)]
    )
    return TimeRange(int(times.min()), int(times.max()) + 1)
