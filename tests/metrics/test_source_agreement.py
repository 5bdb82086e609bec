"""Krippendorff's alpha: against published examples, statsmodels, and its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from monitor.metrics.source_agreement import krippendorff_alpha

FOUR_OBSERVERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]
"""Krippendorff 2011, part C: twelve units, labels of four observers, some missing."""


def of_class(ratings, classes):
    """Labels of each class by unit, from ratings by observer."""
    units = zip(*(row.split() for row in ratings), strict=True)
    return np.array([[unit.count(name) for name in classes] for unit in units])


def counts():
    labels = st.lists(st.integers(0, 4), min_size=2, max_size=2)
    return st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.lists(labels, min_size=n, max_size=n).map(np.array),
            st.lists(st.integers(1, 50), min_size=n, max_size=n).map(np.array),
        )
    )


def test_alpha_is_that_of_krippendorffs_example_with_missing_labels():
    labels = of_class(FOUR_OBSERVERS, "12345")
    assert krippendorff_alpha(labels, np.ones(12)) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize("classes", [2, 4])
def test_alpha_is_fleiss_kappa_without_its_bias_where_every_observer_labels(classes):
    ratings = np.random.default_rng(classes).integers(0, classes, (60, 5))
    ratings[:, 1:3] = ratings[:, :1]
    labels, _ = aggregate_raters(ratings)
    fleiss = fleiss_kappa(labels)
    expected = 1 - (1 - fleiss) * (ratings.size - 1) / ratings.size
    assert krippendorff_alpha(labels, np.ones(60)) == pytest.approx(expected)


@given(counts())
def test_alpha_does_not_depend_on_how_cases_are_grouped_or_classes_are_named(drawn):
    labels, cases = drawn
    alpha = krippendorff_alpha(labels, cases)
    each = krippendorff_alpha(np.repeat(labels, cases, axis=0), np.ones(cases.sum()))
    other = krippendorff_alpha(labels[:, ::-1], cases)
    assert (alpha, alpha) == pytest.approx((each, other), nan_ok=True)
    assert np.isnan(alpha) or alpha <= 1 + 1e-12


@given(counts())
def test_cases_with_one_label_do_not_count(drawn):
    labels, cases = drawn
    single = np.concatenate([labels, [[1, 0], [0, 1], [0, 0]]])
    more = np.concatenate([cases, [7, 9, 11]])
    found, alone = krippendorff_alpha(single, more), krippendorff_alpha(labels, cases)
    assert found == pytest.approx(alone, nan_ok=True)


def test_alpha_is_undefined_without_two_classes_or_two_labels():
    assert np.isnan(krippendorff_alpha(np.array([[3, 0]]), np.array([10])))
    assert np.isnan(krippendorff_alpha(np.array([[1, 0], [0, 1]]), np.array([10, 10])))
    assert krippendorff_alpha(np.array([[2, 0], [0, 2]]), np.array([9, 1])) == 1
