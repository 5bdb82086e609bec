"""The moment of a change: against every division of the steps, and how often it is covered."""

import math

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.drift.change_point import change_point

NOTHING = ConfusionCounts(tp=0, fp=0, fn=0, tn=0)


def drawn(rng, steps, at, before, after, *, a_step=200):
    """Outcomes of steps with these rates (TPR, FPR) before and from a step on."""
    positive = rng.binomial(a_step, 0.2, steps)
    rates = np.where(np.arange(steps)[:, None] < at, before, after)
    tp = rng.binomial(positive, rates[:, 0])
    fp = rng.binomial(a_step - positive, rates[:, 1])
    return ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=a_step - positive - fp)


def log_likelihood(hits, misses):
    """Of cases at the rate that they show."""
    return sum(n * math.log(n / (hits + misses)) for n in (hits, misses) if n)


def brute(steps, before):
    """The likelihood of each division, one by one."""
    found = []
    for at in range(len(steps.tp)):
        early = [int(c[:at].sum()) for c in (steps.tp, steps.fn, steps.fp, steps.tn)]
        known = [int(before.tp), int(before.fn), int(before.fp), int(before.tn)]
        early = [a + b for a, b in zip(early, known, strict=True)]
        late = [int(c[at:].sum()) for c in (steps.tp, steps.fn, steps.fp, steps.tn)]
        found.append(
            sum(log_likelihood(*part) for side in (early, late) for part in (side[:2], side[2:]))
        )
    return found


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_likeliest_division_of_all(seed):
    rng = np.random.default_rng(seed)
    steps = drawn(rng, 40, 25, (0.8, 0.1), (0.65, 0.12), a_step=60)
    before = drawn(rng, 1, 1, (0.8, 0.1), (0.8, 0.1), a_step=2_000).sum()
    found, likelihood = change_point(steps, before), brute(steps, before)
    assert found.step == int(np.argmax(likelihood))
    loss = [2 * (max(likelihood) - one) for one in likelihood]
    inside = [at for at, one in enumerate(loss) if one <= -2 * math.log(1 - math.sqrt(0.95))]
    assert (found.earliest, found.latest) == (inside[0], inside[-1])


@pytest.mark.parametrize("after", [(0.6, 0.1), (0.8, 0.16)])
def test_the_interval_covers_the_change(after):
    """A fall of recall, or a rise of false positives: 400 streams of 20 days by the hour."""
    rng, covered, errors = np.random.default_rng(22), 0, []
    for _ in range(400):
        at = int(rng.integers(100, 400))
        steps = drawn(rng, 480, at, (0.8, 0.1), after, a_step=20)
        found = change_point(steps, drawn(rng, 1, 1, (0.8, 0.1), (0.8, 0.1), a_step=5_000).sum())
        covered += found.earliest <= at <= found.latest
        errors.append(abs(found.step - at))
    assert covered >= 0.93 * 400
    assert np.median(errors) <= 12


def test_scattering_days_widen_the_interval():
    steps = drawn(np.random.default_rng(1), 200, 120, (0.8, 0.1), (0.65, 0.1), a_step=40)
    narrow = change_point(steps, NOTHING)
    wide = change_point(steps, NOTHING, recall_dispersion=4, false_positive_dispersion=4)
    assert wide.earliest < narrow.earliest <= narrow.latest < wide.latest


def test_without_outcomes_there_is_no_change():
    empty = ConfusionCounts(tp=[0, 0], fp=[0, 0], fn=[0, 0], tn=[0, 0])
    assert change_point(empty, ConfusionCounts(tp=1, fp=1, fn=1, tn=1)) is None
    none = ConfusionCounts.from_cells(np.zeros((0, 4), dtype=np.int64))
    assert change_point(none, NOTHING) is None
