"""Segment keys that recorded events could be split by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from monitor.config.mapping import FIELDS, SEGMENT, MappedRecords
from monitor.events.left_out_keys import LeftOutBecause, LeftOutKey
from monitor.feeds.mapping.field_sources import sources_of_records

MOST_VALUES, MOST_KEYS = 20, 4
"""Values of a segment key, and keys, that are taken where nobody names them."""
_RECORDS_A_VALUE = 10
"""On average, from which a key of more values still divides the mix."""


def segment_keys(
    rows: Sequence[Mapping[str, Any]], mapping: MappedRecords | None, *, tabular: bool
) -> tuple[str, ...]:
    """Return the keys of a mapping and of `segment`, and the columns of a table that are no fields.

    Args:
        rows: some records by the name of the column.
        mapping: which columns hold the fields; None where they are named like these.
        tabular: True for rows of a table.

    >>> segment_keys([{"ts": 0, "segment.region": "eu", "channel": "web"}], None, tabular=True)
    ('region', 'channel')
    >>> segment_keys([{"ts": 0, "segment": {"region": "eu"}, "note": "x"}], None, tabular=False)
    ('region',)
    >>> mapping = MappedRecords(fields={"ts": "time", "segment.region": "addr.region"})
    >>> segment_keys([{"time": 0, "addr": {"region": "eu"}, "note": "x"}], mapping, tabular=True)
    ('region', 'note')
    """
    named = () if mapping is None else mapping.fields
    found = {name.removeprefix(SEGMENT): None for name in named if name.startswith(SEGMENT)}
    used = {*FIELDS, *sources_of_records(mapping, list(found)).used}
    for row in rows:
        inside = row.get("segment")
        if isinstance(inside, Mapping):
            found |= dict.fromkeys(inside)
        names = row if tabular else [name for name in row if name.startswith(SEGMENT)]
        found |= {name.removeprefix(SEGMENT): None for name in names if name not in used}
    return tuple(found)


class SmallKeys(NamedTuple):
    """Segment keys of few values, and the others.

    Attributes:
        keys: those that are taken, the fewest values first.
        left_out: those that are not.
    """

    keys: tuple[str, ...]
    left_out: tuple[LeftOutKey, ...]


def small_segment_keys(
    files: Iterable[tuple[Sequence[Mapping[str, Any]], MappedRecords | None, bool]],
) -> SmallKeys:
    """Return the keys of a mapping and of `segment` that have few values, four at most.

    Few are 20, or one for every ten records that have the key.
    Other columns of a table are no such keys: they may follow from the outcome. Those of 2 to 20
    values are among the keys that are left out.

    Args:
        files: the rows and the mapping of each, and whether it is a table, as `segment_keys` takes
            them.

    >>> rows = [{"segment": {"region": "eu", "card": 1}}, {"segment": {"region": "us"}}]
    >>> found = small_segment_keys([(rows, None, False)])
    >>> found.keys, [(one.key, str(one.because)) for one in found.left_out]
    (('region',), [('card', 'one_value')])
    >>> rows = [{"ts": 0, "region": "eu", "desk": 1}, {"ts": 1, "region": "us", "desk": 1}]
    >>> [(one.key, str(one.because)) for one in small_segment_keys([(rows, None, True)]).left_out]
    [('region', 'other_column')]
    """
    values: dict[str, set[str]] = {}
    records: Counter[str] = Counter()
    columns: dict[str, set[str]] = {}
    for rows, mapping, tabular in files:
        fields = {} if mapping is None else mapping.fields
        there, times = values_by_name(rows), _records_by_name(rows)
        for key in segment_keys(rows, mapping, tabular=False):
            source = fields.get(f"{SEGMENT}{key}", f"{SEGMENT}{key}")
            if isinstance(source, str) and source in there:  # else one value for all records
                values.setdefault(key, set()).update(there[source])
                records[key] += times[source]
        for name in segment_keys(rows, mapping, tabular=True) if tabular else ():
            columns.setdefault(name, set()).update(there.get(name, ()))
    known = sorted(values, key=lambda key: len(values[key]))
    because = {key: _why_left_out(len(values[key]), records[key]) for key in known}
    small = [key for key, why in because.items() if why is None]
    because |= dict.fromkeys(small[MOST_KEYS:], LeftOutBecause.MANY_KEYS)
    because |= {
        name: LeftOutBecause.OTHER_COLUMN
        for name, found in columns.items()
        if name not in because and 1 < len(found) <= MOST_VALUES
    }
    left = (LeftOutKey(key, why) for key, why in because.items() if why is not None)
    return SmallKeys(tuple(small[:MOST_KEYS]), tuple(left))


def _why_left_out(values: int, records: int) -> LeftOutBecause | None:
    if values == 1:
        return LeftOutBecause.ONE_VALUE
    many = values > max(MOST_VALUES, records // _RECORDS_A_VALUE)
    return LeftOutBecause.MANY_VALUES if many else None


def values_by_name(rows: Sequence[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Return the texts and integers of records, nested ones by a name with dots.

    Args:
        rows: some records.
    """
    values: dict[str, set[str]] = {}
    for row in rows:
        for name, value in _flat(row):
            values.setdefault(name, set()).add(value)
    return values


def _records_by_name(rows: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Return how many records have a text or integer of each name."""
    return Counter(name for row in rows for name, _ in _flat(row))


def _flat(row: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        elif isinstance(value, str | int) and value != "":
            yield f"{above}{name}", str(value)
