"""Rows of predictions of one shadow version."""

from __future__ import annotations

from typing import NamedTuple

from monitor.events.columns import BoolArray, Int64Array, KeyArray
from monitor.join.shadow_versions import ShadowVersion


class ShadowRows(NamedTuple):
    """The remembered predictions of a shadow version for some rows.

    Attributes:
        version: which.
        rows: those that it has a prediction for.
        slots: of the predictions.
    """

    version: ShadowVersion
    rows: Int64Array
    slots: Int64Array

    def where(self, chosen: BoolArray) -> ShadowRows:
        """Return some of them."""
        return ShadowRows(self.version, self.rows[chosen], self.slots[chosen])


class NewShadowRows(NamedTuple):
    """Predictions of a shadow version, the first of their ids.

    Attributes:
        version: which.
        ids: keys of their ids.
        keys: the same, mixed with that of the version.
        when: first word of each, see `packing`.
        what: second word of each.
        came: row of the first record of each.
    """

    version: ShadowVersion
    ids: KeyArray
    keys: KeyArray
    when: KeyArray
    what: KeyArray
    came: Int64Array
