"""The explanation as one file, to be attached to an incident: no script, nothing to load.

The same input gives the same bytes. A policy in its head lets a browser use its
own style, known by its hash, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib

import htpy as h
from markupsafe import Markup

from monitor.exporter.page.curve import plane_section
from monitor.exporter.page.document import SECTIONS, document, static_text
from monitor.exporter.page.plane import Iso
from monitor.exporter.page.when import Choice, when_section
from monitor.exporter.page.where import Look, where_section
from monitor.exporter.page.why import side_name, why_section
from monitor.exporter.page.words import Json
from monitor.report.printable import one_line

_ROWS = 200


def report_html(diagnosis: Json, series: Json, curve: Json | None) -> str:
    """The whole file.

    Args:
        diagnosis: as `diagnose --json` prints it.
        series: the model over time, as the API gives it.
        curve: precision against recall of what is judged; None where no scores are known.
    """
    style = static_text("page.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    before, after = (side_name(diagnosis[side]) for side in ("before", "after"))
    return document(
        f"{one_line(diagnosis['model'])}: why precision moved",
        head=[
            h.meta(
                http_equiv="Content-Security-Policy",
                content=f"default-src 'none'; style-src 'sha256-{digest}'",
            ),
            h.style[Markup(style)],  # noqa: S704  # the program's own file
        ],
        aside=h.strong["Precision monitor"],
        sections=[(name, said) for name, said in SECTIONS if name != "now"],
        main=[
            h.p[f"From {before} to {after}."],
            why_section(diagnosis),
            when_section(series, diagnosis, Choice(None, "", "")),
            where_section(diagnosis, Look(rows=_ROWS)),
            plane_section(diagnosis, curve, Iso()),
        ],
    )
