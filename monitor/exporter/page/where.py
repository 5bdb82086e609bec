"""Where: segments by what they contributed, what lies within them apart from their mix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

import htpy as h

from monitor.exporter.page.shapes import n
from monitor.exporter.page.words import Json, count, points, ratio, signed
from monitor.report.printable import one_line

_EXPLAINED = (
    " (★ marks in what; corrected for looking at all of them). Within: what the value's own "
    "rates did. Mix: what its becoming more or less frequent did. Each key splits the same "
    "change anew."
)
ROWS = 25
"""Segments on a page."""


class Look(NamedTuple):
    """Which segments are looked at.

    Attributes:
        matching: only those whose name holds this text.
        page: from 0 on.
        rows: on a page.
        query: what links and the form must keep; None where nothing can be followed.
    """

    matching: str = ""
    page: int = 0
    rows: int = ROWS
    query: Sequence[tuple[str, str]] | None = None


def where_section(diagnosis: Json, look: Look) -> h.Element:
    """Segment values ranked by the points they contributed, small samples last and muted."""
    segments = diagnosis["segments"]
    return h.section("#where", aria_labelledby="where-title")[
        h.h2(id="where-title")["Where"],
        _body(segments, look) if segments else _none(diagnosis["notes"]),
    ]


def _body(segments: Sequence[Json], look: Look) -> h.Node:
    certain = sum(bool(part["carries"]) for part in segments)
    matching = look.matching.casefold()
    found = [part for part in _ranked(segments) if matching in _name(part).casefold()]
    shown = found[look.page * look.rows : (look.page + 1) * look.rows]
    return [
        h.p[
            f"{certain} of {count(len(segments))} segment values certainly changed by themselves",
            _EXPLAINED,
        ],
        _filter(look, len(segments)) if look.query is not None else None,
        h.div(".scroll", tabindex="0", role="region", aria_label="Segments")[_table(shown)],
        _pages(look, len(found)),
    ]


def _none(notes: Sequence[str]) -> h.Element:
    """Why there are no segments: left out, with the reason, or not asked for."""
    left_out = next((note for note in notes if note.startswith("segments are left out")), None)
    if left_out is not None:
        return h.p(".muted")[f"{left_out[0].upper()}{left_out[1:]}."]
    return h.p(".muted")[
        "No segments: name keys under `segments` in the configuration of the model to see "
        "where a change comes from."
    ]


def _ranked(segments: Sequence[Json]) -> list[Json]:
    return sorted(segments, key=lambda part: (part["small_sample"], -abs(part["points"] or 0.0)))


def _name(part: Json) -> str:
    return one_line(f"{part['segment']} = {part['value']}")


def _table(shown: Sequence[Json]) -> h.Element:
    widest = max((abs(part["points"] or 0.0) for part in shown), default=0.0) or 1.0
    return h.table(".segments")[
        h.caption(".unseen")["Segments by what they contributed to the change of precision."],
        h.thead[
            h.tr[
                h.th(scope="col")["Segment"],
                h.th(".number", scope="col")["Points"],
                h.th(".figure", scope="col")[h.span(".unseen")["Picture"]],
                h.th(".number", scope="col")["Within", h.small["log-odds"]],
                h.th(".number", scope="col")["Mix", h.small["log-odds"]],
                h.th(".number", scope="col")["Prevalence"],
                h.th(".number", scope="col")["Recall"],
                h.th(".number", scope="col")["FPR"],
                h.th(".number", scope="col")["Outcomes"],
            ]
        ],
        h.tbody[(_row(part, widest) for part in shown)],
    ]


def _row(part: Json, widest: float) -> h.Element:
    within = [part["within"][cause] for cause in part["within"]]
    mix = [part["mix"][cause] for cause in part["mix"]]
    small = part["small_sample"]
    return h.tr({"class": "small" if small else None})[
        h.th(scope="row")[_name(part), h.small["small sample"] if small else None],
        h.td(".number")[h.strong[points(part["points"])]],
        h.td(".figure")[_bar(part["points"], widest)],
        h.td(".number")[signed(_sum(within))],
        h.td(".number")[signed(_sum(mix))],
        (h.td(".number")[cell] for cell in _rates(part)),
        h.td(".number")[f"{_total(part['before'])} → {_total(part['after'])}"],
    ]


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _total(cells: Json) -> str:
    return count(round(sum(cells.values())))


def _rates(part: Json) -> Iterator[str]:
    before, after = part["before"], part["after"]
    for cause, of, cases in (
        ("prevalence", ("tp", "fn"), ("tp", "fp", "fn", "tn")),
        ("recall", ("tp",), ("tp", "fn")),
        ("false_positives", ("fp",), ("fp", "tn")),
    ):
        old, new = (_share(cells, of, cases) for cells in (before, after))
        star = " ★" if cause in part["carries"] else ""
        yield f"{ratio(old, 2)} → {ratio(new, 2)}{star}"


def _share(cells: Json, of: Sequence[str], cases: Sequence[str]) -> float | None:
    total = sum(cells[cell] for cell in cases)
    return sum(cells[cell] for cell in of) / total if total else None


def _bar(value: float | None, widest: float) -> h.Node:
    if value is None:
        return None
    width = 48 * abs(value) / widest
    return h.svg(".bars", viewBox="0 0 100 20", preserveAspectRatio="none", aria_hidden="true")[
        h.line(".level", x1="50", x2="50", y1="0", y2="20"),
        h.rect(
            ".segment.fell" if value < 0 else ".segment.rose",
            x=n(50 - width if value < 0 else 50),
            y="4",
            width=n(max(width, 0.4)),
            height="12",
        ),
    ]


def _filter(look: Look, total: int) -> h.Node:
    if total <= look.rows and not look.matching:
        return None
    kept = [(name, value) for name, value in look.query or () if name != "segment"]
    return h.form(".filter", method="get", action="/#where")[
        (h.input(type="hidden", name=name, value=value) for name, value in kept),
        h.label[
            h.span["segments with"],
            h.input(type="search", name="segment", value=look.matching, autocomplete="off"),
        ],
        h.button(type="submit")["Filter"],
    ]


def _pages(look: Look, found: int) -> h.Node:
    if found <= look.rows:
        return h.p(".muted")["No segment is called so."] if not found else None
    if look.query is None:
        return h.p(".muted")[f"The first {look.rows} of {count(found)} are shown."]
    return pages(look.page, look.rows, found, [*look.query, ("segment", look.matching)], "where")


def pages(
    page: int, rows: int, found: int, query: Sequence[tuple[str, str]], anchor: str
) -> h.Element:
    """Links to the page before and after."""
    last = (found - 1) // rows

    def link(to: int, said: str) -> h.Node:
        if not 0 <= to <= last:
            return None
        kept = [(name, value) for name, value in query if value]
        address = urlencode([*kept, (f"{anchor}-page", str(to))], errors="replace")
        return h.a(".button", href=f"/?{address}#{anchor}")[said]

    first = page * rows + 1
    return h.nav(".pages", aria_label=f"Pages of {anchor}")[
        link(page - 1, "← before"),
        h.span[
            f"{count(min(first, found))} to {count(min(first + rows - 1, found))} of {count(found)}"
        ],
        link(page + 1, "next →"),
    ]
