"""`init` takes several files with columns of their own, and finds the ids they share."""

import csv
import json
from datetime import UTC, datetime, timedelta

import pytest
from cli.commands import ran

from monitor.config import load_config

BEGIN = datetime(2026, 7, 1, tzinfo=UTC)
FILES = ("predictions.csv", "labels.csv")
PREDICTIONS = ("case_no", "scored_at", "p_default", "channel")
LABELS = ("case", "decided_at", "outcome")


def predictions(number):
    moment = BEGIN + timedelta(hours=number)
    return f"c{number}", moment.isoformat(), number % 10 / 10, ("shop", "web")[number % 2]


def labels(number, classes=(0, 1)):
    moment = BEGIN + timedelta(hours=number, days=2)
    return f"c{number}", moment.isoformat(), classes[number % 10 > 6]


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(name, columns, rows):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([columns, *rows])

    written(FILES[0], PREDICTIONS, map(predictions, range(400)))
    written(FILES[1], LABELS, map(labels, range(300)))
    return written


def replayed(capsys):
    done = ran(capsys, "replay", "-c", "monitor.yaml", "--json")
    assert done.code == 0
    return json.loads(done.out)


@pytest.mark.usefixtures("write")
def test_each_file_becomes_a_feed_with_its_own_columns(capsys):
    done = ran(capsys, "init", *FILES)
    assert done.code == 0
    assert done.err.splitlines()[:2] == [
        "predictions.csv: reads scored_at as ts, p_default as score, case_no as id",
        "labels.csv: reads decided_at as ts, outcome as label, case as id",
    ]
    first, second = load_config("monitor.yaml").feeds
    assert (str(first.path), str(second.path)) == FILES
    assert second.fields == {"ts": "decided_at", "label": "outcome", "id": "case"}
    assert first.fields["segment.channel"] == "channel"


@pytest.mark.usefixtures("write")
def test_the_written_configuration_joins_both_files(capsys):
    ran(capsys, "init", *FILES)
    read = replayed(capsys)
    assert read["events_rejected"] == {}
    assert sum(read["models"]["default"]["outcomes"].values()) == 300


@pytest.mark.usefixtures("write")
def test_the_order_of_the_files_does_not_matter(capsys):
    ran(capsys, "init", *reversed(FILES))
    assert sum(replayed(capsys)["models"]["default"]["outcomes"].values()) == 300


def test_labels_whose_positive_class_is_not_known_are_refused(capsys, write):
    rows = (labels(number, ("good", "bad")) for number in range(300))
    write(FILES[1], LABELS, rows)
    done = ran(capsys, "init", *FILES)
    assert done.code == 3
    assert "say which values are of the positive class: --positive label=VALUE" in done.err
    assert ran(capsys, "init", *FILES, "--positive", "label=bad").code == 0
    first, second = load_config("monitor.yaml").feeds
    assert (list(first.values), list(second.values)) == ([], ["label"])
    assert sum(replayed(capsys)["models"]["default"]["outcomes"].values()) == 300


def test_two_columns_that_meet_are_left_to_a_person(capsys, write):
    write(FILES[0], ("row", *PREDICTIONS), ((n, *predictions(n)) for n in range(400)))
    write(FILES[1], ("line", *LABELS), ((n, *labels(n)) for n in range(300)))
    done = ran(capsys, "init", *FILES)
    assert done.code == 3
    assert "predictions.csv: no column alone fits id, got row, case_no," in done.err


def test_an_option_holds_for_the_files_that_have_its_column(capsys, write):
    write(FILES[0], ("row", *PREDICTIONS), ((n, *predictions(n)) for n in range(400)))
    write(FILES[1], ("line", "case_no", *LABELS[1:]), ((n, *labels(n)) for n in range(300)))
    assert ran(capsys, "init", *FILES, "--field", "id=case_no").code == 0
    assert [feed.fields["id"] for feed in load_config("monitor.yaml").feeds] == ["case_no"] * 2


def test_ids_that_never_meet_are_not_taken(capsys, write):
    write(FILES[1], LABELS, ((f"x{n}", *labels(n)[1:]) for n in range(300)))
    done = ran(capsys, "init", *FILES)
    assert (done.code, "no column alone fits id" in done.err) == (3, True)


def test_a_missing_feed_of_labels_is_named(capsys, write):
    write(FILES[0], ("id", "timestamp", "probability"), (predictions(n)[:3] for n in range(400)))
    done = ran(capsys, "init", FILES[0], "-o", "-")
    lacking = (
        "no label came: add a feed of labels, which precision-monitor init predictions.csv LABELS "
        "writes"
    )
    assert f"warning: {lacking}" in done.err
    assert f"  # {lacking}\n" in done.out
    assert "labelling: complete # assumed: no label came" in done.out


@pytest.mark.usefixtures("write")
def test_files_with_labels_lack_no_feed(capsys):
    assert "no label came" not in "".join(ran(capsys, "init", *FILES, "-o", "-")[1:])


@pytest.mark.usefixtures("write")
def test_options_of_files_with_other_columns_lead_to_init(capsys):
    done = ran(capsys, "replay", *FILES, "--field", "ts=scored_at", "--field", "id=case_no")
    assert done.err.rstrip().endswith("which -c names and precision-monitor init FILE FILE writes")


@pytest.mark.usefixtures("write")
@pytest.mark.parametrize("command", ["replay", "diagnose"])
def test_a_command_on_such_files_names_init(capsys, command):
    last = ran(capsys, command, *FILES).err.splitlines()[-1]
    assert "labels.csv {ts: decided_at, label: outcome, id: case}" in last
    assert "precision-monitor init predictions.csv labels.csv writes them" in last
    assert "COLUMN" not in last


def test_a_second_file_without_ids_is_told_of_init(capsys, write):
    write(FILES[0], ("id", "timestamp", "probability"), (predictions(n)[:3] for n in range(400)))
    write(FILES[1], ("case", "ts", "outcome"), map(labels, range(300)))
    done = ran(capsys, "replay", *FILES)
    assert "labels.csv: its columns make no events, got case, ts, outcome; where" in done.err
    assert done.err.splitlines()[-1].endswith("replay -c monitor.yaml reads it")
    assert "labels.csv {label: outcome, id: case}" in done.err.splitlines()[-1]
