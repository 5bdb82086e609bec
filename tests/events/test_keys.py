"""Keys of ids are stored on disk and compared between processes: they never change."""

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from monitor.events.keys import keys_of, keys_of_bytes

SEED = 0x9E3779B97F4A7C15


@given(st.lists(st.text(), max_size=20))
def test_a_key_is_the_number_that_seeded_xxh3_gives_for_the_utf8(ids):
    expected = [xxhash.xxh3_64_intdigest(name.encode(), SEED) for name in ids]
    assert keys_of(ids).tolist() == expected
    assert keys_of_bytes(name.encode() for name in ids).tolist() == expected


def test_keys_stay_what_they_were():
    ids = ["a", "ü", "78e51061-7311-48a3-82ce-6f447ed4d57b"]
    assert list(map(hex, keys_of(ids).tolist())) == [
        "0x7b013ec73230c3a1",
        "0xe63753dbbf88b5d",
        "0xae1567d4f9f18f09",
    ]


def test_keys_are_native_and_writable_also_where_there_are_none():
    for ids in ([], ["a"]):
        keys = keys_of(ids)
        assert keys.dtype == np.uint64
        assert keys.dtype.isnative
        assert keys.flags.writeable
