"""What a start says of the feeds that the stored state was counted from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from monitor.config import Config
from monitor.config.quantities import count_of
from monitor.feeds.source import Position, Source
from monitor.state import JOURNAL, START, JournalPosition
from monitor.state.segment_bodies import lines_behind


def resuming_lines(
    config: Config,
    positions: Mapping[str, Position],
    sources: Sequence[Source],
    *,
    changed: bool,
) -> Iterator[str]:
    """Yield lines on feeds that are others, and on acknowledged events that wait in the journal.

    Args:
        config: the configuration.
        positions: positions of the checkpoint, by identity of their sources.
        sources: the sources of the configuration.
        changed: True if the checkpoint is of another configuration.
    """
    directory, feeds = config.state.directory, {source.identity for source in sources}
    stored, fed = positions.keys() - {JOURNAL}, feeds - {JOURNAL}
    if stored and fed and not stored & fed:
        yield (
            f"{directory}: its counts are of {', '.join(sorted(stored))}, "
            f"and those of {', '.join(sorted(fed))} are added to them; if these are the events "
            "of another monitor, give each configuration a state.directory of its own"
        )
    if JOURNAL in feeds and not changed:
        return
    position = positions.get(JOURNAL)
    since = START if position is None else JournalPosition(**position)
    waiting = lines_behind(directory / JOURNAL, since)
    if not waiting:
        return
    events = f"CAUTION: {count_of(waiting, 'acknowledged event')} behind the last checkpoint"
    if JOURNAL in feeds:
        yield (
            f"{events} are decoded by the configuration as it is now, its thresholds, models and "
            "classes, not by the one that acknowledged them"
        )
    else:
        yield (
            f"{events} are not counted: they wait in {directory / JOURNAL} for a feed of type "
            "http, and none is configured; a start with one counts them"
        )
