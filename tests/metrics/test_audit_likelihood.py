"""The likelihood of rates of wrong labels: the share of positives against a search for it."""

import numpy as np
import pytest
from metrics.test_audited_errors import drawn
from scipy.optimize import minimize_scalar
from scipy.special import expit, xlogy

from monitor.metrics import audited_errors
from monitor.metrics.audit_likelihood import log_likelihood
from monitor.metrics.audited_errors import learned_rates, learned_rates_of

LOGITS = np.array([-13.0, -6.0, -3.0, -1.0, 0.5])
NOTHING = [[0, 0], [0, 0]]


def searched(audited, labelled, first, second):
    """Written out for each predicted class, its share of positives looked for."""
    fp, fn = expit([first, second])
    if fp + fn >= 1:
        return -np.inf
    seen = audited.sum(axis=0) + 0.5
    whole = (seen * np.log([[1 - fp, fn], [fp, 1 - fn]])).sum()
    for found, cases in zip(audited, labelled, strict=True):
        others, (negative, positive) = cases - found.sum(axis=1), found.sum(axis=0)

        def lost(logit, others=others, negative=negative, positive=positive):
            p = expit(logit)
            one = p * (1 - fn) + (1 - p) * fp
            rest = xlogy(others[1], one) + xlogy(others[0], 1 - one)
            return -(rest + xlogy(positive, p) + xlogy(negative, 1 - p))

        ends = (-18.0, -8.0), (-9.0, -1.0), (-2.0, 2.0), (1.0, 18.0)
        whole -= min(minimize_scalar(lost, bounds=one, method="bounded").fun for one in ends)
    return whole


@pytest.mark.parametrize(
    "audited",
    [
        [[[250, 0], [197, 53]], [[245, 5], [11, 239]]],
        [[[100, 0], [0, 0]], [[0, 0], [0, 90]]],
        [[[40, 3], [2, 60]], NOTHING],
        [NOTHING, NOTHING],
    ],
)
@pytest.mark.parametrize("others", [0, 7, 30_000])
def test_the_share_of_positives_is_the_most_likely_one(audited, others):
    audited = np.array(audited)
    labelled = audited.sum(axis=-1) + others * np.array([[40, 1], [1, 2]])
    found = log_likelihood(audited[None, None], labelled[None, None], LOGITS[None], LOGITS[None])[0]
    expected = [[searched(audited, labelled, a, b) for b in LOGITS] for a in LOGITS]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-2)


def test_rates_of_many_are_those_of_each_with_as_many_looks_as_of_one(monkeypatch):
    many = [drawn(np.random.default_rng(seed), each=40) for seed in range(12)]
    alone, looks = [learned_rates(one) for one in many], []

    def counted(*args):
        looks.append(args)
        return log_likelihood(*args)

    monkeypatch.setattr(audited_errors, "log_likelihood", counted)
    assert learned_rates_of(many) == alone
    of_many = len(looks)
    learned_rates_of(many[:1])
    assert len(looks) == 2 * of_many
