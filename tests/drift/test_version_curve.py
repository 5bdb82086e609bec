"""The distance of a version from the ROC curve of another: what scores add to two rates."""

from dataclasses import replace

import numpy as np
import pytest
from daily import daily
from scipy.special import expit
from sklearn.metrics import roc_curve

from monitor.drift.rates_of_two import RatesOfTwo
from monitor.drift.version_comparison import compare_two
from monitor.drift.version_curve import CurveDistance
from monitor.drift.version_verdict import NotShown, VersionVerdict
from monitor.events.score_bins import bin_of
from monitor.metrics.histogram import ScoreHistogram

DAYS, CUT = 10, 1.6
SPREAD = 2.0
"""Standard deviation of the positives: the log odds ratio changes along such a curve."""


class Rollout:
    """Cases of version A with a threshold of 1.6, and of version B with another one.

    Args:
        seed: of the cases.
        cases: of both together.
        slid: threshold of B less that of A.
        shift: mean of the positives of B less that of A.
        share: of the cases that B gets.
        prevalence: of both.
        middle: value whose score is .5.
        slid_by_day: change of the threshold of B from day to day, (days,).
        spread: standard deviation of the positives.
    """

    def __init__(
        self,
        seed,
        cases=30_000,
        *,
        slid=0.0,
        shift=0.0,
        share=0.5,
        prevalence=0.15,
        middle=CUT,
        slid_by_day=0.0,
        spread=SPREAD,
    ):
        rng = np.random.default_rng(seed)
        self.day = np.sort(rng.integers(0, DAYS, cases))
        self.is_b = rng.random(cases) < share
        self.positive = rng.random(cases) < prevalence
        spread = np.where(self.positive, spread, 1.0)
        mean = np.where(self.positive, 2 + shift * self.is_b, 0.0)
        value = rng.normal(mean, spread)
        by_day = np.broadcast_to(slid_by_day, DAYS)[self.day]
        self.flagged = value > CUT + (slid + by_day) * self.is_b
        self.score = expit(value - middle)
        self.scored = np.ones(cases, bool)

    def outcomes(self, until=DAYS):
        cells = np.zeros((2, until, 1, 4), np.int64)
        cell = np.where(self.flagged, np.where(self.positive, 0, 1), np.where(self.positive, 2, 3))
        rows = self.day < until
        np.add.at(cells, (self.is_b[rows].astype(int), self.day[rows], 0, cell[rows]), 1)
        return daily(cells)

    def scores(self, until=DAYS):
        found = {"positive": self.positive, "negative": ~self.positive}
        tables = {name: np.zeros((until, 1000), np.int64) for name in (*found, "unlabelled")}
        for name, wanted in found.items():
            rows = wanted & ~self.is_b & (self.day < until) & self.scored
            np.add.at(tables[name], (self.day[rows], bin_of(self.score[rows])), 1)
        return ScoreHistogram(**tables)

    def distance(self):
        return CurveDistance.of(RatesOfTwo.at_equal_mix(self.outcomes()), self.scores())

    def looks(self, *, scores=True):
        """Verdict, or why there is none, after each day."""
        found = []
        for until in range(1, DAYS + 1):
            given = self.scores(until) if scores else None
            one = compare_two(self.outcomes(until), scores=given).strata.found
            found.append(one.because or one.verdict)
        return found


def test_the_distance_is_that_from_the_curve_of_scikit_learn():
    one = Rollout(1, slid=-0.6, shift=-0.5)
    false, recall, _ = roc_curve(one.positive[~one.is_b], one.score[~one.is_b])

    def rate(of_b, of_class):
        return one.flagged[(one.is_b == of_b) & (one.positive == of_class)].mean()

    expected = np.interp(rate(True, False), false, recall)
    assert one.distance().recall == pytest.approx(rate(True, True) - expected, abs=2e-3)


@pytest.mark.parametrize("changed", [{}, {"slid": -0.6}, {"slid": 0.6, "share": 0.2}])
def test_the_standard_error_is_the_scatter_of_the_distance(changed):
    found = [Rollout(seed, 8_000, **changed).distance() for seed in range(150)]
    scatter = np.std([one.recall for one in found])
    assert np.mean([one.recall for one in found]) == pytest.approx(0, abs=scatter / 4)
    stated = np.sqrt(np.mean([one.standard_error**2 for one in found]))
    assert 0.9 < stated / scatter < 1.35  # an upper limit of the variance


@pytest.mark.parametrize("slid", [-0.6, pytest.param(0.6, marks=pytest.mark.slow)])
def test_another_threshold_is_not_taken_for_another_model_at_any_look(slid):
    looks = [Rollout(seed, slid=slid).looks() for seed in range(12)]
    assert {*np.concatenate(looks)} <= set(NotShown)
    assert [one[-1] for one in looks].count(NotShown.ANOTHER_THRESHOLD) >= 10
    by_rates = [Rollout(seed, slid=slid).looks(scores=False) for seed in range(12)]
    assert {*np.concatenate(by_rates)} & {VersionVerdict.WORSE, VersionVerdict.BETTER}


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({"shift": -0.8}, VersionVerdict.WORSE),
        ({"shift": -0.8, "slid": -0.6}, VersionVerdict.WORSE),
        ({"shift": 0.8, "slid": 0.6}, VersionVerdict.BETTER),
    ],
)
def test_another_curve_is_found_at_any_threshold(changed, verdict):
    found = [Rollout(seed, **changed).looks()[-1] for seed in range(8)]
    assert found.count(verdict) >= 7


@pytest.mark.parametrize("slid", [-0.6, pytest.param(0.6, marks=pytest.mark.slow)])
def test_bins_too_coarse_for_the_scores_show_no_other_model(slid):
    """All scores lie in a few bins: the chords of the curve lie far below it."""
    looks = [Rollout(seed, 60_000, slid=slid, middle=8.0).looks() for seed in range(6)]
    assert {*np.concatenate(looks)} <= set(NotShown)
    assert max(Rollout(1, slid=slid, middle=8.0).distance().coarse) > 0


def test_pairs_show_what_different_cases_do_not():
    """Both score the same cases: B misses three positives in a hundred that A finds."""
    one, rng = Rollout(4, 20_000, share=0.0), np.random.default_rng(5)
    missed = one.flagged & one.positive & (rng.random(len(one.flagged)) < 0.04)
    joint = np.where(one.flagged, np.where(missed, 1, 0), 3)
    pairs = np.zeros((2, DAYS, 4))
    np.add.at(pairs, (np.where(one.positive, 0, 1), one.day, joint), 1)
    cells = one.outcomes().cells.copy()
    cells[1] = cells[0]
    moved = np.bincount(one.day[missed], minlength=DAYS)
    cells[1, :, 0] -= moved
    cells[1, :, 2] += moved
    outcomes = daily(cells[:, :, None])
    found = compare_two(outcomes, *pairs, scores=one.scores())
    assert found.by_pairs
    assert found.decided_by.found.verdict is VersionVerdict.WORSE
    assert found.strata.found.verdict is VersionVerdict.NOT_SHOWN


def test_there_is_no_distance_without_scores_of_a_class():
    one = Rollout(1, 2_000)
    scores = one.scores()
    none = np.zeros_like(scores.positive)
    alone = ScoreHistogram(positive=none, negative=scores.negative, unlabelled=none)
    rates = RatesOfTwo.at_equal_mix(one.outcomes())
    assert CurveDistance.of(rates, alone) is None
    assert CurveDistance.of(rates, scores) is not None


def test_scores_of_flagged_cases_alone_leave_it_to_the_rates():
    one = Rollout(3, spread=0.6, slid=0.5)
    one.scored = one.flagged
    found = compare_two(one.outcomes(), scores=one.scores())
    assert found.off_own_curve
    assert found.strata.found == compare_two(one.outcomes()).strata.found


def test_scores_of_a_version_without_outcomes_are_not_off_its_curve():
    one = Rollout(3)
    outcomes = one.outcomes()
    cells = outcomes.cells.copy()
    cells[0] = 0
    assert not compare_two(replace(outcomes, cells=cells), scores=one.scores()).off_own_curve


def test_scores_of_the_other_class_or_within_one_bin_leave_it_to_the_rates():
    mirrored, one_bin = Rollout(4, slid=-0.6), Rollout(4, slid=-0.6)
    mirrored.score, one_bin.score = 1 - mirrored.score, one_bin.score / 1_001
    for one in (mirrored, one_bin):
        assert compare_two(one.outcomes(), scores=one.scores()).off_own_curve
    assert not compare_two(mirrored.outcomes(), scores=Rollout(4).scores()).off_own_curve


def test_days_at_several_thresholds_are_no_worse_version():
    """Counted together they lie below the curve that each of them lies on."""
    by_day = np.where(np.arange(DAYS) % 2, 0.9, -0.9)
    found = [Rollout(seed, slid_by_day=by_day) for seed in range(8)]
    with_scores = [one.looks()[-1] for one in found]
    assert VersionVerdict.WORSE not in with_scores
    assert {one.looks(scores=False)[-1] for one in found} == {VersionVerdict.WORSE}


def test_a_point_beside_the_origin_is_not_below_the_curve():
    """Without a false positive B lies where the curve rises at once."""
    looks = [Rollout(seed, slid=2.6).looks() for seed in range(8)]
    assert VersionVerdict.WORSE not in np.concatenate(looks)


def test_equal_versions_name_the_outcomes_that_would_show_it():
    found = [Rollout(seed) for seed in range(6)]
    for one in found:
        sequence = compare_two(one.outcomes(), scores=one.scores()).strata.found
        assert sequence.because is NotShown.TOO_FEW_OUTCOMES
        assert sequence.times_the_outcomes > 1.5
