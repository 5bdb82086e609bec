"""Slow clients and large bodies at the real command; the script does it with more of both."""

from benchmarks.slow_clients import CAP, measure

LIMITS = ", header_timeout: 1s, body_timeout: 2s"


def test_slow_clients_are_dropped_and_large_bodies_refused_at_little_cost(tmp_path):
    found = measure(60, 100, tmp_path, LIMITS)
    assert found.slowest < 2
    assert found.gone < 20
    assert set(found.codes) <= {413, 0}
    assert found.codes[1] == 413
    assert found.grown < 2 * CAP
