"""Made-up events of a model that flags insurance claims: the same for the same seed.

Ten weeks of claims, each with a score, a prediction and a region. A review says within two
days whether the claim was false; some are never reviewed. What the story tells happens two
weeks before the end. With fewer claims a day, many seeds would show too little to tell rarer
positives from a worse model.

>>> first = next(cases(Story.HEALTHY, seed=1))
>>> first.id, 0 < first.score < 1, first.region in REGIONS
('claim-000000', True, True)
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from io import StringIO
from random import Random
from statistics import NormalDist
from typing import Any, NamedTuple

DAYS, CHANGES_ON_DAY = 70, 56
BEGINS = datetime(2026, 7, 1, tzinfo=UTC)
REGIONS = ("americas", "asia", "europe")
COLUMNS = ("id", "ts", "score", "prediction", "label", "label_ts", "region")
"""Columns of the table, a row for each claim."""

_A_DAY = 1_000
_THRESHOLD = 0.5
_UNREVIEWED = 0.03
_FIRST_HOURS, _LAST_HOURS = 2.0, 48.0
"""A review ends between so many hours after the claim."""
_SCORE_DIGITS = 4
_NORMAL = NormalDist()


class Story(StrEnum):
    """The change two weeks before the end."""

    HEALTHY = "healthy"
    """Nothing."""
    RARER = "rarer"
    """False claims become half as frequent; the model recognizes them as before."""
    WORSE = "worse"
    """The model misses more false claims and flags more good ones; they are as frequent."""


class _World(NamedTuple):
    """True rates: share of false claims, and the shares of false and of good ones it flags."""

    prevalence: float
    recall: float
    false_positive_rate: float

    def logit_score(self, chance: Random, *, positive: bool) -> float:
        """Draw the log-odds of a score, which is above 0 as often as the rates say."""
        rate = self.recall if positive else self.false_positive_rate
        return _NORMAL.inv_cdf(rate) + _NORMAL.inv_cdf(max(chance.random(), 1e-12))


_USUAL = _World(prevalence=0.30, recall=0.85, false_positive_rate=0.20)
_THEN = {
    Story.HEALTHY: _USUAL,
    Story.RARER: _USUAL._replace(prevalence=0.15),
    Story.WORSE: _USUAL._replace(recall=0.65, false_positive_rate=0.25),
}


class Case(NamedTuple):
    """One claim.

    Attributes:
        id: of the claim.
        ts: time of the claim.
        score: in [0, 1].
        prediction: 1 where the claim is flagged.
        region: where it is made.
        label: 1 for a false claim; None where no review came.
        label_ts: time of the review; None likewise.
    """

    id: str
    ts: datetime
    score: float
    prediction: int
    region: str
    label: int | None
    label_ts: datetime | None


def cases(story: Story, seed: int) -> Iterator[Case]:
    """Yield the claims in order of time.

    Args:
        story: what happens to them.
        seed: of all chance.
    """
    chance = Random(seed)  # noqa: S311  # a sample, no secret
    ends = BEGINS + timedelta(days=DAYS)
    for day in range(DAYS):
        world = _THEN[story] if day >= CHANGES_ON_DAY else _USUAL
        moments = sorted(int(chance.random() * 86_400) for _ in range(_A_DAY))
        for number, second in enumerate(moments, start=day * _A_DAY):
            yield _case(number, BEGINS + timedelta(days=day, seconds=second), ends, world, chance)


def _case(number: int, ts: datetime, ends: datetime, world: _World, chance: Random) -> Case:
    positive = chance.random() < world.prevalence
    odds = math.exp(world.logit_score(chance, positive=positive))
    score = round(odds / (1 + odds), _SCORE_DIGITS)
    region = REGIONS[int(chance.random() * len(REGIONS))]
    reviewed = chance.random() >= _UNREVIEWED
    hours = _FIRST_HOURS + chance.random() * (_LAST_HOURS - _FIRST_HOURS)
    label_ts = ts + timedelta(seconds=int(hours * 3_600))
    known = reviewed and label_ts < ends
    return Case(
        id=f"claim-{number:06}",
        ts=ts,
        score=score,
        prediction=int(score >= _THRESHOLD),
        region=region,
        label=int(positive) if known else None,
        label_ts=label_ts if known else None,
    )


def event_lines(claims: Iterable[Case]) -> Iterator[str]:
    """Yield predictions and labels as lines of JSON, in order of time.

    Args:
        claims: as `cases` yields them.
    """
    events: list[tuple[datetime, dict[str, Any]]] = []
    for case in claims:
        made = {"type": "prediction", "id": case.id, "ts": _written(case.ts)}
        found = {"score": case.score, "prediction": case.prediction}
        events.append((case.ts, {**made, **found, "segment": {"region": case.region}}))
        if case.label_ts is not None:
            label = {"type": "label", "id": case.id, "ts": _written(case.label_ts)}
            events.append((case.label_ts, label | {"label": case.label}))
    events.sort(key=lambda event: event[0])
    for _, event in events:
        yield json.dumps(event)


def table_lines(claims: Iterable[Case]) -> Iterator[str]:
    """Yield a table as lines of CSV: its columns, then a row for each claim.

    Args:
        claims: as `cases` yields them.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="")
    rows = (
        (c.id, _written(c.ts), c.score, c.prediction, c.label, _written(c.label_ts), c.region)
        for c in claims
    )
    for row in (COLUMNS, *rows):
        writer.writerow(row)
        yield text.getvalue()
        text.seek(0)
        text.truncate()


def _written(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat().replace("+00:00", "Z")
