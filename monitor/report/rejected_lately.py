"""Records that a running monitor has rejected within the last day, as JSON and in words."""

from __future__ import annotations

from msgspec import Struct

from monitor.config.quantities import count_of
from monitor.events.reject_reasons import RejectReason
from monitor.report.answer_parts import Count

_LEAST, _SHARE = 20, 0.01
"""Records, and share of all, from which rejections need attention, as for the alert."""
_TENTH = 10
"""Percentages from here on are whole numbers, others have two digits."""


class RejectedKind(Struct, frozen=True, kw_only=True):
    """Rejected records of one feed that share the reason and the field.

    Attributes:
        feed: as the log names it.
        reason: why they are rejected.
        field: the field at fault; "record" or "row" where it is the record as a whole.
        records: how many there are.
        latest: position of the latest one.
        detail: what is wrong with it, with its value; "" of fields that may identify a person.
    """

    feed: str
    reason: RejectReason
    field: str
    records: Count
    latest: str
    detail: str


class RejectedLately(Struct, frozen=True, kw_only=True):
    """Records that arrived within the last 24 hours and are rejected.

    Attributes:
        read: records that arrived within these hours, rejected or not.
        rejected: how many of them are rejected.
        kinds: the most frequent kinds, ten at most.
    """

    read: Count
    rejected: Count
    kinds: tuple[RejectedKind, ...]

    @property
    def needs_attention(self) -> bool:
        """Whether these are more than a few bad records: 20 and more, and 1 % of all."""
        return self.rejected >= _LEAST and self.rejected >= _SHARE * self.read


def rejected_text(found: RejectedLately) -> str:
    """Return how many records are rejected, for a person.

    Args:
        found: at least one is.

    >>> rejected_text(RejectedLately(read=8000, rejected=1334, kinds=()))
    'Of the 8,000 records of the last day 1,334 (17 %) are rejected, and count nowhere.'
    >>> rejected_text(RejectedLately(read=8000, rejected=1, kinds=()))
    'Of the 8,000 records of the last day 1 (0.013 %) is rejected, and counts nowhere.'
    >>> rejected_text(RejectedLately(read=1000, rejected=1000, kinds=()))
    'Of the 1,000 records of the last day 1,000 (100 %) are rejected, and count nowhere.'
    """
    percent = max(0.01, 100 * found.rejected / found.read)
    share = f"{percent:.0f}" if percent >= _TENTH else f"{percent:.2g}"
    are = "is rejected, and counts" if found.rejected == 1 else "are rejected, and count"
    read = f"Of the {count_of(found.read, 'record')} of the last day"
    return f"{read} {found.rejected:,} ({share} %) {are} nowhere."


def kind_text(kind: RejectedKind) -> str:
    """Return one kind of rejected records, for a person.

    >>> kind = RejectedKind(feed="a.csv", reason=RejectReason.BAD_VALUE, field="label", records=7,
    ...                     latest="a.csv:9", detail="label: must be 0 or 1, got 7")
    >>> kind_text(kind)
    '7 bad_value, the latest a.csv:9: label: must be 0 or 1, got 7'
    """
    what = kind.detail or kind.field
    return f"{kind.records:,} {kind.reason}, the latest {kind.latest}: {what}"
