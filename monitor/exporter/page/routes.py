"""The page over HTTP, with its style and its script as files of their own."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from monitor.errors import MonitorError
from monitor.exporter.api.handlers import error_status, in_thread, retry_headers
from monitor.exporter.api.queries import Queries
from monitor.exporter.page.html_document import static_text
from monitor.exporter.page.model_list import model_list_page
from monitor.exporter.page.model_page import error_page, model_page
from monitor.exporter.page.page_content import ModelContent, page_content
from monitor.exporter.page.query import PageQuery

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content security policy: a browser loads nothing from elsewhere and runs nothing inline."""

_SCRIPTS = ("page", "swap", "charts", "periods", "copying", "refresh")
_TYPES = {
    "page.css": "text/css",
    "icon.svg": "image/svg+xml",
    **{f"{name}.js": "text/javascript" for name in _SCRIPTS},
}


def page_routes(queries: Queries) -> list[Route]:
    """Return `/` and the files that it loads."""

    def page(request: Request) -> Response:
        try:
            text, status, headers = _page(queries, request), 200, {}
        except MonitorError as error:
            text, status, headers = error_page(error), error_status(error), retry_headers(error)
        return Response(
            text.encode("utf-8", "replace"),
            status,
            {"Content-Security-Policy": POLICY, **headers},
            media_type="text/html",
        )

    return [
        Route("/", in_thread(page)),
        *(Route(f"/static/{name}", in_thread(_static(name))) for name in _TYPES),
    ]


def _page(queries: Queries, request: Request) -> str:
    query = PageQuery.parse(request.query_params)
    content = page_content(queries, query)
    if isinstance(content, ModelContent):
        return model_page(content, query)
    return model_list_page(content, query)


def _static(name: str) -> Callable[[Request], Response]:
    content = static_text(name).encode()

    def answer(_: Request) -> Response:
        headers = {"Cache-Control": "no-cache"}
        return Response(content, headers=headers, media_type=_TYPES[name])

    return answer
