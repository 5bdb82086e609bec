"""Alerts about missed objectives: in two windows, by the ends of their 95 % intervals."""

from __future__ import annotations

from typing import NamedTuple

from monitor.prometheus.rules import links, templates
from monitor.prometheus.rules.recording import (
    CHANGE,
    CLASS_RATIO,
    OUTCOMES,
    PRECISION,
    RECALL,
    objective,
    recorded,
    recorded_of,
)
from monitor.prometheus.rules.rule import Alert
from monitor.prometheus.rules.scope import GAP, OBJECTIVES, Scope, quoted
from monitor.report.vocabulary import CAUSES, METRIC_WORDS

FEWEST = 100
"""Outcomes of each kind that a metric divides by, in each window, below which it is not judged."""

_CALLED, _ACTUAL, _NEGATIVE = ("tp", "fp"), ("tp", "fn"), ("fp", "tn")
_DENOMINATORS = {
    "precision": (_CALLED,),
    "balanced_precision": (_ACTUAL, _NEGATIVE),
    "recall": (_ACTUAL,),
    "false_positive_rate": (_NEGATIVE,),
}
_NAMED_BY_CAUSE = {cause.metric: cause.words for cause in CAUSES.values()}


class _Missed(NamedTuple):
    """A metric that can miss an objective.

    Attributes:
        metric: its name in series.
        words: its name for people; if it is the rate of a cause, the name of that cause.
        now: name of the recorded metric.
        bound: name of the recorded limit of its interval that must miss the objective.
        before: name of the recorded metric of the reference.
        divided_by: outcomes in its denominators; each must be frequent enough.
        beyond: comparison by which the objective is missed, as an operator and as a word.
        digits: digits after the decimal point.
    """

    metric: str
    words: str
    now: str
    bound: str
    before: str
    divided_by: tuple[tuple[str, str], ...]
    beyond: tuple[str, str]
    digits: int

    @classmethod
    def of(cls, name: str) -> _Missed:
        """The metric by its name in the configuration."""
        row = METRIC_WORDS[name]
        least = row.objective == "at least"
        return cls(
            metric=OBJECTIVES[name],
            words=_NAMED_BY_CAUSE.get(name, row.words),
            now=recorded(name),
            bound=recorded(name, "upper" if least else "lower"),
            before=recorded_of("reference", name),
            divided_by=_DENOMINATORS[name],
            beyond=("<", "below") if least else (">", "above"),
            digits=row.digits,
        )

    @property
    def alert(self) -> str:
        """The name of the alert."""
        words = "".join(word.capitalize() for word in self.words.split())
        return f"{words}{self.beyond[1].capitalize()}Objective"

    @property
    def missed(self) -> str:
        """How the metric misses its objective, to follow `words`: "is below its objective"."""
        verb, its = ("are", "their") if self.words.endswith("s") else ("is", "its")
        return f"{verb} {self.beyond[1]} {its} objective"


def objective_alerts(scope: Scope) -> list[Alert]:
    """Return an alert for each metric that can have an objective; without one it never fires."""
    others = [name for name in OBJECTIVES if name != "precision"]
    return [_precision(scope), *(_missed(scope, _Missed.of(name)) for name in others)]


def _precision(scope: Scope) -> Alert:
    """Precision alone moves with prevalence, too, so its alert has a label `cause`."""
    kind = _Missed.of("precision")
    return Alert(
        name=kind.alert,
        why=f"{_why(kind)} The last factor is 1 and adds the cause that pulled precision down "
        "most: a rate that became 0, whose logarithm is infinite, before one that fell. The cause "
        "is unknown without a reference, and where nothing pulled precision down since.",
        expr=f"(\n  {_beyond_in_both(scope, kind)}\n)\n"
        f"* ignoring (cause, severity) group_left (cause)\n{_main_cause(scope)}",
        severity=_SEVERITY,
        hold="15m",
        keep="30m",
        summary=f"{_summary(scope, kind)}{_MAINLY}",
        description=f"{_certainty(kind)} The label cause names the largest cause: "
        "prevalence is not the model's fault, recall and false_positives may be.",
        numbers=_in_the_reference(kind),
        runbook=scope.link("deploy/README.md#precisionbelowobjective"),
        page=links.page_of_comparison(scope, _longest(scope)),
        dashboard=links.on_call(scope),
    )


def _missed(scope: Scope, kind: _Missed) -> Alert:
    return Alert(
        name=kind.alert,
        why=_why(kind),
        expr=_beyond_in_both(scope, kind),
        severity=_SEVERITY,
        hold="15m",
        keep="30m",
        summary=_summary(scope, kind),
        description=f"{_certainty(kind)} This does not move with prevalence: look at the model, "
        "its inputs and its threshold.",
        numbers=_in_the_reference(kind),
        runbook=scope.link(f"deploy/README.md#{kind.alert.lower()}"),
        page=links.page_of_comparison(scope, _longest(scope)),
        dashboard=links.on_call(scope),
    )


_SEVERITY = "{{ with $labels.severity }}{{ . }}{{ else }}ticket{{ end }}"


def _why(kind: _Missed) -> str:
    end, word = ("lower", "above") if kind.beyond[0] == ">" else ("upper", "below")
    return (
        "The long window shows that the miss matters, the short one that it lasts. Both compare "
        f"the {end} end of the interval, which lies surely {word}, and each holds at least "
        f"{FEWEST} outcomes of each kind that the metric divides by. last_over_time: no failed "
        "scrape fires or resolves it."
    )


def _beyond_in_both(scope: Scope, kind: _Missed) -> str:
    windows = list(dict.fromkeys((scope.long, scope.short)))
    parts = [_beyond(scope, kind, window) for window in windows]
    parts += [_enough(scope, cells, window) for window in windows for cells in kind.divided_by]
    return "\n  and ignoring (window, severity)\n  ".join(parts)


def _beyond(scope: Scope, kind: _Missed, window: str) -> str:
    sign = kind.beyond[0]
    bound = scope.select(kind.bound, window=window, segment="")
    target = scope.select(objective(kind.metric))
    return f"last_over_time({bound}[{GAP}]) {sign} on (model) group_left (severity) {target}"


def _enough(scope: Scope, cells: tuple[str, str], window: str) -> str:
    counted = scope.select(OUTCOMES, window=window, segment="", outcome=cells)
    return f"sum without (outcome) (last_over_time({counted}[{GAP}])) >= {FEWEST}"


def _main_cause(scope: Scope) -> str:
    """1 for each model, with the cause as a label."""

    def now(name: str, **more: str) -> str:
        return f"last_over_time({scope.select(name, window=scope.long, **more)}[{GAP}])"

    def gone(name: str, cause: str) -> str:
        """Where there is a reference, since the other parts are compared with it."""
        found = f'label_replace(({now(name, segment="")} == 0) + Inf, "cause", "{cause}", "", "")'
        return f"({found} and ignoring (cause) {now(CHANGE)})"

    candidates = (gone(RECALL, "recall"), gone(CLASS_RATIO, "prevalence"), f"-{now(CHANGE)} > 0")
    either = "\n    or\n    ".join(candidates)
    return (
        f"((\n  topk without (cause) (1,\n    {either}\n  )\n"
        "  or ignoring (cause)\n"
        f'  label_replace({now(PRECISION, segment="")}, "cause", "unknown", "", "")\n) ^ 0)'
    )


def _certainty(kind: _Missed) -> str:
    return f"With 95 % confidence over two windows, {kind.words} {kind.missed}."


def _in_the_reference(kind: _Missed) -> str:
    return templates.if_known(kind.before, kind.digits, " In the reference: ", ".")


def _longest(scope: Scope) -> str:
    return f"{{{{ $window := {quoted(scope.long)} }}}}"


_MAINLY = (
    '{{ if ne $labels.cause "unknown" }}; mainly {{ reReplaceAll "_" " " $labels.cause }}{{ end }}'
)


def _summary(scope: Scope, kind: _Missed) -> str:
    def percent(series: str, **more: str) -> str:
        return templates.percent_of_model(series, **more)

    windows = dict.fromkeys((scope.long, scope.short))
    found = (f"{percent(kind.now, window=name, segment='')} over {name}" for name in windows)
    target = percent(objective(kind.metric))
    return f"{templates.MODEL}: {kind.words} {kind.beyond[1]} {target}: {', '.join(found)}"
