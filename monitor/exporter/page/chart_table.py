"""The values of a figure as a table, which the script also reads out along the figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import htpy as h


class ChartRow(NamedTuple):
    """The values at one place of a figure.

    Attributes:
        at: the place along the figure.
        title: the place in words.
        cells: its values, as text; an em dash where there is none.
    """

    at: float
    title: str
    cells: Sequence[str]


def chart_table(
    name: str, label: str, heads: Sequence[str], rows: Iterable[ChartRow], caption: str
) -> h.Element:
    """Return the table, folded.

    Args:
        name: of the figure; its `data-table` is `NAME-figure`.
        label: of the table, for a screen reader.
        heads: of the columns, that of the places first.
        rows: from left to right.
        caption: what the values are.
    """
    return h.details(id=f"{name}-details")[
        h.summary["The same as a table"],
        h.div(".scroll", tabindex="0", role="region", aria_label=label)[
            h.table(".series", {"data-of": f"{name}-figure"})[
                h.caption(".unseen")[caption],
                h.thead[
                    h.tr[
                        h.th(scope="col")[heads[0]],
                        (h.th(".number", scope="col")[head] for head in heads[1:]),
                    ]
                ],
                h.tbody[
                    (
                        h.tr({"data-at": f"{row.at:g}"})[
                            h.th(scope="row")[row.title],
                            (h.td(".number")[cell] for cell in row.cells),
                        ]
                        for row in rows
                    )
                ],
            ]
        ],
    ]
