"""Events dated too far ahead of the clock: the first of each model and feed are reported."""

from __future__ import annotations

from collections.abc import Callable

from monitor.config.quantities import count_of
from monitor.events.carrying import far_events
from monitor.events.columns import EventBatch
from monitor.report.printable import one_line

_MOST = 50
"""Lines for all models together, of however many feeds."""


class FalseTimes:
    """Reports events that carry no time of their model, as they are a day ahead of the clock.

    Args:
        say: prints a line for the operator.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._known: set[tuple[str, str]] = set()

    def note(self, feed: str, batch: EventBatch) -> None:
        """Report the models of a batch that have such events for the first time in this feed.

        Args:
            feed: name of the feed in messages.
            batch: as decoded.
        """
        for model, events in far_events(batch):
            kind = (model, feed)
            if kind in self._known or len(self._known) >= _MOST:
                continue
            self._known.add(kind)
            self._say(
                one_line(
                    f"CAUTION: {model}: {count_of(events, 'event')} of {feed} dated more than a "
                    "day ahead of the clock; they and further ones count, but move neither windows "
                    "nor label timeouts, however many they are; correct the clock or the unit of "
                    "time of their producer, or the clock of this host"
                )
            )
