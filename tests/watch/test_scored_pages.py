"""Where scores come, a slide of the threshold pages nobody, and a worse model does."""

import pytest
from benchmarks.scored_pages import SLIDES, Row, pages

SLIDE, *_, WORSE = SLIDES


@pytest.mark.parametrize(("change", "expected"), [(SLIDE, 0), (WORSE, 1)])
def test_a_slide_pages_nobody_and_a_worse_model_does(change, expected):
    assert pages(Row(change, scatter=0.6, days=0.0), models=1, seed=102) == expected
