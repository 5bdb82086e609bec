"""Alerts about events that stopped coming, or that come with false times.

Each alert about silence has two expressions. The first is about a model as a whole,
whichever monitors have seen it, so that a monitor that moved to another address is compared
with what it saw before. The second is about each monitor by itself, so that one silent shard
among others is noticed; it has the label `instance` and fires only where the first does not.
"""

from __future__ import annotations

from collections.abc import Callable

from monitor.prometheus.rules import links, templates
from monitor.prometheus.rules.recording import SHARDS
from monitor.prometheus.rules.rule import Alert
from monitor.prometheus.rules.scope import GAP, Scope

FEWEST_PREDICTIONS = 100
"""Predictions during a silence of labels, below which it means nothing."""
FEWEST_USUAL = 10
"""Predictions at the same time of another day, below which silence is usual."""

_WHO = f"{templates.MODEL}{templates.AT_INSTANCE}"
_WHOLE_OR_SHARD = (
    "First of the model as a whole, then of each monitor that sees a part of it, where the "
    "whole is not silent."
)


def feed_alerts(scope: Scope) -> list[Alert]:
    """Return the alerts about labels and about predictions."""
    return [
        _label_feed_stalled(scope),
        _prediction_feed_stalled(scope),
        _events_ahead(scope),
        _below_zero(scope),
    ]


def _whole_or_shard(silent: Callable[[str], str]) -> str:
    """The expression for the model as a whole, then for each monitor.

    Args:
        silent: makes the expression, given the labels that sums leave out besides their own.
    """
    return f"{silent(f', {SHARDS}')}\nor ignoring ({SHARDS})\n{silent('')}"


def _label_feed_stalled(scope: Scope) -> Alert:
    silence = scope.label_silence
    labels = scope.select("classifier_labels_total")
    predictions = scope.select("classifier_predictions_total")
    expired = scope.select("precision_monitor_predictions", state="expired")

    def silent(also: str) -> str:
        came = f"sum without (label{also}) (increase({labels}[{silence}]))"
        made = f"sum without (predicted{also}) (increase({predictions}[{silence}]))"
        before = f"sum without (label{also}) (last_over_time({labels}[1h] offset {silence}))"
        lapsed = f"sum without (state{also}) (last_over_time({expired}[1h] offset {silence}))"
        return (
            f"{came} == 0\nand\n{made} >= {FEWEST_PREDICTIONS}\nand\n"
            f"(\n  {before}\n  +\n  {lapsed}\n) > 0"
        )

    return Alert(
        name="LabelFeedStalled",
        why=f"No label for {silence} while at least {FEWEST_PREDICTIONS} predictions came. The "
        "last part: the model was watched that long ago, and labels came before or predictions "
        "expired without one; a model whose first labels are not due yet is not stalled. "
        f"{_WHOLE_OR_SHARD}",
        expr=_whole_or_shard(silent),
        severity="ticket",
        hold="10m",
        keep="1h",
        summary=f"{_WHO}: no label for {silence}"
        + templates.sum_if_known("precision_monitor_pending_predictions", "predictions wait"),
        description="Predictions arrive, but no labels. Windows move on and become empty; soon "
        "they show nothing about the model, or about the part of it that the named monitor sees. "
        "Alerts that rest on these labels are muted meanwhile. Look at the feed of labels and at "
        "the dead-letter file.",
        runbook=scope.link("deploy/README.md#labelfeedstalled"),
        page=links.page_of_model(scope),
        dashboard=links.on_call(scope),
    )


def _prediction_feed_stalled(scope: Scope) -> Alert:
    silence = scope.prediction_silence
    predictions = scope.select("classifier_predictions_total")

    def silent(also: str) -> str:
        def came(stretch: str, offset: str = "") -> str:
            return f"sum without (predicted{also}) (increase({predictions}[{stretch}]{offset}))"

        return (
            f"{came(silence)} == 0\nand\n(\n"
            f"  {came(silence, ' offset 1d')} >= {FEWEST_USUAL}\n"
            f"  or\n  {came(silence, ' offset 1w')} >= {FEWEST_USUAL}\n"
            f"  or\n  {came('1d')} == 0\n  and\n"
            f"  sum without (predicted{also}) (last_over_time({predictions}[1h] offset 1d)) > 0\n)"
        )

    return Alert(
        name="PredictionFeedStalled",
        why=f"No prediction for {silence}, though at least {FEWEST_USUAL} came at this time of "
        "yesterday or a week ago: quiet nights do not fire. Or none for a whole day, so that the "
        f"alert keeps firing when yesterday was silent too. {_WHOLE_OR_SHARD}",
        expr=_whole_or_shard(silent),
        severity="ticket",
        hold="10m",
        keep="30m",
        summary=f"{_WHO}: no prediction for {silence}"
        + templates.sum_if_known("classifier_predictions_total", "came before"),
        description="Either the model no longer serves, or its predictions do not reach the "
        "monitor. Windows move on and empty; they show the past.",
        runbook=scope.link("deploy/README.md#predictionfeedstalled"),
        page=links.page_of_model(scope),
        dashboard=links.on_call(scope),
    )


def _events_ahead(scope: Scope) -> Alert:
    ahead = scope.select("precision_monitor_events_ahead_total")
    return Alert(
        name="EventTimesAhead",
        why="Events came that lie far ahead of all others of their model, or of the clock. A "
        "counter, because the events stay set aside until their time comes.",
        expr=f"sum without ({SHARDS}) (increase({ahead}[15m])) > 0",
        severity="ticket",
        summary=f"{templates.MODEL}: about {{{{ $value | humanize }}}} events of the last 15 "
        "minutes are dated far ahead",
        description="Their times are far ahead of the model's other events, or of the clock. "
        "They count, but they move neither the windows nor the label timeout. Either a producer "
        "has a wrong clock or uses a wrong unit of time, or the clock of the monitor is slow, or "
        "the stream had a long gap, after which event time catches up by itself.",
        runbook=scope.link("deploy/README.md#eventtimesahead"),
        page=links.page_of_model(scope),
        dashboard=links.on_call(scope),
    )


def _below_zero(scope: Scope) -> Alert:
    below = scope.select("precision_monitor_counts_below_zero")
    return Alert(
        name="CountsBelowZero",
        why="A correction may come a little before the counts that it corrects. The last sample: a "
        "failed scrape neither fires nor resolves it.",
        expr=f"last_over_time({below}[{GAP}]) > 0",
        severity="ticket",
        hold="15m",
        keep="10m",
        summary=f"{_WHO}: corrections take away more than there was",
        description="A count of true or false positives or negatives is below 0, in a window or "
        "since the start. Nothing is published of these counts until it is not: a `counts` record "
        "corrects outcomes that never came, came elsewhere, or lie outside of the window.",
        runbook=scope.link("deploy/README.md#countsbelowzero"),
        page=links.page_of_model(scope),
        dashboard=links.on_call(scope),
    )
