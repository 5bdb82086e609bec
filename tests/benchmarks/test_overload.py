"""A short overload of the service: all that it acknowledges is counted, once."""

import pytest
from benchmarks import overload


@pytest.mark.slow
def test_an_overload_is_measured_and_nothing_is_lost(capsys):
    sizes = ("--seconds", "3", "--alone", "1", "--clients", "8", "--events", "150000")
    overload.main([*sizes, "--times", "3", "--values", "5"])
    said = capsys.readouterr().out
    assert "bodies answered with 200" in said
    assert "recovery, seconds" in said
