"""Where scores come, a slide or wrong labels page nobody, and a worse model does."""

import pytest
from benchmarks.scored_pages import FLIPS, SLIDES, Row, pages

SLIDE, *_, WORSE = SLIDES


@pytest.mark.parametrize(("change", "expected"), [(SLIDE, 0), (WORSE, 1)])
def test_a_slide_pages_nobody_and_a_worse_model_does(change, expected):
    assert pages(Row(change, scatter=0.6, days=0.0), models=1, seed=102) == expected


def test_a_trend_that_scores_show_to_be_of_the_labels_pages_nobody():
    assert pages(Row(FLIPS, days=0.0, prevalence=0.02), models=1, seed=3) == 0
