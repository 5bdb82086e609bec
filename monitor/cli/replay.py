"""`precision-monitor replay`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from itertools import islice

from monitor.cli.backfill import backfilled
from monitor.cli.config_warnings import warn
from monitor.cli.given_config import given_config
from monitor.cli.held_out import HeldOut, another_model_text, read_held_out, with_references
from monitor.cli.mapped_files import RecordedFeed, mapping_of
from monitor.cli.output import show, tell
from monitor.cli.recorded_classes import with_recorded_classes
from monitor.cli.recorded_input import paths_of
from monitor.cli.replay_ending import ending
from monitor.cli.replay_text import replay_text
from monitor.cli.unknown_segments import warn_of_unknown_segments
from monitor.cli.usable import usable
from monitor.engine import Monitor
from monitor.events.reject_reasons import Rejection
from monitor.exporter.api.score_shares import scores_now, scores_text
from monitor.labels.regime import LabelRegime
from monitor.metrics.confusion_summary import summary
from monitor.report.printable import one_line
from monitor.report.replay_json import replay_json
from monitor.report.score_text import scores_summary
from monitor.snapshot import ModelState, Snapshot

_SHOWN = 5
"""Number of rejected records to show; the rest are counted."""


def run(args: Namespace) -> int:
    """Count recorded events and print the result, even if a file ends in a damaged part.

    Returns:
        The exit code; 3 if none of the records could be used.

    Raises:
        MonitorError: an option, the configuration or a file cannot be used.
    """
    config = given_config(args)
    tested: tuple[HeldOut, ...] = ()
    if args.reference is not None:
        tested = read_held_out(args.reference, config, mapping_of(args))
        config = with_references(config, args.reference, tested)
    paths, mapping = paths_of(args, config), mapping_of(args)
    config = with_recorded_classes(config, paths, mapping)
    warn(config)
    monitor, rejected = Monitor(config), _Rejected()
    feed = RecordedFeed(paths, config, mapping)
    with backfilled(monitor, args) as apply:
        for batch in feed.batches():
            apply(batch)
            rejected.note(batch.rejected)
    monitor.carry(feed.reached())
    snapshot = monitor.snapshot()
    rejected.tell()
    feed.warn_of_order(snapshot)
    warn_of_unknown_segments(snapshot, feed)
    if tested and not config.models:
        names = (model.name for model in snapshot.models)
        if other := another_model_text(args.reference, tested, names):
            tell(other)
    show(_printed(monitor, snapshot, args, feed))
    if feed.torn is not None:
        raise feed.torn
    return usable(snapshot, feed.faults)


def _printed(monitor: Monitor, snapshot: Snapshot, args: Namespace, feed: RecordedFeed) -> str:
    if args.json:
        return replay_json(snapshot)
    if args.summary:
        blocks = [
            "\n".join([one_line(m.name), _summary(snapshot, m), *scores_summary(m.scores)])
            for m in snapshot.models
        ]
    else:
        blocks = [replay_text(snapshot, lambda model: scores_text(scores_now(monitor, model)))]
    last = ending(
        snapshot,
        args,
        feed.faults,
        monitor.history,
        feed.contradictions,
        of_times=feed.days_alone.text,
    )
    return "\n\n".join(filter(None, [*blocks, last]))


def _summary(snapshot: Snapshot, model: ModelState) -> str:
    """Return every metric of the counts, if they represent all predictions."""
    if model.refused:
        return f"  no summary: {model.refused_because}"
    regime = LabelRegime.now(model)
    if regime.has_errors:
        return "  no summary: labels have errors, and counts are as labelled"
    if regime.is_estimated:
        return f"  no summary: under labelling {model.labelling} counts do not stand for all"
    return f"{summary(snapshot.lifetime.counts[model.row])}"


class _Rejected:
    """The first rejected records, and the number of all."""

    def __init__(self) -> None:
        self._first: list[Rejection] = []
        self._count = 0

    def note(self, rejections: Sequence[Rejection]) -> None:
        """Add the rejections of a batch."""
        self._count += len(rejections)
        self._first += islice(rejections, _SHOWN - len(self._first))

    def tell(self) -> None:
        """Print them to stderr."""
        for rejection in self._first:
            tell(f"{rejection.position}: {rejection.reason}: {rejection.detail}")
        if self._count > len(self._first):
            tell(f"… and {self._count - len(self._first):,} more; the last line sums up")
