"""Texts of alerts: Go templates that look up the numbers when the alert fires.

A number that is not known reads as a dash, never as 0. A number of a reference that is not
known is left out.
"""

from __future__ import annotations

from monitor.prometheus.rules.recording import (
    AT_REFERENCE,
    BALANCED,
    CLASS_RATIO,
    FALSE_POSITIVE,
    PRECISION,
    RECALL,
    REFERENCE_BALANCED,
    REFERENCE_CLASS_RATIO,
    REFERENCE_FALSE_POSITIVE,
    REFERENCE_PRECISION,
    REFERENCE_RECALL,
)
from monitor.prometheus.rules.scope import GAP, quoted
from monitor.report.vocabulary import DEGENERACIES

MODEL = "{{ $labels.model }}"


def in_windows(
    verdicts: tuple[str, ...], text: str, series: str = "classifier_verdict", always: str = ""
) -> str:
    """Return a text that repeats for each window in which one of these verdicts holds.

    Args:
        verdicts: their names; none for a series without the label `verdict`.
        text: what follows the window's name; may use `at_window`.
        series: the gauge that is 1 in such a window.
        always: name of a window that is listed whatever its verdict.
    """
    chosen = f',verdict=~"{"|".join(verdicts)}"' if verdicts else ""
    query = f"{_by_window(series, chosen)} == 1"
    if always:
        query += f" or {_by_window(series, f',window={quoted(always)}')}"
    return (
        f"{{{{ range printf `{query}` $labels.model | query | sortByLabel `window` }}}}"
        f" {{{{ .Labels.window }}}}: {text}.{{{{ end }}}}"
    )


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
    query = f'{series}{{model=%q,window=%q,segment=""{matchers}}}'
    return _number_or_dash(f"printf `{query}` $labels.model .Labels.window", digits)


def of_model(series: str, digits: int = 3, **more: str) -> str:
    """Return a number of the model.

    Args:
        series: its name.
        digits: behind the point.
        more: further labels to match.
    """
    return _number_or_dash(_model_query(series, **more), digits)


def sum_over_monitors(counter: str) -> str:
    """Return a whole number of the model, added up over monitors."""
    return _number_or_dash(f"printf `sum({counter}{{model=%q}})` $labels.model", 0)


def was_before(before: str, digits: int = 3, word: str = "was") -> str:
    """Return a number of the reference; nothing where it is not known.

    Args:
        before: name of the series.
        digits: behind the point.
        word: verb before the number.
    """
    return f"{{{{ with {_model_query(before)} | query }}}}, {word} {_number(digits)}{{{{ end }}}}"


def reference_in_brackets(before: str, digits: int = 3) -> str:
    """Return a number of the reference in brackets, for the middle of a sentence.

    Args:
        before: name of the series.
        digits: behind the point.
    """
    known = f"(was {_number(digits)} in the reference)"
    return f"{{{{ with {_model_query(before)} | query }}}} {known}{{{{ end }}}}"


_NOW, _BEFORE = '{model=%[1]q,window=%[2]q,segment=""}', "{model=%[1]q}"


def _log_ratios(recall: str, false_positive: str, which: str) -> tuple[str, str]:
    """Queries of log LR+ and log LR-, the logs of TPR / FPR and of (1 - TPR) / (1 - FPR)."""
    recall, false_positive = f"{recall}{which}", f"{false_positive}{which}"
    return (
        f"ln(({recall} > 0) / ({false_positive} > 0))",
        f"ln((1 - {recall} > 0) / (1 - {false_positive} > 0))",
    )


def _window_query(expr: str) -> str:
    """A query of the current window of `in_windows`."""
    return f"printf `{expr}` $labels.model .Labels.window"


def _was_ratio(expr: str) -> str:
    """The result of a query of the reference; nothing where it is not known."""
    return _if_known(f"printf `{expr}` $labels.model", 2, ", was ")


def of_monitor(expr: str, digits: int = 0) -> str:
    """Return a number of the monitor that the alert is about.

    Args:
        expr: PromQL; `%q` is the monitor's instance.
        digits: behind the point.
    """
    return _number_or_dash(f"printf `{expr}` $labels.instance", digits)


def _model_query(series: str, **more: str) -> str:
    matchers = "".join(f',{label}="{value}"' for label, value in more.items())
    return f"printf `{series}{{model=%q{matchers}}}` $labels.model"


def _if_known(query: str, digits: int, before: str, after: str = "") -> str:
    """A number between two texts; nothing at all where it is not known."""
    return f"{{{{ with {query} | query }}}}{before}{_number(digits)}{after}{{{{ end }}}}"


def _number_or_dash(query: str, digits: int) -> str:
    return f"{{{{ with {query} | query }}}}{_number(digits)}{{{{ else }}}}—{{{{ end }}}}"


def _number(digits: int) -> str:
    return f"{{{{ . | first | value | printf `%.{digits}f` }}}}"


def skill_moved() -> str:
    """Return recall and false positives, skill, precision and balanced precision, now and before.

    A model can be worse though LR+ rose: fewer alarms, and more misses than that explains.
    The text then shows LR- too.
    """
    positive, negative = _log_ratios(RECALL, FALSE_POSITIVE, _NOW)
    was_positive, was_negative = _log_ratios(REFERENCE_RECALL, REFERENCE_FALSE_POSITIVE, _BEFORE)
    rose = f"{BALANCED}{_NOW} >= ignoring (window) group_left () {REFERENCE_BALANCED}{_BEFORE}"
    lower = _if_known(
        _window_query(f"({negative}) and {rose}"),
        2,
        "; log LR- ",
        f"{_was_ratio(was_negative)} (higher is worse)",
    )
    skill = f"{_number_or_dash(_window_query(positive), 2)}{_was_ratio(was_positive)}"
    return (
        f"{point_moved()}; log LR+ {skill}{lower}; "
        f"precision {at_window(PRECISION)}{was_before(REFERENCE_PRECISION)}; "
        f"balanced precision {at_window(BALANCED)}{was_before(REFERENCE_BALANCED)}"
    )


def class_ratio_moved() -> str:
    """Return precision, and what it would be at the reference's class ratio."""
    return (
        f"precision {at_window(PRECISION)}{was_before(REFERENCE_PRECISION)}; at the "
        f"reference's class ratio it would be {at_window(AT_REFERENCE)}; "
        f"positives to negatives {at_window(CLASS_RATIO, 4)}"
        f"{was_before(REFERENCE_CLASS_RATIO, 4, 'were')}"
    )


def point_moved() -> str:
    """Return recall and false positives, now and before."""
    return (
        f"recall {at_window(RECALL)}{was_before(REFERENCE_RECALL)}; false-positive rate "
        f"{at_window(FALSE_POSITIVE, 4)}{was_before(REFERENCE_FALSE_POSITIVE, 4)}"
    )


def degenerate() -> str:
    """Return what the model does whose predictions have left all that is known of it."""
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
    """Return the labelled share of the window's predictions."""
    series = "classifier_label_coverage_ratio"
    return (
        f"labelled {at_window(series, predicted='positive')} of the predicted positives and "
        f"{at_window(series, predicted='negative')} of the others"
    )
