"""Rates learned from audits: against an independent optimum, and in simulations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit

from monitor.metrics.audited_errors import (
    FEWEST_AUDITS,
    AuditedLabels,
    AuditFindings,
    follow_predictions,
    learned_rates,
)

DROP = 1.92073


def drawn(rng, *, prevalence=0.05, flips=(0.01, 0.05), cases=30_000, each=100, of_flagged=None):
    """Audits of a simulated model; `of_flagged` are other rates for flagged cases."""
    actual = rng.random(cases) < prevalence
    called = rng.random(cases) < np.where(actual, 0.8, 0.02)
    rates = np.array([flips, flips if of_flagged is None else of_flagged])[called.astype(int)]
    wrong = rng.random(cases) < np.where(actual, rates[:, 1], rates[:, 0])
    label = actual ^ wrong
    audited, labelled = np.zeros((2, 2, 2), np.int64), np.zeros((2, 2), np.int64)
    for d in (0, 1):
        for y in (0, 1):
            stratum = np.flatnonzero((called == d) & (label == y))
            labelled[d, y] = len(stratum)
            seen = actual[rng.permutation(stratum)[:each]]
            audited[d, y] = (~seen).sum(), seen.sum()
    return AuditedLabels(audited, labelled)


def log_likelihood(found, parameters):
    """Written out case by case from the probabilities, with half an audit added."""
    fp, fn, *shares = expit(np.clip(parameters, -20, 20))
    if fp + fn >= 1:
        return -np.inf
    total = 0.5 * np.log([fp, 1 - fp, fn, 1 - fn]).sum()
    for d, p in enumerate(shares):
        probability = {
            (1, 1): p * (1 - fn), (0, 1): p * fn, (1, 0): (1 - p) * fp, (0, 0): (1 - p) * (1 - fp)
        }  # fmt: skip
        for y in (0, 1):
            for a in (0, 1):
                total += found.audited[d, y, a] * np.log(probability[y, a])
            rest = found.labelled[d, y] - found.audited[d, y].sum()
            total += rest * np.log(probability[y, 0] + probability[y, 1])
    return total


def greatest(found, fixed=None):
    """The greatest log-likelihood by a general optimizer; with one logit fixed, over the others."""
    start = np.array([logit(0.01), logit(0.05), logit(0.01), logit(0.6)])
    free = [i for i in range(4) if fixed is None or i != fixed[0]]

    def lost(values):
        whole = start.copy()
        if fixed is not None:
            whole[fixed[0]] = fixed[1]
        whole[free] = values
        value = log_likelihood(found, whole)
        return 1e9 if not np.isfinite(value) else -value

    options = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 20_000, "maxfev": 20_000}
    best = minimize(lost, start[free], method="Nelder-Mead", options=options)
    best = minimize(lost, best.x, method="Nelder-Mead", options=options)
    return -best.fun, best.x


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rates_and_limits_are_those_of_the_likelihood(seed):
    found = drawn(np.random.default_rng(seed))
    rates = learned_rates(found)
    best, where = greatest(found)
    assert rates.false_positive == pytest.approx(expit(where[0]), rel=0.03)
    assert rates.false_negative == pytest.approx(expit(where[1]), rel=0.03)
    for index, name in enumerate(("false_positive", "false_negative")):
        for end in rates.ranges[name]:
            profile, _ = greatest(found, (index, logit(end)))
            assert best - profile == pytest.approx(DROP, abs=0.25), (name, end)


@pytest.mark.parametrize("flips", [(0.01, 0.05), (0.005, 0.005), (0.05, 0.0)])
@pytest.mark.slow
def test_limits_cover_the_true_rates(flips):
    rng, covered = np.random.default_rng(5), []
    for _ in range(40):
        rates = learned_rates(drawn(rng, flips=flips, cases=10_000))
        ends = rates.ranges["false_positive"], rates.ranges["false_negative"]
        covered.append([low <= true <= high for true, (low, high) in zip(flips, ends, strict=True)])
    assert np.mean(covered, axis=0).min() >= 0.88


def test_where_no_label_is_wrong_the_lower_limits_are_0_and_the_upper_ones_are_not():
    rates = learned_rates(drawn(np.random.default_rng(1), flips=(0.0, 0.0)))
    for low, high in rates.ranges.values():
        assert low == 0
        assert high > 0


RIGHT, WRONG = st.integers(20, 200), st.integers(0, 15)
MOSTLY_RIGHT = st.tuples(RIGHT, WRONG, WRONG, RIGHT, RIGHT, WRONG, WRONG, RIGHT)
"""Cases by predicted class, label and actual class."""


@settings(max_examples=25, deadline=None)
@given(MOSTLY_RIGHT | st.lists(st.integers(0, 80), min_size=8, max_size=8), st.integers(0, 10_000))
def test_any_audits_give_rates_with_limits_around_them_or_none(cells, more):
    audited = np.array(cells, dtype=np.int64).reshape(2, 2, 2)
    found = AuditedLabels(audited, audited.sum(axis=2) + more)
    rates = learned_rates(found)
    assert rates.known <= (min(found.by_label) >= FEWEST_AUDITS)
    ends = rates.ranges
    assert rates.known == (len(ends) == 2)
    assert sum(high for _, high in ends.values()) < 1.001
    for name, (low, high) in ends.items():
        assert 0 <= low <= getattr(rates, name) <= high


def test_too_few_audits_of_a_label_leave_the_rates_undefined():
    found = drawn(np.random.default_rng(1), each=FEWEST_AUDITS)
    assert learned_rates(found).known
    fewer = found.audited.copy()
    fewer[:, 0] = [[FEWEST_AUDITS - 1, 0], [0, 0]]
    rates = learned_rates(AuditedLabels(fewer, found.labelled))
    assert not rates.known
    assert rates.rates == {}
    assert rates.ranges == {}
    assert np.isnan(rates.false_positive)


def test_labels_without_errors_of_the_predicted_class_do_not_seem_to_follow_it():
    rng = np.random.default_rng(7)
    found = [follow_predictions(drawn(rng, cases=10_000)) for _ in range(25)]
    assert sum(found) <= 2


def test_confirmed_false_positives_are_found():
    rng = np.random.default_rng(7)
    followed = {"of_flagged": (0.3, 0.0), "cases": 10_000}
    assert all(follow_predictions(drawn(rng, **followed)) for _ in range(10))


def test_findings_say_nothing_of_predictions_with_too_few_audits_of_a_predicted_class():
    found = drawn(np.random.default_rng(1))
    alone = found.audited.copy()
    alone[1] = 0
    assert AuditFindings.of(AuditedLabels(alone, found.labelled)).follow_predictions is None
