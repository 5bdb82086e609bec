"""`precision-monitor threshold`."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from typing import Any, NamedTuple

from monitor.cli.config_warnings import warn
from monitor.cli.given_config import given_config
from monitor.cli.mapped_files import RecordedFeed, mapping_of
from monitor.cli.output import show
from monitor.cli.recorded_classes import with_recorded_classes
from monitor.cli.recorded_input import check_usable, paths_of
from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.diagnosis.comparison import check_two_classes
from monitor.engine import CountingMonitor, Monitor
from monitor.errors import UsageError
from monitor.labels.error_words import excluded_text
from monitor.labels.refusals import REASONS
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected_curve import curve_refused_because
from monitor.metrics.confusion_summary import ScalarEstimate
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.objective import parse_objective
from monitor.metrics.possible_rates import possible_at_thresholds
from monitor.metrics.threshold import ThresholdChoice, best_threshold, has_both_classes
from monitor.report.printable import one_line
from monitor.report.recalibration_words import CORRECTED_CURVE
from monitor.snapshot import ModelState, Snapshot

_LIVE = "live"


def run(args: Namespace) -> int:
    """Find the best threshold for an objective at a class ratio.

    Returns:
        The exit code; 1 if no threshold reaches the objective.

    Raises:
        MonitorError: an option, the configuration or a file cannot be used.
    """
    parse_objective(args.objective)
    asked = None if args.class_ratio == _LIVE else _positive(args.class_ratio)
    config = given_config(args)
    paths, mapping = paths_of(args, config), mapping_of(args)
    config = with_recorded_classes(config, paths, mapping)
    warn(config)
    # The longest window, whose class ratio is the live one, may be one that only judging needs.
    monitor = Monitor(config) if asked is None else CountingMonitor(config)
    feed = RecordedFeed(paths, config, mapping)
    for batch in feed.batches():
        monitor.apply(batch)
    snapshot = monitor.snapshot()
    check_usable(snapshot, feed)
    model = _model(snapshot, args.model)
    check_two_classes("threshold", model.name, config.model(model.name).classes)
    closes = ((model.now_ms or 0) // DAY_MS + 1) * DAY_MS
    changed = max((one.until for one in model.earlier_label_errors), default=0)
    histogram = monitor.scores(model.name, max(closes - args.days * DAY_MS, changed), closes)
    if not histogram.counts[0].total:
        raise UsageError(f"threshold: {one_line(model.name)}: no labelled prediction has a score")
    regime = LabelRegime.now(model)._replace(earlier=())
    if (refused := curve_refused_because(regime, histogram.counts)) is not None:
        raise UsageError(f"threshold: {one_line(model.name)}: {refused}")
    choice = best_threshold(
        histogram,
        args.objective,
        class_ratio=_live_class_ratio(snapshot, model, changed) if asked is None else asked,
        errors=regime.errors,
    )
    shown = _json if args.json else _text
    show(shown(model.name, choice, args.objective, _Rates.of(regime, histogram)))
    if feed.torn is not None:
        raise feed.torn
    return 0 if choice is not None else 1


def _model(snapshot: Snapshot, name: str | None) -> ModelState:
    known = {model.name: model for model in snapshot.models}
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        wrong = "must name a model" if name is None else f"no such model, got {name!r}"
        raise UsageError(f"threshold: --model: {wrong}; the feed has {', '.join(known) or 'none'}")
    return known[name]


def _live_class_ratio(
    snapshot: Snapshot, model: ModelState, changed: int
) -> float | ConfusionCounts | None:
    """Return the class ratio of the longest window at the end of the feed.

    Args:
        snapshot: at the end of the feed.
        model: its state.
        changed: since when labels are wrong as often as now, epoch milliseconds.

    Returns:
        Where labels have errors, the outcomes of the window as labelled, or None for the class
        ratio of the scores where it opens before the change, or has too few labels of a class.
    """
    used = snapshot.windows_of(model)
    window = max(used, key=lambda w: int(w.close[model.row] - w.open[model.row]))
    live = float(window.metrics["class_ratio"].estimate[model.row])
    if not (math.isfinite(live) and live > 0):
        because = REASONS.get(window.fault_of(model.row), "it has no positives or no negatives")
        raise UsageError(
            f"threshold: the live class ratio is undefined in window {window.name}: {because}; "
            "give --class-ratio a number"
        )
    if not any(model.label_errors):
        return live
    outcomes = window.counts[model.row]
    known = window.open[model.row] >= changed and has_both_classes(outcomes, model.label_errors)
    return outcomes if known else None


def _positive(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = math.nan
    if not (math.isfinite(ratio) and ratio > 0):
        raise UsageError(
            f"threshold: --class-ratio: must be live or a number above 0, got {text!r}"
        )
    return ratio


class _Rates(NamedTuple):
    """The rates of wrong labels that a threshold is corrected for.

    Attributes:
        errors: the rates, as far as the labels allow them; zeros where labels count as they are.
        configured: see `LabelRegime.configured`.
    """

    errors: ErrorRates
    configured: ErrorRates

    @classmethod
    def of(cls, regime: LabelRegime, scores: ScoreHistogram) -> _Rates:
        """Return those of the labels of some scores."""
        configured = regime.configured if any(regime.configured) else regime.errors
        return cls(possible_at_thresholds(regime.errors, scores.counts), configured)

    @property
    def are_configured(self) -> bool:
        """True where labels may be wrong, if only as far as the labels exclude it."""
        return any(self.configured)

    @property
    def text(self) -> str:
        """What precision and recall are corrected for, with the part of it that cannot be."""
        excluded = excluded_text(self.errors, self.configured, "some range of scores")
        return f"{CORRECTED_CURVE}{excluded}"


def _text(model: str, choice: ThresholdChoice | None, objective: str, rates: _Rates) -> str:
    if choice is None:
        found = f"{one_line(model)}: no threshold reaches {objective}"
        return f"{found}; {rates.text}" if rates.are_configured else found
    cells = choice.counts
    flagged = float(cells.predicted_positive / cells.total)
    rows = {
        "objective": _served(choice),
        "at class ratio": f"{choice.class_ratio:.4g} positives per negative",
        "precision there": _interval(choice.precision),
        "recall": _interval(choice.recall),
        "flagged": f"{flagged:.1%} of all predictions",
        "based on": f"{choice.observed.total:,} labelled scores, "
        f"{choice.observed.predicted_positive:,} of them at or above it",
    }
    if choice.limited is not None:
        rows["bound met"] = _bound_met(choice)
    if rates.are_configured:
        rows["labels"] = rates.text
    head = f"{one_line(model)}: predict positive at scores of {choice.threshold:g} and above"
    return "\n".join([head, *(f"  {name:<18}{text}" for name, text in rows.items())])


def _served(choice: ThresholdChoice) -> str:
    name, best = choice.sought.replace("_", " "), "lowest" if choice.sought == "cost" else "highest"
    if choice.limited is None:
        return f"{choice.objective}: {best} {name}, {choice.value:.4g}"
    return f"{choice.objective}, and within it the {best} {name}: {choice.value:.4g}"


def _bound_met(choice: ThresholdChoice) -> str:
    if choice.certain:
        return "yes, by the whole 95 % interval"
    return "by the point estimate, not the whole 95 % interval; raise the bound or get more labels"


def _interval(estimate: ScalarEstimate) -> str:
    return f"{estimate.value:.4f}  (95 % interval {estimate.lower:.4f} to {estimate.upper:.4f})"


def _json(model: str, choice: ThresholdChoice | None, objective: str, rates: _Rates) -> str:
    found: dict[str, Any] = {
        "model": model,
        "threshold": None,
        "objective": objective,
        "corrected": rates.are_configured,
        "label_errors": rates.errors.rates,
        "label_error_ranges": rates.errors.ranges,
        "label_errors_excluded": rates.configured.excluded(rates.errors),
    }
    if choice is not None:
        found |= {
            "threshold": choice.threshold if math.isfinite(choice.threshold) else None,
            "objective": choice.objective,
            "sought": choice.sought,
            "value": choice.value,
            "class_ratio": choice.class_ratio,
            "precision": _bounds(choice.precision),
            "recall": _bounds(choice.recall),
            "limited": None if choice.limited is None else _bounds(choice.limited),
            "bound_certain": choice.certain,
            "expected": _cells(choice.counts),
            "observed": _cells(choice.observed),
        }
    return json.dumps(found, indent=2, allow_nan=False)


def _cells(counts: Any) -> dict[str, float]:
    return {name: getattr(counts, name).item() for name in ("tp", "fp", "fn", "tn")}


def _bounds(estimate: ScalarEstimate) -> dict[str, float | None]:
    named = zip(("estimate", "lower", "upper"), estimate, strict=True)
    return {name: float(value) if math.isfinite(value) else None for name, value in named}
