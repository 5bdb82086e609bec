"""How sources label the same cases of a model, as a table."""

from __future__ import annotations

from typing import Any

from monitor.python.frames import frame
from monitor.report.answer_parts import MetricInterval
from monitor.report.source_answer import LabelSourcesAnswer


class LabelSourcesView:
    """The sources of a model's labels: how often each is wrong, and how they agree.

    Args:
        found: what they show; None where no label has a source.

    Attributes:
        found: everything that `/api/v1/status` answers of them; None where no label has a source.
    """

    def __init__(self, found: LabelSourcesAnswer | None) -> None:
        self.found = found

    def __bool__(self) -> bool:
        """True where a label has a source."""
        return self.found is not None

    def to_dict(self) -> dict[str, list[Any]]:
        """Return a row for each source, as lists by column; None where undefined."""
        rows = () if self.found is None else self.found.sources
        columns: dict[str, list[Any]] = {
            "source": [row.source for row in rows],
            "labelled": [row.labelled for row in rows],
            "compared": [row.compared for row in rows],
        }
        for name in ("false_positive", "false_negative"):
            columns |= _columns(name, [getattr(row, name) for row in rows])
        return columns

    def to_frame(self) -> Any:
        """Return a row for each source, as a frame of pandas or polars.

        Raises:
            ImportError: neither is installed.
        """
        return frame(self.to_dict())

    def pairs_to_dict(self) -> dict[str, list[Any]]:
        """Return a row for each two sources that share a case, as lists by column."""
        rows = () if self.found is None else self.found.pairs
        names = ("first", "second", "cases", "agreement")
        columns = {name: [getattr(row, name) for row in rows] for name in names}
        return columns | _columns("kappa", [row.kappa for row in rows])

    def pairs_to_frame(self) -> Any:
        """Return a row for each two sources that share a case, as a frame of pandas or polars.

        Raises:
            ImportError: neither is installed.
        """
        return frame(self.pairs_to_dict())

    def __repr__(self) -> str:
        return "no label has a source" if self.found is None else self.found.text


def _columns(name: str, found: list[MetricInterval]) -> dict[str, list[Any]]:
    return {
        name: [one.estimate for one in found],
        f"{name}_lower": [one.lower for one in found],
        f"{name}_upper": [one.upper for one in found],
    }
