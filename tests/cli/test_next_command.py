"""The next command that `replay` names: its files, and what holds for windows under a day."""

import pytest
from cli.commands import ran

from monitor.cli.next_command import files_text, next_command
from monitor.cli.parser import build_parser

HEADER = "id,ts,prediction,label\n"


def row(day, number, time):
    flagged, positive = int(number % 3 > 0), int(number % 2 > 0)
    return f"c{day}_{number},2026-07-{day:02d}T{time}Z,{flagged},{positive}\n"


@pytest.fixture
def days(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(folder="days", time="00:00:00", count=10):
        (tmp_path / folder).mkdir()
        paths = [f"{folder}/p{day:02d}.csv" for day in range(1, count + 1)]
        for day, path in enumerate(paths, 1):
            rows = (row(day, number, time) for number in range(60))
            (tmp_path / path).write_text(HEADER + "".join(rows))
        return paths

    return written


def test_many_files_of_a_folder_are_named_by_their_pattern(capsys, days):
    done = ran(capsys, "replay", *days())
    command = "precision-monitor diagnose days/p*.csv --before"
    assert command in done.out.splitlines()[-1]


def test_a_pattern_that_matches_another_file_is_not_named(days):
    paths = days()
    assert files_text(paths[1:]) == "days/p02.csv '[and 8 more]'"


def test_a_pattern_of_an_odd_folder_is_quoted(days):
    assert files_text(days("my days")) == "'my days/p'*.csv"


def test_files_of_several_folders_are_named_by_the_first(days):
    paths = [*days("a"), *days("b")]
    assert files_text(paths) == "a/p01.csv '[and 19 more]'"


def test_hidden_files_are_not_matched(days, tmp_path):
    days("a", count=0)
    paths = [f"a/{name}.csv" for name in "wxyz"]
    for path in [*paths, "a/.v.csv"]:
        (tmp_path / path).write_text("")
    assert files_text(paths) == "a/*.csv"


def test_what_is_read_alike_in_many_files_is_told_once(capsys, days, tmp_path):
    paths = days()
    for path in paths:
        file = tmp_path / path
        file.write_text(file.read_text().replace(",", ";"))
    told = ran(capsys, "replay", *paths).err.splitlines()
    reads = "reads cells separated by semicolons, not commas, as its first line has them"
    assert told == [f"days/p01.csv: {reads}", f"9 other files: {reads}"]


def test_init_of_predictions_and_labels_names_both():
    parser = build_parser()
    for files in (["p.csv", "l.csv"], ["a1", "b2", "c3", "d4"]):
        command = next_command("init", parser.parse_args(["replay", *files, "--threshold", "0.5"]))
        named = files if len(files) == 2 else files[:1]
        assert command == f"precision-monitor init {' '.join(named)} --threshold 0.5"


def test_few_files_are_all_named(days):
    paths = days()[:3]
    assert files_text(paths) == " ".join(paths)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("00:00:00", "All times are midnight, so that windows shorter than a day say nothing."),
        ("06:00:00", "All times are of one time of day, so that windows shorter than a day"),
    ],
    ids=["midnight", "morning"],
)
def test_times_of_the_day_alone_are_told(capsys, days, time, said):
    done = ran(capsys, "replay", *days(time=time))
    assert said in " ".join(done.out.split())


def test_other_times_are_not_told(capsys, days, tmp_path):
    paths = days()
    rows = "".join(row(3, number, f"{number % 24:02d}:00:00") for number in range(60))
    (tmp_path / paths[2]).write_text(HEADER + rows)
    assert "All times are" not in ran(capsys, "replay", *paths).out


def test_times_of_one_day_are_not_told(capsys, days):
    assert "All times are" not in ran(capsys, "replay", *days(count=1)).out
