"""Changes of the rates of wrong labels: found in simulations, and against a general optimizer."""

import numpy as np
import pytest
from audited_days import audited_days
from scipy.optimize import minimize
from scipy.special import expit, logit

from monitor.metrics.audit_likelihood import greatest_log_likelihood
from monitor.metrics.audited_changes import MOST_CHANGES, audit_findings, rate_changes
from monitor.metrics.audited_errors import AuditedDays


def always(fp, fn):
    return lambda _: (fp, fn)


def steps(rates, length):
    """Rates that change every so many days."""
    return lambda day: rates[day // length]


def log_likelihood(parts, parameters):
    """Written out from the probabilities: shared rates, shares of positives by part and class."""
    fp, fn, *shares = expit(np.clip(parameters, -20, 20))
    if fp + fn >= 1:
        return -np.inf
    total = 0.5 * np.log([fp, 1 - fp, fn, 1 - fn]).sum()
    for part, (audited, labelled) in enumerate(parts):
        for called in range(2):
            p = shares[2 * part + called]
            one = {0: (1 - p) * fp, 1: p * (1 - fn)}
            zero = {0: (1 - p) * (1 - fp), 1: p * fn}
            for label, by_actual in ((0, zero), (1, one)):
                for actual in range(2):
                    total += audited[called, label, actual] * np.log(by_actual[actual])
                rest = labelled[called, label] - audited[called, label].sum()
                total += rest * np.log(by_actual[0] + by_actual[1])
    return total


def test_the_greatest_likelihood_is_that_of_a_general_optimizer():
    rng = np.random.default_rng(5)
    found = audited_days(rng, always(0.01, 0.05), prevalence=lambda d: 0.05 if d < 60 else 0.02)
    middle = np.searchsorted(found.days, 60)
    halves = [found.of(0, middle), found.of(middle, len(found.days))]
    audited, labelled = (np.stack(part)[None] for part in zip(*halves, strict=True))
    start = logit([0.01, 0.05, 0.01, 0.6, 0.005, 0.4])
    best = max(
        -minimize(
            lambda at: -log_likelihood(halves, at),
            start + rng.normal(0, 0.3, 6),
            method="Nelder-Mead",
            options={"maxiter": 9_000, "maxfev": 9_000, "fatol": 1e-6, "xatol": 1e-5},
        ).fun
        for _ in range(3)
    )
    assert greatest_log_likelihood(audited, labelled)[0] == pytest.approx(best, abs=0.05)


@pytest.mark.parametrize("worse", [(0.04, 0.05), (0.01, 0.4)])
def test_a_change_is_found_within_days(worse):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        found = audited_days(rng, lambda day: worse if day >= 70 else (0.01, 0.05))
        (place,) = rate_changes(found.audited, found.labelled)
        assert abs(found.days[place] - 70) <= 12


def test_each_stretch_has_the_rates_of_its_audits():
    rng = np.random.default_rng(3)
    truths = [(0.01, 0.05), (0.05, 0.05), (0.01, 0.05)]
    days = audited_days(rng, steps(truths, 60), days=180, each=lambda _: 2)
    found = audit_findings(days)
    assert len(found.earlier) == 2
    for (_, one), truth in zip([*found.earlier, (0, found)], truths, strict=True):
        for (low, high), rate in zip(one.rates.ranges.values(), truth, strict=True):
            assert low <= rate <= high
    pooled = days.of(0, len(days.days))
    assert sum(one.cases.audited.sum() for _, one in found.earlier) < pooled.audited.sum()


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"prevalence": lambda day: 0.05 if day < 60 else 0.01},
        {"prevalence": lambda day: 0.05 * (1.5 if day % 7 < 5 else 0.5)},
        {"each": lambda _: 0.3},
    ],
)
def test_rates_that_stay_are_no_change(others):
    for seed in range(4):
        found = audited_days(np.random.default_rng(seed), always(0.01, 0.05), **others)
        assert rate_changes(found.audited, found.labelled) == []


def test_too_few_audits_show_no_change():
    rng = np.random.default_rng(1)
    found = audited_days(rng, steps([(0.0, 0.05), (0.3, 0.05)], 60), each=lambda _: 0.2)
    assert rate_changes(found.audited, found.labelled) == []
    nothing = found.audited[:0], found.labelled[:0]
    assert rate_changes(*nothing) == []


def test_there_are_at_most_so_many_changes():
    rng = np.random.default_rng(2)
    rates = steps([(0.1, 0.05), (0.01, 0.05)] * 4, 20)
    found = audited_days(rng, rates, days=160, each=lambda _: 3)
    assert 1 <= len(rate_changes(found.audited, found.labelled)) <= MOST_CHANGES


def test_labels_that_begin_to_follow_the_prediction_leave_no_rates():
    """From day 60 on half of the false positives are confirmed as flagged."""
    usual = audited_days(np.random.default_rng(7), always(0.01, 0.05), days=60, each=lambda _: 3)
    later = audited_days(np.random.default_rng(8), always(0.01, 0.05), days=60, each=lambda _: 3)
    confirmed = later.audited.copy()
    moved = confirmed[:, 1, 0, 0] // 2
    confirmed[:, 1, 0, 0] -= moved
    confirmed[:, 1, 1, 0] += moved
    labelled = later.labelled.copy()
    half = labelled[:, 1, 0] // 2
    labelled[:, 1, 0] -= half
    labelled[:, 1, 1] += half
    parts = zip(usual, later._replace(audited=confirmed, labelled=labelled), strict=True)
    days, audited, labelled = (np.concatenate(part) for part in parts)
    days[len(usual.days) :] += 60
    found = audit_findings(AuditedDays(days, audited, labelled))
    assert found.follow_predictions is True
    assert not found.rates.known


def test_labels_that_say_nothing_since_a_change_leave_no_rates():
    rng = np.random.default_rng(4)
    found = audit_findings(
        audited_days(rng, steps([(0.01, 0.05), (0.5, 0.5)], 60), each=lambda _: 3)
    )
    assert not found.rates.known
    assert [one.rates.known for _, one in found.earlier] == [True]


@pytest.mark.parametrize("seed", [6, 7, 8])
def test_the_last_of_many_changes_is_placed_right(seed):
    """It decides the rates that the windows of today are corrected for."""
    rates = steps([(0.01, 0.05), (0.04, 0.05)] * 2 + [(0.2, 0.05)], 40)
    days = audited_days(np.random.default_rng(seed), rates, days=200, each=lambda _: 4)
    changes = days.days[rate_changes(days.audited, days.labelled)]
    assert len(changes) == 4
    assert abs(changes - [40, 80, 120, 160]).max() <= 8
    assert abs(changes[-1] - 160) <= 3
