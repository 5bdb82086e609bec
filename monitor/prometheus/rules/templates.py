"""Parts of the texts of alerts: Go templates that look up the numbers when the alert fires.

A number that is not known reads as a dash, never as 0. A number of a reference that is not
known is left out. Whole summaries are in `summaries`.
"""

from __future__ import annotations

from monitor.prometheus.rules.scope import GAP, Scope, quoted
from monitor.report.vocabulary import DEGENERACIES

_MODEL_LETTERS, _INSTANCE_LETTERS, _VERSION_LETTERS = 36, 28, 24
"""Letters of a name that a summary shows at most; a longer name ends in an ellipsis there."""


def short(name: str, most: int) -> str:
    """Return what shortens a name in a Go template; a longer name ends in an ellipsis.

    Args:
        name: field or label, as the template names it.
        most: letters that are shown at most.
    """
    return f'reReplaceAll "^(.{{{most - 1}}}).{{2,}}$" "${{1}}…" {name}'


OF_CLASSES = 'classifier_degradation_detected{model=%[1]q,class!=""}'
"""Selects the series of each class of a model; none of a model of two."""
MODEL = f"{{{{ {short('$labels.model', _MODEL_LETTERS)} }}}}"
VERSION, AGAINST = (
    f"{{{{ {short(f'$labels.{label}', _VERSION_LETTERS)} }}}}" for label in ("version", "against")
)
SEGMENT = "=".join(
    f"{{{{ {short(f'$labels.{label}', _VERSION_LETTERS)} }}}}" for label in ("segment", "value")
)
INSTANCE = f"{{{{ {short('$labels.instance', _INSTANCE_LETTERS)} }}}}"
AT_INSTANCE = (
    f"{{{{ with $labels.instance }}}} at {{{{ {short('.', _INSTANCE_LETTERS)} }}}}{{{{ end }}}}"
)
"""Where the alert is about one monitor of several; else nothing."""


def in_windows(
    verdicts: tuple[str, ...],
    text: str,
    series: str = "classifier_verdict",
    always: str = "",
    beside: str = "",
) -> str:
    """Return a text that repeats for each window in which one of these verdicts holds: `$window`.

    Models of more than two classes have none: their rates are by class, see `class_alerts`.

    Args:
        verdicts: their names; none for a series without the label `verdict`.
        text: what follows the window's name; may use `at_window`.
        series: the gauge that is 1 in such a window.
        always: name of a window that is listed whatever its verdict.
        beside: a gauge that is 1 in further such windows; "" for none.
    """
    query = _holds(verdicts, series, beside)
    if always:
        query += f" or {_by_window(series, f',window={quoted(always)}')}"
    query = f"({query}) unless on () {OF_CLASSES}"
    return (
        f"{{{{ range printf `{query}` $labels.model | query | sortByLabel `window` }}}}"
        f"{{{{ $window := .Labels.window }}}} {{{{ $window }}}}: {text}.{{{{ end }}}}"
    )


def _holds(verdicts: tuple[str, ...], series: str, beside: str) -> str:
    """An expression with a sample for each window in which a verdict holds, or a gauge is 1."""
    chosen = f',verdict=~"{"|".join(verdicts)}"' if verdicts else ""
    holds = f"{_by_window(series, chosen)} == 1"
    return f"{holds} or {_by_window(beside, '')} == 1" if beside else holds


def _by_window(series: str, matchers: str) -> str:
    return f"max by (window) (last_over_time({series}{{model=%[1]q{matchers}}}[{GAP}]))"


def at_window(series: str, digits: int = 3, **more: str) -> str:
    """Return a number of the model in the current window of `in_windows`.

    Args:
        series: its name.
        digits: behind the point.
        more: further labels to match.
    """
    matchers = "".join(f',{label}="{value}"' for label, value in more.items())
    query = f'{series}{{model=%q,window=%q,segment="",class=""{matchers}}}'
    return number_or_dash(f"printf `{query}` $labels.model $window", digits)


def rates_of_segment(scope: Scope) -> str:
    """Return both rates of the segment value that the alert is about, in windows of days.

    Args:
        scope: windows of the rules.
    """
    where = f'{{model=%q,segment=%q,value=%q,window=~"{"|".join(scope.daily)}"}}'
    labels = "$labels.model $labels.segment $labels.value"
    return "".join(
        f"{{{{ range printf `max by (window) (last_over_time({series}{where}[{GAP}]))` {labels}"
        f" | query | sortByLabel `window` }}}} {words} {{{{ . | value | printf `%.3f` }}}}"
        " ({{ .Labels.window }}).{{ end }}"
        for words, series in (
            ("Recall there", "classifier_recall_ratio"),
            ("False positive rate there", "classifier_false_positive_ratio"),
        )
    )


def label_fault() -> str:
    """Return the fault of the labels in the current window of `in_windows`; nothing without one."""
    query = 'max by (fault) (classifier_label_fault{model=%q,window=%q,class=""}) == 1'
    fault = '{{ (. | first).Labels.fault | reReplaceAll "_" " " }}'
    found = f"printf `{query}` $labels.model $window"
    return f"{{{{ with {found} | query }}}}{fault}; {{{{ end }}}}"


def of_model(series: str, digits: int = 3, **more: str) -> str:
    """Return a number of the model.

    Args:
        series: its name.
        digits: behind the point.
        more: further labels to match.
    """
    return number_or_dash(_model_query(series, **more), digits)


def percent_of_model(series: str, **more: str) -> str:
    """Return a ratio of the model in per cent, with three digits.

    Args:
        series: its name.
        more: further labels to match.
    """
    query = _model_query(f"100 * {series}", **more)
    number = "{{ . | first | value | printf `%.3g` }} %"
    return f"{{{{ with {query} | query }}}}{number}{{{{ else }}}}—{{{{ end }}}}"


def if_known(series: str, digits: int, before: str, after: str) -> str:
    """Return a number of the model between two texts; nothing at all where it is not known.

    Args:
        series: its name.
        digits: behind the point.
        before: text before the number.
        after: text behind it.
    """
    return number_if_known(_model_query(series), digits, before, after)


def sum_if_known(counter: str, words: str) -> str:
    """Return a whole number of the model, added up over monitors; nothing where it is not known.

    Args:
        counter: name of the series.
        words: behind the number.
    """
    query = f"printf `sum({counter}{{model=%q}})` $labels.model"
    return number_if_known(query, 0, "; ", f" {words}")


def was_before(before: str, digits: int = 3, word: str = "was") -> str:
    """Return a number of the reference; nothing where it is not known.

    Args:
        before: name of the series.
        digits: behind the point.
        word: verb before the number.
    """
    return f"{{{{ with {_model_query(before)} | query }}}}, {word} {_number(digits)}{{{{ end }}}}"


NOW, BEFORE = '{model=%[1]q,window=%[2]q,segment="",class=""}', "{model=%[1]q}"
"""Matchers for `of_window` and `of_reference`."""


def of_window(expr: str) -> str:
    """Return a query of the model and of `$window`.

    Args:
        expr: PromQL; may use `NOW` and `BEFORE`.
    """
    return f"printf `{expr}` $labels.model $window"


def of_reference(expr: str) -> str:
    """Return a query of the model.

    Args:
        expr: PromQL; may use `BEFORE`.
    """
    return f"printf `{expr}` $labels.model"


def longest_window(
    scope: Scope, verdicts: tuple[str, ...], series: str = "classifier_verdict", beside: str = ""
) -> str:
    """Return a template that sets `$window` to the longest window in which a verdict holds.

    If no verdict holds at the moment, this is the longest window that does not overlap the
    reference, or the longest of all if every window overlaps it.

    Args:
        scope: windows of the rules.
        verdicts: their names; none for a series without the label `verdict`.
        series: the gauge that is 1 in such a window.
        beside: a gauge that is 1 in further such windows; "" for none.
    """
    return _window(scope, _holds(verdicts, series, beside), "bottomk")


def shortest_window(scope: Scope, verdicts: tuple[str, ...]) -> str:
    """Return a template that sets `$window` to the shortest window in which a verdict holds.

    It shows most of what has begun lately. Otherwise it is as for `longest_window`.

    Args:
        scope: windows of the rules; those of at least a day are asked.
        verdicts: their names.
    """
    return _window(scope, _holds(verdicts, "classifier_verdict", ""), "topk")


def _window(scope: Scope, such: str, chooses: str) -> str:
    """A template that sets `$window` to the window, of such ones, whose start `chooses` picks."""
    among = "|".join(scope.daily)
    opens = _by_window("classifier_window_open_timestamp_seconds", f',window=~"{among}"')
    closes = f"max(last_over_time(classifier_reference_close_timestamp_seconds{BEFORE}[{GAP}]))"
    holds = of_reference(f"{chooses}(1, {opens} and ({such}))")
    apart = of_reference(f"bottomk(1, {opens} >= scalar({closes}))")
    found = "{{ $window = .Labels.window }}"
    return (
        f"{{{{ $window := {quoted(scope.long)} }}}}{{{{ range {holds} | query }}}}{found}"
        f"{{{{ else }}}}{{{{ range {apart} | query }}}}{found}{{{{ end }}}}{{{{ end }}}}"
    )


def of_monitor_above_0(expr: str, words: str) -> str:
    """Return a whole number of the monitor that the alert is about; nothing where it is 0.

    Args:
        expr: PromQL; `%q` is the monitor's instance.
        words: behind the number.
    """
    return number_if_known(f"printf `{expr} > 0` $labels.instance", 0, "; ", f" {words}")


def _model_query(series: str, **more: str) -> str:
    matchers = "".join(f',{label}="{value}"' for label, value in more.items())
    return f"printf `{series}{{model=%q{matchers}}}` $labels.model"


def number_if_known(query: str, digits: int, before: str, after: str = "") -> str:
    """Return a number between two texts; nothing at all where it is not known.

    Args:
        query: Go template that makes PromQL.
        digits: behind the point.
        before: text before the number.
        after: text behind it.
    """
    return f"{{{{ with {query} | query }}}}{before}{_number(digits)}{after}{{{{ end }}}}"


def number_or_dash(query: str, digits: int) -> str:
    """Return a number; a dash where it is not known.

    Args:
        query: Go template that makes PromQL.
        digits: behind the point.
    """
    return f"{{{{ with {query} | query }}}}{_number(digits)}{{{{ else }}}}—{{{{ end }}}}"


def _number(digits: int) -> str:
    return f"{{{{ . | first | value | printf `%.{digits}f` }}}}"


def rates_changed() -> str:
    """Return when the rates of the model changed and with which version; nothing if not known."""
    at, earliest, latest = (
        f"{{{{ (. | first | value | toTime).Format `2006-01-02 15:04` }}}}{after}"
        for after in (" UTC", " to ", ")")
    )
    series = "classifier_change_{}timestamp_seconds"
    lower, upper = (_model_query(series.format(end)) for end in ("lower_", "upper_"))
    version = f"max by (version) (classifier_change_version_info{BEFORE})"
    return (
        f"{{{{ with {_model_query(series.format(''))} | query }}}} Rates changed about {at}"
        f"{{{{ with {lower} | query }}}} ({earliest}{{{{ end }}}}"
        f"{{{{ with {upper} | query }}}}{latest}{{{{ end }}}}"
        f"{{{{ range {of_reference(version)} | query }}}}, with version {{{{ .Labels.version }}}}"
        "{{ end }}.{{ end }}"
    )


def degenerate() -> str:
    """Return what a model does whose predictions are outside their usual range."""
    times = of_model("classifier_predicted_positive_over_known_ratio", 2)
    words = [
        f'{{{{ if eq .Labels.kind "{kind}" }}}} {text.format(times=times)}{{{{ end }}}}'
        for kind, text in DEGENERACIES.items()
    ]
    query = (
        "max by (kind) (last_over_time("
        f"classifier_predictions_degenerate_kind{{model=%q}}[{GAP}])) == 1"
    )
    found, usual = f"printf `{query}` $labels.model | query", "predicts as usual again"
    return f"{{{{ range {found} }}}}{''.join(words)}{{{{ else }}}} {usual}{{{{ end }}}}"


def coverage() -> str:
    """Return the labelled share of the window's predictions; of all, of many classes."""
    series = "classifier_label_coverage_ratio"
    query = f'{series}{{model=%q,window=%q,segment="",class="",predicted="negative"}}'
    others = "{{ . | first | value | printf `%.3f` }} of the others"
    return (
        f"labelled {at_window(series, predicted='positive')}"
        f"{{{{ with printf `{query}` $labels.model $window | query }}}} of the predicted "
        f"positives and {others}{{{{ else }}}} of its cases{{{{ end }}}}"
    )
