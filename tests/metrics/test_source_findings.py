"""What sources show: pairs against scikit-learn, alpha and rates of the same cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from monitor.metrics.source_errors import NO_LABEL
from monitor.metrics.source_findings import SourceFindings

NAMES = ("ann", "bob", "rules")
ROWS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([0, 1, NO_LABEL]), min_size=3, max_size=3), st.integers(1, 9)
    ),
    min_size=1,
    max_size=10,
)


def findings(rows):
    ratings, cases = zip(*rows, strict=True)
    return SourceFindings(NAMES, np.array(ratings, np.int8), np.array(cases), 0, 0)


@given(ROWS)
def test_pairs_are_those_of_scikit_learn_over_the_cases_of_both(rows):
    found = findings(rows)
    each = np.repeat(found.ratings, found.cases, axis=0)
    pairs = {(pair.first, pair.second): pair for pair in found.pairs}
    for i, first in enumerate(NAMES):
        for j in range(i + 1, len(NAMES)):
            both = each[(each[:, i] != NO_LABEL) & (each[:, j] != NO_LABEL)]
            if not len(both):
                assert (first, NAMES[j]) not in pairs
                continue
            pair = pairs[first, NAMES[j]]
            assert pair.cases == len(both)
            assert pair.agreement == pytest.approx((both[:, i] == both[:, j]).mean())
            if len(np.unique(both[:, [i, j]])) == 1:
                assert np.isnan(pair.kappa)
            else:
                expected = cohen_kappa_score(both[:, i], both[:, j], labels=[0, 1])
                assert pair.kappa == pytest.approx(expected)
                assert pair.lower <= pair.kappa <= pair.upper


def test_limits_of_kappa_are_those_of_statsmodels_with_many_cases():
    table = np.array([[8_000, 400], [700, 2_900]])
    rows = [([a, b, NO_LABEL], int(table[a, b])) for a in (0, 1) for b in (0, 1)]
    (pair,) = findings(rows).pairs
    expected = cohens_kappa(table)
    assert (pair.lower, pair.upper) == pytest.approx(
        (expected.kappa_low, expected.kappa_upp), abs=1e-3
    )


@given(ROWS)
def test_shared_cases_are_those_of_at_least_two_sources(rows):
    found = findings(rows)
    assert found.shared == sum(n for row, n in rows if sum(one != NO_LABEL for one in row) > 1)
    assert found.labelled == tuple(
        sum(n for row, n in rows if row[i] != NO_LABEL) for i in range(len(NAMES))
    )
    assert found.shared or np.isnan(found.alpha)
