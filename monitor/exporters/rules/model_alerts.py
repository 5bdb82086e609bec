"""Alerts about models: what the verdicts say, and whether events still come."""

from __future__ import annotations

from monitor.exporters.rules import texts
from monitor.exporters.rules.objective_alerts import objective_alerts
from monitor.exporters.rules.rule import Alert
from monitor.exporters.rules.scope import GAP, Scope

DEGRADED = ("model_degraded", "prevalence_shift_and_model_degraded")
FEWEST_PREDICTIONS = 100
"""Predictions during a silence of labels, below which it means nothing."""
FEWEST_USUAL = 10
"""Predictions in the same stretch of another day, below which silence is nothing new."""


def verdict_alerts(scope: Scope) -> list[Alert]:
    """What happened to precision, and why."""
    return [
        _model_degraded(scope),
        _prevalence_shift(scope),
        _operating_point_moved(scope),
        *objective_alerts(scope),
        _labels_not_trustworthy(scope),
    ]


def feed_alerts(scope: Scope) -> list[Alert]:
    """Events that do not come any more."""
    return [_label_feed_stalled(scope), _prediction_feed_stalled(scope)]


def _verdict_holds(scope: Scope, verdicts: tuple[str, ...], *windows: str) -> str:
    """1 for each model of which one of these verdicts holds in one of these windows, or in any."""
    where = {"window": windows} if windows else {}
    found = scope.select("classifier_verdict", verdict=verdicts, **where)
    return f"max without (window, verdict) (max_over_time({found}[{GAP}])) == 1"


def _model_degraded(scope: Scope) -> Alert:
    fired = f"max_over_time({scope.select('classifier_degradation_detected')}[{GAP}])"
    return Alert(
        name="ModelDegraded",
        why="Both must say so. The detector alone bounds false pages a year, whatever the rhythm "
        "of the traffic; the verdict alone tells a worse model from rarer positives. A model "
        "without detectors, whose labels are sampled or weighted, has the verdict of the longest "
        "window instead. max_over_time: one failed scrape must not resolve a page.",
        expr=f"{_verdict_holds(scope, DEGRADED)}\nand\n{fired} == 1\n"
        f"or\n(\n{_verdict_holds(scope, DEGRADED, scope.long)}\nunless\n{fired}\n)",
        severity="page",
        hold="5m",
        keep="30m",
        summary=f"{texts.MODEL} separates the classes worse than its reference."
        + texts.in_windows(DEGRADED, texts.skill_moved()),
        description="The verdict lays the fall to the model, and so does the detector of skill "
        "(where labels are sampled there is none): recall fell or false positives rose, and "
        "rarer positives do not explain it. Look for a deployment, a changed feature or a new "
        "kind of case; break it down by segment.",
        runbook=scope.link("README.md#model_degraded"),
    )


def _prevalence_shift(scope: Scope) -> Alert:
    holds = _verdict_holds(scope, ("prevalence_shift",), scope.long)
    shorter = tuple(window for window in scope.daily if window != scope.long)
    if shorter:
        detected = scope.select("classifier_prevalence_shift_detected")
        soon = _verdict_holds(scope, ("prevalence_shift",), *shorter)
        holds += f"\nor\n(\n{soon}\nand\nmax_over_time({detected}[{GAP}]) == 1\n)"
    return Alert(
        name="PrevalenceShift",
        why="The longest window by itself; a shorter one only where the class ratio has also "
        "left its profile of hours and weekdays, so that no weekend is a ticket. Windows below "
        "a day are never asked.",
        expr=holds,
        severity="ticket",
        hold="30m",
        keep="1h",
        summary=f"{texts.MODEL}: positives became rarer or more frequent, the model did not move."
        + texts.in_windows(("prevalence_shift",), texts.class_ratio_moved()),
        description="Precision moved with the class ratio; recall and false positives are as "
        "before. Not the model's fault: look at the world and at what is sent to the model. If "
        "it stays, choose the threshold anew for the new class ratio.",
        runbook=scope.link("README.md#prevalence_shift"),
    )


def _operating_point_moved(scope: Scope) -> Alert:
    moved = scope.select("classifier_operating_point_moved", window=scope.daily)
    return Alert(
        name="OperatingPointMoved",
        why="The gauge, not the verdict: where the class ratio moved too, the verdict is "
        "prevalence_shift. An hour of it, since traffic differs from hour to hour.",
        expr=f"max without (window) (max_over_time({moved}[{GAP}])) == 1",
        severity="ticket",
        hold="1h",
        keep="1h",
        summary=f"{texts.MODEL}: recall and false positives moved together along the curve."
        + texts.in_windows((), texts.point_moved(), "classifier_operating_point_moved"),
        description="As after a changed threshold or scores that slid: the model tells the "
        "classes apart as before, but works elsewhere on its curve. Look for a changed "
        "threshold or calibration; if it was not meant, set the threshold anew.",
        runbook=scope.link("README.md#operating_point_moved"),
    )


def _labels_not_trustworthy(scope: Scope) -> Alert:
    return Alert(
        name="LabelsNotTrustworthy",
        why="Windows of a day and more, as labels come in the rhythm of days. max_over_time: "
        "failed scrapes must not resolve it.",
        expr=_verdict_holds(scope, ("labels_not_trustworthy",), *scope.daily),
        severity="ticket",
        hold="15m",
        keep="1h",
        summary=f"{texts.MODEL}: the labels that came cannot stand for those that did not."
        + texts.in_windows(("labels_not_trustworthy",), texts.coverage()),
        description="No verdict on the model can be had until the labels are right again, and "
        "alerts about it are muted. Look at how labels are chosen, delayed and joined.",
        runbook=scope.link("README.md#labels_not_trustworthy"),
    )


def _label_feed_stalled(scope: Scope) -> Alert:
    silence = scope.label_silence
    labels = scope.select("classifier_labels_total")
    predictions = scope.select("classifier_predictions_total")
    expired = scope.select("precision_monitor_predictions", state="expired")
    return Alert(
        name="LabelFeedStalled",
        why=f"No label for {silence} while predictions came. The last part: the model was "
        "watched that long ago, and labels came before or predictions expired without one; a "
        "model whose first labels are not due yet is not stalled.",
        expr=f"sum without (label) (increase({labels}[{silence}])) == 0\n"
        "and\n"
        f"sum without (predicted) (increase({predictions}[{silence}])) >= {FEWEST_PREDICTIONS}\n"
        "and\n"
        f"(\n  sum without (label) (last_over_time({labels}[1h] offset {silence}))\n"
        "  + ignoring (state)\n"
        f"  sum without (state) (last_over_time({expired}[1h] offset {silence}))\n) > 0",
        severity="ticket",
        hold="10m",
        keep="1h",
        summary=f"{texts.MODEL}: no label came for {silence}, while predictions do; "
        f"{texts.of_model('precision_monitor_pending_predictions', 0)} predictions wait for one.",
        description="Windows move on and empty, and soon nothing can be said of the model; "
        "alerts about it are muted meanwhile. Look at the feed of labels and at the dead-letter "
        "file.",
        runbook=scope.link("deploy/README.md#labelfeedstalled"),
    )


def _prediction_feed_stalled(scope: Scope) -> Alert:
    silence = scope.prediction_silence
    predictions = scope.select("classifier_predictions_total")

    def came(stretch: str, offset: str = "") -> str:
        return f"sum without (predicted) (increase({predictions}[{stretch}]{offset}))"

    return Alert(
        name="PredictionFeedStalled",
        why=f"No prediction for {silence}, though some came at this hour yesterday or a week ago: "
        "a quiet night is none. Or none for a whole day, so that it goes on when yesterday was "
        "silent too.",
        expr=f"{came(silence)} == 0\nand\n(\n"
        f"  {came(silence, ' offset 1d')} >= {FEWEST_USUAL}\n"
        f"  or\n  {came(silence, ' offset 1w')} >= {FEWEST_USUAL}\n"
        f"  or\n  {came('1d')} == 0\n  and\n"
        f"  sum without (predicted) (last_over_time({predictions}[1h] offset 1d)) > 0\n)",
        severity="ticket",
        hold="10m",
        keep="30m",
        summary=f"{texts.MODEL}: no prediction came for {silence}; in all there were "
        "{{ with printf `sum(classifier_predictions_total{model=%q})` $labels.model | query }}"
        "{{ . | first | value | printf `%.0f` }}{{ end }}.",
        description="Either the model is not asked any more, or its predictions do not reach "
        "the monitor. Windows move on and empty; what they show is of the past.",
        runbook=scope.link("deploy/README.md#predictionfeedstalled"),
    )
