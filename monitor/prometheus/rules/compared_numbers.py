"""Numbers of a window in alerts, now and before, as Go templates.

Before is the reference, or the model's level where the window is compared with that.
"""

from __future__ import annotations

from monitor.prometheus.rules.recording import (
    AT_REFERENCE,
    BALANCED,
    CLASS_RATIO,
    FALSE_POSITIVE,
    LEVEL_BALANCED,
    LEVEL_FALSE_POSITIVE,
    LEVEL_PRECISION,
    LEVEL_RECALL,
    PRECISION,
    RECALL,
    REFERENCE_BALANCED,
    REFERENCE_CLASS_RATIO,
    REFERENCE_FALSE_POSITIVE,
    REFERENCE_PRECISION,
    REFERENCE_RECALL,
)
from monitor.prometheus.rules.scope import GAP
from monitor.prometheus.rules.templates import (
    BEFORE,
    NOW,
    at_window,
    number_if_known,
    number_or_dash,
    of_window,
    was_before,
)

_AGAINST_LEVEL = f"on () max(last_over_time(classifier_verdict_against_level{NOW}[{GAP}])) == 1"
_DAY = "{{ (. | first | value | toTime).Format `2 January 2006` }}"


def compared(level: str, reference: str) -> str:
    """Return PromQL of what `$window` is compared with: the level or the reference.

    Args:
        level: PromQL of the level of the model.
        reference: the same of its reference.
    """
    return f"({level} and {_AGAINST_LEVEL} or {reference})"


COMPARED_RECALL, COMPARED_FALSE_POSITIVE, _COMPARED_PRECISION, _COMPARED_BALANCED = (
    compared(f"{level}{BEFORE}", f"{reference}{BEFORE}")
    for level, reference in (
        (LEVEL_RECALL, REFERENCE_RECALL),
        (LEVEL_FALSE_POSITIVE, REFERENCE_FALSE_POSITIVE),
        (LEVEL_PRECISION, REFERENCE_PRECISION),
        (LEVEL_BALANCED, REFERENCE_BALANCED),
    )
)


def skill_moved() -> str:
    """Return recall and false positives, skill, precision and balanced precision, now and before.

    A model can be worse though LR+ rose: fewer alarms, and more misses than that explains.
    The text then shows LR- too. Before is the reference, or the level and its days.
    """
    positive, negative = _log_ratios(f"{RECALL}{NOW}", f"{FALSE_POSITIVE}{NOW}")
    was_positive, was_negative = _log_ratios(COMPARED_RECALL, COMPARED_FALSE_POSITIVE)
    rose = f"{BALANCED}{NOW} >= ignoring (window) group_left () {_COMPARED_BALANCED}"
    lower = number_if_known(
        of_window(f"({negative}) and {rose}"),
        2,
        "; log LR- ",
        f"{_was_compared(was_negative, 2)} (higher is worse)",
    )
    skill = f"{number_or_dash(of_window(positive), 2)}{_was_compared(was_positive, 2)}"
    return (
        f"{point_moved()}; log LR+ {skill}{lower}; "
        f"precision {at_window(PRECISION)}{_was_compared(_COMPARED_PRECISION, 3)}; "
        f"balanced precision {at_window(BALANCED)}{_was_compared(_COMPARED_BALANCED, 3)}"
        f"{_days_of_the_level()}"
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
        f"recall {at_window(RECALL)}{_was_compared(COMPARED_RECALL, 3)}; false-positive rate "
        f"{at_window(FALSE_POSITIVE, 4)}{_was_compared(COMPARED_FALSE_POSITIVE, 4)}"
    )


def _was_compared(expr: str, digits: int) -> str:
    """What the current window of `in_windows` is compared with; nothing where it is not known."""
    return number_if_known(of_window(expr), digits, ", was ")


def _days_of_the_level() -> str:
    """The days that a window is compared with, where these are not the reference."""
    opens, closes = (
        f"{{{{ with {of_window(f'{moment}{BEFORE}{before} and {_AGAINST_LEVEL}')} | query }}}}"
        f"{words} {_DAY}{after}{{{{ end }}}}"
        for words, moment, before, after in (
            (
                " (compared with the model's level,",
                "classifier_level_open_timestamp_seconds",
                "",
                "",
            ),
            (" to", "classifier_level_close_timestamp_seconds", " - 1", ")"),
        )
    )
    return f"{opens}{closes}"


def _log_ratios(recall: str, false_positive: str) -> tuple[str, str]:
    """Queries of log LR+ and log LR-, the logs of TPR / FPR and of (1 - TPR) / (1 - FPR)."""
    return (
        f"ln(({recall} > 0) / ({false_positive} > 0))",
        f"ln((1 - {recall} > 0) / (1 - {false_positive} > 0))",
    )
