"""Finds the model that a request asks for."""

from __future__ import annotations

from collections.abc import Collection

from monitor.config.nearest_name import nearest_name, suggestion
from monitor.errors import UsageError
from monitor.snapshot import ModelState, Snapshot

_NAMED = 5
"""Models that an error names at most."""


class UnknownModelError(UsageError):
    """There is no such model.

    Args:
        name: that was asked for.
        known: names of the models that there are.

    Attributes:
        nearest: the name that was probably meant; None where none is like it.
    """

    def __init__(self, name: str, known: Collection[str]) -> None:
        hint = suggestion(name, known, f"there are {_some(known)}")
        super().__init__(f"model: there is no such model, got {name!r}; {hint}")
        self.nearest = nearest_name(name, known)


def find_model(snapshot: Snapshot, name: str | None) -> ModelState:
    """Return a model by its name.

    Args:
        snapshot: the state.
        name: of the model; None for the only one there is.

    Raises:
        UnknownModelError: no such model.
        UsageError: no name is given, and there are several models, or none yet.
    """
    known = {model.name: model for model in snapshot.models}
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name is None:
        raise UsageError(f"model: one must be named; there are {len(known)}: {_some(known)}")
    if name not in known:
        raise UnknownModelError(name, known)
    return known[name]


def _some(known: Collection[str]) -> str:
    """Return the names of models, of many the first few and where the others are."""
    some = ", ".join([*known][:_NAMED]) or "none yet"
    return some if len(known) <= _NAMED else f"{some}, …; see /api/v1/status"
