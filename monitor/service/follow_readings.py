"""What the followed files tell of themselves at each scrape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from monitor.feeds.follow import FollowedFiles
from monitor.prometheus.process_series import FOLLOWED_FAULTS, NumberByLabels, SeriesDescription
from monitor.service.sources import Source


def follow_readings(
    sources: Sequence[Source],
) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
    """How the series of followed files are read.

    Args:
        sources: all that are read; those of other kinds have no such series.
    """
    followed = [source for source in sources if isinstance(source, FollowedFiles)]

    def faults() -> NumberByLabels:
        return {
            (source.name, kind): float(number)
            for source in followed
            for kind, number in source.faults.items()
        }

    return {FOLLOWED_FAULTS: faults}
