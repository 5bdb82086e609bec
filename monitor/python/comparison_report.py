"""The result of a comparison: text in a terminal, the page's pictures in a notebook."""

from __future__ import annotations

import json
from textwrap import shorten
from typing import Any

from monitor.diagnosis import CausePart, Diagnosis, Side
from monitor.drift import Verdict
from monitor.exporter.api.curve_answer import CurveAnswer
from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.page.html_report import report_html
from monitor.python.frames import frame, notebook_frame
from monitor.report.diagnosis_json import diagnosis_answer, diagnosis_json
from monitor.report.diagnosis_text import diagnosis_text
from monitor.report.headline import headline
from monitor.report.points import in_points
from monitor.report.sentences import cause_status
from monitor.report.vocabulary import CAUSES

_WIDTH = 100
_FRAME_HEIGHT = 900
"""Height of the report in a notebook, pixels; it scrolls inside."""


class ComparisonReport:
    """Why precision moved between two periods.

    `print(report)` writes the whole text, a notebook shows the page's pictures.

    Args:
        diagnosis: of the two periods.
        curve: precision against recall of the later one.
        series: the model over time; None where no time is known.

    Attributes:
        diagnosis: everything that was found.
    """

    def __init__(
        self, diagnosis: Diagnosis, curve: CurveAnswer, series: SeriesAnswer | None
    ) -> None:
        self.diagnosis = diagnosis
        self._curve = curve
        self._series = series

    @property
    def verdict(self) -> Verdict:
        """The verdict, in one word."""
        return self.diagnosis.verdict

    @property
    def headline(self) -> str:
        """The result, in one line."""
        return headline(self.diagnosis)

    @property
    def before(self) -> Side:
        """The period to compare with: its counts, and its metrics by name."""
        return self.diagnosis.before

    @property
    def after(self) -> Side:
        """The period to judge."""
        return self.diagnosis.after

    @property
    def causes(self) -> dict[str, CausePart]:
        """Contributions of `prevalence`, `recall`, `false_positives` and `skill`."""
        return dict(self.diagnosis.attribution)

    def to_dict(self) -> dict[str, Any]:
        """Return what `precision-monitor diagnose --json` prints."""
        found: dict[str, Any] = json.loads(diagnosis_json(self.diagnosis))
        return found

    def to_frame(self) -> Any:
        """Return a row for each cause, as a frame of pandas or polars.

        Raises:
            ImportError: neither is installed.
        """
        rows = self.causes.items()
        numbers = ("logit", "points", "lower_points", "upper_points")
        columns: dict[str, list[Any]] = {"cause": [cause for cause, _ in rows]}
        columns |= {name: [getattr(part, name) for _, part in rows] for name in numbers}
        return frame(columns | {"status": [str(part.status) for _, part in rows]})

    def segments_to_frame(self) -> Any:
        """Return a row for each segment value, as a frame; those that carry most come first.

        Raises:
            ImportError: neither pandas nor polars is installed.
        """
        rows = self.to_dict()["segments"]
        return frame({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})

    def to_html(self) -> str:
        """Return a page in one file, without scripts, as `diagnose --html` writes it."""
        page = report_html(diagnosis_answer(self.diagnosis), self._series, self._curve)
        return page.encode().decode()  # plain text, which a notebook's frame has to escape

    def __str__(self) -> str:
        return diagnosis_text(self.diagnosis)

    def __repr__(self) -> str:
        sides = [side.metrics["precision"] for side in (self.before, self.after)]
        lines = [
            shorten(self.headline, _WIDTH),
            f"verdict    {self.verdict}",
            f"precision  {sides[0]} → {sides[1]}",
        ]
        for cause, part in self.causes.items():
            ends = f"{in_points(part.lower_points):+.1f} to {in_points(part.upper_points):+.1f}"
            points = f"{in_points(part.points):+.1f} points ({ends})"
            status = cause_status(self.diagnosis, cause)
            lines.append(f"  {CAUSES[cause].row:<22} {points}, {status}")
        return "\n".join([*lines, "print() shows the whole report"])

    def _repr_html_(self) -> str:
        """Return the report for a notebook, in a frame of its own that runs no script."""
        return notebook_frame(self.headline, self.to_html(), _FRAME_HEIGHT)
