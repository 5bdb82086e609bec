"""The series at each moment, kept on disk: memory does not grow with the moments."""

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

_AT_ONCE = 2_000_000
"""Numbers in memory while they are read back: 16 MB."""


Identity = tuple[tuple[str, str], ...]
Columns = dict[Identity, list[int]]


class Metric(NamedTuple):
    """Samples of one family that stand together: a series, or the buckets of a histogram.

    Attributes:
        lines: names and labels of its samples.
        times: moments in rising order, epoch milliseconds, (moments,).
        numbers: (moments, lines); NaN where a sample was undefined.
    """

    lines: Sequence[Line]
    times: Sequence[int]
    numbers: FloatArray


class _Stretch:
    """Moments with the same possible samples: rows of numbers, one after the other in the file."""

    def __init__(self, shape: Shape, start: int) -> None:
        self.times: list[int] = []
        self._start = start
        self._lines = [line for family in FAMILIES for line in family.lines(shape)]
        ends = np.cumsum([0, *(len(family.lines(shape)) for family in FAMILIES)])
        self._bounds = list(pairwise(ends.tolist()))

    def columns(self, family: int) -> dict[Identity, list[int]]:
        """Where the samples of each metric of a family stand in a row."""
        found: dict[Identity, list[int]] = {}
        for column in range(*self._bounds[family]):
            found.setdefault(_identity(self._lines[column]), []).append(column)
        return found

    def lines(self, columns: Sequence[int]) -> list[Line]:
        """What stands in these columns."""
        return [self._lines[column] for column in columns]

    def numbers(self, file: IO[bytes], columns: Sequence[int]) -> FloatArray:
        """(moments, columns) of the numbers in the file."""
        rows = (len(self.times), len(self._lines))
        table = np.memmap(file, np.float64, "r", offset=self._start, shape=rows)
        return np.asarray(table[:, list(columns)])


class Recorder:
    """Takes states in order of time, and gives them back by series.

    Args:
        folder: where the numbers are kept until the recorder is closed; 8 bytes each.
    """

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115  # closed on exit
        self._shape: Shape | None = None
        self._stretches: list[_Stretch] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def moments(self) -> int:
        """How many states were noted."""
        return sum(len(stretch.times) for stretch in self._stretches)

    def note(self, time_ms: int, snapshot: Snapshot) -> None:
        """Keep every number of a state."""
        shape = shape_of(snapshot)
        if shape != self._shape:
            self._shape = shape
            self._stretches.append(_Stretch(shape, self._file.tell()))
        self._stretches[-1].times.append(time_ms)
        row = np.concatenate([family.values(snapshot) for family in FAMILIES])
        self._file.write(row.astype(np.float64, copy=False).tobytes())

    def families(self) -> Iterator[tuple[Family, Iterator[Metric]]]:
        """Every family, and its metrics over all moments."""
        self._file.flush()
        for number, family in enumerate(FAMILIES):
            yield family, self._metrics(number)

    def _metrics(self, family: int) -> Iterator[Metric]:
        where = [stretch.columns(family) for stretch in self._stretches]
        identities = list(dict.fromkeys(chain.from_iterable(where)))
        samples = max((len(one) for columns in where for one in columns.values()), default=1)
        several = max(1, _AT_ONCE // (max(1, self.moments) * samples))
        for first in range(0, len(identities), several):
            yield from self._read(where, identities[first : first + several])

    def _read(self, where: Sequence[Columns], wanted: Sequence[Identity]) -> Iterator[Metric]:
        """These metrics, from one look into each stretch."""
        parts: dict[Identity, list[Metric]] = {identity: [] for identity in wanted}
        for stretch, columns in zip(self._stretches, where, strict=True):
            here = [identity for identity in wanted if identity in columns]
            asked = [column for identity in here for column in columns[identity]]
            numbers, done = stretch.numbers(self._file, asked), 0
            for identity in here:
                own = columns[identity]
                part = numbers[:, done : done + len(own)]
                parts[identity].append(Metric(stretch.lines(own), stretch.times, part))
                done += len(own)
        for found in parts.values():
            times = list(chain.from_iterable(part.times for part in found))
            yield Metric(found[0].lines, times, np.concatenate([part.numbers for part in found]))


def _identity(line: Line) -> Identity:
    """Labels of the metric that a sample belongs to: the buckets of a histogram are one metric."""
    return tuple((name, value) for name, value in line.labels.items() if name != "le")
