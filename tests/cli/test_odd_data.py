"""Data that the program does not read as it is: the last line says what to write instead."""

import json

import pytest
from cli.commands import ran
from cli.odd_rows import ROWS, SECOND, table


def of_times(text):
    return table("ts,prediction,label", lambda row: f"{text(row)},1,{row % 2}")


def of_scores(text):
    return table("ts,score,prediction,label", lambda row: f"{SECOND + row},{text(row)},1,{row % 2}")


def of_labels(*labels):
    return table(
        "ts,id,prediction,label",
        lambda row: f"{SECOND + row},{row},1,{labels[row % len(labels)]}",
    )


WITHOUT = "; where each case has its prediction, scores may be left out: --constant score="
COLUMN = f"or name the column that holds probabilities: --field score=COLUMN{WITHOUT}"
TIME = (
    "ts is read as epoch seconds, or ISO 8601 with its zone (2026-07-01T12:00:00Z), got {}; "
    "write it so, or name the column that holds it: --field ts=COLUMN"
)
DAYS_FIRST = (
    "give the format and the zone of these times: --time-format {0} --zone Europe/Berlin; the day "
    "may come first, or the month, got {1!r}: then --time-format {2}"
)
MORE = (
    "for a model of more than two classes, list them, 50 at most, as its classes in a "
    "configuration, which "
    "precision-monitor init FILE writes"
)
POSITIVE = "say which values are of the positive class"
ALL_CLASSES = (
    f"{POSITIVE}, which of the negative, and which of none: --positive label=VALUE --negative "
    "label=VALUE --missing label=VALUE"
)
HINTS = {
    "milliseconds": (
        of_times(lambda row: f"{SECOND + row}000"),
        (),
        "give the unit of times: --unit ms",
    ),
    "microseconds": (
        of_times(lambda row: f"{SECOND + row}000000"),
        (),
        "give the unit of times: --unit us",
    ),
    "nanoseconds": (
        of_times(lambda row: f"{SECOND + row}000000000"),
        (),
        "give the unit of times: --unit ns",
    ),
    "microseconds read as milliseconds": (
        of_times(lambda row: f"{SECOND + row}000000"),
        ("--unit", "ms"),
        "give the unit of times: --unit us",
    ),
    "times of no unit": (
        of_times(lambda row: f"{SECOND + row}000000"),
        ("--unit", "ns", "--constant", "ts=1780000000000000000000"),
        "check which column holds the time: --field ts=COLUMN",
    ),
    "percentages": (
        of_scores(lambda row: 2 + row * 17.5),
        (),
        (
            "scores lie from 0 to 1, and here some are as high as 89.5: if they are percentages, "
            f"divide them by 100, {COLUMN}"
        ),
    ),
    "percentages with their sign": (
        of_scores(lambda row: f"{80 + row}%"),
        (),
        f"scores lie from 0 to 1: write 0.87 for 87%, {COLUMN}",
    ),
    "a foreign type": (
        table("id,ts,prediction,label,type", lambda row: f"{row},{SECOND + row},1,1,card"),
        (),
        (
            "`type` is here the type of an event; leave a column out that is something else: "
            "--constant type="
        ),
    ),
    "no id of predictions": (
        table("claim,ts,prediction", lambda row: f"{row},{SECOND + row},1"),
        (),
        (
            "say which column is which: write --field id=COLUMN, or --field label=COLUMN where it "
            "has both, and needs no id"
        ),
    ),
    "no id of labels": (
        table("ts,label", lambda row: f"{SECOND + row},1"),
        (),
        (
            "say which column is which: write --field id=COLUMN, or --field prediction=COLUMN "
            "where it has both, and needs no id"
        ),
    ),
    "log odds": (
        of_scores(lambda row: row * 1.5 - 3.25),
        (),
        (
            "scores lie from 0 to 1, and here some are as low as -3.25: if they are log odds, "
            f"write 1 / (1 + exp(-z)) for each z, {COLUMN}"
        ),
    ),
    "points": (
        of_scores(lambda row: 730 + row),
        (),
        f"scores lie from 0 to 1, and here some are as high as 735: scale them to 0 to 1, {COLUMN}",
    ),
    "grades": (
        of_scores(lambda _: "high"),
        (),
        f"scores are numbers from 0 to 1, got 'high'; write those, {COLUMN}",
    ),
    "lists": (
        of_scores(lambda row: f"[0.{row + 1} 0.1]"),
        (),
        (
            "write the score of the positive class alone, or name the column that holds "
            f"probabilities: --field score=COLUMN, got '[0.1 0.1]'{WITHOUT}"
        ),
    ),
    "no label yet": (
        of_labels("NA", "NaN", "NA", "1"),
        (),
        "'NA', 'NaN' seem to stand for no class: --missing label=NA --missing label=NaN",
    ),
    "no label yet, of one text": (
        of_labels("NULL", "None", "NULL"),
        ("--missing", "label=None"),
        "'NULL' seems to stand for no class: --missing label=NULL",
    ),
    "no label yet, with spaces": (
        of_labels("#N/A"),
        (),
        "'#N/A' seems to stand for no class: --missing 'label=#N/A'",
    ),
    "two classes and no label yet": (
        of_labels("fraud", "legit", "NA"),
        (),
        (
            f"{POSITIVE}, and which of none: --positive label=VALUE --missing label=NA; records "
            "have 'fraud', 'legit'"
        ),
    ),
    "scores as predictions": (
        table("ts,y_pred,y_true", lambda row: f"{SECOND + row},0.{row + 1},{row % 2}"),
        (),
        (
            "predictions between 0 and 1 seem to be scores: name their column --field score=COLUMN,"
            " and give their threshold: --threshold 0.5"
        ),
    ),
    "scores as labels": (
        of_labels("0.3", "NA", "0.125", "0.8"),
        (),
        (
            "labels between 0 and 1 seem to be scores: name the column that holds classes: "
            "--field label=COLUMN"
        ),
    ),
    "two classes": (
        of_labels("fraud", "legit"),
        (),
        f"{POSITIVE}: --positive label=VALUE; records have 'fraud', 'legit'",
    ),
    "three values": (
        of_labels("fraud", "legit", "open"),
        (),
        (f"{MORE}; for one of two, {ALL_CLASSES}; records have 'fraud', 'legit', 'open'"),
    ),
    "many values": (
        of_labels(*"ABCDEF"),
        (),
        (f"{MORE}; for one of two, {ALL_CLASSES}; records have 'A', 'B', 'C', 'D', 'E', …"),
    ),
    "a value that no option names": (
        of_labels("open"),
        ("--positive", "label=fraud", "--negative", "label=legit"),
        f"{ALL_CLASSES}; records have 'open'",
    ),
    "days first": (
        of_times(lambda row: f"{row + 1:02}/12/2025"),
        (),
        DAYS_FIRST.format("%d/%m/%Y", "01/12/2025", "%m/%d/%Y"),
    ),
    "days first in a zone": (
        of_times(lambda row: f"{row + 1:02}.12.2025 10:00"),
        ("--zone", "Europe/Berlin"),
        DAYS_FIRST.format("'%d.%m.%Y %H:%M'", "01.12.2025 10:00", "'%m.%d.%Y %H:%M'"),
    ),
    "words for times": (
        of_times(lambda _: "yesterday"),
        (),
        TIME.format("'yesterday'"),
    ),
    "no zone": (
        of_times(lambda row: f"2026-07-0{row + 1} 12:00"),
        (),
        "give the zone of times that name none: --zone Europe/Berlin",
    ),
    "quotes that do not end": (
        table(
            "ts,prediction,label,note", lambda row: f'{SECOND + row},1,1,"one' + '"x' * (row % 2)
        ),
        (),
        (
            "end each quoted cell with a quote, and write a quote within it twice; a row has at "
            "most 64 KiB, with the line breaks of its cells"
        ),
    ),
}


@pytest.mark.parametrize("case", HINTS)
def test_the_hint_names_what_to_write_for_the_values_that_came(capsys, tmp_path, case):
    text, words, hint = HINTS[case]
    path = tmp_path / "a.csv"
    path.write_text(text)
    last = ran(capsys, "replay", path, *words).err.splitlines()[-1]
    assert last.split("; ", 1)[1] == hint


@pytest.mark.parametrize("case", ["no label yet", "microseconds", "no zone", "a foreign type"])
def test_what_the_hint_names_makes_the_records_usable(capsys, tmp_path, case):
    text, _, hint = HINTS[case]
    path = tmp_path / "a.csv"
    path.write_text(text)
    done = ran(capsys, "replay", path, *hint.rpartition(": ")[2].split())
    assert (done.code, done.err) == (0, "")


def test_init_reads_a_column_of_scores_as_the_hint_names_it(capsys, tmp_path):
    path, output = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text(HINTS["scores as predictions"][0])
    refused = ran(capsys, "init", path, "-o", output)
    assert (refused.code, output.exists()) == (3, False)
    assert refused.err.splitlines()[-1].endswith(HINTS["scores as predictions"][2])
    options = ("--field", "score=y_pred", "--field", "label=y_true")
    assert ran(capsys, "init", path, "-o", output, *options).code == 0
    done = ran(capsys, "replay", path, "-c", output)
    assert (done.code, "6 events read, 0 rejected" in done.out + done.err) == (0, True)


@pytest.mark.parametrize(("negatives", "code"), [(3, 0), (4, 3)])
def test_init_writes_nothing_where_most_records_were_rejected(capsys, tmp_path, negatives, code):
    """What is left shows other labels than there are: none is negative of -1 and 1."""
    path, output = tmp_path / "a.csv", tmp_path / "monitor.yaml"
    path.write_text(
        table("ts,prediction,label", lambda row: f"{SECOND + row},1,{-1 if row < negatives else 1}")
    )
    done = ran(capsys, "init", path, "-o", output)
    assert (done.code, output.exists()) == (code, not code)
    assert f"{negatives} of 6 records were rejected: {negatives} bad_value; {POSITIVE}" in done.err


@pytest.mark.parametrize(("same", "warned"), [(3, False), (5, True)])
def test_an_id_that_most_rows_have_is_a_warning_with_what_to_write(capsys, tmp_path, same, warned):
    path = tmp_path / "a.csv"
    path.write_text(
        table("id,ts,prediction,label", lambda row: f"{max(row, same - 1)},{SECOND + row},1,1")
    )
    said = (
        f"warning: {same - 1} of 6 predictions repeat an id, which counts once: name a column that "
        "has another id in each, --field id=COLUMN, or leave it out where each row has its label, "
        "--constant id=\n"
    )
    for command in ("replay", "init"):
        words = ("-o", "-") if command == "init" else ()
        assert (said in ran(capsys, command, path, *words).err) is warned
        assert "repeat" not in ran(capsys, command, path, *words, "--constant", "id=").err


def test_a_name_that_no_line_of_json_has_is_answered_with_the_one_that_is_like_it(capsys, tmp_path):
    path = tmp_path / "a.ndjson"
    row = '{{"timestamp": {}, "user_id": {}, "decision": 1, "fraud": 1}}\n'
    path.write_text("".join(row.format(SECOND + number, number) for number in range(ROWS)))
    options = ("--field", "prediction=decision", "--field", "id=user_id", "--field")
    done = ran(capsys, "replay", path, *options, "label=frau")
    first, last = done.err.splitlines()[0], done.err.splitlines()[-1]
    assert "none of the first records has 'frau'; " in first
    assert first.endswith("write --field label=fraud")
    assert last.endswith("write --field label=fraud")
    assert "ts=COLUMN" not in done.err
    assert ran(capsys, "replay", path, *options, "label=fraud").code == 0


def test_a_diagnosis_and_init_give_the_same_hint(capsys, tmp_path):
    text, _, hint = HINTS["microseconds"]
    path = tmp_path / "a.csv"
    path.write_text(text)
    for words in (("diagnose", "--feed", path), ("init", path, "-o", "-")):
        done = ran(capsys, *words)
        assert done.code == 3
        assert done.err.endswith(f"; {hint}\n")


@pytest.mark.parametrize("command", [("replay",), ("diagnose",), ("init", "-o", "-")])
def test_records_that_are_not_in_the_order_of_time_are_a_warning(capsys, tmp_path, command):
    rows = [f"{SECOND + row * 9_000},{row % 2},{row % 3 % 2}\n" for row in range(600)]
    for name, lines in {"sorted": rows, "turned": rows[::-1]}.items():
        file = tmp_path / f"{name}.csv"
        file.write_text("".join(["ts,prediction,label\n", *lines]))
        found = ran(capsys, *command, file).err
        assert ("windows, references and verdicts follow" in found) is (name == "turned")


def test_labels_that_a_label_timeout_loses_to_the_order_are_a_warning(capsys, tmp_path):
    rows = [f"{row},{SECOND + row * 9_000},{row % 2}\n" for row in range(600)]
    labels = [f"{row},{SECOND + row * 9_000 + 60},{row % 2}\n" for row in range(600)]
    config, outcomes = tmp_path / "monitor.yaml", tmp_path / "labels.csv"
    (tmp_path / "made.csv").write_text("".join(["id,ts,prediction\n", *rows]))
    config.write_text("models: {default: {label_timeout: 2d}}\n")
    for name, lines in {"sorted": labels, "turned": labels[::-1]}.items():
        outcomes.write_text("".join(["id,ts,label\n", *lines]))
        found = ran(capsys, "replay", tmp_path / "made.csv", outcomes, "-c", config).err
        warned = "labels found no prediction that waited for one: predictions wait until" in found
        assert warned is (name == "turned")


@pytest.mark.parametrize(("again", "told"), [(50, False), (150, True)])
def test_ids_that_are_used_again_are_warned_of_and_a_few_repeats_are_not(
    capsys, tmp_path, again, told
):
    events = tmp_path / "events.ndjson"
    ids = [*range(2_000), *range(again)]
    lines = [
        {"type": "prediction", "id": f"c{number}", "ts": 86_400 + 60 * at, "prediction": at % 2}
        for at, number in enumerate(ids)
    ]
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = ran(capsys, "replay", str(events))
    assert done.code == 0
    warning = (
        f"warning: {again} of {2_000 + again:,} predictions of default repeat an id: they are not "
        "counted, and their labels revise the outcome of the earlier one. Where a feed delivers "
        "the same records again, nothing is wrong; where other predictions use an id again, "
        "outcomes are wrong: each needs an id of its own"
    )
    assert (warning in done.err) is told
    assert ("repeat an id" in done.err) is told
