"""The page over HTTP, with its style and its script as files of their own."""

from __future__ import annotations

from typing import Any

import htpy as h
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from monitor.clock import DAY_MS
from monitor.errors import MonitorError, UsageError
from monitor.exporter.api.answers import Answers, UnknownModelError
from monitor.exporter.api.asking import UnansweredError
from monitor.exporter.api.routes import in_thread, retry, status_of, whole
from monitor.exporter.page.curve import plane_section
from monitor.exporter.page.document import SECTIONS, document, static_text
from monitor.exporter.page.fleet import ROWS, fleet
from monitor.exporter.page.now import now_section
from monitor.exporter.page.plane import Iso
from monitor.exporter.page.when import Choice, when_section
from monitor.exporter.page.where import Look, where_section
from monitor.exporter.page.why import verdict_line, why_section
from monitor.exporter.page.words import Json, moment
from monitor.report.printable import one_line

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a browser may do on the page: nothing from elsewhere, nothing inline."""

_TYPES = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_TREND_DAYS = 60
_DRAWN_STEPS = 160
"""More steps than that are noise to the eye."""


def page_routes(answers: Answers) -> list[Route]:
    """`/` and what it loads."""

    def page(request: Request) -> Response:
        try:
            content, code, headers = _page(answers, request), 200, {}
        except MonitorError as error:
            content, code, headers = _fault(error), status_of(error), retry(error)
        return Response(
            content.encode("utf-8", "replace"),
            code,
            {"Content-Security-Policy": POLICY, **headers},
            media_type="text/html",
        )

    return [
        Route("/", in_thread(page)),
        *(Route(f"/static/{name}", in_thread(_static(name))) for name in _TYPES),
    ]


def _static(name: str) -> Any:
    content = static_text(name).encode()

    def answer(_: Request) -> Response:
        headers = {"Cache-Control": "no-cache"}
        return Response(content, headers=headers, media_type=_TYPES[name])

    return answer


def _page(answers: Answers, request: Request) -> str:
    query = request.query_params
    name = query.get("model")
    if name is None:
        matching, page = query.get("q", ""), whole(request, "models-page", 0, most=10**6)
        status = answers.status(matching=matching, offset=page * ROWS, limit=ROWS)
        alone = not matching and status["total"] == 1
        if not alone:
            return _fleet(answers, status, matching, page)
        name = str(status["models"][0]["name"])
    return _model(answers, request, name)


def _fleet(answers: Answers, status: Json, matching: str, page: int) -> str:
    names = [model["name"] for model in status["models"]]
    trends = answers.trends(names, step=DAY_MS, last=_TREND_DAYS)
    late = len(names) - len(trends) if answers.looks_back else 0
    return document(
        "Models",
        head=_head(),
        aside=h.strong["Precision monitor"],
        sections=(),
        main=fleet(status, matching, page, trends, late),
    )


def _model(answers: Answers, request: Request, name: str) -> str:
    status = answers.status(names=(name,), limit=1)
    if not status["models"]:
        raise UnknownModelError(f"model: there is no such model, got {name!r}")
    model = status["models"][0]
    shown = _sections(answers, request, status, model)
    return document(
        one_line(name),
        head=_head(),
        aside=[
            h.a(href="/")["Precision monitor"],
            h.span(".muted")[f"event time {moment(status['now'])}"],
        ],
        sections=[(name, said) for name, said in SECTIONS if name in shown],
        main=[verdict_line(model["verdict"], model["headline"]), *shown.values()],
    )


def _sections(answers: Answers, request: Request, status: Json, model: Json) -> dict[str, h.Node]:
    """What can be shown, by name, in order."""
    query, name = request.query_params, model["name"]
    asked = {side: query.get(side) or None for side in ("before", "after")}
    try:
        series = answers.series(name, most=_DRAWN_STEPS)
        trend = answers.series(name, step=DAY_MS, last=_TREND_DAYS)
    except UnansweredError as error:
        return {"now": now_section(status, model, None), "why": _note(error)}
    choice = Choice(name, asked["before"] or "", asked["after"] or "")
    try:
        found = answers.explained(name, **asked)
    except UsageError as error:
        return {
            "now": now_section(status, model, trend),
            "when": when_section(series, None, choice),
            "why": _note(error),
        }
    diagnosis = found.as_json
    kept = [(side, text) for side, text in asked.items() if text]
    look = Look(
        query.get("segment", ""),
        whole(request, "where-page", 0, most=10**6),
        query=[("model", name), *kept],
    )
    return {
        "now": now_section(status, model, trend),
        "when": when_section(series, diagnosis, choice),
        "why": why_section(diagnosis),
        "where": where_section(diagnosis, look),
        "plane": plane_section(diagnosis, found.curve, _iso(request)),
    }


def _iso(request: Request) -> Iso:
    """The family of curves asked for, as `beta` and `rho`."""
    given: dict[str, float] = {}
    for name in ("beta", "rho"):
        text = request.query_params.get(name)
        if text is None:
            continue
        try:
            given[name] = float(text)
        except ValueError:
            given[name] = float("nan")
        least = 0.01 if name == "beta" else -100.0
        if not least <= given[name] <= 100:  # noqa: PLR2004  # beyond it nothing can be drawn
            raise UsageError(f"{name}: must be a number from {least:g} to 100, got {text!r}")
    return Iso(**given)


def _note(error: MonitorError) -> h.Element:
    return h.section("#why", aria_labelledby="why-title")[
        h.h2(id="why-title")["Why"],
        h.p(".fault", role="alert")[one_line(f"Nothing can be compared so: {error}.")],
    ]


def _fault(error: MonitorError) -> str:
    return document(
        "Not to be shown",
        head=_head(),
        aside=h.a(href="/")["Precision monitor"],
        sections=(),
        main=h.p(".fault", role="alert")[one_line(str(error))],
    )


def _head() -> h.Node:
    return [
        h.link(rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        h.link(rel="stylesheet", href="/static/page.css"),
        h.script(src="/static/page.js", defer=True),
    ]
