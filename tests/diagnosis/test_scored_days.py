"""Cases without a score, and scores that decide flags, by whole days of a period."""

import numpy as np
import pytest

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.diagnosis.periods import Period
from monitor.diagnosis.scored_days import flagged_scores, unscored
from monitor.metrics.histogram import ScoreHistogram

DAYS, POSITIVES, NEGATIVES = 7, 20, 80


def period(scored, held=None, *, rows=None, by_week=False):
    """A week of 100 cases a day, a tenth of each class on the wrong side of the score .5.

    Args:
        scored: whether the cases of each day have scores.
        held: whether each day has cases; None for all.
        rows: days that scores have a row for; None for all.
        by_week: see `Period`.
    """
    held = np.ones(DAYS, dtype=bool) if held is None else np.array(held)
    cells = np.array([18, 8, 2, 72]) * held[:, None]
    has = (np.array(scored) & held).astype(np.int64)
    positive, negative = np.zeros((2, DAYS, 1000), dtype=np.int64)
    positive[:, 700], positive[:, 300] = 18 * has, 2 * has
    negative[:, 700], negative[:, 300] = 8 * has, 72 * has
    rows = slice(None) if rows is None else rows
    counts = ConfusionCounts.from_cells(cells)
    return Period(
        opens=0,
        closes=DAYS * DAY_MS,
        blocks=counts,
        block_ms=DAY_MS,
        by_day=counts,
        scores=ScoreHistogram(
            positive=positive[rows],
            negative=negative[rows],
            unlabelled=np.zeros_like(positive[rows]),
        ),
        scores_by_week=by_week,
    )


WITHOUT_ONE = [True] * (DAYS - 1) + [False]


@pytest.mark.parametrize("rows", [None, slice(DAYS - 1)], ids=["row-of-zeros", "no-row"])
def test_a_day_without_any_score_counts_as_unscored(rows):
    found = unscored(period(WITHOUT_ONE, rows=rows))
    assert found is not None
    assert found.share == pytest.approx(1 / DAYS)
    assert found.of_positives == pytest.approx(1 / DAYS)
    assert not found.is_unlike
    assert flagged_scores(period(WITHOUT_ONE, rows=rows)) is None


@pytest.mark.parametrize("rows", [None, slice(DAYS - 1)], ids=["row-of-zeros", "no-row"])
def test_a_silent_day_lacks_no_score(rows):
    silent = period([True] * DAYS, WITHOUT_ONE, rows=rows)
    found, flagged = unscored(silent), flagged_scores(silent)
    assert (found is not None and found.share) == 0
    assert flagged is not None
    assert flagged.flagged.tolist() == [26] * (DAYS - 1)
    assert len(flagged.cases) == DAYS - 1


def test_scores_of_whole_weeks_tell_no_share():
    assert unscored(period([True] * DAYS, rows=slice(1), by_week=True)) is None
    assert flagged_scores(period([True] * DAYS, rows=slice(1), by_week=True)) is None


def test_a_period_without_a_case_has_no_share():
    assert unscored(period([True] * DAYS, [False] * DAYS)) is None
