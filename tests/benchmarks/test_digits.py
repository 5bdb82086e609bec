"""A trained classifier of ten classes, in short: shares are no fault, and a confusion is named."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from tests.benchmarks.digits import CLASSES, DigitStream, classified, watch


def short(world: str) -> DigitStream:
    return DigitStream(world, seed=7, a_day=400, days=77, changed=42)


def test_the_recount_of_a_stream_is_that_of_scikit_learn():
    cases = short("steady")._replace(days=3).cases()
    labelled = cases.labelled <= cases.made[-1]
    predicted = cases.scores.argmax(axis=1)
    expected = confusion_matrix(cases.actual[labelled], predicted[labelled], labels=range(CLASSES))
    assert (cases.recount(0, np.inf) == expected.T).all()
    assert 0.05 < (~labelled).mean() < 0.5


def test_the_classifier_takes_images_with_another_digit_for_that_digit():
    mixed = classified().taken_for(7, 9, np.random.default_rng(1))
    assert len(mixed) > 20
    assert set(classified().model.predict(mixed)) == {9}


@pytest.mark.slow
def test_where_only_the_shares_of_digits_move_no_digit_is_called_worse():
    seen = watch(short("shares"))
    assert (seen.differ, seen.worse, seen.whole_worse, seen.pages) == (0, 0, 0, [])
    assert seen.looks == 300


@pytest.mark.slow
def test_a_digit_that_is_taken_for_another_pages_and_the_pair_is_named():
    stream = short("confusion")
    seen = watch(stream)
    assert seen.differ == 0
    assert seen.pages
    assert min(seen.pages) >= stream.changed
    assert seen.worse
    assert set(seen.first) == {stream.pair}
