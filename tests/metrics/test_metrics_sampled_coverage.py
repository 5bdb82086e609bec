"""Begg-Greenes intervals hold the truth at least 94 times in 100, at every setting."""

import numpy as np
import pytest
from benchmarks.interval_coverage import SAMPLED, SAMPLED_SETTINGS, sampled_coverage_of

DRAWS = 6_000
CHANCE = 0.0056
"""Two standard errors of a coverage of .95 in so many draws."""


@pytest.mark.parametrize("setting", SAMPLED_SETTINGS)
def test_intervals_of_sampled_labels_are_covered(setting):
    found = sampled_coverage_of(setting, DRAWS, np.random.default_rng(1))
    assert set(found) == set(SAMPLED)
    assert min(found.values()) >= 0.94 - CHANCE, found
