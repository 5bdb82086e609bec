"""Numbers made anew from counts: those of several monitors add up, their ratios would not.

Where each of several monitors sees a part of a model's traffic, their counts
are added first and divided then; the mean of their ratios would be another
number. Where one monitor sees everything, each of these equals the gauge that
it exports. Where labels are a sample, counts are no evidence by themselves, and
the monitor's estimates are taken as they are. Windows overlap, and segments lie
inside totals: nothing here is added up over `window` or `segment`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from monitor.prometheus.rules.rule import Recording
from monitor.prometheus.rules.scope import NotThis, Scope

OUTCOMES = "model_window:classifier_outcomes:sum"
REFERENCE = "model:classifier_reference_outcomes:sum"
PRECISION = "model_window:classifier_precision:ratio"
UPPER = "model_window:classifier_precision_upper:ratio"
RECALL_UPPER = "model_window:classifier_recall_upper:ratio"
FALSE_POSITIVE_LOWER = "model_window:classifier_false_positive_lower:ratio"
BALANCED_UPPER = "model_window:classifier_balanced_precision_upper:ratio"
BALANCED = "model_window:classifier_balanced_precision:ratio"
RECALL = "model_window:classifier_recall:ratio"
FALSE_POSITIVE = "model_window:classifier_false_positive:ratio"
PREVALENCE = "model_window:classifier_prevalence:ratio"
CLASS_RATIO = "model_window:classifier_class_ratio:ratio"
AT_REFERENCE = "model_window:classifier_precision_at_reference:ratio"
CHANGE = "model_window:classifier_precision_change:logit"
REFERENCE_PRECISION = "model:classifier_reference_precision:ratio"
REFERENCE_BALANCED = "model:classifier_reference_balanced_precision:ratio"
REFERENCE_RECALL = "model:classifier_reference_recall:ratio"
REFERENCE_FALSE_POSITIVE = "model:classifier_reference_false_positive:ratio"
REFERENCE_CLASS_RATIO = "model:classifier_reference_class_ratio:ratio"

_CALLED, _ACTUAL, _NEGATIVE = ("tp", "fp"), ("tp", "fn"), ("fp", "tn")
_ALL = ("tp", "fp", "fn", "tn")
GAUGES = {
    PRECISION: "classifier_precision_ratio",
    UPPER: "classifier_precision_upper_ratio",
    RECALL_UPPER: "classifier_recall_upper_ratio",
    FALSE_POSITIVE_LOWER: "classifier_false_positive_lower_ratio",
    BALANCED: "classifier_balanced_precision_ratio",
    RECALL: "classifier_recall_ratio",
    FALSE_POSITIVE: "classifier_false_positive_ratio",
    PREVALENCE: "classifier_prevalence_ratio",
    CLASS_RATIO: "classifier_class_ratio",
    CHANGE: "classifier_precision_change_logit",
}
"""What each of the monitor's own estimates is recorded as."""
NEARLY = {BALANCED_UPPER: "classifier_balanced_precision_upper_ratio"}
"""The same, where what is made from counts is near it and not equal to it."""
SHARDS = "instance, pod"
"""Labels that tell monitors apart; sums keep every other."""
_Z_SQUARED = 3.841458820694124
"""Square of the 97.5 % quantile of the normal distribution."""


def recordings(scope: Scope) -> list[Recording]:
    """Counts, then what is made from them, in the order in which they are needed."""
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
    """Under the same names, so that alerts and dashboards need not know."""
    for name, gauge in (GAUGES | NEARLY).items():
        yield Recording(
            name=name,
            why="Where labels are a sample, or of flagged cases alone: raw counts are no "
            "evidence, the monitor's estimate is; several monitors of a model do not add up.",
            expr=f"max without ({SHARDS}) ({scope.select(gauge)})",
        )


def objective(metric: str) -> str:
    """What a metric's objective is recorded as.

    >>> objective("recall")
    'model:classifier_recall_objective:ratio'
    """
    return f"model:classifier_{metric}_objective:ratio"


def objectives(scope: Scope) -> list[Recording]:
    """What each model is meant to reach, as series that alerts compare with."""
    return [
        Recording(
            name=objective(metric),
            why="As configured; the severity is that of falling short of it.",
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


def _counts(scope: Scope) -> Iterator[Recording]:
    yield Recording(
        name=OUTCOMES,
        why="Outcomes add up over monitors that each see a part of a model's traffic.",
        expr=f"sum without ({SHARDS}) ({scope.select('classifier_window_outcomes')})",
    )
    yield Recording(
        name=REFERENCE,
        why="The same of the reference that windows are compared with; where labels are a sample, "
        "as expected of all its predictions.",
        expr=f"sum without ({SHARDS}) ({scope.select('classifier_reference_outcomes')})",
    )


def _cells(scope: Scope, counts: str, cells: tuple[str, ...]) -> str:
    return f"sum without (outcome) ({scope.select(counts, outcome=cells)})"


def _share(scope: Scope, counts: str, part: tuple[str, ...], whole: tuple[str, ...]) -> str:
    """A quotient that is absent where nothing is to be divided by."""
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
            why=f"{meaning} (Wilson 1927), of the counts of all monitors together: alerts compare "
            "it, so that few outcomes cannot fire.",
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
        "of the reference. If this holds while precision falls, the model did not move.",
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
