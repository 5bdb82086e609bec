"""The rule for which whole days (UTC) a diagnosis of a model of many classes compares.

Their counts are stored by the day. The default is that of models of two classes
(see `monitor.diagnosis.comparison`), in whole days:

    before   the range asked for; else the whole days within the model's reference
    after    the range asked for; else the latest mature days, as many as the window has that
             gives the verdict of a running monitor, or seven of recorded events
"""

from __future__ import annotations

from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.diagnosis.time_ranges import TimeRange, check_apart, parse_time_range
from monitor.errors import UsageError
from monitor.snapshot import ModelState
from monitor.windows.class_counts import DAYS


class ClassRanges(NamedTuple):
    """Two stretches of whole days.

    Attributes:
        before: what to compare with.
        after: what to judge.
        options: how the user writes each of them, for errors.
    """

    before: TimeRange
    after: TimeRange
    options: tuple[str, str]

    @classmethod
    def asked(
        cls,
        model: ModelState,
        before: str | None,
        after: str | None,
        length: int,
        *,
        prefix: str = "",
    ) -> ClassRanges:
        """Return the days to compare.

        Args:
            model: the state of a model of many classes.
            before: a range as text; None for the model's reference.
            after: a range as text; None for the latest mature days.
            length: of these, milliseconds; rounded up to whole days.
            prefix: of the names of both ranges, for errors.

        Raises:
            UsageError: a range is invalid, not of whole days, or no longer stored; they
                overlap; or one is left out and no default is known yet.
        """
        options = (f"{prefix}before", f"{prefix}after")
        later = (
            _latest(model, length, options[1]) if after is None else _whole_days(options[1], after)
        )
        earlier = (
            _reference(model, options[0]) if before is None else _whole_days(options[0], before)
        )
        check_apart(earlier, later, prefix=prefix)
        found = cls(earlier, later, options)
        for option, asked in zip(options, found[:2], strict=True):
            _check_stored(model, option, asked)
        return found


def _whole_days(option: str, text: str) -> TimeRange:
    found = parse_time_range(option, text)
    if any(bound % DAY_MS for bound in found):
        raise UsageError(
            f"{option}: must be whole days (UTC) for a model of more than two classes, got {text!r}"
        )
    return found


def _latest(model: ModelState, length: int, option: str) -> TimeRange:
    if model.mature_until is None:
        raise UsageError(f"{option}: cannot be left out, no outcome is mature yet; write A..B")
    closes = model.mature_until // DAY_MS * DAY_MS
    return TimeRange(closes - -(-length // DAY_MS) * DAY_MS, closes)


def _reference(model: ModelState, option: str) -> TimeRange:
    """Return the whole days within the reference."""
    known = model.watched.reference
    if known is None or known.opens is None or known.closes is None:
        raise UsageError(
            f"{option}: must be given, since there is no reference that is complete; write A..B"
        )
    found = TimeRange(-(-known.opens // DAY_MS) * DAY_MS, known.closes // DAY_MS * DAY_MS)
    if found.closes <= found.opens:
        raise UsageError(
            f"{option}: must be given, since no whole day (UTC) lies within the reference, "
            f"{TimeRange(known.opens, known.closes)}; write A..B"
        )
    return found


def _check_stored(model: ModelState, option: str, asked: TimeRange) -> None:
    until = model.now_ms
    is_old = until is not None and asked.opens < (until // DAY_MS - DAYS + 1) * DAY_MS
    if is_old or asked.closes - asked.opens >= DAYS * DAY_MS:
        raise UsageError(f"{option}: days are stored for {DAYS - 1} days, got {asked}")
