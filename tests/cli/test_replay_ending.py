"""`replay` ends with what was read and judged, and with a command that goes on from there."""

import json
import shlex
from datetime import datetime, timedelta
from io import BytesIO, TextIOWrapper
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from cli.commands import ran

from monitor import Monitor
from monitor.demo.claims import Story, cases, event_lines

DAY = 86_400


def outcome(ts, **fields):
    return {"ts": ts, "prediction": 1, "label": 1, **fields}


@pytest.fixture
def last_lines(capsys, tmp_path):
    """The last paragraph of a replay, without its line ends, and the `Next` in it."""

    def replay(records, *words):
        path = tmp_path / "my events.ndjson"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
        done = ran(capsys, "replay", path, *words)
        ending, _, command = done.out.split("\n\n")[-1].rstrip("\n").partition("\nNext: ")
        return " ".join(ending.split()), command

    return replay


@pytest.fixture(scope="module")
def worse():
    """Lines of every fifth case of a model that becomes worse."""
    return [*event_lines(islice(cases(Story.WORSE, seed=1), 0, None, 5))]


def test_a_change_leads_to_diagnose(capsys, tmp_path, worse):
    path = tmp_path / "events.ndjson"
    path.write_text("\n".join(worse))
    *_, judged, following = ran(capsys, "replay", path).out.splitlines()
    assert judged.endswith("events read, 0 rejected. Judged: default: model degraded, pages.")
    assert following == f"Next: precision-monitor diagnose {path} says why."
    words = shlex.split(following.removeprefix("Next: ").removesuffix(" says why."))
    assert "model_degraded" in ran(capsys, *words[1:]).out


def test_a_page_that_lasts_is_judged_where_the_last_windows_have_too_few_outcomes(
    capsys, tmp_path, worse
):
    path = tmp_path / "events.ndjson"
    last = max(datetime.fromisoformat(json.loads(line)["ts"]).timestamp() for line in worse)
    later = [json.dumps(outcome(last + 9 * DAY + n)) for n in range(5)]
    path.write_text("\n".join([*worse, *later]))
    *_, judged, following = ran(capsys, "replay", path).out.splitlines()
    assert judged.endswith("Judged: default: model degraded, pages.")
    assert following == f"Next: precision-monitor diagnose {path} says why."


def test_a_command_on_what_a_pipe_brought_asks_to_save_it(capsys, monkeypatch):
    events = "\n".join(json.dumps(outcome(60 * n)) for n in range(50))
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(events.encode())))
    following = ran(capsys, "replay", "-").out.splitlines()[-1]
    assert following == (
        "Next: save standard input as FILE; replay more days, or compare two stretches of time: "
        "precision-monitor diagnose FILE --before A..B --after C..D."
    )


@pytest.mark.parametrize("configured", [False, True])
def test_what_is_as_ever_leads_to_watching(capsys, tmp_path, configured):
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    days = event_lines(islice(cases(Story.HEALTHY, seed=1), 12_000))
    path.write_text("\n".join(days))
    config.write_text("models: {default: {label_timeout: 14d}}\n")
    words = ("-c", config) if configured else ()
    *_, judged, following = ran(capsys, "replay", path, *words).out.splitlines()
    assert judged.endswith("Judged: default: steady.")
    asked = f"run -c {config} watches" if configured else f"init {path} writes a configuration to"
    assert following.startswith(f"Next: precision-monitor {asked}")


@pytest.mark.parametrize(
    ("days", "judged"),
    [(8.5, "too few outcomes"), (16, "steady")],
)
def test_windows_that_reach_back_make_a_model_steady_by_what_lies_beyond_the_reference(
    capsys, tmp_path, days, judged
):
    """The reference is the first seven days, which exclude much of themselves."""
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    cells = [*[(1, 1)] * 3, (1, 0), (0, 1), *[(0, 0)] * 5]
    records = [
        outcome(600 * n, prediction=predicted, label=label)
        for n in range(int(144 * days))
        for predicted, label in [cells[n % 10]]
    ]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    config.write_text("models: {default: {maturity: 1h}}\nwindows: [1d, 14d]\n")
    shown = ran(capsys, "replay", path, "-c", config).out
    windows = [line for line in shown.splitlines() if line.startswith(("  1d  ", "  14d  "))]
    assert windows[-2].endswith("insufficient_evidence (too few outcomes)")
    assert windows[-1].endswith("(the last 14d reach back into the reference)")
    *_, ending, following = shown.splitlines()
    assert ending.endswith(f"Judged: default: {judged}.")
    asked = "replay more days, or compare" if judged != "steady" else "precision-monitor run -c"
    assert following.startswith(f"Next: {asked}")
    since = "34.5 hours" if judged != "steady" else "8.9 days"
    assert f"in the {since} since the reference is excluded" in " ".join(shown.split())


def test_predictions_alone_lack_labels(last_lines):
    said, following = last_lines([{"id": "a", "ts": 1, "prediction": 1}])
    assert said == "1 event read, 0 rejected. Judged: default: nothing yet (no labels yet)."
    assert following.startswith("no label came; give the labels, too")


def test_labels_alone_lack_predictions(last_lines):
    said, following = last_lines([{"id": str(n), "ts": n, "label": 1} for n in range(3)])
    assert said == "3 events read, 0 rejected."
    assert following.startswith("labels came without predictions; give these, too")


def test_labels_of_other_ids_are_named(last_lines):
    events = [{"id": "a", "ts": 1, "prediction": 1}, {"id": "b", "ts": 2, "label": 1}]
    assert last_lines(events)[1] == "no label has the id of a prediction; check the ids."


def test_labels_with_a_class_that_the_model_does_not_have_are_counted_and_named(
    last_lines, tmp_path
):
    config = tmp_path / "classes.yaml"
    config.write_text("models:\n  m: {classes: [a, b, c]}\n")
    events = [{"id": i, "ts": 1, "model": "m", "prediction": "a"} for i in ("x", "y")]
    said, following = last_lines(events, "-c", str(config))
    assert '"label": "a"}, or name the column' in following
    config.write_text("models:\n  m: {classes: [a, b, c]}\n  spam: {}\n")
    unused = "0 rejected. Labels of a class that their model does not have, without effect:"
    one = [*events, {"id": "x", "ts": 3, "label": 1}]
    said, following = last_lines(one, "-c", str(config))
    assert said.startswith(f"3 events read, {unused} 1. Judged: m: nothing yet")
    two = [*one, {"id": "y", "ts": 4, "label": True}]
    said, following = last_lines(two, "-c", str(config))
    assert said.startswith(f"4 events read, {unused} 2. Judged: m: nothing yet")
    assert following == (
        "no label that could be used came; those of 'm' must be one of 'a', 'b', 'c', or null."
    )


def test_few_days_lead_to_more_of_them_or_to_two_ranges(last_lines):
    said, following = last_lines([outcome(60 * n) for n in range(50)])
    assert "Judged: default: nothing yet (the reference is not complete yet" in said
    assert following.startswith("replay more days, or compare two stretches of time: precision-mon")
    assert following.endswith("my events.ndjson' --before A..B --after C..D.")


@pytest.mark.parametrize(
    ("reference", "asked"),
    [
        ("{first: 28d}", "name another reference (--reference FILE), or compare two stretches of"),
        ("{trailing: 7d}", "replay more days, or compare two stretches of time: precision-monitor"),
    ],
)
def test_days_that_follow_do_not_mend_a_reference_of_too_few_outcomes(
    last_lines, tmp_path, reference, asked
):
    config = tmp_path / "monitor.yaml"
    config.write_text(f"models: {{default: {{reference: {reference}}}}}\n")
    records = [outcome(DAY * n, prediction=n % 3 % 2, label=int(n % 14 == 0)) for n in range(60)]
    said, following = last_lines(records, "-c", str(config))
    assert "too few to compare with" in said
    assert following.startswith(asked)


@pytest.mark.parametrize(
    ("days", "several", "asked"),
    [
        (20.5, False, "--before 1970-01-01..1970-01-14 --after 1970-01-14..1970-01-21."),
        (3.5, False, "--before 1970-01-01..1970-01-03 --after 1970-01-03..1970-01-04."),
        (8.5, True, "--model m1 --before 1970-01-01..1970-01-05 --after 1970-01-05..1970-01-09."),
        (1.5, False, "--before A..B --after C..D."),
    ],
)
def test_days_before_the_reference_is_complete_lead_to_a_comparison_of_them(
    capsys, tmp_path, days, several, asked
):
    """A model of 30 predictions a day has its reference after 28 days."""
    path = tmp_path / "events.ndjson"
    cells = [(1, 1), (0, 1), (1, 0), *[(0, 0)] * 27]
    records = [
        outcome(2_880 * n, prediction=predicted, label=label, model="m1")
        for n in range(int(30 * days))
        for predicted, label in [cells[n % 30]]
    ]
    if several:
        records.insert(0, outcome(5, model="m0"))
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    following = ran(capsys, "replay", path).out.splitlines()[-1]
    assert following.endswith(f"diagnose {path} {asked}")
    if "A..B" not in asked:
        words = shlex.split(following.removesuffix(".").partition("precision-monitor ")[2])
        compared = ran(capsys, *words)
        assert compared.code == 0, compared.err
        assert "What moved precision?" in compared.out


def test_the_mapping_goes_along(last_lines):
    rows = [{"when": n, "prediction": 1, "label": "fraud"} for n in range(9)]
    _, following = last_lines(rows, "--field", "ts=when", "--positive", "label=fraud")
    assert "--field ts=when --positive label=fraud --before A..B" in following


def test_several_models_are_counted_by_what_happened(last_lines):
    records = [outcome(60 * n, model=f"m{n % 5}") for n in range(50)]
    said, _ = last_lines(records)
    assert said.endswith("Judged: 5 models: nothing yet.")


def test_without_a_usable_record_nothing_is_judged(last_lines):
    said, following = last_lines([{"a": 1}] * 3)
    assert said == "3 events read, 3 rejected (3 missing_field)."
    assert following == ""


def test_a_name_with_a_line_end_stays_on_its_line(last_lines, capsys, tmp_path):
    records = [outcome(60 * n, model="evil\nJudged: fine\x1b[2J") for n in range(9)]
    said, _ = last_lines(records)
    assert r"Judged: evil\nJudged: fine\x1b[2J: nothing yet" in said
    path = tmp_path / "my events.ndjson"
    for words in ((), ("--summary",)):
        shown = ran(capsys, "replay", path, *words).out
        assert not [line for line in shown.splitlines() if line.startswith("Judged: fine")]


@pytest.mark.parametrize("positive", ["yes", "Y"])
def test_nothing_is_judged_where_no_record_has_a_positive_value(last_lines, positive):
    records = [outcome(60 * n, label="YN"[n % 2]) for n in range(50)]
    said, following = last_lines(records, "--positive", f"label={positive}")
    assert said.startswith("50 events read, 0 rejected. ")
    unfit = "Not judged: label: no record has the positive value 'yes'; records have 'Y', 'N'."
    assert (unfit in said) == (positive == "yes")
    asked = "say which values are of the positive class: --positive label=VALUE."
    assert (following == asked) == (positive == "yes")


def test_nothing_is_judged_where_most_records_are_rejected(last_lines):
    records = [outcome(60 * n, label="YNN"[n % 3]) for n in range(51)]
    options = ("--positive", "label=Y", "--negative", "label=X")
    assert last_lines(records, *options) == (
        "51 events read, 34 rejected (34 bad_value). Not judged: 34 of 51 records were rejected.",
        "",
    )


def test_labels_that_write_nothing_are_advised_at_any_share(capsys, tmp_path):
    path = tmp_path / "events.csv"
    rows = "".join(f"{60 * n},1,{'NaN' if n == 7 else n % 2}\n" for n in range(50))
    path.write_text(f"ts,prediction,label\n{rows}")
    done = ran(capsys, "replay", path)
    assert done.err.splitlines()[-1] == (
        "warning: 1 of 50 records was rejected: 1 bad_value; 'NaN' seems to stand for no class: "
        "--missing label=NaN"
    )


def test_what_to_write_for_a_few_rejected_records_is_said_without_a_warning(capsys, tmp_path):
    path = tmp_path / "events.csv"
    rows = "".join(f"{60 * n},1,{'maybe' if n == 7 else n % 2}\n" for n in range(50))
    path.write_text(f"ts,prediction,label\n{rows}")
    done = ran(capsys, "replay", path)
    last = done.err.splitlines()[-1]
    assert last.startswith("1 of 50 records was rejected: 1 bad_value; say which values are of")
    assert last.endswith("records have 'maybe'")
    assert done.code == 0


@pytest.mark.parametrize(("rejected", "is_much"), [(11, True), (9, False)])
def test_a_tenth_of_the_records_that_is_rejected_comes_first(capsys, tmp_path, rejected, is_much):
    path = tmp_path / "events.csv"
    rows = (f"{60 * n},1,{n % 2},{n * 8 if n < rejected else 0.5}\n" for n in range(1, 101))
    path.write_text(f"ts,prediction,label,score\n{''.join(rows)}0,1,1,7\n")
    done = ran(capsys, "replay", path)
    mend = "Next: mend the records that were rejected, which no figure has: see stderr."
    assert (mend in done.out) is is_much
    assert f"{rejected} of 101 records were rejected" in done.err


def test_labels_that_are_all_rejected_are_not_said_to_be_absent(capsys, tmp_path):
    """Half of the records are too few for the warning that most are rejected."""
    lines = [{"id": n, "ts": 60 * n, "prediction": n % 2} for n in range(20)]
    lines += [{"id": n, "ts": 60 * n + 9, "label": ["no", "yes"][n % 2]} for n in range(20)]
    path = tmp_path / "events.ndjson"
    path.write_text("\n".join(map(json.dumps, lines)))
    done = ran(capsys, "replay", path)
    unused = "no label could be used, and 20 of 40 records were rejected: correct these"
    assert f"Next: {unused}" in done.out
    assert "positive class: --positive label=VALUE; records have 'no', 'yes'\n" in done.err
    assert unused in ran(capsys, "diagnose", path).err
    path.write_text("\n".join(map(json.dumps, [{**one, "prediction": 7} for one in lines[:20]])))
    assert "no label came" not in ran(capsys, "replay", path).err


@pytest.mark.slow
def test_rows_at_the_end_without_a_label_lead_to_the_week_that_has_labels(capsys, tmp_path):
    """A table exported before the latest labels came: nothing in it is at fault."""
    path, days, step, unlabelled = tmp_path / "cases.csv", 35, 1_200, 3
    rows = ["id,ts,prediction,label"]
    for number in range(days * DAY // step):
        label = int(number % 3 == 0)
        flagged = int(number % 10 != 1) if label else int(number % 5 == 1)
        is_old = number * step < (days - unlabelled) * DAY
        rows.append(f"{number},{number * step},{flagged},{label if is_old else ''}")
    path.write_text("\n".join(rows))
    said = ran(capsys, "replay", path).out
    *_, stops, following = said.rstrip("\n").splitlines()
    assert f"default: hardly any prediction since {day(days - unlabelled)} has a label" in said
    assert stops.endswith("the time of a label, would show which.")
    week = f"{day(days - unlabelled - 7)}..{day(days - unlabelled)}"
    asked = following.removeprefix("Next: ").removesuffix(
        " judges the week before, which has labels."
    )
    assert asked == f"precision-monitor diagnose {path} --after {week}"
    found = json.loads(ran(capsys, *shlex.split(asked)[1:], "--json").out)
    assert (found["verdict"], found["verdict_because"]) == ("insufficient_evidence", "steady")
    assert "labels_not_trustworthy" in said
    monitor = Monitor()
    monitor.feed(pd.read_csv(path))
    advised = f"Judge the week before, {week}, which has labels."
    for report in (ran(capsys, "diagnose", path).out, str(monitor.compare())):
        text = " ".join(report.split())
        assert f"Hardly any prediction since {day(days - unlabelled)} has a label" in text
        assert advised in text
        assert (
            "far fewer of the predictions after have a label than of those before, though they "
            "are old enough to have one" in text
        )
        assert "Wait for labels, or page the data team" not in text
    earlier = ran(capsys, "diagnose", path, "--after", week).out
    assert "Hardly any prediction" not in earlier


def day(number):
    return (datetime(1970, 1, 1) + timedelta(days=number)).date().isoformat()  # noqa: DTZ001  # of UTC


def test_a_model_that_pages_is_judged_beside_rejected_cases_of_another_class(last_lines, tmp_path):
    """It said "pages" above, and "Not judged" below."""
    config = tmp_path / "classes.yaml"
    config.write_text("models: {mail: {classes: [card, loan, other], label_timeout: 1d}}\n")
    names, records = ("card", "loan", "other"), []
    for number in range(40 * 300):
        actual, time = number % 3, number * DAY // 300
        wrong = number % 2 if time >= 30 * DAY else number % 11 == 0
        predicted = "cash" if number % 40 == 0 else names[(actual + int(wrong)) % 3]
        one = {"type": "outcome", "id": str(number), "ts": time, "model": "mail"}
        records.append({**one, "prediction": predicted, "label": names[actual]})
    ending, _ = last_lines(records, "-c", str(config))
    assert (
        "Not counted: 300 predictions of classes that are not configured were rejected." in ending
    )
    assert "Not judged" not in ending
    assert ending.endswith("Judged: mail: model degraded, pages.")


def test_audits_that_contradict_labels_stand_beside_a_model_that_pages(capsys, tmp_path):
    """Labels of 1 % of actual negatives are wrong for 30 days, and then of 12 %."""
    rng, path, config = np.random.default_rng(1), tmp_path / "events.ndjson", tmp_path / "c.yaml"
    config.write_text(
        "models: {m: {maturity: 1h, reference: {first: 7d}, label_timeout: 1d}}\nwindows: [7d]\n"
    )
    with path.open("w") as written:
        for n in range(300 * 50):
            actual = rng.random() < 0.1
            called = rng.random() < (0.8 if actual else 0.02)
            wrong = rng.random() < (0.02 if actual else 0.01 if n < 9_000 else 0.12)
            case = {"id": f"{n}", "model": "m", "ts": 288 * n}
            label = {"type": "outcome", "prediction": int(called), "label": int(actual ^ wrong)}
            print(json.dumps(case | label), file=written)
            audit = {"type": "label", "label": int(actual), "audit": True}
            print(json.dumps(case | audit), file=written)
    shown = " ".join(ran(capsys, "replay", path, "-c", config).out.split())
    assert shown.count("but audits show that labels changed.") == 2
    judged = "Judged: m: prevalence shifted and model degraded, pages, but audits show that labels"
    assert f"{judged} changed. Next:" in shown
