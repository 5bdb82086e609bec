"""Alerts about the verdicts on models."""

from __future__ import annotations

from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.prometheus.rules import templates
from monitor.prometheus.rules.objective_alerts import objective_alerts
from monitor.prometheus.rules.rule import Alert
from monitor.prometheus.rules.scope import GAP, Scope

HELD = "1d"
"""How long a verdict must hold where no detector confirms it."""
_DEGRADED = tuple(str(verdict) for verdict in Verdict if verdict in DEGRADED)
_SHIFT = (str(Verdict.PREVALENCE_SHIFT),)
_UNTRUSTED = (str(Verdict.LABELS_NOT_TRUSTWORTHY),)


def verdict_alerts(scope: Scope) -> list[Alert]:
    """Return the alerts about verdicts and objectives."""
    return [
        _model_degraded(scope),
        _prevalence_shift(scope),
        _operating_point_moved(scope),
        *objective_alerts(scope),
        _labels_not_trustworthy(scope),
    ]


def _verdict_holds(scope: Scope, verdicts: tuple[str, ...], *windows: str) -> str:
    """Return an expression that is 1 for each model with one of the verdicts.

    Args:
        scope: of the rules.
        verdicts: their names.
        windows: those to look at; all where none are given.
    """
    return f"{_verdict_in(scope, verdicts, *windows)} == 1"


def _verdict_in(scope: Scope, verdicts: tuple[str, ...], *windows: str) -> str:
    """Return an expression that is 1 for each model with one of the verdicts, 0 for the others.

    Args:
        scope: of the rules.
        verdicts: their names.
        windows: those to look at; all where none are given.
    """
    where = {"window": windows} if windows else {}
    found = scope.select("classifier_verdict", verdict=verdicts, **where)
    return f"max without (window, verdict) (last_over_time({found}[{GAP}]))"


def _model_degraded(scope: Scope) -> Alert:
    fired = f"max_over_time({scope.select('classifier_degradation_detected')}[{GAP}])"
    warming_up = f"max_over_time({scope.select('classifier_detector_warming_up')}[{GAP}])"
    return Alert(
        name="ModelDegraded",
        why="Both the detector and a verdict must hold. The detector alone bounds false pages a "
        "year, whatever the rhythm of the traffic; the verdict alone tells a worse model from "
        "rarer positives. Where a model's detectors cannot page (labels are sampled or weighted, "
        "or the reference is too small: warming up, for ever where it is given or dated), the "
        "verdict of the longest window pages instead, once it has held for a day, because days "
        "that scatter bring it about for hours. A verdict that did not exist a day ago has not "
        "held for one. The look-back keeps a failed scrape from resolving a page; last_over_time "
        "keeps one sample from carrying a verdict through the time it has to hold.",
        expr=f"{_verdict_holds(scope, _DEGRADED)}\nand\n{fired} == 1\n"
        f"or\n(\n{_held(scope)}\nunless\n({fired} unless {warming_up} == 1)\n)",
        severity="page",
        hold="5m",
        keep="30m",
        summary=f"{templates.MODEL} separates the classes worse than its reference."
        + templates.in_windows(_DEGRADED, templates.skill_moved()),
        description="The verdict lays the fall to the model, and so does the detector of skill "
        "(where labels are sampled or the reference is too small for one, the verdict has held "
        "for a day): recall fell or false positives rose, and rarer positives do not explain it. "
        "Look for a deployment, a changed feature or a new kind of case; break it down by "
        "segment.",
        runbook=scope.verdict_link(Verdict.MODEL_DEGRADED),
    )


def _held(scope: Scope) -> str:
    """Return an expression that is 1 where the longest window has shown a worse model for a day."""
    found = scope.select("classifier_verdict", verdict=_DEGRADED, window=scope.long)
    return (
        f"min_over_time((\n  {_verdict_in(scope, _DEGRADED, scope.long)}\n)[{HELD}:{GAP}]) == 1\n"
        f"and\nmax without (window, verdict) (present_over_time({found}[{HELD}] offset {HELD}))"
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
