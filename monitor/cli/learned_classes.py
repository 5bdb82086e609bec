"""Names of the classes of recorded events, out of the values that are none of 0 and 1."""

from __future__ import annotations

from monitor.cli.rejected_records import RejectedRecords
from monitor.config.classes import MANY
from monitor.config.mapping import ClassField, text_of
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.odd_values import Values, look_like_scores, stands_for_no_class


def class_names(rejected: RejectedRecords, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of classes that are not known yet, in alphabetical order.

    Two values of a model without known classes are left out: which of them is the positive class
    only a person knows. Numbers between 0 and 1 are left out too: they seem to be scores.

    Args:
        rejected: records that were rejected while the known ones were the classes.
        known: names of classes.
    """
    values = [
        value
        for field in ClassField
        for value in _classes(rejected.values(RejectReason.BAD_VALUE, field))
        if isinstance(value, str | int)
    ]
    found = {text_of(value) for value in values} - set(known) - {""}
    return tuple(sorted(found)) if len(found) + len(known) >= MANY else ()


def _classes(values: Values) -> list[str | float]:
    """Return those values that may be classes."""
    given = [value for value in values if not stands_for_no_class(text_of(value))]
    return [] if look_like_scores(given) else given
