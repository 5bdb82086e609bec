"""A command that could not do its work says so: what is wrong, and what to write."""

import json

import pytest
from cli.commands import ran

from monitor import extras
from monitor.extras import install_command

GOOD = '{"type":"outcome","ts":%d,"prediction":1,"label":1}\n'
BAD = {
    "malformed": ("no JSON\n", "write one JSON object a line, or end the name in .csv"),
    "missing_field": (
        '{"ts":1,"label":1}\n',
        "say which column is which: write --field id=COLUMN, or --field prediction=COLUMN",
    ),
    "bad_value": (
        '{"ts":1,"prediction":"yes","label":1}\n',
        (
            "say which values are of the positive class, which of the negative, and which of none: "
            "--positive prediction=VALUE"
        ),
    ),
    "unknown_type": ('{"type":"event","ts":1}\n', "`type` is here the type of an event"),
    "timestamp_in_milliseconds": (
        '{"ts":1780000000000,"prediction":1,"label":1}\n',
        "give the unit of times: --unit ms",
    ),
    "timestamp_out_of_range": (
        '{"ts":1e15,"prediction":1,"label":1}\n'.replace("1e15", "-1e12"),
        "check which column holds the time: --field ts=COLUMN",
    ),
}


@pytest.fixture
def events(tmp_path):
    def written(bad, text, good=0):
        path = tmp_path / "events.ndjson"
        path.write_text(text * bad + "".join(GOOD % number for number in range(good)))
        return path

    return written


@pytest.mark.parametrize("reason", BAD)
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_replay_without_a_usable_record_exits_3_and_says_what_to_write(
    capsys, events, reason, words
):
    text, hint = BAD[reason]
    done = ran(capsys, "replay", events(1_200, text), *words)
    assert done.code == 3
    last = done.err.splitlines()[-1]
    assert last.startswith(f"error: 1,200 of 1,200 records were rejected: 1,200 {reason}; {hint}")


def test_a_fault_of_the_program_has_an_exit_code_that_no_finding_has(capsys, events, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr("monitor.cli.compare.compare_recorded", broken)
    done = ran(capsys, "compare", events(0, "", good=10), "--fail-on", "worse")
    assert (done.code, done.out) == (70, "")
    assert "ZeroDivisionError: by nothing" in done.err
    assert done.err.splitlines()[-1].startswith("precision-monitor: this is a fault of the program")


GIVEN = {"id": "a", "ts": 1, "prediction": 1, "label": 1}
BY_FIELD = {
    "id": ({"id": 1.5}, "write id as text or an integer, or name the column that holds it"),
    "version": ({"version": True}, "write version as text or an integer"),
    "segment": ({"segment": "eu"}, "write segment as an object, or name the column of each key"),
    "weight": ({"sampling_probability": 7}, "write the probability with which the case was drawn"),
    "counts": ({"type": "counts", "tp": "x"}, "write counts as integers"),
    "scored": (
        {"prediction": None, "score": 0.5},
        "or give the threshold of the scores: --threshold 0.5",
    ),
    "long version": (
        {"version": "ü" * 129},
        "shorten version, as by a hash, to at most 256 bytes of UTF-8 without NUL",
    ),
    "long id": ({"id": "x" * 300}, "shorten id, as by a hash, to at most 256 bytes"),
    "label_ts of 9999": (
        {"label_ts": 1e11},
        "check which column holds the time: --field label_ts=",
    ),
}


@pytest.mark.parametrize("changed", BY_FIELD)
def test_the_hint_follows_from_the_field(capsys, events, changed):
    fields, hint = BY_FIELD[changed]
    text = json.dumps({**GIVEN, **fields}) + "\n"
    done = ran(capsys, "replay", events(3, text))
    assert done.code == 3
    assert hint in done.err.splitlines()[-1]


def test_a_row_of_csv_that_does_not_fit_is_no_json(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ts,prediction,label\n1,1\n")
    done = ran(capsys, "replay", path)
    assert "check the separator (.csv for commas, .tsv for tabs)" in done.err.splitlines()[-1]


def test_more_than_half_rejected_is_a_warning_on_the_last_line(capsys, events):
    done = ran(capsys, "replay", events(4, "no JSON\n", good=3), "--json")
    assert done.code == 0
    assert done.err.splitlines()[-1].startswith(
        "warning: 4 of 7 records were rejected: 4 malformed; write one JSON object a line"
    )
    assert json.loads(done.out)["events"] == 7


def test_half_rejected_is_no_warning(capsys, events):
    done = ran(capsys, "replay", events(3, "no JSON\n", good=3))
    assert done.code == 0
    assert "warning" not in done.err


@pytest.mark.parametrize("words", [(), ("--json",), ("--summary",)])
def test_an_empty_file_exits_3_and_says_so(capsys, events, words):
    done = ran(capsys, "replay", events(0, ""), *words)
    assert done.code == 3
    assert done.err.splitlines() == [
        "error: no records to read: the input is empty; check the file, or what writes it"
    ]


def test_an_empty_file_beside_one_with_records_is_no_failure(capsys, events, tmp_path):
    empty = tmp_path / "empty.ndjson"
    empty.touch()
    assert ran(capsys, "replay", empty, events(0, "", good=1)).code == 0
    assert ran(capsys, "init", empty, "-o", "-").code == 3


def test_records_of_another_model_are_not_said_to_be_missing(capsys, tmp_path):
    """The file is in order; the configuration lacks the model."""
    config = tmp_path / "monitor.yaml"
    config.write_text("models: {claims: {}}\n")
    fraud = tmp_path / "fraud.ndjson"
    fraud.write_text(GOOD.replace('"label"', '"model":"fraud","label"') % 1)
    done = ran(capsys, "replay", fraud, "-c", config)
    assert done.code == 3
    assert "Next: no record could be used; correct those that were rejected." in done.out
    assert "has no predictions" not in done.out


def test_a_diagnosis_without_a_usable_record_says_how_many_were_rejected(capsys, events):
    done = ran(capsys, "diagnose", "--feed", events(400, "no JSON\n"))
    assert done.code == 3
    assert "400 of 400 records were rejected: 400 malformed; write one JSON object" in done.err
    assert "has no predictions" not in done.err


@pytest.mark.parametrize("good", [1, 40])
def test_a_diagnosis_of_little_data_complains_of_no_range_that_nobody_gave(capsys, events, good):
    done = ran(capsys, "diagnose", "--feed", events(0, "", good=good))
    assert done.code == 2
    assert "--before:" not in done.err
    assert "--after:" not in done.err


def test_a_reference_that_reaches_into_the_last_days_is_too_little_data(capsys, events):
    hourly = "".join(GOOD % (3_600 * hour) for hour in range(60))
    done = ran(capsys, "diagnose", "--feed", events(1, hourly))
    assert "too little data to compare: the reference, first (" in done.err
    assert "name two ranges with --before and --after" in done.err
    assert "What moved precision? Not known: the reference is not complete yet" in done.out
    assert "Is the model worse? Cannot be known: the reference is not complete yet" in done.out
    named = ["--before", "1970-01-01..1970-01-02", "--after", "1970-01-01T12:00Z..1970-01-03"]
    for asked in (["--json"], named):
        assert "?" not in ran(capsys, "diagnose", "--feed", events(1, hourly), *asked).out


def test_an_unknown_segment_key_of_a_table_lists_its_columns(capsys, tmp_path):
    path = tmp_path / "events.csv"
    path.write_text("ts,prediction,label,region\n1,1,1,eu\n2,1,0,us\n3,0,0,us\n")
    done = ran(capsys, "diagnose", "--feed", path, "--segments", "country")
    assert done.code == 2
    assert "--segments: no prediction has the key 'country'; there are region" in done.err


@pytest.mark.parametrize("form", ["csv", "json"])
def test_an_unknown_segment_key_of_mapped_columns_lists_those_that_are_left(capsys, tmp_path, form):
    rows = [
        {"timestamp": at, "deny": 1, "y_true": at % 2, "shop": 7, "place": "eu"} for at in range(3)
    ]
    path = tmp_path / f"events.{form}"
    text = "\n".join(",".join(map(str, row)) for row in [rows[0], *(r.values() for r in rows)])
    path.write_text(text if form == "csv" else json.dumps(rows))
    mapped = ("--field", "prediction=deny")
    done = ran(capsys, "diagnose", "--feed", path, *mapped, "--segments", "country")
    assert done.code == 2
    hint = "none; say which column holds it: --field segment.country=COLUMN"
    there = "shop, place" if form == "csv" else hint
    assert done.err.endswith(
        f"--segments: no prediction has the key 'country'; there are {there}\n"
    )
    mapped = (*mapped, "--field", "segment.region=place")
    done = ran(capsys, "diagnose", "--feed", path, *mapped, "--segments", "country")
    there = "region, shop" if form == "csv" else "region"
    assert done.err.endswith(f"there are {there}\n")


def test_a_model_whose_labels_stopped_says_so_instead_of_no_segments(capsys, tmp_path):
    """Twenty days of labels, then ten days of predictions without one."""
    path, report = tmp_path / "events.ndjson", tmp_path / "report.html"
    day, rows = 86_400, []
    for number in range(30 * 200):
        moment = number * day / 200
        event = {"id": number, "ts": moment, "prediction": int(number % 3 == 0)}
        rows.append({**event, "segment": {"region": ("eu", "us")[number % 2]}})
        if moment < 20 * day:
            rows.append({"id": number, "ts": moment + 600, "label": int(number % 5 == 0)})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    words = ("--segments", "region", "--before", "1970-01-01..1970-01-15")
    words = (*words, "--after", "1970-01-22..1970-01-30")
    done = ran(capsys, "diagnose", "--feed", path, *words, "--html", report)
    assert done.code == 0
    page = report.read_text()
    assert "Segments are left out: " in page
    assert "No segments: name keys" not in page


ORIGINS = {
    "index": (None, "'precision-monitor[kafka]'"),
    "folder": ({"url": "file:///src/pm%20x", "dir_info": {}}, "'/src/pm x[kafka]'"),
    "editable": (
        {"url": "file:///src/pm", "dir_info": {"editable": True}},
        "-e '/src/pm[kafka]'",
    ),
    "git": (
        {"url": "https://h/pm.git", "vcs_info": {"vcs": "git", "commit_id": "a1"}},
        "'precision-monitor[kafka] @ git+https://h/pm.git@a1'",
    ),
    "archive": (
        {"url": "https://h/pm.whl", "archive_info": {}},
        "'precision-monitor[kafka] @ https://h/pm.whl'",
    ),
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_extra_is_installed_from_where_the_program_came(monkeypatch, origin):
    written, expected = ORIGINS[origin]

    class Installed:
        def read_text(self, name):
            assert name == "direct_url.json"
            return None if written is None else json.dumps(written)

    monkeypatch.setattr(extras, "distribution", lambda _: Installed())
    assert install_command("kafka").endswith(f"pip install {expected}")


EMPTY_COUNTS = '{"type":"counts","ts":%d,"tp":0,"fp":0,"fn":0,"tn":0,"predicted_positive":9}\n'
WITHOUT_OUTCOMES = {
    "counts": (EMPTY_COUNTS, "tp, fp, fn and tn of all counts add up to 0"),
    "predictions": ('{"id":"p%d","ts":5,"prediction":1}\n', "no label came; give the labels, too"),
    "labels": ('{"id":"p%d","ts":5,"label":1}\n', "labels came without predictions"),
    "others": (
        '{"id":"p%d","ts":5,"prediction":1}\n{"id":"other","ts":6,"label":1}\n',
        "no label has the id of a prediction; check the ids",
    ),
}


@pytest.mark.parametrize("came", WITHOUT_OUTCOMES)
def test_without_an_outcome_it_says_what_is_missing(capsys, tmp_path, came):
    text, message = WITHOUT_OUTCOMES[came]
    path = tmp_path / "events.ndjson"
    path.write_text("".join(text % number for number in range(50)))
    done = ran(capsys, "diagnose", "--feed", path)
    assert done.code == 2
    assert f"nothing can be compared: {message}" in done.err
    shown = ran(capsys, "replay", path).out
    if came in ("counts", "predictions", "others"):
        assert shown.splitlines()[-1].startswith(f"Next: {message}")
    initialized = ran(capsys, "init", path, "-o", "-")
    assert initialized.code == (0 if came in ("counts", "predictions", "others") else 3)


def test_counts_without_a_prediction_are_nothing_to_monitor(capsys, tmp_path):
    path = tmp_path / "counts.ndjson"
    path.write_text('{"type":"counts","ts":1,"tp":0,"fp":0,"fn":0,"tn":0}\n')
    done = ran(capsys, "init", path, "-o", "-")
    assert (done.code, done.out) == (3, "")
    assert "has no predictions" in done.err


def test_a_side_without_a_label_is_no_model_that_is_fine(capsys, tmp_path):
    path = tmp_path / "events.ndjson"
    path.write_text("".join(EMPTY_COUNTS % (86_400 * day) for day in range(40)))
    done = ran(capsys, "diagnose", "--feed", path, "--before", "1970-01", "--after", "1970-02")
    assert done.code == 0
    shown = " ".join(done.out.split())
    assert "worse? Cannot be known: no prediction before or after has a label." in shown
    assert "- Wait for labels, or page the data team: no prediction before or after has a" in shown
    assert "times the data" not in shown


@pytest.mark.parametrize("command", ["replay", "diagnose"])
def test_a_configured_segment_key_that_no_prediction_has_is_a_warning(capsys, tmp_path, command):
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    fields = '"prediction":%d,"label":1,"segment":{"region":"eu"}}\n'
    path.write_text("".join(f'{{"ts":{3_600 * n},' + fields % (n % 2) for n in range(24 * 60)))
    config.write_text("models: {default: {segments: [country, region]}}\n")
    words = ["--feed", path, "--before", "1970-01", "--after", "1970-02"]
    done = ran(capsys, command, *(words if command == "diagnose" else [path]), "-c", config)
    assert done.code == 0
    assert done.err == "default: segments: no prediction has the key 'country'; there are region\n"


def test_check_config_says_first_that_a_file_to_read_is_missing(capsys, tmp_path):
    config, here = tmp_path / "monitor.yaml", tmp_path / "here.ndjson"
    here.touch()
    feeds = [
        {"type": "file", "path": str(here)},
        {"type": "file", "path": str(tmp_path / "later.ndjson"), "follow": True},
        {"type": "file", "path": str(tmp_path / "gone.ndjson")},
        {"type": "file", "path": str(tmp_path / "*.csv")},
    ]
    state = {"directory": str(tmp_path / "state")}
    config.write_text(json.dumps({"feeds": feeds, "state": state}))
    done = ran(capsys, "check-config", config)
    assert done.code == 2
    first, second, *unchecked = done.err.splitlines()
    assert all("unchecked: " in line for line in unchecked)
    assert first.startswith("`run` would stop: feeds[2].path: no such file, got ")
    assert second.startswith("`run` would stop: feeds[3].path: no such file, got ")
    assert not done.out.endswith("ok\n")
    assert ran(capsys, "run", "-c", config).code == 3, "and it does stop"


def test_few_rows_are_too_little_data_and_no_fault_of_a_range(capsys, tmp_path):
    """Nobody gave a range."""
    path = tmp_path / "few.csv"
    rows = [f"2026-07-01T00:0{at}:00Z,{at},{at % 2},{at // 2 % 2}" for at in range(4)]
    path.write_text("\n".join(["ts,id,prediction,label", *rows]) + "\n")
    done = ran(capsys, "diagnose", "--feed", path)
    assert done.code == 2
    assert "too little data to compare: the data of default covers 2026-07-01T" in done.err
    assert "Is the model worse? Cannot be known: the reference is not complete yet" in done.out
    assert "nothing was predicted in" not in done.err


@pytest.mark.parametrize("name", ["claims.ndjson", "claims.json", "claims.csv"])
def test_rows_of_other_names_end_with_all_options_to_write_in_every_format(capsys, tmp_path, name):
    path, row = tmp_path / name, {"timestamp": 1_780_000_000, "user_id": 7, "decision": 1}
    if name == "claims.csv":
        path.write_text(f"{','.join(row)}\n{','.join(map(str, row.values()))}\n")
    else:
        path.write_text(json.dumps([row] if name == "claims.json" else row))
    done = ran(capsys, "replay", path)
    assert done.code == 3
    asked = "--field ts=timestamp --field prediction=COLUMN --field label=COLUMN"
    assert done.err.splitlines()[-1].endswith(f"; say which column is which: write {asked}")


@pytest.mark.parametrize(
    "command",
    [
        ("replay",),
        ("threshold", "--objective", "accuracy"),
        ("audit", "--sample", "2"),
        ("init", "-o"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_answers_from_what_is_before_a_cut_and_ends_with_it(
    capsys, tmp_path, command
):
    rows = [
        {
            "ts": 600 * n,
            "id": str(n),
            "prediction": n % 2,
            "score": n % 10 / 10,
            "label": n % 3 // 2,
        }
        for n in range(900)
    ]
    path, written = tmp_path / "a.json", tmp_path / "monitor.yaml"
    path.write_text(json.dumps(rows)[:-30])
    words = [*command, written] if command[0] == "init" else command
    done = ran(capsys, *words, path)
    assert done.code == 3
    assert done.out or written.exists()
    assert "the array is cut: it ends in record 900 (" in done.err.splitlines()[-1]
