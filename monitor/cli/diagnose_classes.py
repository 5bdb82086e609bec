"""`precision-monitor diagnose` of a model of many classes."""

from __future__ import annotations

from argparse import Namespace

from monitor.cli.mapped_files import RecordedFeed
from monitor.cli.output import show
from monitor.cli.recorded_input import check_usable
from monitor.config import Config
from monitor.diagnosis.class_comparison import compare_classes, whole_days
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.report.class_comparison_json import class_comparison_json
from monitor.report.class_comparison_text import class_comparison_text

_FINE, _FINDING = 0, 1


def model_of_many_classes(config: Config, model: str | None) -> str | None:
    """Return the model to diagnose where it has more than two classes; else None.

    Args:
        config: the configuration.
        model: the model asked for; None for the only one.
    """
    asked = next(iter(config.models)) if model is None and len(config.models) == 1 else model
    known = None if asked is None else config.models.get(asked)
    return asked if known is not None and known.has_many_classes else None


def run_classes(
    args: Namespace,
    monitor: Monitor,
    feed: RecordedFeed,
    model: str,
    *,
    failing: frozenset[Verdict],
) -> int:
    """Explain why the precision of the classes of a model moved.

    Args:
        args: as parsed.
        monitor: to apply the events to.
        feed: what to read.
        model: its name.
        failing: verdicts of `--fail-on`; a model that is worse, and in nothing better, is
            `model_degraded`.

    Returns:
        The exit code.

    Raises:
        MonitorError: an option or a file cannot be used.
    """
    if args.html is not None:
        raise UsageError("--html: shows models of two classes only; leave it out")
    before, after = whole_days("--before", args.before), whole_days("--after", args.after)
    for batch in feed.batches():
        monitor.apply(batch)
    check_usable(monitor.snapshot())
    found = compare_classes(monitor, model, before, after)
    show(class_comparison_json(found) if args.json else class_comparison_text(found))
    if feed.torn is not None:
        raise feed.torn
    worse = found.changes.is_worse and not found.changes.is_better
    return _FINDING if worse and Verdict.MODEL_DEGRADED in failing else _FINE
