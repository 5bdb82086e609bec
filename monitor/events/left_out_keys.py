"""Segment keys that the mix of a comparison leaves out where nobody names its keys."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class LeftOutBecause(StrEnum):
    """Why a segment key is left out.

    Attributes:
        ONE_VALUE: the first records have one value of it.
        MANY_VALUES: it has so many values that few records are alike in it.
        MANY_KEYS: keys of fewer values are as many as are taken.
        OTHER_COLUMN: it is a column of a table that is not called a segment: it may follow from
            the outcome.
    """

    ONE_VALUE = "one_value"
    MANY_VALUES = "many_values"
    MANY_KEYS = "many_keys"
    OTHER_COLUMN = "other_column"


class LeftOutKey(NamedTuple):
    """A segment key that is left out.

    Attributes:
        key: its name.
        because: why.
    """

    key: str
    because: LeftOutBecause
