"""How many predictions came when they were past their horizon already."""

from __future__ import annotations

from typing import NamedTuple


class CameExpired(NamedTuple):
    """Predictions of a model that came so late.

    Attributes:
        events: how many; those that came again count each time.
        furthest_ms: how far the one furthest behind lay before the time of its model, or up to a
            step of the forgetting less.
    """

    events: int = 0
    furthest_ms: int = 0


NONE_CAME = CameExpired()
"""None at all."""
