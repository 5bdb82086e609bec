"""The labels that sources give one case, packed into a few numbers: its *combination*.

A combination has a code for each source, 0 where the source does not label the case, else 1 plus
the number of the class. Codes of models of two classes take two bits each, and one word has those
of all sources; codes of models of many classes take six, ten of them a word.
"""

from __future__ import annotations

import numpy as np

from monitor.config.classes import MOST_CLASSES
from monitor.config.label_sources import MOST_SOURCES
from monitor.events.class_names import FIRST_CLASS
from monitor.events.columns import RETRACTED, BoolArray, Int64Array
from monitor.join.source_names import SourceArray

_SOURCES = MOST_SOURCES + 1
_WORD_BITS = 62
_BITS, _MANY_BITS = _WORD_BITS // _SOURCES, MOST_CLASSES.bit_length()
_PLACES, _MANY_PLACES = _WORD_BITS // _BITS, _WORD_BITS // _MANY_BITS
WORDS, MANY_WORDS = -(-_SOURCES // _PLACES), -(-_SOURCES // _MANY_PLACES)
"""Words of a combination where all models have two classes, and where some have more."""


def combinations_of(
    source: Int64Array, value: Int64Array, first: Int64Array, many: BoolArray, width: int
) -> Int64Array:
    """Return the combination of each case, (cases, width).

    Args:
        source: number of the source of each label; those of one case are distinct.
        value: 0, 1, `RETRACTED`, or `FIRST_CLASS` plus the number of the class of each label.
        first: index of the first label of each case.
        many: whether the model of each label has more than two classes.
        width: words of a combination: `WORDS`, or `MANY_WORDS` if any label is of such a model.
    """
    code = 1 + np.where(value >= FIRST_CLASS, value - FIRST_CLASS, value)
    code[value == RETRACTED] = 0
    places = np.where(many, _MANY_PLACES, _PLACES)
    shifted = code << (np.where(many, _MANY_BITS, _BITS) * (source % places))
    word = source // places
    each = [np.add.reduceat(np.where(word == n, shifted, 0), first) for n in range(width)]
    return np.stack(each, axis=1)


def labels_of(combinations: Int64Array, *, many: bool) -> SourceArray:
    """Return the class that each source gives each case, (cases, sources); -1 for none.

    Args:
        combinations: (cases, words), of one model.
        many: whether the model has more than two classes.

    >>> value = np.array([FIRST_CLASS + 49, FIRST_CLASS + 2])
    >>> packed = combinations_of(
    ...     np.array([0, 30]), value, np.array([0]), np.array([True, True]), MANY_WORDS)
    >>> labels_of(packed, many=True)[0, [0, 1, 30]].tolist()
    [49, -1, 2]
    """
    bits, places = (_MANY_BITS, _MANY_PLACES) if many else (_BITS, _PLACES)
    source = np.arange(_SOURCES)
    codes = (combinations[:, source // places] >> (bits * (source % places))) % (1 << bits)
    return (codes - 1).astype(np.int8)
