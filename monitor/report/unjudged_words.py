"""What is known of predictions that are made later than those that a verdict judges, in words."""

from __future__ import annotations

from monitor.config.quantities import count_of, format_duration
from monitor.diagnosis.result import Diagnosis
from monitor.diagnosis.unjudged_end import UnjudgedEnd
from monitor.diagnosis.unlabelled_end import day_of
from monitor.report.durations import duration_text
from monitor.report.metric_words import titled
from monitor.report.rate_changes import short

_DIGITS = 3
_LOOK = "see whether the threshold, the scores, or what reaches the model changed"


def unjudged_text(end: UnjudgedEnd) -> str:
    """Return what is known of them, a clause without a full stop.

    Args:
        end: the stretch of these predictions.
    """
    has_all = end.labelled == end.predictions
    fewer = "fewer" if end.flagged < end.flagged_before else "more"
    changed = f", certainly {fewer}" if end.changed else ""
    return (
        f"no verdict is on the last {duration_text(end.length_ms / 1000)} yet, as "
        f"{'maturity is so long' if has_all else 'labels take so long'}: of "
        f"{count_of(end.predictions, 'prediction')} since {day_of(end.since)}, "
        f"{'all' if has_all else f'{end.labelled:,}'} have a label, and "
        f"{short(end.flagged, _DIGITS)} are flagged ({short(end.flagged_before, _DIGITS)} in the "
        f"{format_duration(end.before_ms)} before){changed}"
    )


def notes_of(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return what is not known, and why, in sentences.

    Args:
        diagnosis: with or without such predictions.
    """
    if diagnosis.unjudged_end is None:
        return diagnosis.notes
    return (*diagnosis.notes, f"{titled(unjudged_text(diagnosis.unjudged_end))}.")


def unjudged_change(end: UnjudgedEnd | None) -> str:
    """Return that they are certainly flagged at another rate, a sentence; "" where not.

    Args:
        end: the stretch of these predictions; None without one.
    """
    if end is None or not end.changed:
        return ""
    return (
        f" Since {day_of(end.since)}, which no verdict is on yet, the share of flagged cases "
        f"{'fell' if end.flagged < end.flagged_before else 'rose'} from "
        f"{short(end.flagged_before, _DIGITS)} to {short(end.flagged, _DIGITS)}."
    )


def unjudged_advice(end: UnjudgedEnd | None) -> str:
    """Return what to do about another rate of flagged cases, without a full stop; "" without one.

    Args:
        end: the stretch of these predictions; None without one.
    """
    if end is None or not end.changed:
        return ""
    has_all = end.labelled == end.predictions
    judge = "a shorter maturity judges" if has_all else "labels that are still to come judge"
    return f"Of the predictions since {day_of(end.since)}, {_LOOK}; {judge} them"
