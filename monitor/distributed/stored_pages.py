"""Pages of ids as bytes, and where they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from monitor.distributed.changed_ids import ChangedIds
from monitor.distributed.touched_ids import HELD, WORDS, IdStates


class PageBytes(NamedTuple):
    """A page as it is stored.

    Attributes:
        rows: uint64 (predictions, 3) as bytes, see `IdStates`.
        held: rows of `HELD` as bytes.
    """

    rows: bytes = b""
    held: bytes = b""


class PageStore(Protocol):
    """Stores the pages of a task."""

    def read(self, page: int) -> PageBytes:
        """Return a page; one without bytes if it is not stored.

        Args:
            page: its number; `~page` for the changes since it was written whole.
        """
        ...

    def write(self, page: int, data: PageBytes) -> None:
        """Store a page; one without bytes is removed.

        Args:
            page: its number; `~page` for the changes since it was written whole.
            data: its bytes.
        """
        ...


class StoredPage(NamedTuple):
    """A page as it is stored.

    Attributes:
        page: its number.
        whole: as it was last written whole.
        since: what has changed since.
    """

    page: int
    whole: PageBytes
    since: PageBytes


def changed_ids(pages: Sequence[StoredPage]) -> ChangedIds:
    """Return the ids of some pages next to each other."""
    return ChangedIds(
        _ids_of([stored.whole for stored in pages]), _ids_of([stored.since for stored in pages])
    )


def _ids_of(pages: Sequence[PageBytes]) -> IdStates:
    rows = np.frombuffer(b"".join(page.rows for page in pages), dtype=np.uint64)
    held = np.frombuffer(b"".join(page.held for page in pages), dtype=HELD)
    return IdStates(rows.reshape(-1, WORDS), held)


def bytes_of(ids: IdStates) -> PageBytes:
    """Return ids as they are stored."""
    return PageBytes(ids.rows.tobytes(), ids.held.tobytes())


def size_of(page: PageBytes) -> int:
    """Return how many bytes a page has."""
    return len(page.rows) + len(page.held)
