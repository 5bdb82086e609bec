"""The counters of a model, as Prometheus reads them."""

from __future__ import annotations

from typing import NamedTuple


class CounterTotals(NamedTuple):
    """Values of a model's counters, which never decrease.

    They include predictions that were withdrawn later (by an earlier prediction of the
    same id, or by corrected counts) until as many new ones arrive.

    Attributes:
        predicted_positive: predictions called positive.
        predicted_negative: predictions called negative.
        labelled: predictions for which a label came in time.
    """

    predicted_positive: int = 0
    predicted_negative: int = 0
    labelled: int = 0
