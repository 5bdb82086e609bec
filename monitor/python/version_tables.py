"""`compare_versions`: is one version of a model worse than another, from a table of cases."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from monitor.config.versions_asked import parse_last
from monitor.diagnosis.versions import compare_recorded
from monitor.drift.version_verdict import VersionVerdict
from monitor.drift.versions_compared import VersionsCompared
from monitor.errors import UsageError
from monitor.events.columns import VERSION_KEY
from monitor.exporter.page.versions_report import versions_html
from monitor.python.case_tables import CaseReader, span_of
from monitor.python.frames import frame, notebook_frame
from monitor.python.table_columns import as_table
from monitor.report.versions_answer import versions_answer, versions_json
from monitor.report.versions_conditions import conditions
from monitor.report.versions_text import versions_text
from monitor.report.versions_words import versions_headline

_BY_COLUMNS = 'name the columns of segments (segment={"region": "region"})'
_FRAME_HEIGHT = 640
"""Height of the report in a notebook, pixels; it scrolls inside."""


class VersionsReport:
    """Two versions compared; `print(report)` writes what `precision-monitor compare` prints.

    A notebook shows it as a page.

    Args:
        compared: what was found.

    Attributes:
        compared: everything that was found.
    """

    def __init__(self, compared: VersionsCompared) -> None:
        self.compared = compared

    @property
    def verdict(self) -> VersionVerdict:
        """Verdict on the second version: better, worse, equal, or not shown."""
        return self.compared.comparison.decided_by.found.verdict

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        return versions_headline(self.compared)

    def to_dict(self) -> dict[str, Any]:
        """Return what `precision-monitor compare --json` prints."""
        found: dict[str, Any] = json.loads(versions_json(self.compared))
        return found

    def to_frame(self) -> Any:
        """Return a row for each metric at equal mix, as a frame of pandas or polars.

        Raises:
            ImportError: neither is installed.
        """
        found = self.to_dict()
        sides = {name: found[name]["at_equal_mix"] for name in ("a", "b")}
        names, ends = list(sides["a"]), ("estimate", "lower", "upper")
        columns: dict[str, list[Any]] = {"metric": names}
        for side, measured in sides.items():
            columns |= {f"{side}_{end}": [measured[name][end] for name in names] for end in ends}
        differences = [found["differences"].get(name, dict.fromkeys(ends)) for name in names]
        return frame(columns | {f"difference_{e}": [one[e] for one in differences] for e in ends})

    def to_html(self) -> str:
        """Return a page in one file, without scripts."""
        page = versions_html(versions_answer(self.compared))
        return page.encode().decode()  # plain text, which a notebook's frame has to escape

    def __str__(self) -> str:
        return versions_text(self.compared, _BY_COLUMNS)

    def __repr__(self) -> str:
        held = conditions(self.compared)
        more = f"{held}\n" if held else ""
        return f"verdict    {self.verdict}\n{self.headline}\n{more}print() shows the whole report"

    def _repr_html_(self) -> str:
        """Return the report for a notebook, in a frame of its own that runs no script."""
        return notebook_frame(self.headline, self.to_html(), _FRAME_HEIGHT)


def two_versions(versions: Sequence[Any] | None) -> tuple[str, str] | None:
    """Return the names of two versions; None where they are left out.

    Args:
        versions: the version to compare with and the one to judge; an integer counts as its
            digits, as in tables.

    Raises:
        ValueError: not two different names.

    >>> two_versions([6, "7"])
    ('6', '7')
    """
    if versions is None:
        return None
    given = list(versions) if isinstance(versions, list | tuple) else []
    names = [str(name) for name in given if isinstance(name, str | int | np.integer)]
    if len(given) != len(names) or len(set(names)) != 2:  # noqa: PLR2004  # A and B
        raise ValueError(
            f'versions: must be two different versions, such as ("6", "7"), got {versions!r}'
        )
    return names[0], names[1]


def compare_versions(
    table: Any,
    versions: tuple[str, str] | None = None,
    *,
    last: str | None = None,
    values: Mapping[str, Any] | None = None,
    time: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    **columns: Any,
) -> VersionsReport:
    """Compare two versions of a model at equal class ratio and mix of cases.

    Args:
        table: as `Monitor.feed` takes it, of which each row is a case.
        versions: the version to compare with and the one to judge; if left out, the one that
            began last is judged against the one with most cases since. Where both began with the
            table, the one whose 32nd case is later is judged; without times, the second by name.
        last: compare only so much time before the end, such as "7d".
        values: values of the classes, see `Monitor.feed`.
        time: zone and unit of times, likewise.
        threshold: score from which a case is predicted positive, where there are scores alone.
        **columns: column of each field, see `Monitor.feed`: `version`, `prediction`, `label`,
            and optionally `ts`, `segment` and `id`. Rows with one `id` are one case that
            several versions scored.

    Raises:
        ValueError: the table cannot be read, or the two cannot be compared.

    >>> table = {"v": ["6"] * 500 + ["7"] * 500, "fraud": ([1] * 100 + [0] * 400) * 2}
    >>> table["flagged"] = [1] * 90 + [0] * 10 + [1] * 40 + [0] * 360
    >>> table["flagged"] += [1] * 60 + [0] * 40 + [1] * 40 + [0] * 360
    >>> compare_versions(table, ("6", "7"), version="v", prediction="flagged", label="fraud")
    verdict    worse
    Version 7 is worse than 6: recall .60 against .90 (difference -.30, -.41 to -.18) ...
    print() shows the whole report
    """
    cases = CaseReader(columns, values, time, threshold)
    table = as_table(table)
    timed = cases.is_timed(table)
    batches = cases.batches("table", table, timed=timed)
    models = {group.model for batch in batches for group in batch.groups}
    if len(models) != 1:
        names = ", ".join(sorted(models)) or "none"
        raise ValueError(f"model: one at a time is compared, got {names}")
    (model,) = models
    settings = cases.config.model(model)
    if VERSION_KEY in settings.segments:
        raise ValueError("segment: the version is compared, and cannot be a segment as well")
    try:
        found = compare_recorded(
            batches,
            model,
            settings,
            mature_until=span_of(batches).closes,
            versions=two_versions(versions),
            last=parse_last("last", last),
        )
    except UsageError as error:
        raise ValueError(str(error).removeprefix("--")) from error
    return VersionsReport(found)
