"""Audits among labels: a second, trusted look at a labelled case, which revises no label.

In the column `value` of labels, an audit has the complement of what it found, which is below 0.
"""

from __future__ import annotations

import numpy as np

from monitor.events.columns import BoolArray, Int64Array, Labels


def marked(value: Int64Array, audit: BoolArray) -> Int64Array:
    """Return label values in which audits are marked.

    Args:
        value: 0, 1, `RETRACTED`, or the number of a class's name.
        audit: True for audits.

    >>> marked(np.array([0, 1, 1]), np.array([False, False, True])).tolist()
    [0, 1, -2]
    """
    return np.where(audit, ~value, value)


def are_audits(labels: Labels) -> BoolArray:
    """Return which labels are audits."""
    return are_audit_values(labels.value)


def are_audit_values(value: Int64Array) -> BoolArray:
    """Return which label values are those of audits."""
    return np.asarray(value < 0)


def found_by(labels: Labels) -> Int64Array:
    """Return what audits found: 0, 1, `RETRACTED`, or the number of a class's name."""
    return ~labels.value
