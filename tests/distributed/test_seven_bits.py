"""Bytes below 128 for bytes of any value: the same bytes again, and few more of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.distributed.seven_bits import decoded, encoded


@given(st.binary(max_size=2000).map(lambda data: data + bytes(-len(data) % 8)))
def test_what_was_encoded_is_decoded(data):
    stored = encoded(data)
    assert decoded(stored) == data
    assert max(stored, default=0) < 128


@pytest.mark.parametrize("words", [1, 7, 8, 9, 64, 65, 511, 512, 513, 4_097, 32_769])
def test_the_number_of_words_is_found_again_and_a_seventh_is_added(words):
    data = np.random.default_rng(words).bytes(8 * words)
    stored = encoded(data)
    assert decoded(stored) == data
    assert len(stored) <= 8 * words * 8 / 7 + 64
