"""Scorers that scikit-learn takes wherever it takes one of its own."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from monitor.python.sklearn import (
    balanced_precision,
    balanced_precision_score,
    precision_at,
    precision_at_score,
)

FEATURES, LABELS = make_classification(600, weights=[0.8], random_state=5)


def by_hand(model, rows, class_ratio):
    tn, fp, fn, tp = confusion_matrix(LABELS[rows], model.predict(FEATURES[rows])).ravel().tolist()
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    return class_ratio * tpr / (class_ratio * tpr + fpr)


@pytest.mark.parametrize(
    ("scorer", "class_ratio"), [(balanced_precision, 1), (precision_at(0.1), 0.1)]
)
def test_cross_validation_takes_it(scorer, class_ratio):
    folds = StratifiedKFold(4)
    found = cross_val_score(LogisticRegression(), FEATURES, LABELS, scoring=scorer, cv=folds)
    wanted = [
        by_hand(LogisticRegression().fit(FEATURES[train], LABELS[train]), test, class_ratio)
        for train, test in folds.split(FEATURES, LABELS)
    ]
    assert found == pytest.approx(wanted)


def test_a_search_takes_it():
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1]}, scoring=balanced_precision, cv=3)
    assert 0 < search.fit(FEATURES, LABELS).best_score_ <= 1


def test_a_search_ranks_a_candidate_without_a_mean_last_and_takes_the_first_where_none_has_one():
    def searched(*strengths):
        search = GridSearchCV(
            LogisticRegression(), {"C": strengths}, scoring=balanced_precision, cv=3
        )
        with pytest.warns(UserWarning, match="non-finite"):
            return search.fit(FEATURES, LABELS)

    mixed = searched(1e-6, 1)
    assert np.isnan(mixed.cv_results_["mean_test_score"]).tolist() == [True, False]
    assert mixed.cv_results_["rank_test_score"].tolist() == [2, 1]
    none = searched(1e-6, 1e-5)
    assert none.best_params_ == {"C": 1e-6}
    assert math.isnan(none.best_score_)


def test_a_fault_in_cross_validation_is_nan_with_a_warning_or_an_error_if_asked_for():
    names = np.where(LABELS, "fraud", "fine")
    with pytest.warns(UserWarning, match="Scoring failed"):
        found = cross_val_score(LogisticRegression(), FEATURES, names, scoring=balanced_precision)
    assert np.isnan(found).all()
    with pytest.raises(ValueError, match="pos_label"):
        cross_val_score(
            LogisticRegression(),
            FEATURES,
            names,
            scoring=balanced_precision,
            error_score="raise",
        )


def test_the_positive_class_may_have_any_name():
    actual, predicted = ["deny", "pay", "pay", "pay"], ["deny", "deny", "pay", "pay"]
    assert balanced_precision_score(actual, predicted, pos_label="deny") == pytest.approx(0.75)


@pytest.mark.parametrize("actual", [[0, 1, 2], ["no", "yes"]])
def test_more_classes_than_two_and_an_unnamed_positive_class_are_refused(actual):
    with pytest.raises(ValueError, match="must have two classes, of which pos_label is one"):
        balanced_precision_score(actual, actual)


def test_one_class_alone_is_no_fault():
    assert math.isnan(balanced_precision_score([0, 0], [0, 0]))


def test_weights_count():
    weighted = balanced_precision_score([1, 1, 0], [1, 0, 1], sample_weight=[3, 1, 2])
    assert weighted == pytest.approx(0.75 / 1.75)


def test_undefined_is_nan():
    assert math.isnan(precision_at_score([1, 1], [1, 1], class_ratio=1))


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="y_pred: must be as long as y_true"):
        balanced_precision_score(np.ones(3), np.ones(2))


@pytest.mark.parametrize("class_ratio", [-1, math.inf, math.nan, None, "many", [0.1, 0.2]])
def test_a_class_ratio_out_of_range_is_refused_before_anything_is_scored(class_ratio):
    with pytest.raises(ValueError, match="class_ratio: must be one number, finite and at least 0"):
        precision_at(class_ratio)
