"""The cells of a row with one value for each window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import htpy as h


def window_cells(names: Iterable[str], contents: Iterable[h.Node]) -> Iterator[h.Element]:
    """Yield the cells, each with its window's name for where columns have no heads, as on a phone.

    Args:
        names: of the windows.
        contents: of the cells, as many.

    Raises:
        ValueError: there are more of one than of the other.
    """
    for name, content in zip(names, contents, strict=True):
        yield h.td(".number", {"data-title": f"last {name}"})[content]


def context_row(
    title: str, meaning: str, names: Sequence[str], cells: Sequence[h.Node]
) -> h.Element:
    """Return a row that says what the metrics above it rest on.

    Args:
        title: its head.
        meaning: of the values; "" where the head says it.
        names: of the windows.
        cells: contents of the cells, as many.
    """
    return h.tr(".context")[
        h.th(scope="row")[title, h.small[meaning] if meaning else None],
        h.td(".trend"),
        window_cells(names, cells),
    ]
