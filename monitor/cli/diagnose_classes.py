"""`precision-monitor diagnose` of a model of many classes."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from monitor.cli.mapped_files import RecordedFeed
from monitor.cli.output import show
from monitor.cli.recorded_input import check_usable
from monitor.config import Config
from monitor.diagnosis.class_comparison import compare_classes, counted_days
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.diagnosis.recorded import asked_model
from monitor.diagnosis.time_ranges import JUDGED_MS
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.report.class_comparison_json import class_comparison_json
from monitor.report.class_comparison_text import class_comparison_text

_FINE, _FINDING = 0, 1


def has_many_classes(config: Config, model: str | None) -> bool:
    """Return whether the model to diagnose has more than two classes.

    Args:
        config: the configuration.
        model: the model asked for; None for the only one.
    """
    if not config.models:
        return config.defaults.has_many_classes
    asked = next(iter(config.models)) if model is None and len(config.models) == 1 else model
    known = None if asked is None else config.models.get(asked)
    return known is not None and known.has_many_classes


def run_classes(
    args: Namespace, monitor: Monitor, feed: RecordedFeed, *, failing: frozenset[Verdict]
) -> int:
    """Explain why the precision of the classes of a model moved.

    Args:
        args: as parsed.
        monitor: to apply the events to.
        feed: what to read.
        failing: verdicts of `--fail-on`.

    Returns:
        The exit code.

    Raises:
        MonitorError: an option or a file cannot be used.
    """
    _check_options(args)
    for batch in feed.batches():
        monitor.apply(batch)
    monitor.carry(feed.reached())
    snapshot = monitor.snapshot()
    check_usable(snapshot, feed)
    names = tuple(model.name for model in snapshot.models)
    asked_for = asked_model(args.model, names, "the feed")
    state = snapshot.models[names.index(asked_for)]
    asked = ClassRanges.asked(state, args.before, args.after, JUDGED_MS, prefix="--")
    found = compare_classes(state, asked, counted_days(monitor, state.name, asked))
    show(class_comparison_json(found) if args.json else class_comparison_text(found))
    if feed.torn is not None:
        raise feed.torn
    return _FINDING if found.verdict.verdict in failing else _FINE


def show_remote_classes(args: Namespace, found: Mapping[str, Any], text: Callable[[], str]) -> str:
    """Print the answer of a running monitor on a model of many classes.

    Args:
        args: as parsed.
        found: the answer.
        text: returns the same in words.

    Returns:
        The verdict on all classes together.

    Raises:
        UsageError: an option does not go with many classes.
    """
    _check_options(args)
    show(json.dumps(found, indent=2) if args.json else text().rstrip())
    return str(found["verdict"])


def _check_options(args: Namespace) -> None:
    if args.html is not None:
        raise UsageError("--html: shows models of two classes only; leave it out")
    if args.segments is not None:
        raise UsageError(
            "--segments: are those of models of two classes only; leave it out, since classes are "
            "compared within the actual classes"
        )
