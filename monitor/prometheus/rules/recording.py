"""Recording rules: ratios recomputed from counts, which several monitors can add up.

Where each of several monitors sees a part of a model's traffic, the rules add their
counts and then divide; the mean of their ratios would be another number. Where one
monitor sees everything, each recorded number equals the gauge that it exports. Where
labels are a sample, counts are no evidence by themselves, and the rules record the
monitor's estimates. Windows overlap, and segments lie inside totals: no rule adds up
over `window` or `segment`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from monitor.prometheus.rules.rule import Recording
from monitor.prometheus.rules.scope import NotThis, Scope
from monitor.report.vocabulary import METRIC_WORDS


def recorded(metric: str, bound: Literal["", "lower", "upper"] = "") -> str:
    """Return the name under which a metric by window is recorded.

    Args:
        metric: its name in `monitor.metrics`.
        bound: end of the 95 % interval; "" for the estimate.

    >>> recorded("false_positive_rate", "lower")
    'model_window:classifier_false_positive_lower:ratio'
    """
    return f"model_window:{'_'.join(filter(None, (METRIC_WORDS[metric].stem, bound)))}:ratio"


def recorded_of(compared: Literal["reference", "level"], metric: str) -> str:
    """Return the name under which a metric of the reference, or of the level, is recorded.

    Args:
        compared: which of them.
        metric: its name in `monitor.metrics`.

    >>> recorded_of("reference", "recall")
    'model:classifier_reference_recall:ratio'
    """
    stem = METRIC_WORDS[metric].stem.replace("classifier_", f"classifier_{compared}_")
    return f"model:{stem}:ratio"


OUTCOMES = "model_window:classifier_outcomes:sum"
REFERENCE = "model:classifier_reference_outcomes:sum"
LEVEL = "model:classifier_level_outcomes:sum"
PRECISION = recorded("precision")
UPPER = recorded("precision", "upper")
RECALL_UPPER = recorded("recall", "upper")
FALSE_POSITIVE_LOWER = recorded("false_positive_rate", "lower")
BALANCED_UPPER = recorded("balanced_precision", "upper")
BALANCED = recorded("balanced_precision")
RECALL = recorded("recall")
FALSE_POSITIVE = recorded("false_positive_rate")
PREVALENCE = recorded("prevalence")
CLASS_RATIO = recorded("class_ratio")
AT_REFERENCE = "model_window:classifier_precision_at_reference:ratio"
CHANGE = "model_window:classifier_precision_change:logit"
REFERENCE_PRECISION = recorded_of("reference", "precision")
REFERENCE_BALANCED = recorded_of("reference", "balanced_precision")
REFERENCE_RECALL = recorded_of("reference", "recall")
REFERENCE_FALSE_POSITIVE = recorded_of("reference", "false_positive_rate")
REFERENCE_CLASS_RATIO = recorded_of("reference", "class_ratio")
LEVEL_PRECISION = recorded_of("level", "precision")
LEVEL_BALANCED = recorded_of("level", "balanced_precision")
LEVEL_RECALL = recorded_of("level", "recall")
LEVEL_FALSE_POSITIVE = recorded_of("level", "false_positive_rate")

_CALLED, _ACTUAL, _NEGATIVE = ("tp", "fp"), ("tp", "fn"), ("fp", "tn")
_ALL = ("tp", "fp", "fn", "tn")
GAUGES = {
    PRECISION: METRIC_WORDS["precision"].series(),
    UPPER: METRIC_WORDS["precision"].series("upper"),
    RECALL_UPPER: METRIC_WORDS["recall"].series("upper"),
    FALSE_POSITIVE_LOWER: METRIC_WORDS["false_positive_rate"].series("lower"),
    BALANCED: METRIC_WORDS["balanced_precision"].series(),
    RECALL: METRIC_WORDS["recall"].series(),
    FALSE_POSITIVE: METRIC_WORDS["false_positive_rate"].series(),
    PREVALENCE: METRIC_WORDS["prevalence"].series(),
    CLASS_RATIO: METRIC_WORDS["class_ratio"].series(),
    CHANGE: "classifier_precision_change_logit",
}
"""The monitor's own gauge for each recorded number; the two are equal."""
NEARLY = {BALANCED_UPPER: METRIC_WORDS["balanced_precision"].series("upper")}
"""Likewise, where the number from counts is close to the gauge and not equal to it."""
SHARDS = "instance, pod"
"""Labels that tell monitors apart; sums keep all others."""
_Z_SQUARED = 3.841458820694124
"""Square of the 97.5 % quantile of the normal distribution."""


def recordings(scope: Scope) -> list[Recording]:
    """Return the recording rules, each after those that it reads."""
    counted, not_counted = scope.counted(), scope.not_counted()
    made = _from_counts(counted) if counted else []
    taken = {rule.name: rule for rule in (_from_gauges(not_counted) if not_counted else ())}
    both = [
        replace(rule, why=f"{rule.why} {other.why}", expr=f"{rule.expr}\nor\n{other.expr}")
        if not rule.labels and (other := taken.pop(rule.name, None))
        else rule
        for rule in made
    ]
    return [
        *_counts(scope),
        *_ratios(scope, REFERENCE, _REFERENCE),
        *_ratios(scope, LEVEL, _LEVEL),
        *both,
        *taken.values(),
        _at_reference(scope),
    ]


def _from_counts(scope: Scope) -> list[Recording]:
    return [
        *_ratios(scope, OUTCOMES, _WINDOW),
        *_wilson(scope),
        _balanced_upper(scope),
        *_changes(scope),
    ]


def _from_gauges(scope: Scope) -> Iterator[Recording]:
    """Gauges under the names of numbers from counts, so that alerts and dashboards are the same."""
    for name, gauge in (GAUGES | NEARLY).items():
        yield Recording(
            name=name,
            why="Where labels are a sample, or of flagged cases alone, raw counts are no "
            "evidence: this is the monitor's estimate, and several monitors do not add up.",
            expr=f"max without ({SHARDS}) ({scope.select(gauge)})",
        )


def objective(metric: str) -> str:
    """Return the name under which a metric's objective is recorded.

    Args:
        metric: as series call it, one of the values of `OBJECTIVES`.

    >>> objective("recall")
    'model:classifier_recall_objective:ratio'
    """
    return f"model:classifier_{metric}_objective:ratio"


def objectives(scope: Scope) -> list[Recording]:
    """Return each model's objectives as series that alerts compare with."""
    return [
        Recording(
            name=objective(metric),
            why="As configured; the severity is that of missing it.",
            expr=f"vector({target!r})",
            labels={"model": model, "severity": scope.objective_severity},
        )
        for metric, targets in scope.objectives.items()
        for model, target in targets.items()
    ]


_WINDOW = {
    "precision": PRECISION,
    "recall": RECALL,
    "false_positive": FALSE_POSITIVE,
    "class_ratio": CLASS_RATIO,
    "balanced": BALANCED,
    "prevalence": PREVALENCE,
}
_REFERENCE = {
    "precision": REFERENCE_PRECISION,
    "recall": REFERENCE_RECALL,
    "false_positive": REFERENCE_FALSE_POSITIVE,
    "class_ratio": REFERENCE_CLASS_RATIO,
    "balanced": REFERENCE_BALANCED,
}
_LEVEL = {
    "precision": LEVEL_PRECISION,
    "recall": LEVEL_RECALL,
    "false_positive": LEVEL_FALSE_POSITIVE,
    "balanced": LEVEL_BALANCED,
}


def _counts(scope: Scope) -> Iterator[Recording]:
    yield Recording(
        name=OUTCOMES,
        why="Sums over monitors that each see a part of a model's traffic.",
        expr=f"sum without ({SHARDS}) ({scope.select('classifier_window_outcomes')})",
    )
    yield Recording(
        name=REFERENCE,
        why="Outcomes of the reference; where labels are a sample, as expected of all its "
        "predictions.",
        expr=f"sum without ({SHARDS}) ({scope.select('classifier_reference_outcomes')})",
    )
    yield Recording(
        name=LEVEL,
        why="Outcomes of the level that pages rest on, where that is not the reference.",
        expr=f"sum without ({SHARDS}) ({scope.select('classifier_level_outcomes')})",
    )


def _cells(scope: Scope, counts: str, cells: tuple[str, ...]) -> str:
    return f"sum without (outcome) ({scope.select(counts, outcome=cells)})"


def _share(scope: Scope, counts: str, part: tuple[str, ...], whole: tuple[str, ...]) -> str:
    """A quotient that is absent where the denominator is 0."""
    return f"{_cells(scope, counts, part)}\n  / ({_cells(scope, counts, whole)} > 0)"


def _ratios(scope: Scope, counts: str, names: dict[str, str]) -> Iterator[Recording]:
    shares = {
        "precision": ("TP / (TP + FP)", ("tp",), _CALLED),
        "recall": ("TPR = TP / (TP + FN)", ("tp",), _ACTUAL),
        "false_positive": ("FPR = FP / (FP + TN)", ("fp",), _NEGATIVE),
        "class_ratio": ("r = P / N, positives to negatives", _ACTUAL, _NEGATIVE),
        "prevalence": ("P / (P + N)", _ACTUAL, _ALL),
    }
    for key, (meaning, part, whole) in shares.items():
        if key in names:
            yield Recording(
                name=names[key],
                why=f"{meaning}. Absent, not 0, where there is nothing to divide by.",
                expr=_share(scope, counts, part, whole),
            )
    recall = scope.select(names["recall"])
    yield Recording(
        name=names["balanced"],
        why="TPR / (TPR + FPR): precision if half of the cases were positive.",
        expr=f"{recall} / ({recall} + {scope.select(names['false_positive'])} > 0)",
    )


def _wilson(scope: Scope) -> Iterator[Recording]:
    """The ends of intervals that alerts compare with an objective."""
    for name, meaning, sign, part, rest in (
        (UPPER, "Upper end of the 95 % interval of precision", "+", "tp", "fp"),
        (RECALL_UPPER, "Upper end of the 95 % interval of recall", "+", "tp", "fn"),
        (FALSE_POSITIVE_LOWER, "Lower end of the 95 % interval of FPR", "-", "fp", "tn"),
    ):
        cases = _cells(scope, OUTCOMES, (part, rest))
        found, others = _cells(scope, OUTCOMES, (part,)), _cells(scope, OUTCOMES, (rest,))
        yield Recording(
            name=name,
            why=f"{meaning} (Wilson 1927), from the counts of all monitors together. Alerts "
            "compare it, so that few outcomes cannot fire one.",
            expr=f"({found} + {_Z_SQUARED / 2!r}\n"
            f"  {sign} sqrt({_Z_SQUARED!r} * ({_Z_SQUARED / 4!r} + {found} * {others}\n"
            f"    / ({cases} > 0))))\n"
            f"  / ({cases} + {_Z_SQUARED!r})",
        )


def _balanced_upper(scope: Scope) -> Recording:
    recall, above = scope.select(RECALL), scope.select(RECALL_UPPER)
    false_positive, below = scope.select(FALSE_POSITIVE), scope.select(FALSE_POSITIVE_LOWER)
    return Recording(
        name=BALANCED_UPPER,
        why="Upper end of the 95 % interval of balanced precision, from those of TPR and FPR "
        "(Zou & Donner 2008, on log LR+). The monitor's own is a little wider for few outcomes.",
        expr=f"1 / (1 + ({false_positive} / ({recall} > 0)) * exp(-sqrt(\n"
        f"  ln({above} / ({recall} > 0)) ^ 2\n"
        f"  + ln({false_positive} / ({below} > 0)) ^ 2)))",
    )


def _at_reference(scope: Scope) -> Recording:
    odds = f"{_totals(scope, RECALL)}\n  * {_JOIN} {scope.select(REFERENCE_CLASS_RATIO)}"
    return Recording(
        name=AT_REFERENCE,
        why="r0 TPR / (r0 TPR + FPR): what precision would be had the class ratio stayed that "
        "of the reference. If this holds while precision falls, prevalence explains the fall.",
        expr=f"{odds}\n  / ({odds}\n  + {_totals(scope, FALSE_POSITIVE)} > 0)",
    )


_JOIN = "ignoring (window) group_left ()"


def _totals(scope: Scope, name: str) -> str:
    return scope.select(name, window=NotThis("all"), segment="")


def _changes(scope: Scope) -> Iterator[Recording]:
    causes = {
        "prevalence": ("ln r", CLASS_RATIO, REFERENCE_CLASS_RATIO, ""),
        "recall": ("ln TPR", RECALL, REFERENCE_RECALL, ""),
        "false_positives": ("-ln FPR", FALSE_POSITIVE, REFERENCE_FALSE_POSITIVE, "-"),
    }
    for cause, (part, now, before, sign) in causes.items():
        yield Recording(
            name=CHANGE,
            why=f"Change of {part} since the reference. With its two siblings it adds up to the "
            "change of logit(precision), without remainder. A window that reaches back into its "
            "reference is not compared with it.",
            expr=f"{sign}ln(({_totals(scope, now)} > 0)\n"
            f"  / {_JOIN} ({scope.select(before)} > 0))\n"
            f"unless\n{_reaches_back(scope)}",
            labels={"cause": cause},
        )


def _reaches_back(scope: Scope) -> str:
    opens = scope.select("classifier_window_open_timestamp_seconds")
    closes = scope.select("classifier_reference_close_timestamp_seconds")
    return f"  (min without ({SHARDS}) ({opens})\n    < {_JOIN} max without ({SHARDS}) ({closes}))"
