"""Counts of pairs by hour and the groups of their predictions, to compare shadow versions."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import Int64Array
from monitor.events.renumbering import GONE, Numbers, renumbered
from monitor.join.pairs import PAIR_CELLS, groups_of_pairs, pairs_of_groups
from monitor.windows.version_counts import VersionCounts


class PairCounts(VersionCounts):
    """Counts of pairs, of which a row's group and cells are those of `monitor.join.pairs`."""

    width = PAIR_CELLS

    def _catalogued(self, groups: Int64Array) -> Int64Array:
        return groups_of_pairs(groups)[0]

    def _numbered(self, groups: Int64Array, left: Numbers) -> Int64Array:
        numbers = [renumbered(one, left.groups) for one in groups_of_pairs(groups)]
        gone = np.any([one == GONE for one in numbers], axis=0)
        return np.where(gone, GONE, pairs_of_groups(*numbers))
