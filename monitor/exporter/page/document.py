"""The frame around a page: head, navigation, foot."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import htpy as h

from monitor.version import __version__

SECTIONS = (
    ("now", "Now"),
    ("when", "When"),
    ("why", "Why"),
    ("where", "Where"),
    ("plane", "Plane"),
)


def static_text(name: str) -> str:
    """A file that a page loads, or that a report holds."""
    return (files(__package__) / "static" / name).read_text(encoding="utf-8")


def document(
    title: str,
    *,
    head: h.Node,
    aside: h.Node,
    sections: Sequence[tuple[str, str]],
    main: h.Node,
) -> str:
    """A whole page.

    Args:
        title: of the page; the first heading too.
        head: what else stands in its head.
        aside: what stands beside the program's name.
        sections: id and name of each section to jump to.
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
                    (h.a(href=f"#{name}")[said] for name, said in sections)
                ]
                if sections
                else None,
            ],
            h.main(id="main")[h.h1[title], main],
            h.footer[
                f"precision-monitor {__version__}. Intervals of single windows assume "
                "independent cases; those of changes are taken between blocks of time."
            ],
        ],
    ]
    return str(page)
