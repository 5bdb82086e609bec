"""Predictions of a model whose ids another model predicted: ids are unique in the monitor."""

from __future__ import annotations

from typing import NamedTuple

from monitor.config.quantities import count_of


class SharedIds(NamedTuple):
    """Predictions that do not count, since another model predicted their ids.

    Attributes:
        model: whose predictions they are.
        predictions: how many they are.
        other: the model that predicted their ids, the latest of several; "" where it is gone.
    """

    model: str
    predictions: int
    other: str

    @property
    def text(self) -> str:
        """What happened, and what to do, without a full stop.

        >>> SharedIds("b", 1, "a").text
        '1 prediction of b carries an id that model a predicted; ids are unique in the monitor: \
write one model with versions and shadow_versions, or prefix the ids with the model'
        """
        carry = "carries an id" if self.predictions == 1 else "carry ids"
        other = f"model {self.other}" if self.other else "another model"
        return (
            f"{count_of(self.predictions, 'prediction')} of {self.model} {carry} that {other} "
            "predicted; ids are unique in the monitor: write one model with versions and "
            "shadow_versions, or prefix the ids with the model"
        )
