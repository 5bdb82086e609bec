"""Objectives for the choice of a threshold, written as one line of text.

precision>=0.9                   highest recall with precision of at least 0.9
recall>=0.8                      highest precision with recall of at least 0.8
specificity>=0.99                highest recall with specificity of at least 0.99
false_positive_rate<=0.01        highest recall with a false-positive rate of at most 0.01
predicted_positive_rate<=0.05    highest recall with at most 5 % predicted positive
f_beta:2                         highest F score, β = 2
g:beta=1,rho=-1                  highest G (`means.g`)
cost:fp=1,fn=5                   lowest mean cost, a false negative costing 5 false positives
accuracy, balanced_accuracy, cohen_kappa, matthews_corrcoef
                                 highest value of the metric
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from monitor.errors import UsageError
from monitor.metrics import rates
from monitor.metrics.agreement import cohen_kappa, matthews_corrcoef
from monitor.metrics.f_family import f_beta
from monitor.metrics.g_family import g_score
from monitor.metrics.precision import precision
from monitor.metrics.ratio import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from monitor.counts import ConfusionCounts
    from monitor.metrics.ratio import FloatArray

    Metric = Callable[..., FloatArray]


class Limit(NamedTuple):
    """A bound on a metric.

    Attributes:
        name: name of the metric.
        metric: the metric as a function of counts.
        at_least: True for a lower bound, False for an upper bound.
        bound: the bound, in [0, 1].
    """

    name: str
    metric: Metric
    at_least: bool
    bound: float

    def holds(self, counts: ConfusionCounts) -> NDArray[np.bool_]:
        """Return True where the metric is within the bound; False where it is undefined."""
        value = self.metric(counts)
        if self.at_least:
            return value >= self.bound - _ROUNDING
        return value <= self.bound + _ROUNDING


class ThresholdObjective(NamedTuple):
    """A metric to maximise or minimise, subject to a limit.

    Attributes:
        text: the objective as written.
        sought: name of the metric to maximise or minimise.
        value: the metric as a function of counts.
        smaller_is_better: True for a metric to minimise, such as a cost.
        limit: bound on another metric; None without one.
    """

    text: str
    sought: str
    value: Metric
    smaller_is_better: bool = False
    limit: Limit | None = None


def parse_objective(text: str) -> ThresholdObjective:
    """Parse an objective.

    Args:
        text: one line in the form that the module describes; blanks are ignored.

    Returns:
        The objective.

    Raises:
        UsageError: the text is not an objective, or a number is out of its range.

    >>> parse_objective("cost:fp=1,fn=5").smaller_is_better
    True
    """
    compact = "".join(text.split())
    limit = re.fullmatch(r"(\w+)(>=|<=)(.+)", compact)
    if limit:
        return _limited(text, *limit.groups())
    name, _, arguments = compact.partition(":")
    if name not in _SCORES:
        raise _unreadable(text)
    metric, parameters = _SCORES[name]
    given = _arguments(text, arguments, parameters)
    score = partial(metric, **given)
    return ThresholdObjective(text, name, score, smaller_is_better=metric is _cost)


def _limited(text: str, name: str, sign: str, number: str) -> ThresholdObjective:
    if (name, sign) not in _LIMITS:
        raise _unreadable(text)
    limited, maximised = _LIMITS[name, sign]
    bound = _number(text, name, number)
    if not 0 <= bound <= 1:
        raise UsageError(f"objective: {name} must lie in [0, 1], got {text!r}")
    limit = Limit(name, limited, sign == ">=", bound)
    return ThresholdObjective(text, maximised.__name__, maximised, limit=limit)


def _arguments(text: str, arguments: str, parameters: tuple[str, ...]) -> dict[str, float]:
    """Numbers by name; the name of a single parameter may be omitted."""
    if len(parameters) == 1 and "=" not in arguments:
        arguments = f"{parameters[0]}={arguments}"
    pairs = [item.partition("=")[::2] for item in arguments.split(",") if item]
    if sorted(name for name, _ in pairs) != sorted(parameters):
        wanted = ", ".join(parameters) or "no parameters"
        raise UsageError(f"objective: takes {wanted}, got {text!r}")
    return {name: _number(text, name, number) for name, number in pairs}


def _number(text: str, name: str, number: str) -> float:
    """A finite number, and at least 0 unless it is an exponent."""
    try:
        value = float(number)
    except ValueError as error:
        raise UsageError(f"objective: {name} must be a number, got {text!r}") from error
    if not math.isfinite(value) or (value < 0 and name != "rho"):
        raise UsageError(f"objective: {name} must be finite and at least 0, got {text!r}")
    return value


def _unreadable(text: str) -> UsageError:
    limits = ", ".join(f"{name}{sign}X" for name, sign in _LIMITS)
    scores = ", ".join(
        f"{name}:{','.join(f'{p}=X' for p in parameters)}" if parameters else name
        for name, (_, parameters) in _SCORES.items()
    )
    return UsageError(f"objective: cannot be read, got {text!r}; use one of {limits}, {scores}")


def _cost(counts: ConfusionCounts, *, fp: float, fn: float) -> FloatArray:
    """Mean cost of a case."""
    return ratio(fp * counts.fp + fn * counts.fn, counts.total)


_ROUNDING = 1e-12
"""Tolerance of a bound, for the rounding of counts carried to another class ratio."""

_LIMITS: dict[tuple[str, str], tuple[Metric, Metric]] = {
    ("precision", ">="): (precision, rates.recall),
    ("recall", ">="): (rates.recall, precision),
    ("specificity", ">="): (rates.specificity, rates.recall),
    ("false_positive_rate", "<="): (rates.false_positive_rate, rates.recall),
    ("predicted_positive_rate", "<="): (rates.predicted_positive_rate, rates.recall),
}

_SCORES: dict[str, tuple[Metric, tuple[str, ...]]] = {
    "f_beta": (f_beta, ("beta",)),
    "g": (g_score, ("beta", "rho")),
    "cost": (_cost, ("fp", "fn")),
    "accuracy": (rates.accuracy, ()),
    "balanced_accuracy": (rates.balanced_accuracy, ()),
    "cohen_kappa": (cohen_kappa, ()),
    "matthews_corrcoef": (matthews_corrcoef, ()),
}
