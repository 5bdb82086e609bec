"""Series of the followed files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from monitor.feeds.follow import FollowedFiles
from monitor.feeds.source import Source
from monitor.prometheus.feed_series import FOLLOWED_FAULTS
from monitor.prometheus.process_series import NumberByLabels, SeriesDescription


def follow_readings(
    sources: Sequence[Source],
) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
    """Return the series of followed files, and how each is read.

    Args:
        sources: all sources; those of other kinds have no such series.
    """
    followed = [source for source in sources if isinstance(source, FollowedFiles)]

    def faults() -> NumberByLabels:
        return {
            (source.name, kind): float(number)
            for source in followed
            for kind, number in source.faults.items()
        }

    return {FOLLOWED_FAULTS: faults}
