"""The name that a person probably meant."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches


def nearest_name(name: str, known: Collection[str]) -> str | None:
    """Return the known name that is most like one that is not known; None where none is like it.

    Args:
        name: as a person wrote it.
        known: the names that there are.

    >>> nearest_name("fruad", ["churn", "fraud"])
    'fraud'
    """
    near = get_close_matches(name, known, n=1)
    return near[0] if near else None


def suggestion(name: str, known: Collection[str], otherwise: str) -> str:
    """Return the end of an error about a name that is not known.

    Args:
        name: as a person wrote it.
        known: the names that there are.
        otherwise: what the error ends with where none is like it.

    >>> suggestion("fruad", ["churn", "fraud"], "it has churn, fraud")
    "did you mean 'fraud'?"
    """
    near = nearest_name(name, known)
    return otherwise if near is None else f"did you mean {near!r}?"
