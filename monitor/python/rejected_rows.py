"""Rejected rows of a table: how many, the first ones, and what to write so that they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from monitor.config.mapping import TimeUnit
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.feeds.decode.time_texts import begins_with_day_or_month, moment_of
from monitor.feeds.decode.time_units import unit_to_give
from monitor.feeds.table_fields import TIMES

_SHOWN = 5
_ZONE = "give the zone of times that name none, time={'zone': 'Europe/Berlin'}"
_DAY_FIRST = (
    "07/08/2026 is a day of July or of August: give {} as times, "
    "pd.to_datetime(df['COLUMN'], dayfirst=True)"
)
_CLASS = "say which values are of the positive class, values={{'{}': {{'positive': ['VALUE']}}}}"
_DECISION = (
    "name the column of predictions, prediction='COLUMN', or give the model a threshold for its "
    "scores, Monitor(Config(defaults={'threshold': 0.5}))"
)
_COLUMN = "name the column that holds {0}, {0}='COLUMN'"
_TYPE = "leave `type` out where it is no type of event, type={'value': ''}"
_OF_FIELDS = {
    "score": "give scores from 0 to 1, percentages divided by 100",
    **{field: _CLASS.format(field) for field in ("prediction", "label")},
}
"""What to write where a value does not fit, by field."""


class RejectedRows:
    """The rejected rows of a table.

    Attributes:
        first: the first rejected rows.
    """

    def __init__(self) -> None:
        self.first: list[Rejection] = []
        self._numbers: Counter[tuple[RejectReason, str]] = Counter()
        self._example: dict[tuple[RejectReason, str], Rejection] = {}

    def add(self, rejections: Sequence[Rejection]) -> None:
        """Add rejected rows.

        Args:
            rejections: as decoding gives them.
        """
        self.first += rejections[: _SHOWN - len(self.first)]
        for one in rejections:
            kind = (one.reason, one.field)
            self._numbers[kind] += 1
            self._example.setdefault(kind, one)

    @property
    def total(self) -> int:
        """Number of rejected rows."""
        return self._numbers.total()

    @property
    def by_reason(self) -> dict[str, int]:
        """Number of rejected rows by reason."""
        found: Counter[str] = Counter()
        for (reason, _), number in self._numbers.items():
            found[str(reason)] += number
        return dict(found)

    def hint(self, unit: TimeUnit) -> str:
        """Return what to write so that the most frequent kind is read; "" where it is not certain.

        Args:
            unit: of times that are numbers, as they were read.

        >>> rows = RejectedRows()
        >>> rows.add([Rejection(RejectReason.MISSING_FIELD, "row:1", "id: is missing", b"")])
        >>> rows.hint(TimeUnit.SECONDS)
        "name the column that holds id, id='COLUMN'"
        """
        (kind, _), *_ = self._numbers.most_common(1)
        return _hint(self._example[kind], unit)


def _hint(rejection: Rejection, unit: TimeUnit) -> str:
    field, value = rejection.field, rejection.value
    if rejection.reason is RejectReason.TIMESTAMP_IN_MILLISECONDS:
        fits = unit_to_give(float(value), unit)
        return "" if fits is None else f"give the unit of times, time={{'unit': '{fits}'}}"
    if rejection.reason is RejectReason.MISSING_FIELD:
        return _DECISION if field == "prediction" else _COLUMN.format(field)
    if rejection.reason is RejectReason.BAD_VALUE:
        return _time_hint(field, value) if field in TIMES else _OF_FIELDS.get(field, "")
    return _TYPE if rejection.reason is RejectReason.UNKNOWN_TYPE else ""


def _time_hint(field: str, value: object) -> str:
    if not isinstance(value, str):
        return ""
    if begins_with_day_or_month(value):
        return _DAY_FIRST.format(field)
    moment = moment_of(value)
    return _ZONE if moment is not None and moment.tzinfo is None else ""
