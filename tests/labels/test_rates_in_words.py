"""Rates of wrong labels in words: their digits, and a mean over a range in which they changed."""

from dataclasses import replace

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.diagnosis.period_labels import Sample
from monitor.labels.error_words import wrong_labels
from monitor.labels.regime import LabelRegime
from monitor.metrics.label_errors import EarlierErrors, ErrorRates

CELLS = np.array([80, 20, 20, 880, 100, 900])


def test_rates_that_changed_inside_a_range_are_said_to_be_a_mean():
    regime = LabelRegime(errors=ErrorRates(0.04), earlier=(EarlierErrors(5, ErrorRates(0.01)),))
    blocks = np.array([0, 5]), np.array([100, 200])
    whole, part = regime.of_blocks(*blocks), regime.of_blocks(*(one[1:] for one in blocks))
    assert (whole.errors.false_positive, whole.is_mean) == (pytest.approx(0.03), True)
    assert (part.errors, part.is_mean) == (ErrorRates(0.04), False)
    period = Period.given(ConfusionCounts(tp=80, fp=20, fn=20, tn=880))
    before, after = (
        replace(period, sample=Sample(regime=one, cells=CELLS, weights=np.zeros(8, np.int64)))
        for one in (whole, part)
    )
    found = [note for note in diagnose(before, after).notes if "labels are taken" in note]
    mean = "the mean over a range in which the rates changed"
    assert [mean in note for note in found] == [True, False]


def test_rates_of_wrong_labels_have_three_digits():
    rates = ErrorRates.within((0.00918, 0.0109429), (0.0101998, 0.0706832))
    assert "0.918 to 1.09 % of actual negatives and 1.02 to 7.07 % of" in wrong_labels(rates)
