"""The object that `/api/v1/scores` answers."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from monitor.report.answer_parts import Count, Share, Time


class ScoreShares(Struct, frozen=True, kw_only=True):
    """The scores of the predictions of some whole days (UTC), labelled or not.

    Attributes:
        open: first moment.
        close: first moment after it.
        scored: predictions with a score.
        shares: share of them in each range of the score; empty without any.
    """

    open: Time
    close: Time
    scored: Count
    shares: tuple[Share, ...]


class ScoresAnswer(Struct, frozen=True, kw_only=True):
    """The distribution of a model's scores now, beside an earlier one; without labels.

    Attributes:
        model: its name.
        edges: limits of the ranges of the score, one more than there are ranges.
        now: the last seven days, or as many as there are; null before any event.
        before: what to compare with; null where no earlier days are stored.
        before_is: `reference`, or `earlier` for up to 28 days just before `now`, where the
            reference is not known or lies further back than scores are stored.
        distance: largest difference of the shares below a score, in [0, 1] (Kolmogorov and
            Smirnov); null where one side has no scores.
    """

    model: str
    edges: tuple[float, ...]
    now: ScoreShares | None
    before: ScoreShares | None
    before_is: Literal["reference", "earlier"]
    distance: Share | None
