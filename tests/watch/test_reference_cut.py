"""A reference without its last days is the one that would have been cut of the days before."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.clock import DAY_MS, HOUR_MS
from monitor.counts import ConfusionCounts
from monitor.labels.regime import LabelRegime
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.label_errors import ErrorRates
from monitor.watch.as_labelled import AsLabelled
from monitor.watch.cuts import Cuts
from monitor.watch.level import Stretch
from monitor.watch.reference_cut import StretchScores, cut_reference, shortened

DAYS, BINS = 28, 5
CUTS = Cuts(0, (np.array([1, 2]),))


class Panes:
    """Hourly counts of a model and of the two values of a segment key."""

    step_ms = HOUR_MS

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        level = rng.gamma(2.0, size=(DAYS, 1, 1, 6)) * [4, 1, 1, 20, 5, 21]
        parts = rng.poisson(np.broadcast_to(level, (DAYS, 24, 2, 6))).reshape(DAYS * 24, 2, 6)
        self.table = np.concatenate([parts.sum(axis=1, keepdims=True), parts], axis=1)
        self.scores = rng.poisson(2, (3, DAYS, BINS))

    def panes(self, start, end, rows):
        return self.table[start:end, rows]

    def pane_weights(self, start, end, rows):
        return np.zeros((end - start, len(rows), 8), dtype=np.int64)

    def histogram(self, first, end):
        positive, negative, unlabelled = self.scores[:, first:end]
        return ScoreHistogram(positive=positive, negative=negative, unlabelled=unlabelled)

    def reference(self, opens, closes):
        by_day = self.histogram(-(-opens // DAY_MS), closes // DAY_MS)
        scores = StretchScores(by_day.sum(), by_day)
        stretch = Stretch("first", opens, closes)
        return cut_reference(self, stretch, CUTS, LabelRegime(), scores, rates_move=True)


def tables(reference):
    """All that a reference holds, as lists and numbers."""
    found = {}
    for field in fields(reference):
        value = getattr(reference, field.name)
        if isinstance(value, ConfusionCounts):
            value = value.cells
        if isinstance(value, ScoreHistogram):
            value = np.stack([value.positive, value.negative, value.unlabelled])
        if isinstance(value, AsLabelled):
            value = value.cells
        found[field.name] = value.tolist() if isinstance(value, np.ndarray) else value
    return found


@given(st.integers(0, 99), st.integers(20, 27), st.integers(0, 23))
def test_days_as_blocks_are_those_of_the_panes(seed, days, hour):
    panes, opens = Panes(seed), hour * HOUR_MS
    whole = panes.reference(opens, opens + 27 * DAY_MS)
    closes = opens + min(days, 26) * DAY_MS
    cut = panes.reference(opens, closes)
    assert tables(shortened(whole, closes, cut.scores)) == tables(cut)


@given(st.integers(0, 99), st.integers(1, 19))
def test_blocks_stay_days_where_the_panes_would_give_hours(seed, days):
    panes = Panes(seed)
    found = shortened(panes.reference(0, DAYS * DAY_MS), days * DAY_MS, None)
    cut = panes.reference(0, days * DAY_MS)
    assert (found.block_ms, cut.block_ms) == (DAY_MS, HOUR_MS)
    for read in (
        lambda one: one.counts.cells,
        lambda one: one.by_day.cells,
        lambda one: one.days_of(CUTS.rows).cells,
        lambda one: one.cells_of(CUTS.rows),
        lambda one: one.labelling.sum(axis=0),
        lambda one: one.scores_by_day.positive,
        lambda one: one.panes.cells,
    ):
        assert read(found).tolist() == read(cut).tolist()
    assert (found.dispersion, found.closes) == (cut.dispersion, cut.closes)


def test_rates_of_wrong_labels_that_are_learned_later_correct_the_days_that_remain():
    panes, days = Panes(0), 21
    later = LabelRegime(errors=ErrorRates(0.01, 0.02))
    found = shortened(panes.reference(0, DAYS * DAY_MS), days * DAY_MS, None).at_rates(later)
    cut = panes.reference(0, days * DAY_MS).at_rates(later)
    assert found.counts.cells.tolist() == cut.counts.cells.tolist()
    assert found.counts.total < panes.table[: days * 24, 0, :4].sum() * 1.001


@pytest.mark.parametrize("closes", [DAYS * DAY_MS, 40 * DAY_MS])
def test_one_that_closes_earlier_stays(closes):
    whole = Panes(0).reference(0, DAYS * DAY_MS)
    assert shortened(whole, closes, None) is whole


def test_days_without_a_label_of_one_class_draw_no_curve():
    panes = Panes(0)
    panes.scores[0, :20] = 0
    whole = panes.reference(0, DAYS * DAY_MS)
    assert shortened(whole, 20 * DAY_MS, None).scores_by_day is None
    assert shortened(whole, 21 * DAY_MS, None).scores_by_day is not None
