"""The texts of some ids, which are found again by their keys as records are decoded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.events.columns import KeyArray
from monitor.events.keys import keys_of


class IdTexts:
    """Notes the texts of ids whose keys are asked for. Safe to use from any thread.

    Args:
        keys: of the ids.

    Attributes:
        found: text of each id that came, by its key.

    >>> texts = IdTexts(np.array([7], np.uint64))
    >>> texts.note([b"a", "b"], np.array([7, 9], np.uint64))
    >>> texts.found
    {7: 'a'}
    """

    def __init__(self, keys: KeyArray) -> None:
        self._keys = np.unique(keys)
        self.found: dict[int, str] = {}

    def note(self, ids: Sequence[str | bytes], keys: KeyArray) -> None:
        """Note those of some ids that are asked for.

        Args:
            ids: their texts; bytes are UTF-8.
            keys: their keys, in the same order.
        """
        for row in np.flatnonzero(np.isin(keys, self._keys)).tolist():
            text = ids[row]
            self.found[int(keys[row])] = text if isinstance(text, str) else text.decode()


def noted_keys(ids: Sequence[str], seed: int, texts: IdTexts | None) -> KeyArray:
    """Return the keys of ids, and note the texts of those that are asked for.

    Args:
        ids: their texts.
        seed: of the keys.
        texts: notes them; None to note none.
    """
    keys = keys_of(ids, seed)
    if texts is not None:
        texts.note(ids, keys)
    return keys
