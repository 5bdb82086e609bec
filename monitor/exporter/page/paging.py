"""Links from one page of a long table to the next."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

import htpy as h

from monitor.exporter.page.formats import count


def page_links(
    page: int, rows: int, total: int, query: Sequence[tuple[str, str]], anchor: str
) -> h.Element:
    """Return links to the previous and the next page.

    Args:
        page: the page that is shown, from 0 on.
        rows: on a page.
        total: rows in all.
        query: parameters that every link carries; empty ones are left out.
        anchor: id of the section, which also names the parameter of the page.
    """
    last = (total - 1) // rows
    given = [(name, value) for name, value in query if value]

    def link(to: int, title: str) -> h.Node:
        if not 0 <= to <= last:
            return None
        address = urlencode([*given, (f"{anchor}-page", str(to))], errors="replace")
        return h.a(".button", href=f"/?{address}#{anchor}")[title]

    first = page * rows + 1
    ends = [count(min(row, total)) for row in (first, first + rows - 1)]
    return h.nav(".pages", aria_label=f"Pages of {anchor}")[
        link(page - 1, "← previous"),
        h.span[f"{ends[0]} to {ends[1]} of {count(total)}"],
        link(page + 1, "next →"),
    ]
