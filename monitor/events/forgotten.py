"""Sums over the models that were forgotten."""

from __future__ import annotations

from typing import NamedTuple


class Forgotten(NamedTuple):
    """What the models counted that were forgotten; the sums stay, by no name.

    Attributes:
        models: number of times that a model was forgotten.
        predictions: received, with those that came again.
        duplicates: of these, those that came again.
        shadows: predictions of shadow versions, received.
        labels: in force when their model was forgotten, one for each prediction.
        tp: true positives; where silence is a negative, it counts as one here too.
        fp: false positives.
        fn: false negatives.
        tn: true negatives.
    """

    models: int = 0
    predictions: int = 0
    duplicates: int = 0
    shadows: int = 0
    labels: int = 0
    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    def plus(self, other: Forgotten) -> Forgotten:
        """Return the sums over both."""
        return Forgotten(*(a + b for a, b in zip(self, other, strict=True)))
