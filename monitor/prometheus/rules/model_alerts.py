"""Alerts about models: what the verdicts say."""

from __future__ import annotations

from monitor.prometheus.rules import texts
from monitor.prometheus.rules.objective_alerts import objective_alerts
from monitor.prometheus.rules.rule import Alert
from monitor.prometheus.rules.scope import GAP, Scope

DEGRADED = ("model_degraded", "prevalence_shift_and_model_degraded")
HELD = "1d"
"""So long a verdict must have held that no detector confirms."""


def verdict_alerts(scope: Scope) -> list[Alert]:
    """What happened to precision, and why."""
    return [
        _model_degraded(scope),
        _prevalence_shift(scope),
        _operating_point_moved(scope),
        *objective_alerts(scope),
        _labels_not_trustworthy(scope),
    ]


def _verdict_holds(scope: Scope, verdicts: tuple[str, ...], *windows: str) -> str:
    """1 for each model of which one of these verdicts holds in one of these windows, or in any."""
    return f"{_verdict_in(scope, verdicts, *windows)} == 1"


def _verdict_in(scope: Scope, verdicts: tuple[str, ...], *windows: str) -> str:
    """The same, and 0 for each other model."""
    where = {"window": windows} if windows else {}
    found = scope.select("classifier_verdict", verdict=verdicts, **where)
    return f"max without (window, verdict) (last_over_time({found}[{GAP}]))"


def _model_degraded(scope: Scope) -> Alert:
    fired = f"max_over_time({scope.select('classifier_degradation_detected')}[{GAP}])"
    warming_up = f"max_over_time({scope.select('classifier_detector_warming_up')}[{GAP}])"
    return Alert(
        name="ModelDegraded",
        why="Both must say so. The detector alone bounds false pages a year, whatever the rhythm "
        "of the traffic; the verdict alone tells a worse model from rarer positives. A model "
        "whose detectors cannot page (labels are sampled or weighted, or the reference is too "
        "small for them: warming up, for ever where it is given or dated) has the verdict of the "
        "longest window instead, which must have held for a day: days that scatter bring it "
        "about for hours. What was not known a day ago has not held for one. Look back: one "
        "failed scrape must not resolve a page; last_over_time, as one sample must not carry a "
        "verdict through the time it has to hold.",
        expr=f"{_verdict_holds(scope, DEGRADED)}\nand\n{fired} == 1\n"
        f"or\n(\n{_held(scope)}\nunless\n({fired} unless {warming_up} == 1)\n)",
        severity="page",
        hold="5m",
        keep="30m",
        summary=f"{texts.MODEL} separates the classes worse than its reference."
        + texts.in_windows(DEGRADED, texts.skill_moved()),
        description="The verdict lays the fall to the model, and so does the detector of skill "
        "(where labels are sampled or the reference is too small for one, the verdict has held "
        "for a day): recall fell or false positives rose, and rarer positives do not explain it. "
        "Look for a deployment, a changed feature or a new kind of case; break it down by "
        "segment.",
        runbook=scope.link("monitor/drift/README.md#model_degraded"),
    )


def _held(scope: Scope) -> str:
    """1 for each model of which the longest window has said so for a day."""
    found = scope.select("classifier_verdict", verdict=DEGRADED, window=scope.long)
    return (
        f"min_over_time((\n  {_verdict_in(scope, DEGRADED, scope.long)}\n)[{HELD}:{GAP}]) == 1\n"
        f"and\nmax without (window, verdict) (present_over_time({found}[{HELD}] offset {HELD}))"
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
        runbook=scope.link("monitor/drift/README.md#prevalence_shift"),
    )


def _operating_point_moved(scope: Scope) -> Alert:
    moved = scope.select("classifier_operating_point_moved", window=scope.daily)
    return Alert(
        name="OperatingPointMoved",
        why="The gauge, not the verdict: where the class ratio moved too, the verdict is "
        "prevalence_shift. An hour of it, since traffic differs from hour to hour.",
        expr=f"max without (window) (last_over_time({moved}[{GAP}])) == 1",
        severity="ticket",
        hold="1h",
        keep="1h",
        summary=f"{texts.MODEL}: recall and false positives moved together along the curve."
        + texts.in_windows((), texts.point_moved(), "classifier_operating_point_moved"),
        description="As after a changed threshold or scores that slid: the model tells the "
        "classes apart as before, but works elsewhere on its curve. Look for a changed "
        "threshold or calibration; if it was not meant, set the threshold anew.",
        runbook=scope.link("monitor/drift/README.md#operating_point_moved"),
    )


def _labels_not_trustworthy(scope: Scope) -> Alert:
    return Alert(
        name="LabelsNotTrustworthy",
        why="Windows of a day and more, as labels come in the rhythm of days. last_over_time: "
        "failed scrapes must not resolve it.",
        expr=_verdict_holds(scope, ("labels_not_trustworthy",), *scope.daily),
        severity="ticket",
        hold="15m",
        keep="1h",
        summary=f"{texts.MODEL}: the labels that came cannot stand for those that did not."
        + texts.in_windows(("labels_not_trustworthy",), texts.coverage()),
        description="No verdict on the model can be had until the labels are right again, and "
        "alerts about it are muted. Look at how labels are chosen, delayed and joined.",
        runbook=scope.link("monitor/drift/README.md#labels_not_trustworthy"),
    )
