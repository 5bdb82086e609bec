"""`precision-monitor compare`."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from shlex import join, quote

from monitor.cli.mapped_files import RecordedFeed, mapping_of
from monitor.cli.next_command import mapping_as_given
from monitor.cli.output import show
from monitor.cli.parser.command import PROGRAM
from monitor.cli.recorded_classes import with_recorded_classes
from monitor.cli.recorded_input import (
    check_segments,
    check_usable,
    config_of,
    paths_of,
    with_segments,
)
from monitor.cli.remote import remote_of
from monitor.config import Config
from monitor.config.versions_asked import parse_last, parse_versions
from monitor.diagnosis.recorded import RecordedComparison, settings_of
from monitor.diagnosis.version_events import scored_again
from monitor.diagnosis.versions import compare_recorded
from monitor.drift.version_verdict import VersionVerdict
from monitor.engine import CountingMonitor
from monitor.errors import NotComparedError, UsageError
from monitor.events.columns import VERSION_KEY, EventBatch
from monitor.events.left_out_keys import LeftOutKey
from monitor.report.answer_parts import json_text
from monitor.report.versions_answer import versions_json
from monitor.report.versions_not_compared import VersionsNotCompared, not_compared_text
from monitor.report.versions_now import LiveVersionsAnswer
from monitor.report.versions_text import versions_text

_FINE, _FINDING = 0, 1


def run(args: Namespace) -> int:
    """Compare two versions of a model.

    Returns:
        The exit code; 1 if `--fail-on` names the verdict.

    Raises:
        MonitorError: an option, the configuration or a file cannot be used.
    """
    versions = parse_versions("--versions", args.versions)
    last = parse_last("--last", args.last)
    if args.url is not None:
        return _ask(args)
    if args.segments is not None and VERSION_KEY in args.segments.split(","):
        raise UsageError(
            f"--segments: the version is compared, and cannot be a segment as well, got "
            f"{args.segments!r}; name the other keys, or leave it out to take the configured ones"
        )
    given = config_of(args)
    paths, mapping = paths_of(args, given), mapping_of(args)
    given = with_recorded_classes(given, paths, mapping)
    left_out: tuple[LeftOutKey, ...] = ()
    if args.segments is None and not args.config:
        keys, left_out = RecordedFeed(paths, given, mapping).small_segment_keys()
        given = with_segments(given, {}, keys)
    config = _without_version(given)
    feed = RecordedFeed(paths, config, mapping)
    monitor = CountingMonitor(config)
    recorded = RecordedComparison(
        monitor, args.model, before=None, after=None, notation=feed.faults.notation
    )
    batches: list[EventBatch] = []
    for batch in feed.batches():
        monitor.apply(batch)
        batches.append(batch)
    monitor.carry(feed.reached())
    snapshot = monitor.snapshot()
    check_usable(snapshot, feed, pairs=scored_again(batches))
    check_segments(snapshot, feed, asked=args.segments is not None)
    model = recorded.model()
    verdict = VersionVerdict.NOT_SHOWN
    try:
        found = compare_recorded(
            batches,
            model,
            settings_of(config, model),
            mature_until=recorded.mature_until(model),
            versions=versions,
            last=last,
            diagnose=_diagnose(args, model),
            is_shadow=settings_of(given, model).is_shadow,
            left_out=left_out,
        )
    except NotComparedError as error:
        why = str(error).removeprefix("--versions: ").removeprefix(f"{model}: ")
        text = not_compared_text(why)
        answer = VersionsNotCompared(model=model, headline=text)
        show(json_text(answer, indent=2) if args.json else text)
    else:
        verdict = found.comparison.decided_by.found.verdict
        show(versions_json(found) if args.json else versions_text(found))
    if feed.torn is not None:
        raise feed.torn
    return _finding(verdict, args)


def _ask(args: Namespace) -> int:
    """Print the comparison of a running monitor; return the exit code."""
    remote = remote_of(args)
    query = {"model": args.model, "versions": args.versions, "last": args.last}
    found = remote.answer("versions", query, LiveVersionsAnswer)
    text = json_text(found, indent=2) if args.json else remote.text("versions", query).rstrip()
    show(re.sub(r"--url(\s+)URL\b", lambda found: f"--url{found[1]}{quote(remote.url)}", text))
    verdict = VersionVerdict.NOT_SHOWN
    if found.comparison is not None:
        verdict = found.comparison.verdict
    return _finding(verdict, args)


def _diagnose(args: Namespace, model: str) -> str:
    """Return the command that compares two stretches of the same events, without these."""
    options = ["--model", model, *mapping_as_given(args, "config", "segments")]
    return join([PROGRAM, "diagnose", *args.files, *args.feed, *options])


def _finding(verdict: VersionVerdict, args: Namespace) -> int:
    failing: Sequence[str] = args.fail_on
    return _FINDING if verdict in failing else _FINE


def _without_version(config: Config) -> Config:
    """The configuration without the version as a segment: each stratum holds both versions."""
    by_model = {name: _others(model.segments) for name, model in config.models.items()}
    return with_segments(config, by_model, _others(config.defaults.segments))


def _others(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if key != VERSION_KEY)
