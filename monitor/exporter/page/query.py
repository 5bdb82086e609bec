"""Parameters of a request for the page."""

from __future__ import annotations

from typing import NamedTuple, Self

from starlette.datastructures import QueryParams

from monitor.errors import UsageError
from monitor.exporter.api.handlers import is_true, one_of, whole_number
from monitor.exporter.api.selection import SORTS, URGENCY
from monitor.exporter.page.iso_curves import IsoCurves
from monitor.report.model_kinds import KINDS

_MOST_PAGES = 10**6
_LEAST_BETA, _LEAST_RHO, _MOST = 0.01, -100.0, 100.0


class PageQuery(NamedTuple):
    """The parameters of a request, checked.

    Attributes:
        model: name of the model to show; None for the list of models.
        matching: only models whose name contains this text.
        kind: only models that count as this, see `JudgedModel.kind`; "" for all.
        paging: only models that page.
        sort: order of the list.
        models_page: page of the list, from 0 on.
        before: the earlier period, as written; None for the reference.
        after: the later one, as written; None for the window that gives the verdict.
        segment: only segments whose name contains this text.
        segments_page: page of the segments, from 0 on.
        iso: the curves of equal score to draw.
    """

    model: str | None
    matching: str
    kind: str
    paging: bool
    sort: str
    models_page: int
    before: str | None
    after: str | None
    segment: str
    segments_page: int
    iso: IsoCurves

    @classmethod
    def parse(cls, query: QueryParams) -> Self:
        """Read the parameters of a request.

        Raises:
            UsageError: a number is none, or out of range, or there is no such verdict.
        """
        return cls(
            model=query.get("model"),
            matching=query.get("q", ""),
            kind=one_of(query, "verdict", KINDS),
            paging=is_true(query, "paging"),
            sort=one_of(query, "sort", SORTS) or URGENCY,
            models_page=whole_number(query, "models-page", 0, most=_MOST_PAGES),
            before=query.get("before") or None,
            after=query.get("after") or None,
            segment=query.get("segment", ""),
            segments_page=whole_number(query, "where-page", 0, most=_MOST_PAGES),
            iso=IsoCurves(
                beta=_number(query, "beta", 1.0, least=_LEAST_BETA),
                rho=_number(query, "rho", -2.0, least=_LEAST_RHO),
            ),
        )

    def periods(self) -> list[tuple[str, str]]:
        """Return the periods that were asked for, as parameters of a link."""
        given = (("before", self.before), ("after", self.after))
        return [(name, text) for name, text in given if text]


def _number(query: QueryParams, name: str, default: float, *, least: float) -> float:
    text = query.get(name)
    if text is None:
        return default
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not least <= number <= _MOST:
        raise UsageError(f"{name}: must be a number from {least:g} to {_MOST:g}, got {text!r}")
    return number
