"""Records that are rejected since they name a class which their model does not have."""

from __future__ import annotations

from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode.named_values import name_of
from monitor.feeds.decode.reasons import Fault, Fields
from monitor.feeds.odd_values import stands_for_no_class

_CLASS_FIELDS = ("prediction", "label")


def names_unknown_class(fault: Fault, fields: Fields) -> bool:
    """Return whether a record names what may be a class, of a model that does not have it.

    An audit is left out: it is no label of its own.

    Args:
        fault: of the record.
        fields: the record.

    >>> fault = Fault(RejectReason.BAD_VALUE, "label: must be 'card' or 'loan', got 'cash'")
    >>> [names_unknown_class(fault, {"label": label}) for label in ("cash", 7, "unknown", True)]
    [True, True, False, False]
    """
    field, _, _ = fault.detail.partition(":")
    if fault.reason is not RejectReason.BAD_VALUE or field not in _CLASS_FIELDS:
        return False
    value = None if fields.get("audit") else fields.get(field)
    name = None if isinstance(value, bool) else name_of(value)
    return name is not None and not stands_for_no_class(name)
