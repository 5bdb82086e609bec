"""Three shards of a Kafka topic and their receiver as real processes, each of them killed."""

import pytest
from benchmarks.shard_kills import killed


@pytest.mark.slow
def test_kills_of_each_shard_and_of_the_receiver_leave_what_one_monitor_shows(tmp_path):
    result = killed(1, 3, tmp_path, lambda _: None)
    assert set(result.kills.values()) == {1}
    assert len(result.kills) == 4
    assert result.found == result.expected
    assert result.differs == []
    assert result.verdict == "prevalence_shift"
