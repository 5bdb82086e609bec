"""Text of the diagnosis of July and September, word for word (`--record` writes it anew)."""

import pytest
from cli.commands import ran
from diagnosis.episodes import PAIRS, period
from streams import FLIGHTS

from monitor.diagnosis import diagnose
from monitor.report.diagnosis_text import COLUMNS, diagnosis_text


def test_july_and_september_of_all_flights(golden):
    found = diagnose(*map(period, PAIRS["july-september"][:2]), model="delay-hgb-v1")
    golden("july_september.txt", f"{diagnosis_text(found)}\n")


@pytest.mark.slow
def test_july_and_september_of_the_bundled_fifth_with_its_segments(capsys, golden):
    done = ran(
        capsys,
        *("diagnose", "--feed", FLIGHTS, "--before", "2013-07", "--after", "2013-09"),
        *("--segments", "origin,carrier,part_of_day"),
    )
    reported = [line for line in done.err.splitlines() if not line.startswith("read ")]
    assert (done.code, reported) == (0, [])
    golden("july_september_sample.txt", done.out)


@pytest.mark.parametrize("name", ["july_september.txt", "july_september_sample.txt"])
def test_it_fits_into_a_terminal(request, name):
    lines = (request.path.parent / name).read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.slow
def test_estimated_outcomes_of_segments_are_whole_numbers(capsys, tmp_path):
    config = tmp_path / "monitor.yaml"
    rates = "{false_positive: 0.01, false_negative: 0.02}"
    config.write_text(
        f"models: {{delay-hgb-v1: {{label_errors: {rates}, label_timeout: 14d}}}}\n",
        encoding="utf-8",
    )
    months = ("--before", "2013-07", "--after", "2013-09")
    done = ran(
        capsys, "diagnose", FLIGHTS, "-c", str(config), *months, "--segments", "origin,carrier"
    )
    rows = [line for line in done.out.splitlines() if "=" in line and "→" in line]
    assert done.code == 0
    assert rows
    assert all(row.split()[1].replace(",", "").isdigit() for row in rows)
