"""Tables as frames of pandas or polars, or as plain values; pages as frames in a notebook."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from importlib import import_module
from typing import Any

from monitor.config.quantities import format_time
from monitor.counts import ConfusionCounts, Outcome
from monitor.diagnosis import Estimated

_LIBRARIES = ("pandas", "polars")
_OWN_LINKS = '<base href="about:srcdoc">'
"""Has links within a framed page stay in it; else they load the notebook into the frame."""


def frame(columns: Mapping[str, Sequence[Any]], libraries: Sequence[str] = _LIBRARIES) -> Any:
    """Return a frame of these columns.

    Args:
        columns: values by the name of the column, all of one length.
        libraries: modules with a class `DataFrame`; the first that can be imported is used.

    Raises:
        ImportError: none of them is installed.
    """
    for name in libraries:
        try:
            library = import_module(name)
        except ImportError:
            continue
        return library.DataFrame(dict(columns))
    raise ImportError(
        f"to_frame: needs {' or '.join(libraries)}, and none is installed; install one, or use "
        "to_dict"
    )


def metric_columns(
    counts: ConfusionCounts, metrics: Mapping[str, Estimated]
) -> dict[str, int | float]:
    """Return the four outcomes and the metrics of one row, each metric with its 95 % interval.

    Args:
        counts: of one window.
        metrics: estimate, lower and upper limit by the name of the metric; NaN where undefined.
    """
    row: dict[str, int | float] = {c.name.lower(): counts.cells[c].item() for c in Outcome}
    for name, found in metrics.items():
        row |= {name: found.estimate, f"{name}_lower": found.lower, f"{name}_upper": found.upper}
    return row


def plain_table(columns: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
    """Return a table with values as JSON has them.

    Args:
        columns: values by the name of the column.
    """
    return {name: [plain_value(value) for value in column] for name, column in columns.items()}


def plain_value(value: Any) -> Any:
    """Return a value as JSON has it: a time as RFC 3339, and None for what is not finite."""
    if isinstance(value, datetime):
        return format_time(round(value.timestamp() * 1000))
    return None if isinstance(value, float) and not math.isfinite(value) else value


def notebook_frame(title: str, page: str, height: int) -> str:
    """Return a page in a frame of its own, which runs no script.

    Args:
        title: of the frame.
        page: a whole page, as HTML.
        height: of the frame, pixels; the page scrolls inside.
    """
    page = page.replace("<head>", f"<head>{_OWN_LINKS}", 1)
    return (
        f'<iframe sandbox="" style="width:100%;height:{height}px;border:0" '
        f'title="{escape(title)}" srcdoc="{escape(page)}"></iframe>'
    )


def index_hint(table: Any) -> str:
    """Return how the index of a frame of pandas becomes columns; "" where it only numbers rows.

    Args:
        table: of any kind.
    """
    index = getattr(table, "index", None)
    names = [name for name in getattr(index, "names", ()) if name is not None]
    if names:
        shown = ", ".join(map(repr, names))
        return f"; its index has {shown}, and is no column: give table.reset_index()"
    if getattr(getattr(index, "dtype", None), "kind", "") == "M":
        return "; its index has times, and is no column: give table.rename_axis('ts').reset_index()"
    return ""
