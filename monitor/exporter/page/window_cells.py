"""The cells of a row with one value for each window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

import htpy as h

from monitor.exporter.api.status_answer import ModelStatus
from monitor.exporter.page.formats import moment, time_of

_LATE = timedelta(days=2)
"""Age of the latest outcomes of a window from which on the day of its end is named."""


def window_title(model: ModelStatus, name: str) -> str:
    """Return the title of a window; where its labels come late, with the day of its end.

    Args:
        model: with the window.
        name: of the window.
    """
    close, now = model.windows[name].close, model.now
    if close is None or now is None or time_of(now) - time_of(close) < _LATE:
        return f"last {name}"
    return f"{name} until {moment(close)}"


def window_cells(model: ModelStatus, contents: Iterable[h.Node]) -> Iterator[h.Element]:
    """Yield the cells, each with its window's title for where columns have no heads, as on a phone.

    Args:
        model: with the windows.
        contents: of the cells, one for each window.

    Raises:
        ValueError: there are more of one than of the other.
    """
    for name, content in zip(model.windows, contents, strict=True):
        yield h.td(".number", {"data-title": window_title(model, name)})[content]


def context_row(title: str, meaning: str, model: ModelStatus, cells: Sequence[h.Node]) -> h.Element:
    """Return a row that says what the metrics above it rest on.

    Args:
        title: its head.
        meaning: of the values; "" where the head says it.
        model: with the windows.
        cells: contents of the cells, as many.
    """
    return h.tr(".context")[
        h.th(scope="row")[title, h.small[meaning] if meaning else None],
        h.td(".trend"),
        window_cells(model, cells),
    ]
