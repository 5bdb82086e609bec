"""The series at each moment, stored on disk so that memory does not grow with the moments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple, Self

import numpy as np

from monitor.events.columns import FloatArray
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import Family, Line, Shape, shape_of
from monitor.snapshot import Snapshot

_NUMBERS_AT_ONCE = 2_000_000
"""Numbers in memory while they are read back: 16 MB."""

LabelPairs = tuple[tuple[str, str], ...]
"""Names and values of the labels of a metric."""
ColumnsByLabels = dict[LabelPairs, list[int]]


class RecordedMetric(NamedTuple):
    """The samples of one metric over time: a series, or the buckets of a histogram.

    Attributes:
        lines: names and labels of its samples.
        times: moments in rising order, epoch milliseconds, (moments,).
        numbers: (moments, lines); NaN where a sample was undefined.
    """

    lines: Sequence[Line]
    times: Sequence[int]
    numbers: FloatArray


class _Run:
    """A run of moments with the same possible samples, as rows of numbers in the file."""

    def __init__(self, shape: Shape, start: int) -> None:
        self.times: list[int] = []
        self.shape = shape
        self._start = start
        self._lines = [line for family in FAMILIES for line in family.lines(shape)]
        ends = np.cumsum([0, *(len(family.lines(shape)) for family in FAMILIES)])
        self._bounds = list(pairwise(ends.tolist()))

    def columns(self, family: int) -> ColumnsByLabels:
        """Return the columns of each metric of a family."""
        found: ColumnsByLabels = {}
        for column in range(*self._bounds[family]):
            found.setdefault(_label_pairs(self._lines[column]), []).append(column)
        return found

    def lines(self, columns: Sequence[int]) -> list[Line]:
        """Return the names and labels of the samples in some columns."""
        return [self._lines[column] for column in columns]

    def numbers(self, file: IO[bytes], columns: Sequence[int]) -> FloatArray:
        """Read some columns, (moments, columns)."""
        rows = (len(self.times), len(self._lines))
        table = np.memmap(file, np.float64, "r", offset=self._start, shape=rows)
        return np.asarray(table[:, list(columns)])


class Recorder:
    """Records states in order of time and reads them back by series.

    Args:
        folder: holds the numbers until the recorder is closed, 8 bytes each.
    """

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115  # closed on exit
        self._shape: Shape | None = None
        self._runs: list[_Run] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def moments(self) -> int:
        """Number of states recorded."""
        return sum(len(run.times) for run in self._runs)

    def record(self, time_ms: int, snapshot: Snapshot) -> None:
        """Record every number of a state.

        Args:
            time_ms: the moment, epoch milliseconds; after those recorded before.
            snapshot: the state.
        """
        shape = shape_of(snapshot)
        if shape != self._shape:
            self._shape = shape
            self._runs.append(_Run(shape, self._file.tell()))
        self._runs[-1].times.append(time_ms)
        row = np.concatenate([family.values(snapshot) for family in FAMILIES])
        self._file.write(row.astype(np.float64, copy=False).tobytes())

    def families(self) -> Iterator[tuple[Family, Iterator[RecordedMetric]]]:
        """Yield every family that is shown with its metrics over all moments."""
        self._file.flush()
        for number, family in enumerate(FAMILIES):
            if any(family.is_shown(run.shape) for run in self._runs):
                yield family, self._metrics(number)

    def _metrics(self, family: int) -> Iterator[RecordedMetric]:
        where = [run.columns(family) for run in self._runs]
        labels = list(dict.fromkeys(chain.from_iterable(where)))
        samples = max((len(one) for columns in where for one in columns.values()), default=1)
        several = max(1, _NUMBERS_AT_ONCE // (max(1, self.moments) * samples))
        for first in range(0, len(labels), several):
            yield from self._read(where, labels[first : first + several])

    def _read(
        self, where: Sequence[ColumnsByLabels], wanted: Sequence[LabelPairs]
    ) -> Iterator[RecordedMetric]:
        """Yield some metrics, reading each run once."""
        parts: dict[LabelPairs, list[RecordedMetric]] = {pairs: [] for pairs in wanted}
        for run, columns in zip(self._runs, where, strict=True):
            here = [pairs for pairs in wanted if pairs in columns]
            asked = [column for pairs in here for column in columns[pairs]]
            numbers, done = run.numbers(self._file, asked), 0
            for pairs in here:
                own = columns[pairs]
                part = numbers[:, done : done + len(own)]
                parts[pairs].append(RecordedMetric(run.lines(own), run.times, part))
                done += len(own)
        for found in parts.values():
            times = list(chain.from_iterable(part.times for part in found))
            yield RecordedMetric(
                found[0].lines, times, np.concatenate([part.numbers for part in found])
            )


def _label_pairs(line: Line) -> LabelPairs:
    """Return the labels of a sample's metric; the buckets of a histogram are one metric."""
    return tuple((name, value) for name, value in line.labels.items() if name != "le")
