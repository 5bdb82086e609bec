"""The monitor of a Python program: the engine, and its results by model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import RLock
from typing import Any, Self

from monitor.config import Config, load_config
from monitor.config.nearest_name import suggestion
from monitor.config.quantities import count_of
from monitor.config.versions_asked import parse_last
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.events.columns import EventBatch
from monitor.events.label_totals import LabelTotals
from monitor.events.labels_ahead import LabelsAhead
from monitor.events.record_order import RecordOrder
from monitor.events.renumbering import State
from monitor.exporter.api.find_model import find_model
from monitor.exporter.api.queries import Queries
from monitor.feeds.decode.reasons import Fields
from monitor.python.comparing import STEPS
from monitor.python.comparison_report import ComparisonReport
from monitor.python.frames import frame, plain_table
from monitor.python.rejected_rows import RejectedRows
from monitor.python.table_columns import as_table
from monitor.python.tables import TableRead, TableReader, mapping_of
from monitor.python.version_tables import VersionsReport, two_versions
from monitor.python.views import ModelView, columns_of_models
from monitor.snapshot import Snapshot

_SHOWN = 7
"""Models that a `repr` shows."""
_SHOWN_REJECTIONS = 5


class EmbeddedMonitor(Monitor):
    """`monitor.Monitor`: counts events of a Python program, and shows results by model.

    `monitor["claims"]["7d"].precision` reads a snapshot of this moment. To read several
    numbers of one moment, store `monitor["claims"]`. Any thread may feed and read it; one call
    is made at a time. Each process has a monitor of its own.

    Args:
        config: as of `monitor.engine.Monitor`.
        state: likewise.
        **settings: belong into `config`.

    Raises:
        TypeError: `config` is no `Config`, or settings are given outside of one.

    >>> monitor = EmbeddedMonitor()
    >>> for i, (predicted, actual) in enumerate([(1, 1), (1, 0), (0, 0), (1, 1)]):
    ...     monitor.predict(i, ts=60 * i, prediction=predicted)
    ...     monitor.label(i, ts=60 * i + 30, label=actual)
    >>> monitor["default"]["all"].precision
    Estimate(.667, .208 to .939)
    >>> float(monitor["default"]["all"].balanced_precision)
    0.666...
    """

    def __init__(
        self, config: Config | None = None, state: State | None = None, **settings: Any
    ) -> None:
        if settings:
            given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
            raise TypeError(
                f"Monitor: takes its settings in a Config, got {given}; write "
                f"Monitor(Config({given}))"
            )
        if not isinstance(config, Config | None):
            raise TypeError(
                f"config: must be a Config, got {type(config).__name__}; Monitor.from_yaml(PATH) "
                "reads one from a file"
            )
        self._lock = RLock()
        self._order = RecordOrder()
        super().__init__(config, state)
        self._ahead = LabelsAhead(self.config)

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Return a monitor with the configuration of a file; feeds in it are not opened.

        Args:
            path: of the file, as for `precision-monitor run -c`.

        Raises:
            ConfigError: the file cannot be read or is invalid; lists every fault with its
                line.
        """
        return cls(load_config(path))

    def feed(
        self,
        table: Any,
        *,
        values: Mapping[str, Any] | None = None,
        time: Mapping[str, Any] | None = None,
        **columns: Any,
    ) -> TableRead:
        """Count the rows of a table, in whole columns.

        Args:
            table: a frame of pandas or polars, an Arrow table, arrays by name, a list of dicts,
                or a record array of NumPy.
            values: values of prediction and label that stand for the classes, such as
                `{"label": {"positive": ["fraud"]}}`; 0 and 1 by default.
            time: `{"zone": "Europe/Berlin"}` for times without a zone, which otherwise are UTC
                (timestamps) or rejected (text); `{"unit": "ms"}` for numbers that are no seconds;
                `{"format": "%d.%m.%Y %H:%M"}` for text that is no ISO 8601, as of `strptime`.
            **columns: column of each field of an event: `id`, `ts`, `score`, `prediction`,
                `label`, `label_ts`, `model` and so on; `{"value": V}` for one value in every
                row; `segment` has the column of each segment key. A field that is left out is
                the column of its own name, or of a common name that leaves no doubt.

        Returns:
            How many rows were read, how many rejected, by reason, and how many were duplicates:
            rows whose `id` already had a prediction, see `TableRead`.

        Raises:
            ValueError: the columns cannot hold events, or every row was rejected.

        Warns:
            UserWarning: more than half of the rows were rejected, or those of a class, or labels
                that seem to stand for none; no row has a positive value of `values` and several
                others came; or many rows are more than a day older than rows before them.

        >>> monitor = EmbeddedMonitor()
        >>> table = {"time": [0, 60, 120], "flagged": [1, 0, 1], "fraud": ["yes", "no", "no"]}
        >>> monitor.feed(table, ts="time", prediction="flagged", label="fraud",
        ...              values={"label": {"positive": ["yes"]}})
        3 rows read, 0 rejected
        >>> monitor["default"]["all"].counts
        ConfusionCounts(tp=1, fp=1, fn=0, tn=1)
        >>> monitor.feed({"id": [7, 8, 7], "ts": [0, 60, 120], "prediction": [1, 0, 1]})
        3 rows read, 0 rejected, 1 duplicate
        """
        rows, alone = 0, True
        with self._lock:
            self.flush()
            predictions, labels = self._stages.repeated
            mapping = mapping_of(columns, values, time)
            reader = TableReader(as_table(table), mapping, self._events.decoder)
            rejected = RejectedRows(mapping.time.unit, reader.columns)
            order, lost = self._order.following(), self._unmatched_labels()
            for batch in reader.batches():
                self.apply(batch)
                rows += batch.records
                alone &= len(batch.predictions) + len(batch.labels) <= batch.records
                rejected.add(batch.rejected)
                order.add(batch)
                self._ahead.add(batch)
            again, relabelled = self._stages.repeated
            self._order, lost = order, self._unmatched_labels() - lost
        hint, spoilt = rejected.hint(), rejected.spoil(rows)
        found = TableRead(
            rows=rows,
            rejected=rejected.by_reason,
            duplicates=again - predictions + (relabelled - labels if alone else 0),
            first=tuple(rejected.first),
            note="\n".join(filter(None, [reader.note, "" if spoilt else hint])),
        )
        if spoilt or rejected.stand_for_no_class:
            advice = f"{hint and '; '}{hint}\n{found!r}"
            if rejected.total == rows:
                raise ValueError(f"table: every row was rejected{advice}")
            most = f"{rejected.total:,} of {count_of(rows, 'row')} were rejected"
            warnings.warn(f"table: {most}{advice}", stacklevel=2)
        disorder = order.fault(lost, reader.columns.get("ts", "ts"))
        for fault in filter(None, [*reader.contradictions, disorder]):
            warnings.warn(f"table: {fault}", stacklevel=2)
        return found

    def finish(self) -> None:
        """Let the labels of the tables carry the time, once a recording has ended.

        Windows end by the times of rows, before those of their labels: where these take months,
        months before the last row. This moves them on until all rows are mature, or labels end.
        """
        with self._lock:
            self.carry(self._ahead.reached())

    def compare(
        self, before: str | None = None, after: str | None = None, *, model: str | None = None
    ) -> ComparisonReport:
        """Explain why precision of a model moved between two stretches of its past.

        Args:
            before: `A..B`, a month or a day, in UTC, of whole hours; the reference if left
                out.
            after: likewise; the longest window if left out.
            model: name of the model; the only one if left out.

        Raises:
            ValueError: there is no such model, or the two cannot be compared, or it has more
                than two classes: `status` of the model says what changed in each of them.
        """
        with self._lock:
            snapshot = self.snapshot()
            _check_two_classes(snapshot, model)
            queries = Queries(lambda: snapshot, lambda read: read(self))
            try:
                found = queries.explanation(model, before, after)
                series = queries.series(model, most=STEPS)
            except UsageError as error:
                raise ValueError(str(error)) from error
        return ComparisonReport(found.diagnosis, found.curve, series)

    def compare_versions(
        self,
        versions: tuple[str, str] | None = None,
        *,
        last: str | None = None,
        model: str | None = None,
    ) -> VersionsReport:
        """Compare two versions of a model over the hours that the monitor holds.

        The model counts its versions apart, by `segments: [version]`.

        Args:
            versions: the version to compare with and the one to judge; if left out, the one that
                began last is judged against the one that predicted most since.
            last: compare only so much time before the end, such as "7d".
            model: name of the model; the only one if left out.

        Raises:
            ValueError: there is no such model or version, or nothing to compare yet.
        """
        with self._lock:
            snapshot = self.snapshot()
            try:
                state = find_model(snapshot, model)
                length = parse_last("last", last)
                pair = two_versions(versions)
                found = self.versions.compare(state.name, state.mature_until, pair, length)
            except UsageError as error:
                raise ValueError(str(error)) from error
        if found.compared is None:
            raise ValueError(f"{state.name}: nothing is compared: {found.not_compared}")
        return VersionsReport(found.compared)

    def apply(self, batch: EventBatch) -> None:
        """Count all events of a batch, and its rejected records by reason."""
        with self._lock:
            super().apply(batch)

    def flush(self) -> None:
        """Apply the buffered events of `predict` and `label`."""
        with self._lock:
            super().flush()

    def snapshot(
        self,
        now_ms: int | Mapping[str, int] | None = None,
        between: Callable[[], object] | None = None,
    ) -> Snapshot:
        """Return an immutable snapshot of all metrics and verdicts.

        Args:
            now_ms: as of `Monitor.snapshot`.
            between: likewise.
        """
        with self._lock:
            return super().snapshot(now_ms, between)

    def state(self) -> State:
        """Return a copy of the state as plain values, without caches."""
        with self._lock:
            return super().state()

    def _unmatched_labels(self) -> int:
        """Return how many labels found no prediction that waited for one."""
        join = self._stages.join
        books = LabelTotals(held=join.held, late=join.books.late, orphaned=join.books.orphaned)
        return books.without_prediction

    def _take(self, fields: Fields) -> None:
        with self._lock:
            super()._take(fields)

    def __getitem__(self, model: str) -> ModelView:
        snapshot = self.snapshot()
        for state in snapshot.models:
            if state.name == model:
                return ModelView(snapshot, state)
        known = [state.name for state in snapshot.models]
        hint = suggestion(str(model), known, f"there are {', '.join(known) or 'none'}")
        raise KeyError(f"no model {model!r}; {hint}")

    def __iter__(self) -> Iterator[str]:
        self.flush()
        return iter(self.models)

    def __contains__(self, model: object) -> bool:
        return model in list(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return one table of all models as lists of plain values by column.

        It has a row for each window of each model: its bounds, counts, metrics and verdict.
        """
        return plain_table(self._columns())

    def to_frame(self) -> Any:
        """Return this table as a frame of pandas, or of polars where pandas is not installed.

        Raises:
            ImportError: neither is installed.
        """
        return frame(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        snapshot = self.snapshot()
        return columns_of_models(ModelView(snapshot, state) for state in snapshot.models)

    def __repr__(self) -> str:
        snapshot = self.snapshot()
        rejected = sum(snapshot.rejected.values())
        head = f"Monitor: {count_of(snapshot.records, 'event')}, {rejected:,} rejected"
        views = [ModelView(snapshot, state) for state in snapshot.models[:_SHOWN]]
        left = len(snapshot.models) - _SHOWN
        more = [f"… and {count_of(left, 'more model')}"] if left > 0 else []
        return "\n".join([head, *(v.verdict.in_one_line(f"{v.name}: ") for v in views), *more])


def _check_two_classes(snapshot: Snapshot, model: str | None) -> None:
    """Raise ValueError for a model of more than two classes; for one that is not there, nothing."""
    alone = len(snapshot.models) == 1
    for one in snapshot.models:
        number = next((len(found.names) for found in one.classes.values()), 0)
        if number and (one.name == model or (model is None and alone)):
            raise ValueError(
                f"compare: takes models of two classes only, and model {one.name!r} has {number}; "
                f"monitor[{one.name!r}].status has what changed in each of them since the "
                "reference, by window, and `precision-monitor diagnose` compares any two periods"
            )


EmbeddedMonitor.__name__ = EmbeddedMonitor.__qualname__ = "Monitor"  # as users import and read it
