"""Columns to propose for fields by their first values, where names alone leave a doubt.

A proposal is shown to a person, and never read by.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from monitor.feeds.mapping.class_texts import class_of_text
from monitor.feeds.mapping.values import share_of_text

FirstValues = Mapping[str, Sequence[Any]]
"""The first values of each column."""

_NAME_OF_ID = re.compile(r"(.*[\W_])?(id|uuid|guid)|.*[a-z](Id|ID)", re.DOTALL)
_WORDS = re.compile("(?<=[a-z])(?=[A-Z])")
"""Where a word of `inferenceTime` begins."""
_ENOUGH = 10
"""Rows from which values show what a column holds."""


def items_of(
    record: Mapping[str, Any], above: str = "", depth: int = 3
) -> Iterator[tuple[str, Any]]:
    """Yield the names of a record's values, nested ones with dots, and the values.

    Args:
        record: JSON, or a row.
        above: names of the objects around it, each with a dot.
        depth: objects within objects to look into, at most.
    """
    for name, value in record.items():
        if isinstance(value, dict) and depth:
            yield from items_of(value, f"{above}{name}.", depth - 1)
        else:
            yield f"{above}{name}", value


def first_values(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the columns of some rows.

    Args:
        rows: by the name of the column; nested ones with dots.
    """
    found: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in items_of(row):
            found.setdefault(name, []).append(value)
    return found


def last_part(column: str) -> str:
    """Return the part of a nested name that says what it holds, as words.

    Args:
        column: its name.

    >>> last_part("event.inferenceTime"), last_part("ts.$date")
    ('inference_Time', 'ts')
    """
    parts = [part for part in column.split(".") if not part.startswith("$")]
    return _WORDS.sub("_", (parts or [column])[-1].removeprefix("@"))


def proposed(values: FirstValues, known: Mapping[str, str]) -> dict[str, str]:
    """Return columns for id, prediction and label, by field, where values leave no doubt.

    The id is the only column of such a name whose values all differ. The prediction is the
    only column of two classes that a threshold of the score separates, and the label then the
    only other one of two classes.

    Args:
        values: the first of each column.
        known: column of each field that is known.

    >>> values = {"user_id": range(10), "p": [0.1, 0.9] * 5, "flag": [0, 1] * 5}
    >>> proposed({**values, "bad": [1] * 5 + [0] * 5}, {"score": "p"})
    {'id': 'user_id', 'prediction': 'flag', 'label': 'bad'}
    """
    free = {name: column for name, column in values.items() if name not in known.values()}
    found: dict[str, str] = {}
    ids = [name for name, column in free.items() if _are_ids(name, column)]
    if "id" not in known and len(ids) == 1:
        found["id"] = ids[0]
    classes = {name: _classes(column) for name, column in free.items()}
    two = {name: column for name, column in classes.items() if {*column} - {None} == {0, 1}}
    scores = values.get(known.get("score", ""), ())
    cut = [name for name, column in two.items() if _separates(scores, column)]
    if "prediction" in known:
        cut = []
    elif len(cut) == 1:
        found["prediction"] = cut[0]
    others = [name for name in two if name not in cut]
    if "label" not in known and len(others) == 1 and {"prediction"} & {*known, *found}:
        found["label"] = others[0]
    return found


def _are_ids(name: str, column: Sequence[Any]) -> bool:
    is_named = _NAME_OF_ID.fullmatch(name) or _NAME_OF_ID.fullmatch(name.lower())
    texts = {str(value) for value in column if value not in (None, "")}
    return is_named is not None and len(column) >= _ENOUGH and len(texts) == len(column)


def _classes(column: Sequence[Any]) -> list[Any]:
    """The class of each value; None for nothing."""
    read = (class_of_text(value) if isinstance(value, str) else value for value in column)
    return [None if value == "" else value if value in (0, 1, None) else "" for value in read]


def _separates(scores: Sequence[Any], classes: Sequence[Any]) -> bool:
    """Return whether all scores of class 1 are above all scores of class 0."""
    if len(scores) < _ENOUGH or len(scores) != len(classes):
        return False
    try:
        pairs = [(_score(s), c) for s, c in zip(scores, classes, strict=True) if c is not None]
    except (TypeError, ValueError):
        return False
    return min(s for s, c in pairs if c == 1) > max(s for s, c in pairs if c == 0)


def _score(value: Any) -> float:
    return float(share_of_text(value) if isinstance(value, str) else value)
