"""`precision-monitor compare`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from monitor.cli.mapped_files import RecordedFeed, mapping_of
from monitor.cli.output import show
from monitor.cli.recorded_input import (
    check_segments,
    check_usable,
    config_of,
    paths_of,
    with_segments,
)
from monitor.config import Config
from monitor.config.quantities import parse_duration
from monitor.diagnosis.recorded import RecordedComparison, settings_of
from monitor.diagnosis.versions import compare_recorded
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.events.columns import VERSION_KEY, EventBatch
from monitor.report.versions_answer import versions_json
from monitor.report.versions_text import versions_text

_FINE, _FINDING = 0, 1
_TWO = 2


def run(args: Namespace) -> int:
    """Compare two versions of a model.

    Returns:
        The exit code; 1 if `--fail-on` names the verdict.

    Raises:
        MonitorError: an option, the configuration or a file cannot be used.
    """
    versions, last = _versions(args.versions), _last(args.last)
    config = _without_version(config_of(args))
    feed = RecordedFeed(paths_of(args, config), config, mapping_of(args))
    monitor = Monitor(config)
    recorded = RecordedComparison(monitor, args.model, before=None, after=None)
    batches: list[EventBatch] = []
    for batch in feed.batches():
        monitor.apply(batch)
        batches.append(batch)
    snapshot = monitor.snapshot()
    check_usable(snapshot)
    check_segments(snapshot, feed, asked=args.segments is not None)
    model = recorded.model()
    found = compare_recorded(
        batches,
        model,
        settings_of(config, model),
        mature_until=recorded.mature_until(model),
        versions=versions,
        last=last,
    )
    show(versions_json(found) if args.json else versions_text(found))
    if feed.torn is not None:
        raise feed.torn
    failing: Sequence[str] = args.fail_on
    return _FINDING if found.comparison.decided_by.found.verdict in failing else _FINE


def _versions(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    names = text.split(",")
    if len(names) != _TWO or not all(names) or names[0] == names[1]:
        raise UsageError(f"--versions: must be two different versions, got {text!r}; write A,B")
    return names[0], names[1]


def _last(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        length = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--last: {error}, got {text!r}") from error
    if not length:
        raise UsageError(f"--last: must be above 0, got {text!r}")
    return length


def _without_version(config: Config) -> Config:
    """The configuration without the version as a segment: each stratum holds both versions."""
    by_model = {name: _others(model.segments) for name, model in config.models.items()}
    return with_segments(config, by_model, _others(config.defaults.segments))


def _others(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if key != VERSION_KEY)
