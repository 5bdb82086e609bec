"""What a threshold is to be chosen for, as a line of text.

precision>=0.9                   the highest recall that keeps precision at 0.9 or above
recall>=0.8                      the highest precision that keeps recall
specificity>=0.99                the highest recall that keeps specificity
false_positive_rate<=0.01        the highest recall within the limit
predicted_positive_rate<=0.05    the same, with a limit on how many are flagged
f_beta:2                         the highest F score, β = 2
g:beta=1,rho=-1                  the highest G (`means.g`)
cost:fp=1,fn=5                   the lowest cost of false positives and negatives
accuracy, balanced_accuracy, cohen_kappa, matthews_corrcoef
                                 the highest
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
    """A bound that a threshold must keep.

    Attributes:
        name: of what is bounded.
        metric: the same as a function of counts.
        at_least: whether the bound is from below.
        bound: in [0, 1].
    """

    name: str
    metric: Metric
    at_least: bool
    bound: float

    def holds(self, counts: ConfusionCounts) -> NDArray[np.bool_]:
        """Whether the outcomes keep the bound; not where the metric is undefined."""
        value = self.metric(counts)
        if self.at_least:
            return value >= self.bound - _ROUNDING
        return value <= self.bound + _ROUNDING


class ThresholdObjective(NamedTuple):
    """What is to be as great, or as small, as possible, and within which limit.

    Attributes:
        text: as it was written.
        sought: name of what is to be great, or small.
        value: the same as a function of counts.
        smaller_is_better: as for a cost.
        limit: None where every threshold may be taken.
    """

    text: str
    sought: str
    value: Metric
    smaller_is_better: bool = False
    limit: Limit | None = None


def parse_objective(text: str) -> ThresholdObjective:
    """Read an objective.

    Args:
        text: a line as in the module's text; blanks do not matter.

    Returns:
        The objective.

    Raises:
        UsageError: it cannot be read, or a number is out of its range.

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
    """Numbers by name; the name may be left out where there is but one."""
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
"""Counts carried to another class ratio are rounded; a bound just met is met."""

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
