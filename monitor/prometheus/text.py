"""The snapshot as exposition text, equal byte for byte to prometheus_client's encoders.

prometheus_client spends most of a scrape on escaping and checking labels that
did not change since the last one. `TextWriter` makes everything left of a number
once for each `Shape` and remembers it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import FloatArray
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import Family, Labels, Line, Shape, number_text, shape_of
from monitor.snapshot import Snapshot

_LARGE = 1e6
"""Below it, Python and Go write a number alike."""


class _Prepared(NamedTuple):
    """A family, the text left of each of its numbers, and those that are not written."""

    family: Family
    prefixes: list[str]
    hidden: NDArray[np.intp]


class TextWriter:
    """Writes snapshots and remembers the label text of the last shape; not thread-safe."""

    def __init__(self) -> None:
        self._shape: Shape | None = None
        self._prepared: list[_Prepared] = []

    def write(self, snapshot: Snapshot, *, openmetrics: bool = False) -> bytes:
        """Return every family with its defined samples; in OpenMetrics without the closing EOF.

        Args:
            snapshot: the snapshot to write.
            openmetrics: use OpenMetrics 1.0.0 instead of Prometheus text 0.0.4.
        """
        self._prepare(shape_of(snapshot))
        heading = openmetrics_heading if openmetrics else _text_heading
        parts: list[str] = []
        for family, prefixes, hidden in self._prepared:
            parts.append(heading(family))
            numbers = family.values(snapshot)
            if len(hidden):
                numbers = numbers.copy()
                numbers[hidden] = math.nan
            parts.extend(_samples(prefixes, numbers))
        return "".join(parts).encode()

    def _prepare(self, shape: Shape) -> None:
        if shape != self._shape:
            self._prepared = [_prepared(f, shape) for f in FAMILIES if f.is_shown(shape)]
            self._shape = shape


def _prepared(family: Family, shape: Shape) -> _Prepared:
    lines = family.lines(shape)
    hidden = [at for at, line in enumerate(lines) if shape.hides(line.labels)]
    return _Prepared(
        family, [prefix(family, line) for line in lines], np.array(hidden, dtype=np.intp)
    )


def _samples(prefixes: list[str], values: FloatArray) -> list[str]:
    return [
        f"{left}{number!r}\n" if -_LARGE < number < _LARGE else _rare(left, number)
        for left, number in zip(prefixes, values.tolist(), strict=True)
    ]


def _rare(left: str, number: float) -> str:
    return "" if math.isnan(number) else f"{left}{number_text(number)}\n"


def prefix(family: Family, line: Line) -> str:
    """Return a sample's line up to its value: the name, the labels and a space.

    Args:
        family: the family.
        line: one of its possible samples.
    """
    return f"{family.name}{line.suffix}{_braces(line.labels)} "


def _braces(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(labels[name])}"' for name in sorted(labels)) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _text_heading(family: Family) -> str:
    kind = "gauge" if family.kind == "info" else family.kind
    return f"# HELP {family.name} {family.meaning}\n# TYPE {family.name} {kind}\n"


def openmetrics_heading(family: Family) -> str:
    """Return the lines above the samples of a family."""
    name = family.metric_name
    return f"# HELP {name} {family.meaning}\n# TYPE {name} {family.kind}\n"
