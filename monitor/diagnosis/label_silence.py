"""Labels that have stopped while predictions go on, told before the missing ones are mature."""

from __future__ import annotations

import math

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.snapshot import ModelState

LEAST_SILENCE_MS = 3 * DAY_MS
"""A long weekend without labels is usual in many places."""
HALVES = 2.5
"""Labels that come in batches, weekly say, take half of the time between two batches on average."""
_FEWEST = 30


def labels_silent_since(model: ModelState) -> int | None:
    """Return when the last label of a model came, epoch milliseconds, where labels have stopped.

    They have where none came for three days, and for 2.5 times as long as half of the labels take
    (at most the maturity), while 30 or more of the predictions that wait should get one. Windows
    look as ever meanwhile, since they end where nearly all labels have come.

    Args:
        model: of a snapshot.

    Returns:
        None where labels come, where none ever did or none within 90 days, and under another
        labelling than `complete`, whose labels need not come.
    """
    last, newest, made = model.last_label_ms, model.last_prediction_ms, model.labelled
    if model.labelling != Labelling.COMPLETE or last is None or newest is None or not made:
        return None
    half = model.delay_within[0]
    usual = math.inf if math.isnan(half) else HALVES * half * 1000
    if newest - last < max(LEAST_SILENCE_MS, min(usual, model.maturity_ms or math.inf)):
        return None
    share = made / (made + model.pending + model.expired)
    return last if model.pending * share >= _FEWEST else None
