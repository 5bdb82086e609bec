import math
from itertools import pairwise

import numpy as np
import pytest

from monitor.drift.confidence_sequence import ERROR, information_for, radius


@pytest.mark.parametrize("information", [0.5, 30.0, 4_000.0])
def test_the_information_for_a_half_width_has_that_half_width(information):
    assert information_for(radius(information)) == pytest.approx(information, rel=1e-6)


def test_nothing_is_known_without_information_and_no_width_of_0_is_reached():
    assert radius(0.0) == math.inf
    assert information_for(0.0) == math.inf
    assert information_for(-0.1) == math.inf


def test_a_wide_interval_shrinks_faster_than_any_multiple_of_the_error_grows():
    widths = [radius(2.0**power) for power in range(30)]
    assert all(narrow < wide for wide, narrow in pairwise(widths))
    assert widths[-1] * math.sqrt(2.0**29) < 6


def test_brownian_motion_stays_inside_at_every_look():
    """Each side is left by at most `ERROR` of the paths, at any of 3,000 looks."""
    rng = np.random.default_rng(22)
    paths, looks = 1_000, 3_000
    motion = np.cumsum(rng.normal(0, 1, (paths, looks)), axis=1)
    information = np.arange(1, looks + 1)
    bound = np.array([radius(float(one)) for one in information]) * information
    above, below = (motion > bound).any(axis=1).mean(), (motion < -bound).any(axis=1).mean()
    at_one_look = (motion > 1.6448536 * np.sqrt(information)).any(axis=1).mean()
    assert max(above, below) <= ERROR
    assert min(above, below) > 0  # it is not merely wide
    assert at_one_look > 0.3  # what an interval for one look would do
