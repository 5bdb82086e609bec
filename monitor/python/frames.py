"""Tables as frames of pandas or polars, whichever is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

_LIBRARIES = ("pandas", "polars")


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
