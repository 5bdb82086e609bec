"""A damaged byte anywhere in a state directory; each of them by `benchmarks/flipped_bytes.py`."""

import pytest
from benchmarks.flipped_bytes import check


@pytest.mark.slow
def test_a_damaged_byte_is_reported_and_never_counted(tmp_path):
    ends = list(check(tmp_path, every=300, seed=1))
    found = {(path.partition("/")[0], end) for path, of_file in ends for end in of_file}
    assert found >= {
        ("checkpoints", "known to be damaged"),
        ("checkpoints", "recovered"),
        ("id-seed", "recovered"),
        ("journal", "recovered"),
        ("journal", "refused"),
    }
    assert sum(of_file.total() for _, of_file in ends) > 80


def test_every_part_of_the_last_segment_is_refused_or_repaired(tmp_path):
    [(_, ends)] = check(tmp_path, every=25, seed=2, only="00000006.journal")
    assert set(ends) == {"recovered", "refused"}
