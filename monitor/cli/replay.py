"""`precision-monitor replay`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice

from monitor.cli.backfill import backfilled
from monitor.cli.config_warnings import warn
from monitor.cli.output import show, tell
from monitor.cli.progress import Progress
from monitor.cli.replay_text import replay_text
from monitor.clock import SystemClock
from monitor.config import Config, Labelling, load_config
from monitor.engine import Monitor
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.labels.sampled_labels import SAMPLES
from monitor.metrics.confusion_summary import summary
from monitor.report.replay_json import replay_json
from monitor.snapshot import ModelState, Snapshot

_SHOWN = 5
"""Number of rejected records to show; the rest are counted."""


def run(args: Namespace) -> int:
    """Count recorded events and print the result, even if a file ends in a damaged part.

    Returns:
        The exit code.

    Raises:
        MonitorError: an option, the configuration or a file cannot be used.
    """
    config = load_config(args.config) if args.config else Config.without_file()
    warn(config)
    monitor, rejected, torn, records = Monitor(config), _Rejected(), None, 0
    progress = Progress(sys.stderr, SystemClock())
    with backfilled(monitor, args) as apply:
        try:
            for batch in _batches(args.files, config, progress):
                apply(batch)
                rejected.note(batch.rejected)
                records += batch.records
        except FeedError as error:
            if records == 0:
                raise
            torn = error
        finally:
            progress.close()
    snapshot = monitor.snapshot()
    rejected.tell()
    show(_printed(snapshot, args))
    if torn is not None:
        raise torn
    return 0


def _printed(snapshot: Snapshot, args: Namespace) -> str:
    if args.json:
        return replay_json(snapshot)
    if args.summary:
        return "\n\n".join(f"{m.name}\n{_summary(snapshot, m)}" for m in snapshot.models)
    return replay_text(snapshot)


def _summary(snapshot: Snapshot, model: ModelState) -> str:
    """Return every metric of the counts, if they represent all predictions."""
    if model.refused:
        return f"  no summary: {model.refused_because}"
    if Labelling(model.labelling) in SAMPLES:
        return f"  no summary: under labelling {model.labelling} counts do not stand for all"
    return f"{summary(snapshot.lifetime.counts[model.row])}"


def _batches(paths: Sequence[str], config: Config, progress: Progress) -> Iterator[EventBatch]:
    decoder = Decoder(DecodeSettings.from_config(config))
    return iter(files.read(paths, decoder, progress=progress))


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
            tell(f"… and {self._count - len(self._first)} more")
