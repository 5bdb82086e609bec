"""The benchmark of stalls runs, and its loop turns within the batch."""

from benchmarks.stalls import longest_stall


def test_the_longest_time_without_a_turn_is_a_part_of_a_long_batch():
    spent, stall = longest_stall(models=3, days=12, a_day=60, seed=1)
    assert 0 < stall < spent / 2
