"""Numbers of the groups of batches, as they are remembered from one batch to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from monitor.events.columns import Group

UNKNOWN_GROUP = -1
"""In place of the number of a group: its model is not accepted."""

Numbered = tuple[int, bool]
"""Number of a group, and whether a value of it was replaced by `OTHER_VALUE`."""

_MOST_KNOWN = 1 << 16
"""Most groups that are remembered between two batches."""


class KnownGroups:
    """Numbers groups, and remembers the numbers.

    A number rests on the model and the values: many versions that are no segment share one.

    Args:
        number: gives a group its number; always the same one, until `forget`.
    """

    def __init__(self, number: Callable[[Group], Numbered]) -> None:
        self._number = number
        self._known: dict[Group, Numbered] = {}
        self._of_values: dict[tuple[str, tuple[str, ...]], Numbered] = {}

    def __len__(self) -> int:
        return len(self._known)

    def knows(self, groups: Sequence[Group]) -> bool:
        """Return whether the numbers of all these groups are remembered."""
        return all(map(self._known.__contains__, groups))

    def numbered(self, groups: Sequence[Group]) -> list[Numbered]:
        """Return the number of each group; all of a batch in one go, or in steps."""
        return [self._known.get(group) or self._new(group) for group in groups]

    def tidy(self) -> None:
        """Forget the numbers where there are many; call this where a batch is numbered."""
        if len(self._known) > _MOST_KNOWN:
            self.forget()

    def forget(self) -> None:
        """Forget all numbers."""
        self._known.clear()
        self._of_values.clear()

    def _new(self, group: Group) -> Numbered:
        model, _, values = group
        found = self._of_values.get((model, values)) or self._number(group)
        if found[0] != UNKNOWN_GROUP:
            self._known[group] = self._of_values[model, values] = found
        return found
