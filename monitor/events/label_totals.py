"""What became of the labels received."""

from __future__ import annotations

from typing import NamedTuple


class LabelTotals(NamedTuple):
    """Number of labels received, by what became of them.

    Attributes:
        applied: labels in force of a known prediction, one for each prediction.
        held: labels that came before their prediction and wait for it.
        duplicate: repeated and superseded labels of predictions that have another.
        late: labels that came after the label timeout or the horizon, without effect.
        orphaned: labels that waited until the horizon and got no prediction.
        misnamed: labels with a class that the model of their prediction does not have.
        audits: audits of known predictions.
    """

    applied: int = 0
    held: int = 0
    duplicate: int = 0
    late: int = 0
    orphaned: int = 0
    misnamed: int = 0
    audits: int = 0

    @property
    def without_prediction(self) -> int:
        """Number of labels without effect, since no prediction was there, or waited for them."""
        return self.held + self.late + self.orphaned

    @property
    def received(self) -> int:
        """Number of labels that decode accepted, the sum of all fields."""
        return sum(self)
