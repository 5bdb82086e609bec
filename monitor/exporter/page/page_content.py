"""Content of the page, read from the queries before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.errors import UsageError
from monitor.exporter.api.engine_access import EngineUnavailableError
from monitor.exporter.api.explanation import Explanation
from monitor.exporter.api.queries import Queries
from monitor.exporter.api.scores_answer import ScoresAnswer
from monitor.exporter.api.segments_answer import SegmentsAnswer
from monitor.exporter.api.selection import Selection
from monitor.exporter.api.series_answer import Numbers, SeriesAnswer
from monitor.exporter.api.status_answer import ModelStatus, StatusAnswer
from monitor.exporter.page.query import PageQuery
from monitor.report.versions_now import LiveVersionsAnswer

MODELS_A_PAGE = 50
_TREND_DAYS = 60
_DRAWN_STEPS = 160
"""Steps of the chart; more are too fine to see."""


class ModelListContent(NamedTuple):
    """The list of models.

    Attributes:
        status: the models of one page.
        trends: precision over time by the name of the model; a model without one has its
            trend still to come.
    """

    status: StatusAnswer
    trends: Mapping[str, Numbers]


class ModelContent(NamedTuple):
    """One model.

    Attributes:
        status: of the monitor.
        model: its state.
        series: its metrics over time, for the chart; None where the history cannot be read.
        trend: the same by days, for small lines; None likewise.
        scores: their distribution now, beside an earlier one; None likewise.
        segments: each segment value in the window that gives the verdict.
        versions: side by side, and two of them compared.
        explanation: why precision moved; None where nothing can be compared.
        error: why nothing can be compared; "" where something is.
    """

    status: StatusAnswer
    model: ModelStatus
    series: SeriesAnswer | None = None
    trend: SeriesAnswer | None = None
    scores: ScoresAnswer | None = None
    segments: SegmentsAnswer | None = None
    versions: LiveVersionsAnswer | None = None
    explanation: Explanation | None = None
    error: str = ""


def page_content(queries: Queries, query: PageQuery) -> ModelListContent | ModelContent:
    """Return the model that is asked for, or the only one there is; else the list of models.

    Args:
        queries: of the monitor.
        query: what is asked for.

    Raises:
        UnknownModelError: no such model.
        EngineUnavailableError: the chart can be drawn, and the explanation cannot be read.
    """
    if query.model is not None:
        return _model(queries, query, query.model)
    asked = Selection(
        matching=query.matching,
        kind=query.kind,
        paging=query.paging,
        sort=query.sort,
        offset=query.models_page * MODELS_A_PAGE,
    )
    status = queries.status(asked, MODELS_A_PAGE)
    if status.total == 1 and status.models and not (query.matching or query.kind or query.paging):
        return _model(queries, query, status.models[0].name)
    names = [model.name for model in status.models]
    trends = queries.trends(names, step=DAY_MS, last=_TREND_DAYS)
    if not queries.has_history:
        trends = dict.fromkeys(names, ())
    return ModelListContent(status, trends)


def _model(queries: Queries, query: PageQuery, name: str) -> ModelContent:
    segments = queries.segments(name, None)
    status = queries.status(Selection(names=(name,)), 1)
    content = ModelContent(
        status, status.models[0], segments=segments, versions=queries.versions(name).answer
    )
    try:
        series = queries.series(name, most=_DRAWN_STEPS)
        trend = queries.series(name, step=DAY_MS, last=_TREND_DAYS)
        scores = queries.scores(name)
    except EngineUnavailableError as error:
        return content._replace(error=str(error))
    content = content._replace(series=series, trend=trend, scores=scores)
    try:
        explanation = queries.explanation(name, query.before, query.after)
    except UsageError as error:
        return content._replace(error=str(error))
    return content._replace(explanation=explanation)
