"""Counts the values of classes, to find those that a mapping lists and that never came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

_SHOWN = 5
_ENOUGH = 10_000
"""Values of a field after which a positive value is missed."""


class ClassTally:
    """Values of predictions and labels, as records with a mapping write them.

    Args:
        say: prints a line for a field of which many values came, none of them a listed one;
            None to be asked for `faults` at the end.

    >>> tally = ClassTally()
    >>> tally.expect("label", ["fraud"])
    >>> for value in ("Fraud", "ok", "ok"):
    ...     tally.note("label", value)
    >>> list(tally.faults())
    ["label: no record has the positive value 'fraud'; records have 'Fraud', 'ok'"]
    >>> list(tally.contradictions()) == list(tally.faults())
    True
    """

    def __init__(self, say: Callable[[str], None] | None = None) -> None:
        self._say = say
        self._expected: dict[str, set[str]] = {}
        self._negative: dict[str, set[str]] = {}
        self._unseen: dict[str, set[str]] = {}
        self._came: dict[str, dict[str, None]] = {}
        self._number: Counter[str] = Counter()

    def expect(self, field: str, positive: Sequence[str], negative: Sequence[str] = ()) -> None:
        """Add listed values of both classes.

        Args:
            field: name of the field.
            positive: values of the positive class.
            negative: values of the negative class; none where all others are negative.
        """
        expected = self._expected.setdefault(field, set())
        self._negative.setdefault(field, set()).update(negative)
        self._unseen.setdefault(field, set()).update(set(positive) - expected)
        self._came.setdefault(field, {})
        expected.update(positive)

    def note(self, field: str, value: str) -> None:
        """Note a value that a record has.

        Args:
            field: name of the field, one of `expect`.
            value: the value.
        """
        self._unseen[field].discard(value)
        came = self._came[field]
        if len(came) <= _SHOWN:
            came[value] = None
        self._number[field] += 1
        if self._say is not None and self._number[field] == _ENOUGH:
            for fault in self._faults_of(field):
                self._say(f"{fault} (of {_ENOUGH:,})")

    def faults(self) -> Iterator[str]:
        """Yield a line for each field that has values, but not every positive one."""
        for field in self._unseen:
            yield from self._faults_of(field)

    def contradictions(self) -> Iterator[str]:
        """Yield those faults that few records do not explain.

        Several values came that are not listed as negative, and no positive one; or one value that
        is not, in 10,000 records. A short table may lack positives, but its negatives are then of
        one value.
        """
        for field, expected in self._expected.items():
            others = self._came[field].keys() - self._negative[field]
            is_long = self._number[field] >= _ENOUGH
            if self._unseen[field] == expected and len(others) > (0 if is_long else 1):
                yield from self._faults_of(field)

    def _faults_of(self, field: str) -> Iterator[str]:
        unseen, came = sorted(self._unseen[field]), list(self._came[field])
        if unseen and came:
            more = ", …" if len(came) > _SHOWN else ""
            yield (
                f"{field}: no record has the positive value {_listed(unseen)}; records have "
                f"{_listed(came[:_SHOWN])}{more}"
            )


def _listed(values: Sequence[str]) -> str:
    return ", ".join(map(repr, values))
