"""`precision-monitor reference`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from monitor import metrics
from monitor.cli.held_out import HeldOut, read_held_out
from monitor.cli.mapped_files import mapping_of
from monitor.cli.output import show, tell
from monitor.config import Config, load_config
from monitor.config.quantities import count_of
from monitor.config.yaml_text import flow, scalar
from monitor.counts import ConfusionCounts
from monitor.report.reference_text import too_small_text
from monitor.report.vocabulary import METRIC_WORDS

_SHOWN = ("precision", "recall", "false_positive_rate", "prevalence")


def run(args: Namespace) -> int:
    """Print the outcomes of a held-out test set as a model's reference.

    Returns:
        The exit code.

    Raises:
        MonitorError: an option, the configuration or the file cannot be used.
    """
    config = load_config(args.config) if args.config else Config.without_file()
    found = read_held_out(args.file, config, mapping_of(args), threshold=args.threshold)
    show("models:")
    for one in found:
        show(f"  {scalar(one.model)}:")
        show(f"    reference: {flow(one.reference)} # {args.file}")
    for one in found:
        for line in _found(one):
            tell(f"{one.model}: {line}")
    return 0


def _found(one: HeldOut) -> Iterator[str]:
    labelled = int(one.counts.total)
    left = one.predictions - labelled
    without = f", {count_of(left, 'prediction')} without a label left out" if left else ""
    yield f"{count_of(labelled, 'outcome')}{without}"
    yield "; ".join(_estimate(one.counts, name) for name in _SHOWN)
    if small := too_small_text(one.counts):
        yield f"warning: {small}"


def _estimate(counts: ConfusionCounts, name: str) -> str:
    value = float(getattr(metrics, name)(counts))
    words = METRIC_WORDS[name].words
    if value != value:  # noqa: PLR0124  # NaN
        return f"{words} is undefined"
    lower, upper = (float(limit) for limit in metrics.intervals(counts, name))
    digits = METRIC_WORDS[name].digits
    return f"{words} {value:.{digits}f} ({lower:.{digits}f} to {upper:.{digits}f})"
