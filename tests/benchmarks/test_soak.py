"""The soak runs, and notices what grows."""

from random import Random

import numpy as np
from benchmarks.soak import MONTH, Sizes, growth, lived, months, picture, soaked


def test_a_few_days_are_run_with_models_that_come_and_go(tmp_path):
    sizes = [*soaked(tmp_path, models=3, days=2, seed=3)]
    assert len(sizes) == 2
    assert sizes[0].models > 0
    assert sizes[0].descriptors == sizes[1].descriptors
    assert all(size.checkpoint for size in sizes[1:])


def test_models_are_born_and_die_all_through_the_days():
    models = lived(1000, 365, Random(1))
    alive = [sum(m.born <= day < m.dies for m in models) for day in range(0, 365, 30)]
    assert min(alive) > 25
    assert sum(m.born >= 0 for m in models) >= 990


def test_what_grows_is_told_from_what_does_not():
    days = np.arange(12 * MONTH)
    sizes = [Sizes(10, 1000 + 5 * day, 7, 500, 600, 2 * day) for day in days.tolist()]
    by_month = months(sizes)
    assert by_month.shape == (12, len(Sizes._fields))
    assert by_month[5, -1] == 2 * MONTH
    far = growth(by_month)
    assert (far["models"], far["checkpoint"], far["lines"]) == (0, 0, 0)
    assert far["memory"] > 0.05
    assert picture(np.repeat([1.0, 8.0], 7)) == "▁█"
