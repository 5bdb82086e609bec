"""Summaries of alerts about models: one line of less than 120 characters.

A summary says what happened, which way, and how much, in per cent of the window that
`$window` names. A number that is not known is left out.
"""

from __future__ import annotations

from monitor.prometheus.rules.class_alerts import confusion, largest_confusions
from monitor.prometheus.rules.compared_numbers import COMPARED_FALSE_POSITIVE, COMPARED_RECALL
from monitor.prometheus.rules.recording import (
    FALSE_POSITIVE,
    PRECISION,
    PREVALENCE,
    RECALL,
    REFERENCE_CLASS_RATIO,
    REFERENCE_FALSE_POSITIVE,
    REFERENCE_PRECISION,
    REFERENCE_RECALL,
)
from monitor.prometheus.rules.scope import GAP, Scope
from monitor.prometheus.rules.templates import BEFORE, MODEL, NOW, of_reference, of_window

_NUMBER = "{{ . | first | value | printf `%.3g` }}"
_JOIN = "ignoring (window) group_left ()"
_RATIO = f"{REFERENCE_CLASS_RATIO}{BEFORE}"
_PREVALENCE_BEFORE = f"100 * {_RATIO} / (1 + {_RATIO})"


def in_a_window(scope: Scope, verdicts: tuple[str, ...]) -> str:
    """Return a query that finds something while one of the verdicts holds in a window of days.

    Args:
        scope: windows of the rules.
        verdicts: their names.
    """
    chosen = f'window=~"{"|".join(scope.daily)}",verdict=~"{"|".join(verdicts)}"'
    found = f"classifier_verdict{{model=%[1]q,{chosen}}}"
    return of_reference(f"max(last_over_time({found}[{GAP}])) == 1")


def worse(window: str) -> str:
    """Return the summary of a worse model: each rate that certainly moved the wrong way.

    Of more than two classes it is the confusion that changed most. Where no rate certainly moved,
    both stand there without a direction.

    Args:
        window: template that sets `$window`.
    """
    fell = _wrong_way("recall", RECALL, "<", COMPARED_RECALL)
    rose = _wrong_way("false_positive", FALSE_POSITIVE, ">", COMPARED_FALSE_POSITIVE)
    return (
        f"{window}{MODEL}: model worse{{{{ $named := false }}}}"
        f"{_change(fell, ', recall fell ', COMPARED_RECALL)}"
        f"{_change(rose, ', false positives rose ', COMPARED_FALSE_POSITIVE)}"
        f"{{{{ range {of_window(largest_confusions(1))} | query }}}}, {confusion()}"
        "{{ $named = true }}{{ end }}"
        "{{ if not $named }}"
        f"{_change(f'100 * {RECALL}{NOW}', '; recall ', COMPARED_RECALL)}"
        f"{_change(f'100 * {FALSE_POSITIVE}{NOW}', ', false positives ', COMPARED_FALSE_POSITIVE)}"
        "{{ end }}{{ if not $named }} than its reference{{ end }}"
    )


def prevalence_moved(window: str) -> str:
    """Return the summary of a shift of prevalence, with what became of precision.

    Of more than two classes, none is the positive one.

    Args:
        window: template that sets `$window`.
    """
    prevalence = _both(
        f"100 * {PREVALENCE}{NOW}",
        _PREVALENCE_BEFORE,
        f"positives became {_directed('rarer', 'more frequent')}, {_FROM_TO}",
        otherwise="the shares of its classes changed",
    )
    precision = _both(
        f"100 * {PRECISION}{NOW}",
        f"100 * {REFERENCE_PRECISION}{BEFORE}",
        f"; precision {_directed('fell', 'rose')} {_FROM_TO}",
    )
    return f"{window}{MODEL}: {prevalence}{precision}"


def point_moved(window: str) -> str:
    """Return the summary of a moved operating point.

    Args:
        window: template that sets `$window`.
    """
    recall = _both(
        f"100 * {RECALL}{NOW}",
        f"100 * {REFERENCE_RECALL}{BEFORE}",
        f"flags {_directed('fewer', 'more')} cases: recall {_FROM_TO}",
        otherwise="recall and false positives moved together",
    )
    false_positives = _both(
        f"100 * {FALSE_POSITIVE}{NOW}",
        f"100 * {REFERENCE_FALSE_POSITIVE}{BEFORE}",
        f", false positives {_FROM_TO}",
    )
    return f"{window}{MODEL}: {recall}{false_positives}"


def untrusted(window: str) -> str:
    """Return the summary of labels that cannot be trusted: the share of cases that have one.

    A model of many classes has no flagged cases: it is the share of all of them.

    Args:
        window: template that sets `$window`.
    """
    series = "classifier_label_coverage_ratio"
    flagged, others = (
        f'100 * {series}{NOW} and {series}{{predicted="{name}"}}'
        for name in ("positive", "negative")
    )
    both = f"{{{{ with {of_window(others)} | query }}}} of flagged, {_NUMBER} % of other cases"
    return (
        f"{window}{MODEL}: labels cannot be trusted; labelled are {_if_known(flagged)}{both}"
        "{{ else }} of its cases{{ end }}"
    )


_FROM_TO = "{{ $was | printf `%.3g` }} → {{ $now | printf `%.3g` }} %"


def _wrong_way(rate: str, now: str, sign: str, before: str) -> str:
    """A rate in per cent, where it is on the wrong side of what was and certainly moved.

    Several monitors each say it of the part that they see: one of them suffices.
    """
    changed = f'classifier_rate_changed{{model=%[1]q,window=%[2]q,rate="{rate}"}}'
    certain = f"last_over_time({changed}[{GAP}]) {sign} 0"
    moved = f"{now}{NOW} {sign} {_JOIN} {before}"
    return f"100 * ({moved}) and on () {certain}"


def _change(now: str, words: str, before: str) -> str:
    """A rate before and now, where it is known; sets `$named` then."""
    was = f"{{{{ with {of_window(f'100 * {before}')} | query }}}}{_NUMBER}{{{{ end }}}}"
    text = f"{words}{was} → {_NUMBER} %{{{{ $named = true }}}}"
    return f"{{{{ with {of_window(now)} | query }}}}{text}{{{{ end }}}}"


def _if_known(expr: str) -> str:
    return f"{{{{ with {of_window(expr)} | query }}}}{_NUMBER} %{{{{ else }}}}—{{{{ end }}}}"


def _directed(fell: str, rose: str) -> str:
    """A word by the direction from `$was` to `$now`."""
    return f"{{{{ if lt $now $was }}}}{fell}{{{{ else }}}}{rose}{{{{ end }}}}"


def _both(now: str, before: str, text: str, *, otherwise: str = "") -> str:
    """A text with `$now` and `$was`, where both are known; else the other text."""
    known = of_window(f"{now} and ignoring (window) {before}")
    return (
        f"{{{{ with {known} | query }}}}{{{{ $now := . | first | value }}}}"
        f"{{{{ with {of_reference(before)} | query }}}}{{{{ $was := . | first | value }}}}"
        f"{text}{{{{ end }}}}" + (f"{{{{ else }}}}{otherwise}" if otherwise else "") + "{{ end }}"
    )
