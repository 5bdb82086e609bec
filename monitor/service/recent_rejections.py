"""Counts the records of the last day that are rejected, by feed, reason and field."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from threading import Lock

from monitor.clock import Clock
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection
from monitor.report.rejected_lately import RejectedKind, RejectedLately
from monitor.service.first_rejections import feed_of

_HOUR, _HOURS = 3600, 24
_MOST_KINDS, _SHOWN_KINDS = 50, 10
_OTHER = "other feeds"
_PLAIN_FIELDS = frozenset(
    ("type", "model", "ts", "label_ts", "prediction", "label", "score", "scores", "audit")
)
"""Fields whose values identify nobody."""
_Kind = tuple[str, str, str]


@dataclass(slots=True)
class _Count:
    records: int
    latest: Rejection


@dataclass(slots=True)
class _Hour:
    number: int
    read: int = 0
    kinds: dict[_Kind, _Count] = field(default_factory=dict)

    def add(self, one: Rejection) -> None:
        kind = (feed_of(one), str(one.reason), one.field)
        if kind not in self.kinds and len(self.kinds) >= _MOST_KINDS:
            kind = (_OTHER, str(one.reason), "record")
        if (known := self.kinds.get(kind)) is None:
            self.kinds[kind] = _Count(1, one)
        else:
            known.records, known.latest = known.records + 1, one


class RecentRejections:
    """Counts what arrives and what of it is rejected, by the hour. Safe to read from any thread.

    Args:
        clock: wall time, by which the hours of the last day are left.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._hours: deque[_Hour] = deque(maxlen=_HOURS)

    def note(self, batch: EventBatch) -> None:
        """Count a batch.

        Args:
            batch: as decoded.
        """
        with self._lock:
            hour = self._hour()
            hour.read += batch.records
            for one in batch.rejected:
                hour.add(one)

    def last_day(self) -> RejectedLately:
        """Return what was rejected within the last 24 hours, the one that runs included."""
        now = self._now
        with self._lock:
            hours = [hour for hour in self._hours if hour.number > now - _HOURS]
            read = sum(hour.read for hour in hours)
            found: dict[_Kind, _Count] = {}
            for hour in hours:
                for kind, count in hour.kinds.items():
                    known = found.get(kind)
                    records = count.records + (0 if known is None else known.records)
                    found[kind] = _Count(records, count.latest)
        kinds = sorted(found.items(), key=lambda item: -item[1].records)
        return RejectedLately(
            read=read,
            rejected=sum(count.records for count in found.values()),
            kinds=tuple(_answer(kind, count) for kind, count in kinds[:_SHOWN_KINDS]),
        )

    @property
    def _now(self) -> int:
        return int(self._clock.now() // _HOUR)

    def _hour(self) -> _Hour:
        """Return the hour that runs; a clock that goes back stays in the latest one."""
        now = self._now
        if not self._hours or self._hours[-1].number < now:
            self._hours.append(_Hour(now))
        return self._hours[-1]


def _answer(kind: _Kind, count: _Count) -> RejectedKind:
    feed, _, name = kind
    return RejectedKind(
        feed=feed,
        reason=count.latest.reason,
        field=name,
        records=count.records,
        latest=count.latest.position,
        detail=count.latest.detail if name in _PLAIN_FIELDS else "",
    )
