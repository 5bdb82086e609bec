"""Audits without effect."""

from __future__ import annotations

from typing import NamedTuple


class LostAudits(NamedTuple):
    """Audits without effect, since no prediction with their id was there.

    Attributes:
        number: of them.
        horizon_ms: the shortest horizon of a model that forgot predictions, milliseconds; None
            where no model did, so that predictions with these ids never came.
        needed_ms: a horizon at which no model would have forgotten any, whole days, milliseconds;
            None likewise.
    """

    number: int
    horizon_ms: int | None = None
    needed_ms: int | None = None
