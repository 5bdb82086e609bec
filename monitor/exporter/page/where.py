"""The section "Where": segments by what they contributed, their own rates apart from their mix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import htpy as h
from msgspec import UNSET, UnsetType

from monitor.exporter.api.segments_answer import SegmentsAnswer
from monitor.exporter.page.drawing import n
from monitor.exporter.page.formats import (
    UNDEFINED,
    coded,
    count,
    minus,
    points,
    ratio,
    signed,
)
from monitor.exporter.page.paging import page_links
from monitor.exporter.page.segments_now import segments_now
from monitor.report.answer_parts import OutcomeSums
from monitor.report.curve_change_answer import CurveChange
from monitor.report.diagnosis_answer import DiagnosisAnswer, SegmentEffect
from monitor.report.segment_names import segment_name
from monitor.report.vocabulary import ADDITIVE_CAUSES, CauseWords

_EXPLAINED = (
    " in their own rates (★ marks which; corrected for looking at all of them). Within: the "
    "effect of the value's own rates. Mix: the effect of the value's becoming more or less "
    "frequent. The values of each key add up to the whole change."
)
_CURVE = "ROC area"
_RATES = ("Prevalence", "Recall", "FPR")
ROWS = 25
"""Segments on a page."""


class SegmentView(NamedTuple):
    """The segments to show.

    Attributes:
        matching: only those whose name contains this text.
        page: from 0 on.
        rows: on a page.
        links: parameters that links and the form carry; None where there are none, as in a
            report.
    """

    matching: str = ""
    page: int = 0
    rows: int = ROWS
    links: Sequence[tuple[str, str]] | None = None


def where_section(
    diagnosis: DiagnosisAnswer | None, view: SegmentView, now: SegmentsAnswer | None = None
) -> h.Element:
    """Return the section: segment values by the points they contributed, small samples last.

    Args:
        diagnosis: with its segments; None where nothing is compared.
        view: the segments to show.
        now: the segment values without a comparison; None in a report.
    """
    segments = () if diagnosis is None else diagnosis.segments
    moved = UNSET if diagnosis is None else diagnosis.curves_moved
    table = None if now is None else segments_now(now)
    compared = _body(segments, view, moved or ()) if segments else None
    if not segments and (table is None or diagnosis is not None):
        compared = _none(() if diagnosis is None else diagnosis.notes)
    return h.section("#where", aria_labelledby="where-title")[
        h.h2(id="where-title")["Where"], compared, table
    ]


def _body(
    segments: Sequence[SegmentEffect], view: SegmentView, curves_moved: Sequence[str]
) -> h.Node:
    certain = sum(bool(part.carries) for part in segments)
    matching = view.matching.casefold()
    found = [part for part in _ranked(segments) if matching in _name(part).casefold()]
    shown = found[view.page * view.rows : (view.page + 1) * view.rows]
    return [
        h.p[
            f"{certain} of {count(len(segments))} segment values certainly changed",
            _EXPLAINED,
        ],
        h.ul[(h.li[minus(sentence)] for sentence in curves_moved)] if curves_moved else None,
        _filter(view, len(segments)) if view.links is not None else None,
        h.div(".scroll", tabindex="0", role="region", aria_label="Segments")[_table(shown)],
        _pages(view, len(found)),
    ]


def _none(notes: Sequence[str]) -> h.Element:
    """Return why there are no segments: left out, with the reason, or not configured."""
    left_out = next((note for note in notes if note.startswith("segments are left out")), None)
    if left_out is not None:
        return h.p(".muted")[coded(f"{left_out[0].upper()}{left_out[1:]}.")]
    return h.p(".muted")[
        "No segments: name keys under ",
        h.code["segments"],
        " in the configuration of the model to see where a change comes from.",
    ]


def _ranked(segments: Sequence[SegmentEffect]) -> list[SegmentEffect]:
    return sorted(segments, key=lambda part: (part.small_sample, -abs(part.points or 0.0)))


def _name(part: SegmentEffect) -> str:
    return segment_name(part.segment, part.value, " = ")


def _table(shown: Sequence[SegmentEffect]) -> h.Element:
    curves = any(part.curve for part in shown)
    widest = max((abs(part.points or 0.0) for part in shown), default=0.0) or 1.0
    return h.table(".segments.stacked")[
        h.caption(".unseen")["Segments by what they contributed to the change of precision."],
        h.thead[
            h.tr[
                h.th(scope="col")["Segment"],
                h.th(".number", scope="col")["Points"],
                h.th(".figure", scope="col")[h.span(".unseen")["Picture"]],
                h.th(".number", scope="col")["Within", h.small["log-odds"]],
                h.th(".number", scope="col")["Mix", h.small["log-odds"]],
                (h.th(".number", scope="col")[title] for title in _RATES),
                h.th(".number", scope="col")[_CURVE] if curves else None,
                h.th(".number", scope="col")["Outcomes"],
            ]
        ],
        h.tbody[(_row(part, widest, curves=curves) for part in shown)],
    ]


def _row(part: SegmentEffect, widest: float, *, curves: bool) -> h.Element:
    small = part.small_sample
    return h.tr({"class": "small" if small else None})[
        h.th(scope="row")[_name(part), h.small["small sample"] if small else None],
        _cell("Points", h.strong[points(part.points)]),
        h.td(".figure")[_bar(part.points, widest)],
        _cell("Within", signed(part.within.total)),
        _cell("Mix", signed(part.mix.total)),
        (_cell(title, rates) for title, rates in zip(_RATES, _rates(part), strict=True)),
        _cell(_CURVE, _areas(part.curve)) if curves else None,
        _cell("Outcomes", f"{_total(part.before)} → {_total(part.after)}"),
    ]


def _cell(title: str, content: h.Node) -> h.Element:
    return h.td(".number", {"data-title": title})[content]


def _total(outcomes: OutcomeSums) -> str:
    return count(round(outcomes.total))


def _rates(part: SegmentEffect) -> Iterator[str]:
    for cause in ADDITIVE_CAUSES.values():
        old, new = (_rate(outcomes, cause) for outcomes in (part.before, part.after))
        star = " ★" if cause.name in part.carries else ""
        yield f"{ratio(old, 2)} → {ratio(new, 2)}{star}"


def _areas(curve: CurveChange | UnsetType) -> h.Node:
    if not curve:
        return UNDEFINED
    star = " ★" if curve.moved else ""
    areas = f"{ratio(curve.before.estimate, 2)} → {ratio(curve.after.estimate, 2)}{star}"
    change = curve.change
    if change.lower is None or change.upper is None:
        return areas
    return [areas, h.small[f"{signed(change.lower)} to {signed(change.upper)}"]]


def _rate(outcomes: OutcomeSums, cause: CauseWords) -> float | None:
    hits, cases = (outcomes.sum_of(cells) for cells in cause.share)
    return hits / cases if cases else None


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


def _filter(view: SegmentView, total: int) -> h.Node:
    if total <= view.rows and not view.matching:
        return None
    return h.form(".filter", method="get", action="/#where")[
        (h.input(type="hidden", name=name, value=value) for name, value in view.links or ()),
        h.label[
            h.span["segments with"],
            h.input(type="search", name="segment", value=view.matching, autocomplete="off"),
        ],
        h.button(type="submit")["Filter"],
    ]


def _pages(view: SegmentView, found: int) -> h.Node:
    if not found:
        return h.p(".muted")["No segment has this text in its name."]
    if found <= view.rows:
        return None
    if view.links is None:
        return h.p(".muted")[f"The first {view.rows} of {count(found)} are shown."]
    links = [*view.links, ("segment", view.matching)]
    return page_links(view.page, view.rows, found, links, "where")
