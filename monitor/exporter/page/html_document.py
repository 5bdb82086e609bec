"""The frame around a page: head, navigation, foot."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import htpy as h

from monitor.version import __version__

SECTIONS = (
    ("now", "Now"),
    ("classes", "Classes"),
    ("when", "When"),
    ("versions", "Versions"),
    ("why", "Why"),
    ("where", "Where"),
    ("plane", "Plane"),
)
"""Id and title of each section of a model, in order."""


def static_text(name: str) -> str:
    """Return a file that a page loads, or that a report holds."""
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")


def page_head() -> h.Node:
    """Return what a page loads."""
    return [
        h.link(rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        h.link(rel="stylesheet", href="/static/page.css"),
        h.script(src="/static/page.js", type="module"),
    ]


def document(
    title: str,
    *,
    head: h.Node,
    aside: h.Node,
    sections: Sequence[tuple[str, str]],
    main: h.Node,
) -> str:
    """Return a whole page.

    Args:
        title: of the page; its first heading too.
        head: further elements of its head.
        aside: left of the navigation.
        sections: id and title of each section to link to.
        main: the content.
    """
    page = h.html(lang="en")[
        h.head[
            h.meta(charset="utf-8"),
            h.meta(name="viewport", content="width=device-width, initial-scale=1"),
            h.meta(name="color-scheme", content="light dark"),
            h.title[f"{title} · precision monitor"],
            head,
        ],
        h.body[
            h.a(".skip", href="#main")["Skip to the content"],
            h.header(".top")[
                aside,
                h.nav(aria_label="Sections")[
                    (h.a(href=f"#{name}")[heading] for name, heading in sections)
                ]
                if sections
                else None,
            ],
            h.main(id="main")[h.h1[title], main],
            h.footer[
                f"precision-monitor {__version__}. Intervals of a single window assume "
                "independent cases; intervals of a change take into account how days scatter."
            ],
        ],
    ]
    return str(page)
