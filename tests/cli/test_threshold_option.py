"""`--threshold` decides scores without predictions, and one message says all that records lack."""

import json

import pytest
from cli.commands import ran
from streams import FLIGHTS

SCORED = "id,timestamp,probability,label\n" + "".join(
    f"c{n},2026-07-{1 + n // 24:02d} {n % 24:02d}:00:00,{n % 10 / 10},{int(n % 10 > 6)}\n"
    for n in range(240)
)
CONFIG = "models: {default: {threshold: 0.9}}\n"


@pytest.fixture
def export(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "export.csv").write_text(SCORED)
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    return "export.csv"


def test_one_message_names_the_zone_and_the_threshold(capsys, export):
    done = ran(capsys, "replay", export)
    assert done.code == 3
    last = done.err.splitlines()[-1]
    assert "give the zone of times that name none: --zone Europe/Berlin; then " in last
    assert last.endswith("or give the threshold of the scores: --threshold 0.5")


def test_one_message_names_zone_threshold_and_positive_value(capsys, export, tmp_path):
    text = SCORED.replace(",1\n", ",bad\n").replace(",0\n", ",good\n")
    (tmp_path / export).write_text(text)
    last = ran(capsys, "replay", export).err.splitlines()[-1]
    places = [last.index(option) for option in ("--zone", "--threshold", "--positive label=VALUE")]
    assert places == sorted(places)


def test_what_the_message_asks_for_suffices(capsys, export):
    done = ran(capsys, "replay", export, "--zone", "UTC", "--threshold", "0.7", "--json")
    assert done.code == 0
    model = json.loads(done.out)["models"]["default"]
    assert model["outcomes"] == {"tp": 72, "fp": 0, "fn": 0, "tn": 168}


def test_a_threshold_takes_precedence_over_the_configured_one(capsys, export):
    words = ("replay", export, "--zone", "UTC", "-c", "monitor.yaml", "--json")
    flagged = [
        json.loads(ran(capsys, *words, *more).out)["models"]["default"]["outcomes"]["tp"]
        for more in ((), ("--threshold", "0.8"))
    ]
    assert flagged == [24, 48]


def test_a_threshold_changes_no_prediction_that_records_have(capsys):
    plain, decided = (
        ran(capsys, "replay", FLIGHTS, "--json", *more).out for more in ((), ("--threshold", "0.9"))
    )
    assert decided == plain


@pytest.mark.parametrize("text", ["1.5", "-0.1", "half"])
def test_a_threshold_out_of_range_is_refused(capsys, export, text):
    done = ran(capsys, "replay", export, "--threshold", text)
    assert done.code == 2
    assert f"--threshold: must be a number from 0 to 1, got '{text}'" in done.err


def test_the_next_command_has_the_threshold(capsys, export):
    done = ran(capsys, "replay", export, "--zone", "UTC", "--threshold", "0.7")
    assert "--zone UTC --threshold 0.7" in done.out.splitlines()[-1]


@pytest.mark.parametrize(
    "words",
    [
        ("diagnose",),
        ("compare",),
        ("audit",),
        ("threshold", "--objective", "f_beta:1"),
        ("init", "-o", "-"),
    ],
    ids=lambda words: words[0],
)
def test_commands_on_recorded_files_take_a_threshold(capsys, export, words):
    done = ran(capsys, *words, export, "--zone", "UTC", "--threshold", "0.7")
    assert "rejected" not in done.err


def test_a_configuration_has_the_given_threshold(capsys, export):
    done = ran(capsys, "init", export, "--zone", "UTC", "--threshold", "0.7", "-o", "-")
    assert "    threshold: 0.7 # as given: the events carry scores and no predictions" in done.out


def test_a_running_monitor_has_its_own_threshold(capsys):
    done = ran(capsys, "diagnose", "--url", "http://127.0.0.1:9", "--threshold", "0.5")
    assert done.code == 2
    assert "--threshold: cannot be combined with --url" in done.err
