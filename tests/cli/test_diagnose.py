import io
import json
from collections import Counter
from contextlib import redirect_stdout

import pytest
from cli.commands import ran
from diagnosis.episodes import DAYS
from streams import FLIGHTS, flights_of

from monitor.cli import main
from monitor.config.quantities import parse_time

MODEL = "delay-hgb-v1"
JULY, SEPTEMBER = "2013-07-01..2013-08-01", "2013-09-01..2013-10-01"
JULY_CELLS = {"tp": 1303, "fp": 1551, "fn": 525, "tn": 2333}
FIRST_WEEK, THIRD_WEEK = "2013-07-01..2013-07-08", "2013-07-15..2013-07-22"
HOUR, DAY = 3_600, 86_400
STRETCHES = ("--before", "1970-01-01..1970-01-23", "--after", "1970-01-25..1970-02-16")


def diagnosed(capsys, *words):
    done = ran(capsys, "diagnose", *words, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.fixture(scope="module")
def summer(tmp_path_factory):
    """The bundled flights of July to September: a third of the time to read them all."""
    path = tmp_path_factory.mktemp("flights") / "summer.ndjson"
    first, end = (parse_time(day) / 1000 for day in ("2013-07-01", "2013-10-01"))
    return written(path, *flights_of(first, end))


@pytest.fixture(scope="module")
def weeks(summer, tmp_path_factory):
    """Three weeks of them: most of what is asked for needs no more."""
    path, end = tmp_path_factory.mktemp("flights") / "weeks.ndjson", parse_time("2013-07-22") / 1000
    events = [json.loads(line) for line in summer.read_text().splitlines()]
    made = {e["id"] for e in events if e["type"] == "prediction" and e["ts"] < end}
    return written(path, *(event for event in events if event["id"] in made))


def cells_of(path, first, end):
    """Outcomes of the days, counted one by one."""
    events = [json.loads(line) for line in path.read_text().splitlines()]
    labels = {e["id"]: e["label"] for e in events if e["type"] == "label"}
    opens, closes = (parse_time(day) / 1000 for day in (first, end))
    cells = Counter(
        ("fn" if labels[e["id"]] else "tn", "tp" if labels[e["id"]] else "fp")[e["prediction"]]
        for e in events
        if e["type"] == "prediction" and opens <= e["ts"] < closes and e["id"] in labels
    )
    return dict(cells)


def july_september(capsys, feed, *words):
    return diagnosed(capsys, "--feed", feed, "--before", JULY, "--after", SEPTEMBER, *words)


def written(path, *events):
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return path


def outcomes(days, cells, *, start=0, model="m"):
    """Counted outcomes of so many days."""
    names = ("tp", "fp", "fn", "tn")
    return [
        {
            "type": "counts",
            "model": model,
            "ts": (start + day) * DAY + 60,
            **dict(zip(names, cells, strict=True)),
        }
        for day in range(days)
    ]


@pytest.fixture(scope="module")
def stretches(tmp_path_factory):
    return written(
        tmp_path_factory.mktemp("counts") / "stretches.ndjson",
        *outcomes(22, (80, 45, 20, 855)),
        *outcomes(22, (40, 47, 10, 903), start=24),
    )


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_bundled_flights_moved_as_the_full_stream_did(capsys, summer, whole):
    """How much days differ by chance is learned from ten months, or from three."""
    found = july_september(capsys, FLIGHTS if whole else summer)
    assert found["model"] == MODEL
    assert found["before"]["outcomes"] == JULY_CELLS
    assert (found["before"]["open"], found["before"]["close"]) == (
        "2013-07-01T00:00:00Z",
        "2013-08-01T00:00:00Z",
    )
    assert (found["blocks"]["before"], found["blocks"]["unit"]) == (31, "day")
    assert found["components"]["class_ratio"]["change"] == pytest.approx(-1.07, abs=0.01)
    assert abs(found["log_likelihood_ratio"]["change"]) < 0.02
    assert found["main_driver"]["cause"] == "prevalence"
    assert found["main_driver"]["certain"] is whole
    assert found["fell"] == ["class_ratio"]
    assert found["components"]["recall"]["change"] == pytest.approx(-0.774, abs=0.001)
    assert found["verdict"] == "insufficient_evidence"
    assert found["verdict_because"] == "moved_cause_open"
    assert found["moved_precision"]["cause"] == "prevalence"
    assert found["worse"]["answer"] == "not_shown"
    assert 0.4 < found["worse"]["recall_lower"] < 0.534 < found["worse"]["recall_upper"] < 0.65


@pytest.mark.slow  # test_diagnosis_episodes compares the same months
def test_all_flights_by_day_are_a_prevalence_shift(capsys, tmp_path):
    names = ("tp", "fp", "fn", "tn", "predicted_positive", "predicted_negative")
    events = [
        {
            "type": "counts",
            "model": MODEL,
            "ts": f"{day}T12:00:00Z",
            **dict(zip(names, row, strict=True)),
        }
        for day, row in DAYS.items()
    ]
    path = written(tmp_path / "counts.ndjson", *events)
    found = diagnosed(capsys, "--feed", path, "--before", JULY, "--after", SEPTEMBER)
    assert found["verdict"] == "prevalence_shift"
    assert found["moved_precision"]["cause"] == "prevalence"
    assert found["worse"]["answer"] == "no"
    assert found["worse"]["text"] == "No: skill (log LR+) is as before"
    assert found["change"]["points"] == pytest.approx(-0.233, abs=0.001)
    assert found["change"]["logit"] == pytest.approx(-1.0971, abs=0.0001)
    assert found["after"]["predictions"] == 27_568


def test_segments_are_those_of_the_configuration_or_those_asked_for(capsys, weeks, tmp_path):
    config = tmp_path / "monitor.yaml"
    config.write_text(f"models: {{{MODEL}: {{segments: [origin], label_timeout: 2d}}}}\n")
    words = ("--feed", weeks, "--before", FIRST_WEEK, "--after", THIRD_WEEK)
    configured = diagnosed(capsys, *words, "-c", config)
    assert {part["segment"] for part in configured["segments"]} == {"origin"}
    asked = diagnosed(capsys, *words, "-c", config, "--segments", "part_of_day,origin")
    assert {part["segment"] for part in asked["segments"]} == {"part_of_day", "origin"}
    assert diagnosed(capsys, *words)["segments"] == []


def test_a_segment_key_that_nothing_carries_is_refused_with_those_there_are(capsys, weeks):
    words = ("--before", FIRST_WEEK, "--after", THIRD_WEEK, "--segments", "colour")
    done = ran(capsys, "diagnose", "--feed", weeks, *words)
    assert done.code == 2
    assert "no prediction has the key 'colour'; there are " in done.err
    assert {"origin", "carrier", "part_of_day"} <= set(done.err.replace(",", "").split())


def test_the_verdict_can_fail_the_command(capsys, stretches):
    words = ("diagnose", "--feed", stretches, *STRETCHES)
    assert ran(capsys, *words, "--fail-on", "model_degraded").code == 0
    failed = ran(capsys, *words, "--fail-on", "model_degraded", "--fail-on", "prevalence_shift")
    assert failed.code == 1
    assert "The model is not at fault" in failed.out


@pytest.fixture(scope="module")
def report(stretches):
    """The report on both stretches, by options alone."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(["diagnose", "--feed", str(stretches), *STRETCHES]) == 0
    return out.getvalue()


def test_the_report_begins_with_what_happened(report):
    text = report
    assert text.startswith("Precision fell .640 → .460: positives became rarer.")
    for title in ("What moved precision", "What is not known, and why", "What to do next"):
        assert title in text
    assert "set the threshold anew for r = 0.0526 (it was 0.111)" in text


def test_without_ranges_the_reference_is_compared_with_the_last_mature_days(capsys, weeks):
    found = diagnosed(capsys, "--feed", weeks)
    assert (found["before"]["source"], found["after"]["source"]) == ("first", "mature")
    assert found["before"]["open"] == "2013-07-01T00:00:00Z"
    assert found["after"]["close"] < "2013-07-23"
    assert sum(found["before"]["outcomes"].values()) > 1_000
    assert found["blocks"]["after_unit"] == "hour"


@pytest.mark.parametrize(
    ("reference", "opens"),
    [
        ("window: {length: 7d, end: 2013-07-08}", "2013-07-01T00:00:00Z"),
        ("counts: {tp: 1303, fp: 1551, fn: 525, tn: 2333}", None),
        ("trailing: 7d", "2013-07-08T00:00:00Z"),
    ],
)
def test_before_is_the_configured_reference(capsys, weeks, tmp_path, reference, opens):
    source = reference.partition(":")[0]
    config = tmp_path / "monitor.yaml"
    config.write_text(f"models: {{{MODEL}: {{reference: {{{reference}}}}}}}\n")
    found = diagnosed(capsys, "--feed", weeks, "-c", config, "--after", THIRD_WEEK)
    assert found["before"]["open"] == opens
    assert found["before"]["source"] == source
    counted = JULY_CELLS if opens is None else cells_of(weeks, opens, found["before"]["close"])
    assert found["before"]["outcomes"] == counted


def test_the_last_mature_days_are_compared_with_the_trailing_reference(capsys, weeks, tmp_path):
    config = tmp_path / "monitor.yaml"
    config.write_text(f"models: {{{MODEL}: {{reference: {{trailing: 7d}}}}}}\n")
    found = diagnosed(capsys, "--feed", weeks, "-c", config)
    replayed = json.loads(ran(capsys, "replay", weeks, "-c", config, "--json").out)
    reference = replayed["models"][MODEL]["reference"]
    assert found["before"]["close"] == reference["close"] < found["after"]["open"]


def test_the_feeds_of_the_configuration_are_read_where_none_is_given(capsys, weeks, tmp_path):
    config = tmp_path / "monitor.yaml"
    config.write_text(f"feeds: [{{type: file, path: {weeks}}}]\n")
    found = diagnosed(capsys, "-c", config, "--before", FIRST_WEEK, "--after", THIRD_WEEK)
    assert found["before"]["outcomes"] == cells_of(weeks, "2013-07-01", "2013-07-08")


def test_flagged_only_refuses_all_but_precision(capsys, weeks, tmp_path):
    config = tmp_path / "monitor.yaml"
    config.write_text(f"models: {{{MODEL}: {{labelling: flagged_only}}}}\n")
    words = ("--before", FIRST_WEEK, "--after", THIRD_WEEK)
    found = diagnosed(capsys, "--feed", weeks, "-c", config, *words)
    cells = cells_of(weeks, "2013-07-15", "2013-07-22")
    assert found["verdict"] == "labels_not_trustworthy"
    precision = cells["tp"] / (cells["tp"] + cells["fp"])
    assert found["after"]["precision"]["estimate"] == pytest.approx(precision)
    assert found["after"]["recall"] == {"estimate": None, "lower": None, "upper": None}
    assert "flagged_only" in found["notes"][0]


def test_a_torn_file_is_diagnosed_as_far_as_it_goes_with_exit_code_3(capsys, tmp_path):
    path = tmp_path / "torn.ndjson.gz"
    path.write_bytes(FLIGHTS.read_bytes()[:60_000])
    ranges = ("--before", "2013-03-01..2013-03-08", "--after", "2013-03-08..2013-03-15")
    done = ran(capsys, "diagnose", "--feed", path, *ranges)
    assert done.code == 3
    assert "delay-hgb-v1" in done.out
    assert "gzip" in done.err


def test_records_that_could_not_be_used_are_counted(capsys, tmp_path, stretches):
    path = tmp_path / "poison.ndjson"
    path.write_text(stretches.read_text() + "no json\n")
    done = ran(capsys, "diagnose", "--feed", path, *STRETCHES)
    assert done.code == 0
    assert "records was rejected: 1 malformed" in done.err


def wrong(capsys, *words):
    done = ran(capsys, "diagnose", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    return done.err


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        ("2013-08-01..2013-07-01", SEPTEMBER, "--before: ends before it begins"),
        ("2013-07-01..2013-07-01", SEPTEMBER, "--before: is empty"),
        (JULY, "2013-07-15..2013-10-01", "--before and --after: overlap by 17d"),
        (SEPTEMBER, JULY, "--before: lies after --after"),
        ("July", SEPTEMBER, "--before: must be a range, got 'July'"),
        ("2013-07..2013-08", SEPTEMBER, "--before: '2013-07' is no time, got '2013-07..2013-08';"),
        ("2013-07-40", SEPTEMBER, "--before: '2013-07-40' is no time; write"),
        (JULY, "2013-13", "--after: '2013-13-01' is no time"),
        ("2012-07", THIRD_WEEK, "covers 2013-07-01T"),
        (FIRST_WEEK, "2015-07", "--after: nothing was predicted in 2015-07-01T00:00:00Z.."),
    ],
)
def test_ranges_that_cannot_be_compared_are_refused(capsys, weeks, before, after, reported):
    assert reported in wrong(capsys, "--feed", weeks, "--before", before, "--after", after)


@pytest.mark.parametrize(
    "words",
    [
        ("{file}", *STRETCHES),
        (*STRETCHES, "{file}"),
        (*STRETCHES[:2], "{file}", *STRETCHES[2:]),
        ("-", "--feed", "{file}", *STRETCHES),
    ],
)
def test_files_may_be_arguments_as_well_as_options(capsys, stretches, report, monkeypatch, words):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    found = ran(capsys, "diagnose", *(word.format(file=stretches) for word in words))
    assert (found.code, found.out) == (0, report)


def test_wrong_words_are_refused_in_one_line(capsys, weeks):
    ranges = ("--before", FIRST_WEEK, "--after", THIRD_WEEK)
    both = ("--feed", weeks, "--url", "http://127.0.0.1:1", *ranges)
    assert "--feed: cannot be combined with --url" in wrong(capsys, *both)
    assert "FILE: cannot be combined with --url" in wrong(capsys, weeks, *both[2:])
    assert "FILE: must name recorded events" in wrong(capsys, *ranges)
    failing = wrong(capsys, "--feed", weeks, *ranges, "--fail-on", "model_degradet")
    assert "did you mean 'model_degraded'?" in failing
    assert "--segments: must name a key" in wrong(capsys, "--feed", "x", *ranges, "--segments", ",")
    unknown = wrong(capsys, "--feed", weeks, *ranges, "--model", "delay-hgb-v2")
    assert "did you mean 'delay-hgb-v1'?" in unknown


def test_the_model_must_be_named_where_there_are_several(capsys, tmp_path):
    both = [*outcomes(3, (8, 4, 2, 86)), *outcomes(3, (8, 4, 2, 86), model="other")]
    path = written(tmp_path / "two.ndjson", *both)
    ranges = ("--before", "1970-01-01", "--after", "1970-01-02")
    assert "the feed has several models: m, other; name one" in wrong(
        capsys, "--feed", path, *ranges
    )
    assert diagnosed(capsys, "--feed", path, *ranges, "--model", "other")["model"] == "other"
    config = tmp_path / "monitor.yaml"
    config.write_text("models: {m: {}, other: {}}\n")
    assert "the configuration has several models" in wrong(
        capsys, "--feed", path, "-c", config, *ranges
    )
    assert "no such model, got 'othr'; did you mean 'other'?" in wrong(
        capsys, "--feed", path, "-c", config, *ranges, "--model", "othr"
    )


@pytest.mark.parametrize("ranges", [(), ("--before", JULY, "--after", SEPTEMBER)])
def test_an_empty_feed_is_exit_code_3(capsys, tmp_path, ranges):
    path = tmp_path / "empty.ndjson"
    path.touch()
    done = ran(capsys, "diagnose", "--feed", path, *ranges)
    assert done.code == 3
    assert "no records to read: the input is empty" in done.err


def test_a_missing_feed_is_exit_code_3(capsys, tmp_path):
    done = ran(capsys, "diagnose", "--feed", tmp_path / "missing.ndjson", "--before", JULY)
    assert done.code == 3
    assert "no such file" in done.err


def test_predictions_without_any_label_are_evidence_of_nothing(capsys, tmp_path):
    events = [
        {"type": "prediction", "id": f"p{n}", "ts": n * HOUR, "prediction": n % 2, "model": "m"}
        for n in range(24 * 10)
    ]
    path = written(tmp_path / "unlabelled.ndjson", *events)
    found = diagnosed(capsys, "--feed", path, "--before", "1970-01-03", "--after", "1970-01-08")
    assert found["verdict"] == "insufficient_evidence"
    assert found["change"] == {"points": None, "logit": None}
    assert found["main_driver"] == {"cause": None, "share": None, "certain": False}
    assert "no prediction before has a label" in found["notes"][0]
    assert "no label came; give the labels" in wrong(
        capsys, "--feed", path, "--before", "1970-01-03"
    )


def pairs(days, *, positive_labels_alone):
    """A hundred predictions a day; a tenth positive; only these labelled, or with few others."""
    for i in range(100 * days):
        at, positive, called = i * DAY // 100, i % 10 == 0, i % 10 == 0 or i % 20 == 1
        yield {"type": "prediction", "id": f"p{i}", "ts": at, "prediction": int(called)}
        if positive or (not positive_labels_alone and (called or i % 7 == 0)):
            yield {"type": "label", "id": f"p{i}", "ts": at + HOUR, "label": int(positive)}


def regime(tmp_path, labelling):
    config = tmp_path / f"{labelling}.yaml"
    config.write_text(f"models: {{default: {{labelling: {labelling}, label_timeout: 2d}}}}\n")
    return config


def test_silence_is_diagnosed_as_a_negative_once_it_may_be(capsys, tmp_path):
    feed = written(tmp_path / "events.ndjson", *pairs(20, positive_labels_alone=True))
    words = ("--feed", feed, "-c", regime(tmp_path, "negatives_by_timeout"))
    sides = ("--before", "1970-01-01..1970-01-11", "--after")
    found = diagnosed(capsys, *words, *sides, "1970-01-12..1970-01-18")
    assert found["before"]["outcomes"] == {"tp": 100, "fp": 50, "fn": 0, "tn": 850}
    early = ran(capsys, "diagnose", *words, *sides, "1970-01-12..1970-01-19")
    assert early.code == 2
    assert "--after: ends before missing labels count as negatives" in early.err
    assert "they count for predictions to 1970-01-18T" in early.err


def test_a_sample_of_labels_is_diagnosed(capsys, tmp_path):
    feed = written(tmp_path / "events.ndjson", *pairs(20, positive_labels_alone=False))
    words = ("--feed", feed, "-c", regime(tmp_path, "sampled"))
    ranges = ("--before", "1970-01-01..1970-01-09", "--after", "1970-01-10..1970-01-18")
    found = diagnosed(capsys, *words, *ranges)
    assert found["before"]["outcomes"]["tn"] < 120
    assert found["before"]["prevalence"]["estimate"] == pytest.approx(0.1)
    assert found["verdict"] != "labels_not_trustworthy"
    text = ran(capsys, "diagnose", *words, *ranges).out
    assert "labels are a sample (sampled)" in text
