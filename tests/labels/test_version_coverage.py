"""Labels missing by the prediction in one version are found, and nothing else is."""

import numpy as np
import pytest

from monitor.labels.version_coverage import is_coverage_unlike

ALIKE, WORSE = ((0.8, 0.03),) * 2, ((0.8, 0.03), (0.5, 0.06))
HALVES, CANARY = (1_500, 1_500), (1_500, 150)
SAME = ((0.95, 0.6),) * 2
ONE_CLASS = (0.9, 0.5)
LOST = ((1.0, 1.0), (1.0, 0.7))


def cells(rng, made, rates, by_prediction, by_class):
    """Cells of two versions by each of twenty days, whose prevalence scatters.

    Args:
        rng: generator.
        made: predictions of each version a day.
        rates: recall and false-positive rate of each.
        by_prediction: of each, coverage of the predicted positives and negatives.
        by_class: coverage of the actual positives and negatives, of both.
    """
    found = np.zeros((2, 20, 6), dtype=np.int64)
    for day in range(20):
        prevalence = 0.08 * np.exp(rng.normal(0, 0.3))
        for version, count in enumerate(made):
            positives = rng.binomial(count, prevalence)
            flagged = rng.binomial([positives, count - positives], rates[version])
            table = np.array([flagged, [positives, count - positives] - flagged])
            coverage = np.outer(by_prediction[version], by_class)
            labelled = rng.binomial(table, coverage)
            (tp, fp), (fn, tn) = labelled
            found[version, day] = [tp, fp, fn, tn, *table.sum(axis=1)]
    return found


def found_of_50(made, rates, by_prediction=((1, 1),) * 2, by_class=(1, 1)):
    rng = np.random.default_rng(7)
    worlds = (cells(rng, made, rates, by_prediction, by_class) for _ in range(50))
    return sum(map(is_coverage_unlike, worlds))


@pytest.mark.parametrize("made", [HALVES, CANARY])
@pytest.mark.parametrize("rates", [ALIKE, WORSE])
@pytest.mark.parametrize("how", [{}, {"by_prediction": SAME}, {"by_class": ONE_CLASS}])
def test_labels_missing_alike_are_no_difference(made, rates, how):
    assert found_of_50(made, rates, **how) <= 1


@pytest.mark.parametrize("made", [HALVES, CANARY])
@pytest.mark.parametrize("rates", [ALIKE, WORSE])
@pytest.mark.parametrize("lost", [LOST, LOST[::-1], ((1, 1), (0.7, 1))])
def test_labels_missing_in_one_version_are_found(made, rates, lost):
    assert found_of_50(made, rates, lost) >= 49


def test_labels_of_one_class_do_not_hide_what_is_missing_in_one_version():
    assert found_of_50(HALVES, WORSE, LOST, ONE_CLASS) >= 40


def test_days_with_fewer_labels_are_compared_each():
    """The coverage of predicted negatives falls while the canary grows."""
    rng = np.random.default_rng(7)
    parts = [((1_500, 100), 1.0), ((1_000, 1_000), 0.8), ((100, 1_500), 0.6)]
    found = [cells(rng, made, ALIKE, ((1, c),) * 2, (1, 1)) for made, c in parts]
    days = np.concatenate(found, axis=1)
    assert not is_coverage_unlike(days)
    assert is_coverage_unlike(days.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("missing", [0, 1])
def test_without_a_label_of_a_predicted_class_nothing_is_found(missing):
    found = cells(np.random.default_rng(7), HALVES, ALIKE, ((1, 1),) * 2, (1, 1))
    found[missing, :, 2:4] = 0
    assert not is_coverage_unlike(found)
    assert not is_coverage_unlike(found[:, :0])
