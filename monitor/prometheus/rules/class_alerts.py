"""Parts of the texts of alerts about models of more than two classes, as `templates`."""

from __future__ import annotations

from monitor.prometheus.rules.recording import PRECISION, RECALL
from monitor.prometheus.rules.scope import GAP
from monitor.prometheus.rules.templates import OF_CLASSES, number_or_dash, of_window, short

_CONFUSION = "classifier_confusion_ratio", "classifier_reference_confusion_ratio"
_NOW = "{model=%[1]q,window=%[2]q}"
_NAMED = 3
"""Confusions that a description names."""
_CLASS_LETTERS = 18
"""Letters of a class that are shown at most."""


def paging_classes(window: str) -> str:
    """Return the classes that page with their metrics, and the confusions that changed most.

    A model of two classes has none of them.

    Args:
        window: template that sets `$window`.
    """
    paging = f"max by (class) (max_over_time({OF_CLASSES}[{GAP}])) == 1"
    metrics = ", ".join(
        f"{words} {number_or_dash(f'printf `{query}` $labels.model $window .Labels.class', 3)}"
        for words, query in (
            (words, f'{series}{{model=%q,window=%q,segment="",class=%q}}')
            for words, series in (("recall", RECALL), ("precision", PRECISION))
        )
    )
    changed = of_window(largest_confusions(_NAMED))
    return (
        f"{window}{{{{ range printf `{paging}` $labels.model | query | sortByLabel `class` }}}}"
        f" Class {{{{ .Labels.class }}}}: {metrics} ({{{{ $window }}}}).{{{{ end }}}}"
        f"{{{{ range {changed} | query }}}} {confusion()}.{{{{ end }}}}"
    )


def largest_confusions(most: int) -> str:
    """Return PromQL of the confusions of `NOW`, without segment, that certainly changed most.

    Args:
        most: how many at most.
    """
    now, before = (f"max by (actual, predicted) ({series}{_NOW})" for series in _CONFUSION)
    return f"topk({most}, abs({now} - {before}))"


def confusion() -> str:
    """Return a confusion and its shares, in a range over `largest_confusions`."""
    after, before = (
        f"{{{{ with printf `100 * {series}{{model=%q,window=%q,actual=%q,predicted=%q}}` "
        "$labels.model $window .Labels.actual .Labels.predicted | query }}"
        "{{ . | first | value | printf `%.3g` }}{{ end }}"
        for series in _CONFUSION
    )
    actual, predicted = (
        f"{{{{ {short(f'.Labels.{label}', _CLASS_LETTERS)} }}}}"
        for label in ("actual", "predicted")
    )
    return f"{actual} → {predicted} confusions {before} → {after} %"
