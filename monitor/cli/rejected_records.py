"""Tally of rejected records: how many by reason and field, and what the first ones hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from monitor.cli.recorded_tables import is_of
from monitor.config.mapping import MappedRecords, TimeUnit
from monitor.events.reject_reasons import Rejection, RejectReason
from monitor.feeds.mapping.written import Notation, YamlNotation, notation_for

_EXAMPLES = 1_000
"""Records of each reason and field to look at."""


class RejectedRecords:
    """Rejected records by reason and field.

    Args:
        mappings: that of each file; None for a file without one.

    Attributes:
        columns: the column of each field that has another name.
        asked: how to give the columns their fields; "" where their names say enough.
        further: what else to write where most records were rejected, see `further_hints`.
    """

    def __init__(self, mappings: Mapping[str, MappedRecords | None]) -> None:
        self._mappings = mappings
        named = [pair for one in mappings.values() if one for pair in one.fields.items()]
        self.columns = {field: source for field, source in named if isinstance(source, str)}
        self.asked = ""
        self.further: tuple[str, ...] = ()
        self._completed_as: Notation | None = None
        self._numbers: Counter[tuple[RejectReason, str]] = Counter()
        self._examples: dict[tuple[RejectReason, str], list[Rejection]] = {}

    def without_records(self) -> RejectedRecords:
        """Return a tally of the same files, without records."""
        empty = RejectedRecords(self._mappings)
        empty.columns, empty.asked = self.columns, self.asked
        empty._completed_as = self._completed_as  # of the same class
        return empty

    def add(self, rejections: Iterable[Rejection]) -> None:
        """Add records.

        Args:
            rejections: as decoding gives them.
        """
        for one in rejections:
            key = (one.reason, one.field)
            self._numbers[key] += 1
            examples = self._examples.setdefault(key, [])
            if len(examples) < _EXAMPLES:
                examples.append(one)

    def completed_as(self, notation: Notation) -> None:
        """Set how to complete the mapping of every file, where what they are read by is derived.

        Args:
            notation: of the mapping that a person wrote.
        """
        self._completed_as = notation

    @property
    def notation(self) -> Notation:
        """How to complete the mapping of the files, as far as they share one."""
        if self._completed_as is not None:
            return self._completed_as
        mappings = list(self._mappings.values())
        if any(one is None or not one.is_of_feed for one in mappings):
            return notation_for(None)
        first = mappings[0] if mappings else None
        return notation_for(first) if len(mappings) == 1 else YamlNotation(MappedRecords())

    def notation_of(self, reason: RejectReason) -> Notation:
        """Return how to complete the mapping of the file with the first record of a reason.

        Args:
            reason: why it was rejected.
        """
        return self._completed_as or notation_for(self._mapping_of(reason))

    def unit(self, reason: RejectReason) -> TimeUnit:
        """Return the unit of times that are numbers in that file.

        Args:
            reason: why its record was rejected.
        """
        mapping = self._mapping_of(reason)
        return TimeUnit.SECONDS if mapping is None else mapping.time.unit

    @property
    def total(self) -> int:
        """Number of rejected records."""
        return self._numbers.total()

    @property
    def most_frequent(self) -> RejectReason | None:
        """The most frequent reason; None without records."""
        numbers: Counter[RejectReason] = Counter()
        for (reason, _), number in self._numbers.items():
            numbers[reason] += number
        return next((reason for reason, _ in numbers.most_common(1)), None)

    def path_of(self, reason: RejectReason) -> str:
        """Return the file with the first record of a reason; "" where it is not known.

        Args:
            reason: why it was rejected.
        """
        if len(self._mappings) == 1:
            return next(iter(self._mappings))
        found = (ones[0] for (why, _), ones in self._examples.items() if why is reason)
        position = next((one.position for one in found), "")
        return next((path for path in self._mappings if is_of(position, path)), "")

    def _mapping_of(self, reason: RejectReason) -> MappedRecords | None:
        return self._mappings.get(self.path_of(reason))

    def fields(self, reason: RejectReason) -> list[str]:
        """Return the fields at fault for a reason, the most frequent first.

        Args:
            reason: why records were rejected.
        """
        return [field for (why, field), _ in self._numbers.most_common() if why is reason]

    def number(self, reason: RejectReason, field: str) -> int:
        """Return how many records were rejected for a reason and a field.

        Args:
            reason: why they were rejected.
            field: at fault.
        """
        return self._numbers[reason, field]

    def field(self, reason: RejectReason) -> str:
        """Return the field most often at fault for a reason; "" if no record was rejected for it.

        Args:
            reason: why records were rejected.
        """
        return next(iter(self.fields(reason)), "")

    def examples(self, reason: RejectReason, field: str) -> list[Rejection]:
        """Return the first records of a reason and a field, at most 1,000.

        Args:
            reason: why they were rejected.
            field: at fault.
        """
        return self._examples.get((reason, field), [])

    def values(self, reason: RejectReason, field: str) -> list[str | float]:
        """Return the distinct values in these records that are text or numbers, frequent first.

        Args:
            reason: why they were rejected.
            field: at fault.
        """
        values = (one.value for one in self.examples(reason, field))
        found = (v for v in values if isinstance(v, str | int | float) and not isinstance(v, bool))
        return [value for value, _ in Counter(found).most_common()]

    def allowed(self, reason: RejectReason, field: str) -> str:
        """Return what a field has to be in the first of these records; "" where none says so.

        Args:
            reason: why they were rejected.
            field: at fault.
        """
        found = (one.allowed for one in self.examples(reason, field))
        return next(filter(None, found), "")
