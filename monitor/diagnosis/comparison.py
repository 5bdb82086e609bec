"""The rule for which stretches of event time a diagnosis compares, live or recorded.

    before   the range asked for; else the model's reference: the configured window, trailing
             stretch or counts, else the first days (`monitor.watch.first_days`)
    after    the range asked for; else the latest mature hours: as many as the window has that
             gives the verdict, or all since the reference where these answer
             (`monitor.report.deciding_window`); but for those that lie in `before`, where a day
             of others remains; a week of recorded events whose windows are all under a day

`compared_live` applies the rule to the snapshot of a running monitor, and
`monitor.diagnosis.recorded` to recorded events.
"""

from __future__ import annotations

from typing import NamedTuple

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Reference
from monitor.config.classes import LearnedNames, are_many
from monitor.config.quantities import format_time, parse_duration
from monitor.diagnosis.time_ranges import TimeRange, check_apart, parse_time_range
from monitor.errors import UsageError
from monitor.events.lost_audits import LostAudits
from monitor.labels.error_words import lost_audits_text, too_high_text
from monitor.labels.faults import LabelFault, fault_of_rates
from monitor.labels.refusals import because
from monitor.labels.regime import LabelRegime
from monitor.metrics.audited_errors import AuditFindings
from monitor.snapshot import ModelState, Snapshot
from monitor.verdicts import ReferenceOutcomes
from monitor.windows.history import HISTORY_DAYS


class Comparison(NamedTuple):
    """Two stretches of event time to compare.

    Attributes:
        model: its name.
        before: None where the reference is given as counts.
        before_source: where it comes from, such as `first`; "" where it was asked for.
        after: the stretch to judge.
        after_source: `mature` for the latest mature hours; "" where it was asked for.
        days_until: the days of the model up to this moment, epoch milliseconds, tell how its days
            scatter; None where those of the reference do, or none are mature.
    """

    model: str
    before: TimeRange | None
    before_source: str
    after: TimeRange
    after_source: str
    days_until: int | None = None


class Answering(NamedTuple):
    """The latest stretch that answers for a model, and what it is compared with.

    Attributes:
        length_ms: its length, milliseconds.
        level: the level that its verdict is against; None where that is the reference.
    """

    length_ms: int
    level: ReferenceOutcomes | None = None

    @property
    def range_of_level(self) -> TimeRange | None:
        """Stretch of the level; None where the reference is compared."""
        return None if self.level is None else _hours_around(self.level)


def reference_source(reference: Reference) -> str:
    """Return the kind of a configured reference: `window`, `counts`, `trailing` or `first`."""
    for source in ("window", "counts", "trailing"):
        if getattr(reference, source) is not None:
            return source
    return "first"


def reference_range(reference: Reference, after: TimeRange | None) -> TimeRange | None:
    """Return the stretch of a reference whose bounds do not depend on the events.

    Args:
        reference: as configured.
        after: the stretch to judge, which a trailing reference ends at; None if unknown.

    Returns:
        None for counts, for the first days, and for a trailing reference without `after`.
    """
    if reference.window is not None:
        return TimeRange(reference.window.open, reference.window.end)
    if reference.counts is None and reference.trailing is not None and after is not None:
        return TimeRange(after.opens - reference.trailing, after.opens)
    return None


def latest_hours(mature_until: int, length: int) -> TimeRange:
    """Return the latest whole hours that are mature.

    Args:
        mature_until: up to this moment, epoch milliseconds, outcomes are mature.
        length: milliseconds; rounded up to whole hours.
    """
    closes = mature_until // HOUR_MS * HOUR_MS
    return TimeRange(closes - -(-length // HOUR_MS) * HOUR_MS, closes)


def apart_from(before: TimeRange | None, latest: TimeRange) -> TimeRange:
    """Return the latest hours without those of `before`, where a day of them remains.

    Args:
        before: the stretch to compare with; None where it is given as counts.
        latest: the latest hours that are mature.

    >>> day = DAY_MS
    >>> apart_from(TimeRange(0, 7 * day), TimeRange(6 * day, 13 * day)).opens == 7 * day
    True
    >>> apart_from(TimeRange(0, 7 * day), TimeRange(0, 7 * day + 1)).opens
    0
    """
    if before is None or not before.opens <= latest.opens < before.closes <= latest.closes - DAY_MS:
        return latest
    return TimeRange(-(-before.closes // HOUR_MS) * HOUR_MS, latest.closes)


def compared_live(
    snapshot: Snapshot,
    model: ModelState,
    before: str | None,
    after: str | None,
    answers: Answering | None = None,
) -> Comparison:
    """Return the stretches that a running monitor compares.

    Args:
        snapshot: the state.
        model: one of its models.
        before: a range of whole hours as text; None for the model's reference.
        after: a range of whole hours as text; None for the latest mature hours.
        answers: how many of these hours, and what they are compared with; None for those of the
            longest window, and the reference.

    Raises:
        UsageError: a range is invalid, is not whole hours, or they overlap; or one is
            left out and no default is known yet; or the model has more than two classes.
    """
    check_two_classes("comparison", model.name, next((r.names for r in model.classes.values()), ()))
    later = (
        _latest_live(snapshot, model, answers) if after is None else _whole_hours("after", after)
    )
    level = None if after is not None or answers is None else answers.level
    reference = level or model.watched.reference
    earlier: TimeRange | None
    if before is not None:
        earlier, source = _whole_hours("before", before), ""
    elif reference is None:
        raise UsageError(
            "before: must be given, since the reference is not complete yet; write before=A..B and "
            "after=A..B, stretches of event time of which all labels have come"
        )
    else:
        earlier, source = _hours_around(reference), reference.source
        if level is not None and earlier is not None and _is_forgotten(earlier, later):
            earlier = None  # its counts are known without
    later = apart_from(earlier, later) if after is None else later
    if earlier is not None:
        if after is None and later.opens < earlier.closes:
            raise UsageError(
                "after: cannot be left out yet, less than a day of mature outcomes follows the "
                f"reference, {earlier}; write A..B"
            )
        check_apart(earlier, later, prefix="")
    until = None
    if before is not None and model.mature_until is not None:
        until = model.mature_until // DAY_MS * DAY_MS
    return Comparison(model.name, earlier, source, later, "mature" if after is None else "", until)


def check_two_classes(asked: str, model: str, classes: tuple[str, ...]) -> None:
    """Refuse a model of more than two classes.

    Args:
        asked: what is asked for, for the message.
        model: its name, for the message; "" where events will name it.
        classes: names of its classes; none where they are 0 and 1.

    Raises:
        UsageError: there are more than two.
    """
    if are_many(classes):
        one = f"model {model!r}" if model else "this one"
        has = "learns its classes" if isinstance(classes, LearnedNames) else f"has {len(classes)}"
        raise UsageError(
            f"{asked}: takes models of two classes only, and {one} {has}; "
            "`diagnose` and /api/v1/diagnosis compare its classes between two periods"
        )


def check_silence(name: str, asked: TimeRange, until: int | None) -> None:
    """Refuse a range in which a missing label is not a negative yet.

    For labelling `negatives_by_timeout` only.

    Args:
        name: of the range, for the message.
        asked: the range.
        until: up to this moment, epoch milliseconds, missing labels are negatives; None if
            up to none.

    Raises:
        UsageError: the range ends later.
    """
    if until is None or asked.closes > until:
        counted = "no prediction yet" if until is None else f"predictions to {format_time(until)}"
        raise UsageError(
            f"{name}: ends before missing labels count as negatives, got {asked}; under labelling "
            f"negatives_by_timeout they count for {counted}: end it there or earlier"
        )


def check_audits(
    model: str,
    regime: LabelRegime,
    audits: AuditFindings | None,
    lost: LostAudits | None = None,
) -> None:
    """Refuse a model whose rates of wrong labels are undefined.

    Args:
        model: its name.
        regime: how often its labels are wrong.
        audits: what audits show; None without audits.
        lost: audits without effect, of all models; None without any.

    Raises:
        UsageError: the rates are undefined.
    """
    if not regime.errors.known:
        fault = fault_of_rates(regime.configured, audits)
        details = too_high_text(regime.configured, regime.limits)
        why = ": ".join(filter(None, [model, details, because(fault)]))
        if fault is LabelFault.AUDITS_TOO_FEW and lost is not None:
            why = f"{why}; {lost_audits_text(lost)}"
        raise UsageError(why)


def _latest_live(snapshot: Snapshot, model: ModelState, answers: Answering | None) -> TimeRange:
    until = model.mature_until
    if until is None:
        raise UsageError("after: cannot be left out, no outcome is mature yet; write A..B")
    if answers is None:
        answers = Answering(max(parse_duration(one.name) for one in snapshot.windows_of(model)))
    return latest_hours(until, answers.length_ms)


def _whole_hours(name: str, text: str) -> TimeRange:
    found = parse_time_range(name, text)
    if any(bound % HOUR_MS for bound in found):
        raise UsageError(
            f"{name}: must begin and end at whole hours, got {text!r}; a running monitor stores "
            "the past by the hour"
        )
    return found


def level_of(model: ModelState) -> ReferenceOutcomes | None:
    """Return the level that windows of a model are compared with; None where none is."""
    return next((one.level for one in model.watched.verdicts.values() if one.level), None)


def _is_forgotten(before: TimeRange, latest: TimeRange) -> bool:
    return latest.closes - before.opens > (HISTORY_DAYS - 1) * DAY_MS


def _hours_around(reference: ReferenceOutcomes) -> TimeRange | None:
    if reference.opens is None or reference.closes is None:
        return None
    return TimeRange(
        reference.opens // HOUR_MS * HOUR_MS, -(-reference.closes // HOUR_MS) * HOUR_MS
    )
