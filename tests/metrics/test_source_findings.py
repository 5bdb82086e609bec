"""What sources show: pairs against scikit-learn, alpha and rates of the same cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from monitor.labels.source_words import sources_text
from monitor.metrics.source_errors import NO_LABEL
from monitor.metrics.source_findings import SourceFindings

NAMES = ("ann", "bob", "rules")


def rows_of(classes):
    """Labels of the three sources, and how many cases have them."""
    label = st.sampled_from([NO_LABEL, *range(classes)])
    row = st.tuples(st.lists(label, min_size=3, max_size=3), st.integers(1, 9))
    return st.lists(row, min_size=1, max_size=10)


ROWS = rows_of(2)


OF_CLASSES = st.integers(2, 6).flatmap(
    lambda classes: st.tuples(rows_of(classes), st.just(classes))
)


def findings(rows, classes=2):
    ratings, cases = zip(*rows, strict=True)
    return SourceFindings(NAMES, np.array(ratings, np.int8), np.array(cases), 0, 0, classes)


@given(OF_CLASSES)
def test_pairs_are_those_of_scikit_learn_over_the_cases_of_both(given_rows):
    rows, classes = given_rows
    found = findings(rows, classes)
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
                expected = cohen_kappa_score(both[:, i], both[:, j], labels=range(classes))
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


def test_kappa_of_three_classes_is_that_of_a_published_example():
    # Cohen 1960, table 1: two judges, three classes; kappa = .492.
    table = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    rows = [([a, b, NO_LABEL], int(table[a, b])) for a in range(3) for b in range(3)]
    (pair,) = findings(rows, 3).pairs
    expected = cohens_kappa(table)
    assert pair.kappa == pytest.approx(expected.kappa)
    assert pair.kappa == pytest.approx(0.492, abs=5e-4)
    assert (pair.lower, pair.upper) == pytest.approx(
        (expected.kappa_low, expected.kappa_upp), abs=0.01
    )


@given(rows_of(4))
def test_rates_of_sources_are_of_two_classes(rows):
    found = findings(rows, 4)
    assert [errors.cases for errors in found.errors] == [0, 0, 0]
    assert not any(rate.is_defined for one in found.errors for rate in one[:2])
    assert "models of two classes only" in sources_text(found)


def test_of_many_sources_those_that_are_wrong_most_are_named_first():
    """Twenty, of which the last is worst, the one before it second, and so on."""
    rng = np.random.default_rng(2)
    actual = rng.random(4_000) < 0.3
    wrong = rng.random((4_000, 20)) < np.append(np.full(17, 0.02), [0.1, 0.2, 0.3])
    ratings = (actual[:, None] ^ wrong).astype(np.int8)
    names = tuple(f"s{n:02}" for n in range(20))
    text = sources_text(SourceFindings(names, ratings, np.ones(4_000, np.int64), 0, 0))
    at = [text.index(f"; {name} labels ") for name in ("s19", "s18", "s17")]
    assert at == sorted(at)
    assert text.count(" of positives wrong (") == 3
    assert text.endswith("; 17 sources more, which are wrong less")
    assert "; s18 and s19 agree on " in text
    assert "; 187 pairs more; " in text
    assert text.index("s18 and s19 agree") < text.index("s17 and s19 agree")


def test_alpha_of_several_classes_is_fleiss_kappa_without_its_bias():
    ratings = np.random.default_rng(5).integers(0, 5, (60, 3))
    ratings[:40, 1] = ratings[:40, 0]
    fleiss = fleiss_kappa(aggregate_raters(ratings)[0])
    found = findings([(row, 1) for row in ratings.tolist()], 5)
    assert found.alpha == pytest.approx(1 - (1 - fleiss) * (ratings.size - 1) / ratings.size)


def test_the_reason_for_no_rates_is_that_of_the_labels():
    """Three sources that share enough cases do not need three that share more."""
    ratings = np.random.default_rng(6).integers(0, 2, (400, 3)).astype(np.int8)
    text = sources_text(SourceFindings(NAMES, ratings, np.ones(400, np.int64), 0, 0))
    assert text.endswith(
        "is not known: their labels may say nothing of the class, or a class has under 30 of their "
        "cases"
    )
    few = sources_text(SourceFindings(NAMES, ratings[:90], np.ones(90, np.int64), 0, 0))
    assert "takes three sources of which each two share 100 cases" in few


def test_a_limit_of_almost_none_reads_as_a_number():
    ratings = np.zeros((4_000, 3), np.int8)
    ratings[:1_000] = 1
    text = sources_text(SourceFindings(NAMES, ratings, np.ones(4_000, np.int64), 0, 0))
    assert " % of negatives wrong (0 to " in text
    assert "e-0" not in text
