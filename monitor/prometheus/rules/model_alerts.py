"""Alerts about the verdicts on models."""

from __future__ import annotations

from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.prometheus.rules import templates
from monitor.prometheus.rules.objective_alerts import objective_alerts
from monitor.prometheus.rules.rule import Alert
from monitor.prometheus.rules.scope import GAP, Scope

_DEGRADED = tuple(str(verdict) for verdict in Verdict if verdict in DEGRADED)
_SHIFT = (str(Verdict.PREVALENCE_SHIFT),)
_UNTRUSTED = (str(Verdict.LABELS_NOT_TRUSTWORTHY),)


def verdict_alerts(scope: Scope) -> list[Alert]:
    """Return the alerts about verdicts and objectives."""
    return [
        _model_degraded(scope),
        _predictions_degenerate(scope),
        _prevalence_shift(scope),
        _operating_point_moved(scope),
        *objective_alerts(scope),
        _labels_not_trustworthy(scope),
    ]


def _verdict_holds(scope: Scope, verdicts: tuple[str, ...], *windows: str) -> str:
    """Return an expression that is 1 for each model with one of the verdicts.

    Args:
        scope: models and job of the rules.
        verdicts: names of verdicts.
        windows: in one of these windows.
    """
    found = scope.select("classifier_verdict", verdict=verdicts, window=windows)
    return f"max without (window, verdict) (last_over_time({found}[{GAP}])) == 1"


def _model_degraded(scope: Scope) -> Alert:
    paging = scope.select("classifier_degradation_detected")
    return Alert(
        name="ModelDegraded",
        why="The gauge alone: it is 1 from the moment at which a detector and a judgement agree on "
        "a degradation until the model is certainly back. A window's verdict comes and goes "
        "meanwhile. The look-back keeps a failed scrape from resolving a page.",
        expr=f"max_over_time({paging}[{GAP}]) == 1",
        severity="page",
        hold="5m",
        keep="30m",
        summary=f"{templates.MODEL} separates the classes worse than its reference."
        + templates.in_windows(_DEGRADED, templates.skill_moved(), always=scope.long),
        description="A detector found that the model separates the classes worse, and its last "
        "days are certainly degraded: recall fell or false positives rose, and rarer positives do "
        "not explain it. The page lasts until the model is certainly back. Look for a deployment, "
        "a changed feature or a new kind of case; break it down by segment.",
        runbook=scope.verdict_link(Verdict.MODEL_DEGRADED),
    )


def _predictions_degenerate(scope: Scope) -> Alert:
    degenerate = scope.select("classifier_predictions_degenerate")
    return Alert(
        name="PredictionsDegenerate",
        why="The gauge alone: it is 1 once predictions have left all that is known of the model, "
        "until they are certainly back. It needs no label. The look-back keeps a failed scrape "
        "from resolving it.",
        expr=f"max_over_time({degenerate}[{GAP}]) == 1",
        severity="ticket",
        keep="30m",
        summary=f"{templates.MODEL}{templates.degenerate()}.",
        description="By its predictions alone, before any label comes: the model has probably "
        "died, or its inputs have. Labels show it later, if they come. Look for a deployment, a "
        "changed threshold, and features that are missing or constant.",
        runbook=scope.link("deploy/README.md#predictionsdegenerate"),
    )


def _prevalence_shift(scope: Scope) -> Alert:
    holds = _verdict_holds(scope, _SHIFT, scope.long)
    shorter = tuple(window for window in scope.daily if window != scope.long)
    if shorter:
        detected = scope.select("classifier_prevalence_shift_detected")
        soon = _verdict_holds(scope, _SHIFT, *shorter)
        holds += f"\nor\n(\n{soon}\nand\nmax_over_time({detected}[{GAP}]) == 1\n)"
    return Alert(
        name="PrevalenceShift",
        why="The longest window by itself; a shorter one only where the class ratio has also "
        "left its profile of hours and weekdays, so that no weekend is a ticket. Windows below "
        "a day are ignored.",
        expr=holds,
        severity="ticket",
        hold="30m",
        keep="1h",
        summary=f"{templates.MODEL}: positives became rarer or more frequent; the model separates "
        "the classes as before." + templates.in_windows(_SHIFT, templates.class_ratio_moved()),
        description="Precision moved with the class ratio. If recall and false positives moved "
        "together, OperatingPointMoved fires as well. Not the model's fault: look at the world "
        "and at what is sent to the model. If it stays, choose the threshold anew for the new "
        "class ratio.",
        runbook=scope.verdict_link(Verdict.PREVALENCE_SHIFT),
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
        summary=f"{templates.MODEL}: recall and false positives moved together along the curve."
        + templates.in_windows((), templates.point_moved(), "classifier_operating_point_moved"),
        description="As after a changed threshold or scores that slid. Two rates alone do not "
        "show whether the model also got worse. Look for a changed threshold or calibration; if "
        "it was not meant, set the threshold anew.",
        runbook=scope.verdict_link(Verdict.OPERATING_POINT_MOVED),
    )


def _labels_not_trustworthy(scope: Scope) -> Alert:
    return Alert(
        name="LabelsNotTrustworthy",
        why="Windows of a day and more, as labels come in the rhythm of days. last_over_time: "
        "failed scrapes must not resolve it.",
        expr=_verdict_holds(scope, _UNTRUSTED, *scope.daily),
        severity="ticket",
        hold="15m",
        keep="1h",
        summary=f"{templates.MODEL}: the labels that came cannot stand for those that did not."
        + templates.in_windows(_UNTRUSTED, templates.coverage()),
        description="There is no verdict on the model until its labels are right again, and "
        "alerts about it are muted. Look at how labels are chosen, delayed and joined.",
        runbook=scope.verdict_link(Verdict.LABELS_NOT_TRUSTWORTHY),
    )
