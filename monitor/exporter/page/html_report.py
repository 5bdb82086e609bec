"""The explanation as one file, to attach to an incident: no script, nothing to load.

The same input gives the same bytes. A policy in its head lets a browser use the file's
own style, which it names by its hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

import htpy as h
from markupsafe import Markup

from monitor.exporter.api.curve_answer import CurveAnswer
from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.page.html_document import SECTIONS, document, static_text
from monitor.exporter.page.iso_curves import IsoCurves
from monitor.exporter.page.plane import plane_section
from monitor.exporter.page.when import when_section
from monitor.exporter.page.where import SegmentView, where_section
from monitor.exporter.page.why import side_name, why_section
from monitor.report.diagnosis_answer import DiagnosisAnswer
from monitor.report.printable import one_line

_SEGMENTS = 200


def report_html(diagnosis: DiagnosisAnswer, series: SeriesAnswer | None, curve: CurveAnswer) -> str:
    """Return the whole file.

    Args:
        diagnosis: why precision moved.
        series: the model over time; None where no time is known.
        curve: precision against recall of the later period.
    """
    sections: dict[str, h.Node] = {"why": why_section(diagnosis)}
    if series is not None:
        sections["when"] = when_section(series, diagnosis, None)
    sections["where"] = where_section(diagnosis, SegmentView(rows=_SEGMENTS))
    sections["plane"] = plane_section(diagnosis, curve, IsoCurves())
    titles = dict(SECTIONS)
    return report_file(
        f"{one_line(diagnosis.model)}: why precision moved",
        sections=[(name, titles[name]) for name in sections],
        main=[
            h.p[f"From {side_name(diagnosis.before)} to {side_name(diagnosis.after)}."],
            *sections.values(),
        ],
    )


def report_file(title: str, *, sections: Sequence[tuple[str, str]], main: h.Node) -> str:
    """Return a report as a file that runs no script and loads nothing.

    Args:
        title: of the report.
        sections: id and title of each section to link to.
        main: the content.
    """
    style = static_text("page.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return document(
        title,
        head=[
            h.meta(
                http_equiv="Content-Security-Policy",
                content=f"default-src 'none'; style-src 'sha256-{digest}'",
            ),
            h.style[Markup(style)],  # noqa: S704  # the program's own file
        ],
        aside=h.strong["Precision monitor"],
        sections=sections,
        main=main,
    )
