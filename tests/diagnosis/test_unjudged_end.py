"""Whether predictions behind the mature ones are certainly flagged at another rate."""

from types import SimpleNamespace

import numpy as np
import pytest

from monitor.diagnosis.unjudged_end import unjudged_end
from monitor.join.deltas import CELLS, PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.windows.history import History

DAY = 86_400_000
DAILY = 500
MATURE = 100


def of_days(shares, *, mature=MATURE, judged=7):
    """The stretch behind a day, of a model whose days have so many flagged of 500."""
    days = len(shares)
    cells = np.zeros((days, CELLS), dtype=np.int64)
    cells[:, PREDICTED_POSITIVE] = np.round(np.asarray(shares) * DAILY)
    cells[:, PREDICTED_NEGATIVE] = DAILY - cells[:, PREDICTED_POSITIVE]
    model = SimpleNamespace(classes={}, mature_until=mature * DAY, last_prediction_ms=days * DAY)
    return unjudged_end(model, History(np.arange(days) * DAY, cells), judged * DAY)


def drifting(seed, days, *, scatter=0.2, hang=0.8):
    """Shares around .1 whose days scatter in log-odds and hang together."""
    rng, level, found = np.random.default_rng(seed), 0.0, []
    for _ in range(days):
        level = hang * level + np.sqrt(1 - hang**2) * scatter * rng.normal()
        found.append(1 / (1 + np.exp(2.2 - level)))
    return np.array(found)


def test_it_has_the_numbers_of_both_stretches():
    found = of_days([0.2] * 130 + [0.1] * 30, mature=130)
    assert found.since == 130 * DAY
    assert (found.length_ms, found.predictions, found.labelled) == (30 * DAY, 30 * DAILY, 0)
    assert (found.flagged, found.flagged_before) == pytest.approx((0.1, 0.2))
    assert found.changed


def test_what_lies_further_back_does_not_count():
    assert not of_days([0.4] * 60 + [0.2] * 100).changed


def test_a_change_that_is_too_small_to_matter_is_none():
    assert not of_days([0.2] * 100 + [0.22] * 60).changed
    assert of_days([0.2] * 100 + [0.25] * 60).changed


def test_there_is_none_where_the_windows_reach_as_far():
    assert of_days([0.2] * 110, judged=10) is None
    assert of_days([0.2] * 110, judged=9) is not None


def test_two_weeks_in_all_show_nothing():
    assert not of_days([0.2] * 7 + [0.5] * 10, mature=7).changed


@pytest.mark.parametrize("end", [102, 109, 116])
def test_a_week_that_has_not_ended_does_not_count(end):
    """Its days are others than those of a whole week: here a weekend."""
    shares = np.where(np.arange(end) % 7 < 2, 0.4, 0.1)
    assert MATURE % 7 == 2
    assert not of_days(np.roll(shares, 2), judged=1).changed


def test_days_that_scatter_and_hang_together_rarely_look_changed():
    found = [of_days(drifting(seed, 160)).changed for seed in range(400)]
    assert np.mean(found) <= 0.01


def test_a_share_that_halves_is_seen_among_days_that_scatter():
    halved = np.where(np.arange(160) < MATURE, 1.0, 0.5)
    found = [of_days(drifting(seed, 160) * halved).changed for seed in range(100)]
    assert np.mean(found) >= 0.9
