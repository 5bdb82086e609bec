"""Alerts about the verdicts on models."""

from __future__ import annotations

from monitor.drift import Verdict
from monitor.drift.verdict import DEGRADED
from monitor.prometheus.rules import class_alerts, links, summaries, templates
from monitor.prometheus.rules.compared_numbers import class_ratio_moved, point_moved, skill_moved
from monitor.prometheus.rules.objective_alerts import objective_alerts
from monitor.prometheus.rules.rule import Alert
from monitor.prometheus.rules.scope import GAP, WHOLE, Scope

_DEGRADED = tuple(str(verdict) for verdict in Verdict if verdict in DEGRADED)
_SHIFT = (str(Verdict.PREVALENCE_SHIFT),)
_BY_PREVALENCE = "classifier_precision_moved_by_prevalence"
_UNTRUSTED = (str(Verdict.LABELS_NOT_TRUSTWORTHY),)


def verdict_alerts(scope: Scope) -> list[Alert]:
    """Return the alerts about verdicts and objectives."""
    return [
        _model_degraded(scope),
        _degraded_without_page(scope),
        _predictions_degenerate(scope),
        _prevalence_shift(scope),
        _operating_point_moved(scope),
        _segment_worse(scope),
        _version_worse(scope),
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
    found = scope.select("classifier_verdict", verdict=verdicts, window=windows, **WHOLE)
    return f"max without (window, verdict) (last_over_time({found}[{GAP}])) == 1"


def _model_degraded(scope: Scope) -> Alert:
    paging = scope.select("classifier_degradation_detected", **WHOLE)
    window = templates.longest_window(scope, _DEGRADED)
    degraded = summaries.in_a_window(scope, _DEGRADED)
    return Alert(
        name="ModelDegraded",
        why="The gauge alone: it is 1 from the moment at which a detector and a judgement agree on "
        "a degradation until the model has certainly recovered. A window's verdict comes and goes "
        "meanwhile. The look-back keeps a failed scrape from resolving a page.",
        expr=f"max_over_time({paging}[{GAP}]) == 1",
        severity="page",
        hold="5m",
        keep="30m",
        summary=summaries.worse(window),
        description="A detector found that the model separates the classes worse: recall fell or "
        "false positives rose, and another class ratio does not explain it. The page lasts until "
        "the model has certainly recovered. Look for a deployment, a changed feature or a new kind "
        "of case; break it down by segment, or by class.",
        numbers=f"{{{{ with {degraded} | query }}}} Its last days are certainly degraded."
        "{{ else }} At the moment no window is certainly degraded, and the model has not certainly "
        "recovered.{{ end }}"
        + templates.in_windows(_DEGRADED, skill_moved(), always=scope.long)
        + class_alerts.paging_classes(window)
        + templates.rates_changed(),
        runbook=scope.verdict_link(Verdict.MODEL_DEGRADED),
        page=links.page_of_comparison(scope, window),
        dashboard=links.on_call(scope),
    )


def _degraded_without_page(scope: Scope) -> Alert:
    paging = scope.select("classifier_degradation_detected", **WHOLE)
    window = templates.longest_window(scope, _DEGRADED)
    return Alert(
        name="DegradedWithoutPage",
        why="The verdict of the longest window, and of a longer one where a model has it, for six "
        "hours, while the model does not page: what its answers call worse is never silent. A "
        "verdict that chance makes comes and goes, which is why it is a ticket.",
        expr=f"{_verdict_holds(scope, _DEGRADED, *scope.lasting)}\n"
        f"unless\nmax_over_time({paging}[{GAP}]) == 1",
        severity="ticket",
        hold="6h",
        keep="1h",
        summary=f"{summaries.worse(window)}; does not page",
        description="A window is certainly worse than the reference, and what starts a page does "
        "not confirm it: a detector, the last days together, or, where predictions carry scores, "
        "the ROC curve of the reference, from which the rates are not far enough away: another "
        "threshold may explain them. Compare the days before and after, and break them down by "
        "segment.",
        numbers=templates.in_windows(_DEGRADED, skill_moved()) + templates.rates_changed(),
        runbook=scope.link("deploy/README.md#degradedwithoutpage"),
        page=links.page_of_comparison(scope, window),
        dashboard=links.on_call(scope),
    )


def _predictions_degenerate(scope: Scope) -> Alert:
    degenerate = scope.select("classifier_predictions_degenerate")
    return Alert(
        name="PredictionsDegenerate",
        why="The gauge alone: it is 1 while predictions are outside the model's usual range. "
        "It needs no label. The look-back keeps a failed scrape "
        "from resolving it.",
        expr=f"max_over_time({degenerate}[{GAP}]) == 1",
        severity="ticket",
        keep="30m",
        summary=f"{templates.MODEL}:{templates.degenerate()}",
        description="The predictions alone, before any label comes, suggest that the model or "
        "its inputs no longer work. Labels will show it later, if they come. Look for a "
        "deployment, a changed threshold, and features that are missing or constant.",
        runbook=scope.link("deploy/README.md#predictionsdegenerate"),
        page=links.page_of_model(scope),
        dashboard=links.on_call(scope),
    )


def _shift_holds(scope: Scope, *windows: str) -> str:
    moved = scope.select(_BY_PREVALENCE, window=windows)
    verdict = _verdict_holds(scope, _SHIFT, *windows)
    return f"{verdict}\nor\nmax without (window) (last_over_time({moved}[{GAP}])) == 1"


def _prevalence_shift(scope: Scope) -> Alert:
    holds = _shift_holds(scope, *scope.lasting)
    shorter = tuple(window for window in scope.daily if window not in scope.lasting)
    if shorter:
        detected = scope.select("classifier_prevalence_shift_detected")
        soon = _shift_holds(scope, *shorter)
        holds += f"\nor\n(\n(\n{soon}\n)\nand\nmax_over_time({detected}[{GAP}]) == 1\n)"
    window = templates.longest_window(scope, _SHIFT, beside=_BY_PREVALENCE)
    return Alert(
        name="PrevalenceShift",
        why="The verdict, or precision that certainly moved by the class ratio while too few "
        "outcomes show the same of the model. The longest window by itself, and a longer one where "
        "a model has it; a shorter one only where the class ratio has also left its profile of "
        "hours and weekdays, so that no weekend is a ticket. Windows below a day are ignored.",
        expr=holds,
        severity="ticket",
        hold="30m",
        keep="1h",
        summary=summaries.prevalence_moved(window),
        description="Precision moved with the class ratio, and nothing shows that the model "
        "separates the classes worse. If recall and false positives moved together, "
        "OperatingPointMoved fires as well. Look for a change in the world, and in the inputs of "
        "the model. If it persists, choose a new threshold for the new class ratio.",
        numbers=templates.in_windows(
            _SHIFT, class_ratio_moved(), always=scope.long, beside=_BY_PREVALENCE
        ),
        runbook=scope.verdict_link(Verdict.PREVALENCE_SHIFT),
        page=links.page_of_comparison(scope, window),
        dashboard=links.on_call(scope),
    )


def _operating_point_moved(scope: Scope) -> Alert:
    series = "classifier_operating_point_moved"
    moved = scope.select(series, window=scope.daily)
    window = templates.longest_window(scope, (), series)
    return Alert(
        name="OperatingPointMoved",
        why="The gauge, not the verdict: where the class ratio moved too, the verdict is "
        "prevalence_shift. An hour of it, since traffic differs from hour to hour.",
        expr=f"max without (window) (last_over_time({moved}[{GAP}])) == 1",
        severity="ticket",
        hold="1h",
        keep="1h",
        summary=summaries.point_moved(window),
        description="Recall and false positives moved together along the curve, as after a "
        "changed threshold or scores that slid. Two rates alone do not show whether the model also "
        "got worse, unless ModelDegraded fires as well. Look for a changed threshold or "
        "calibration; if it was not meant, set the threshold anew. Where PredictionsDegenerate "
        "fires as well, look first at what that names.",
        numbers=templates.in_windows((), point_moved(), series) + templates.rates_changed(),
        runbook=scope.verdict_link(Verdict.OPERATING_POINT_MOVED),
        page=links.page_of_comparison(scope, window),
        dashboard=links.on_call(scope),
    )


def _segment_worse(scope: Scope) -> Alert:
    worse = scope.select("classifier_segment_worse")
    return Alert(
        name="SegmentWorse",
        why="The gauge, for six hours: what chance makes comes and goes, and a fall lasts. The "
        "look-back keeps a failed scrape from resolving it.",
        expr=f"max_over_time({worse}[{GAP}]) == 1",
        severity="ticket",
        hold="6h",
        keep="1h",
        summary=f"{templates.MODEL}: worse for {templates.SEGMENT}; all cases hide it",
        description="For one segment value recall certainly fell, or false positives certainly "
        "rose, since the reference, and the odds ratio with it; all cases together hide it. Look "
        "at what is different about these cases: a source of data, a feature, a rule for them "
        "alone.",
        numbers=templates.rates_of_segment(scope),
        runbook=scope.link("deploy/README.md#segmentworse"),
        page=links.page_of_model(scope),
        dashboard=links.on_call(scope),
    )


def _version_worse(scope: Scope) -> Alert:
    worse = scope.select("classifier_version_worse")
    return Alert(
        name="VersionWorse",
        why="The gauge alone: it rests on a confidence sequence, so that looking often does not "
        "raise its false alarms, and it is 0 again a day after the version's last prediction. The "
        "look-back keeps a failed scrape from resolving it.",
        expr=f"max_over_time({worse}[{GAP}]) == 1",
        severity="ticket",
        keep="30m",
        summary=f"{templates.MODEL}: version {templates.VERSION} is worse than {templates.AGAINST}",
        description="Over the same time, at equal class ratio and equal mix of the configured "
        "segments, the version separates the classes certainly worse than the one beside it. A "
        "rollout of a few per cent hardly shows in the model as a whole. Roll it back, or compare "
        "both by segment. Without segment keys, check first that both get alike cases.",
        runbook=scope.link("deploy/README.md#versionworse"),
        page=links.page_of_model(scope),
        dashboard=links.on_call(scope),
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
        summary=summaries.untrusted(templates.shortest_window(scope, _UNTRUSTED)),
        description="The labels received are not representative of the missing ones, their errors "
        "changed, or records name a class that the model does not have. There is no verdict on the "
        "model until its labels are right again, and alerts about it are muted. Look at how labels "
        "are chosen, delayed and joined.",
        numbers=templates.in_windows(
            _UNTRUSTED, f"{templates.label_fault()}{templates.coverage()}"
        ),
        runbook=scope.verdict_link(Verdict.LABELS_NOT_TRUSTWORTHY),
        page=links.page_of_model(scope),
        dashboard=links.on_call(scope),
    )
