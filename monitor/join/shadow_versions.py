"""The shadow versions of which predictions are remembered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array, Predictions
from monitor.events.keys import keys_of
from monitor.join.forgetting import BEFORE_ALL, Over
from monitor.join.terms import ModelTerms

MOST_SHADOWS = 8
"""Shadow versions of a model at once; predictions of others count as evicted."""
NOT_TAKEN = -1
"""Number of a shadow version beyond the most."""


class ShadowVersion(NamedTuple):
    """A shadow version.

    Attributes:
        model: number of its model.
        name: its name.
        mix: what the keys of ids are mixed with, so that each version has its own.
    """

    model: int
    name: str
    mix: np.uint64


class ShadowVersions:
    """Numbers the shadow versions; one whose predictions are all forgotten frees its place.

    Args:
        catalogue: numbers of models and groups.
        terms: of the models.
    """

    def __init__(self, catalogue: Catalogue, terms: ModelTerms) -> None:
        self._catalogue = catalogue
        self._terms = terms
        self._last: dict[ShadowVersion, int] = {}

    def __len__(self) -> int:
        return len(self._last)

    def all(self) -> tuple[ShadowVersion, ...]:
        """Return the versions, by number."""
        return tuple(self._last)

    def beside(self, version: ShadowVersion) -> list[ShadowVersion]:
        """Return the other versions of the same model.

        Args:
            version: one of `all`.
        """
        return [one for one in self._last if one.model == version.model and one != version]

    def note(self, predictions: Predictions) -> Int64Array:
        """Take predictions into account; return the number of the version of each.

        Args:
            predictions: of shadow versions, in the order of their records.
        """
        found = np.full(len(predictions), NOT_TAKEN, dtype=np.int64)
        groups, first = np.unique(predictions.group, return_index=True)
        for group in groups[np.argsort(first)].tolist():
            version = self._of_group(group)
            if version is not None:
                rows = np.flatnonzero(predictions.group == group)
                latest = int(predictions.time[rows].max())
                self._last[version] = max(self._last.get(version, BEFORE_ALL), latest)
                found[rows] = [*self._last].index(version)
        return found

    def advance(self, over: Over) -> None:
        """Free the places of versions of which nothing is remembered any more.

        Args:
            over: predictions that ended before these moments are over, see `Forgetting`.
        """
        for version, last in [*self._last.items()]:
            retention = int(self._terms.retention(np.array([version.model]))[0])
            if last + retention < int(over.by_model[version.model]):
                del self._last[version]

    def state(self) -> list[list[Any]]:
        """Return each version with the time of its latest prediction, epoch milliseconds."""
        return [[one.model, one.name, last] for one, last in self._last.items()]

    def restore(self, state: list[list[Any]], models: Int64Array) -> None:
        """Restore the state.

        Args:
            state: from `state`.
            models: numbers of that state's models that still exist.
        """
        new = {old: number for number, old in enumerate(models.tolist())}
        self._last = {
            self._version(new[model], name): last for model, name, last in state if model in new
        }

    def _of_group(self, group: int) -> ShadowVersion | None:
        model = int(self._catalogue.model_of_group[group])
        version = self._version(model, self._catalogue.shadow_names[group])
        if version not in self._last:
            others = sum(one.model == model for one in self._last)
            return version if others < MOST_SHADOWS else None
        return version

    def _version(self, model: int, name: str) -> ShadowVersion:
        mix = keys_of([f"{self._catalogue.models[model]}\0{name}"])[0]
        return ShadowVersion(model, name, mix)
