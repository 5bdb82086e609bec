"""`init` looks at recorded events and writes a configuration that fits them."""

import csv
import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from cli.commands import ran
from streams import FLIGHTS

from monitor.config import Labelling, load_config
from monitor.config.quantities import parse_duration

BEGIN = datetime(2026, 9, 1, tzinfo=UTC)
COLUMNS = ("timestamp", "claim", "proba", "decision", "fraud", "decided_at", "region", "note")
OPTIONS = (
    *("--field", "id=claim", "--field", "prediction=decision", "--field", "label=fraud"),
    *("--field", "label_ts=decided_at", "--positive", "prediction=deny"),
    *("--positive", "label=fraud", "--missing", "label=open"),
)


def always(rng, flagged, proba):  # noqa: ARG001  # as of the others
    return "fraud" if rng.random() < proba / 2 else "ok"


def of_flagged(rng, flagged, proba):
    return always(rng, flagged, proba) if flagged else "open"


def of_frauds(rng, flagged, proba):
    return "fraud" if always(rng, flagged, proba) == "fraud" else "open"


def of_flagged_and_some(rng, flagged, proba):
    return of_flagged(rng, flagged or rng.random() < 0.2, proba)


def claims(days=40, a_day=400, label=always):
    """Claims with labels that come after two days on average."""
    rng = random.Random(3)
    for number in range(days * a_day):
        moment = BEGIN + timedelta(days=number / a_day)
        proba = rng.random()
        flagged = proba > 0.7
        late = moment + timedelta(days=rng.expovariate(0.5))
        yield dict(
            zip(
                COLUMNS,
                (
                    moment.isoformat(),
                    f"c{number}",
                    round(proba, 4),
                    "deny" if flagged else "pay",
                    label(rng, flagged, proba),
                    late.isoformat(),
                    rng.choice(["eu", "us", "asia"]),
                    f"note {number}",
                ),
                strict=True,
            )
        )


@pytest.fixture
def written(tmp_path):
    def write(rows, name="claims.csv"):
        path = tmp_path / name
        with path.open("w") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            table.writerows(rows)
        return path

    return write


@pytest.fixture
def initialized(capsys, tmp_path):
    def init(path, *words):
        output = tmp_path / "monitor.yaml"
        done = ran(capsys, "init", path, "-o", output, *words)
        assert done.code == 0, done.err
        return load_config(output), done.err, output

    return init


def test_the_configuration_reads_the_file_that_it_was_written_for(capsys, written, initialized):
    path = written(claims(days=20, a_day=150))
    config, told, output = initialized(path, *OPTIONS)
    (model,) = config.models.values()
    assert model.segments == ("region",)
    assert model.labelling is Labelling.COMPLETE
    assert model.label_timeout == parse_duration("30d")  # .99 of the labels come within 9.2 days
    replayed = ran(capsys, "replay", path, "-c", output, "--json")
    assert (replayed.code, replayed.err) == (0, "")
    found = json.loads(replayed.out)["models"]["default"]
    assert found["predictions"] == 3_000
    assert sum(found["outcomes"].values()) > 2_800
    assert "3,000 predictions in 20 days" in told
    assert ran(capsys, "check-config", output).code == 0


def test_windows_are_those_that_the_volume_carries(written, initialized):
    small, _, output = initialized(written(claims(a_day=20)), *OPTIONS)
    output.unlink()
    large, _, _ = initialized(written(claims(days=1, a_day=9_000)), *OPTIONS)
    assert list(small.windows) == ["30d"]
    assert list(large.windows) == ["1h", "6h", "1d"]


@pytest.mark.parametrize(
    ("label", "labelling"),
    [
        (of_flagged, "flagged_only"),
        (of_frauds, "negatives_by_timeout"),
        (of_flagged_and_some, "sampled"),
    ],
)
def test_how_labels_seem_to_come_is_proposed(written, initialized, label, labelling):
    path = written(claims(days=20, a_day=200, label=label))
    config, _, _ = initialized(path, *OPTIONS, "--negative", "label=ok")
    assert config.models["default"].labelling == labelling


def ended(rows, *, until, timed=True):
    """Claims whose labels are known up to so many days after the begin, by their own time."""
    end = (BEGIN + timedelta(days=until)).isoformat()
    for row in rows:
        late = row["decided_at"] if timed else row["timestamp"]
        known = {} if late < end else {"fraud": "open", "decided_at": ""}
        yield {**row, **({} if timed else {"decided_at": ""}), **known}


def delayed(rows, days):
    for row in rows:
        late = datetime.fromisoformat(row["decided_at"]) + timedelta(days=days)
        yield {**row, "decided_at": late.isoformat()}


@pytest.mark.parametrize(
    ("rows", "said", "lengths"),
    [
        (ended(claims(), until=20), "labels stopped on 2026-09-21", ("30d", "14d")),
        (ended(claims(), until=20, timed=False), "labels stopped, or take so long", ("60d", "14d")),
        (
            ended(delayed(claims(), 20), until=40),
            "labels come late, and came until 2026-10-11",
            ("90d", "7d"),  # 14 days, a week to compare and 34 days for labels are more than 40
        ),
    ],
)
def test_labels_that_end_before_the_predictions_are_said(written, initialized, rows, said, lengths):
    config, told, output = initialized(written(rows), *OPTIONS)
    (line,) = (line for line in told.splitlines() if line.startswith("warning: default: "))
    assert line.startswith("warning: default: hardly any prediction since 2026-09-")
    assert said in line
    assert line.removeprefix("warning: default: ") in output.read_text()
    (model,) = config.models.values()
    assert (model.label_timeout, model.reference.first) == tuple(map(parse_duration, lengths))
    assert "long enough for detectors" in output.read_text()


def test_a_reference_is_not_longer_than_the_labels_reach(written, initialized):
    rows = ended(claims(days=60, a_day=120), until=22, timed=False)
    config, _, output = initialized(written(rows), *OPTIONS)
    assert config.models["default"].reference.first == parse_duration("14d")  # 7d would grow to 28d
    assert "too few labels for detectors" in output.read_text()
    output.unlink()
    whole, _, _ = initialized(written(claims(days=60, a_day=150)), *OPTIONS)
    assert whole.models["default"].reference.first == parse_duration("30d")


def test_a_reference_that_detectors_need_is_not_proposed_before_the_events_reach_it(
    capsys, written, initialized
):
    path = written(claims(days=47, a_day=100))
    config, told, output = initialized(path, *OPTIONS)
    assert config.models["default"].reference.first == parse_duration("14d")
    text = output.read_text()
    assert "reference: {first: 14d} # what windows are compared with; too few labels" in text
    assert "too few labels for detectors, 60d would have enough\n" in text
    assert "the reference" not in told
    replayed = ran(capsys, "replay", path, "-c", output)
    assert "the reference is not complete" not in replayed.out


def test_events_shorter_than_any_reference_say_when_it_is_complete(written, initialized):
    config, told, output = initialized(written(claims(days=3)), *OPTIONS)
    assert config.models["default"].reference.first == parse_duration("7d")
    text = output.read_text()
    when = "complete about 13 September 2026"
    assert f"; extended to 11d for want of outcomes: long enough for detectors; {when}\n" in text
    (line,) = (line for line in told.splitlines() if "do not complete a reference" in line)
    assert line.endswith(f"; the one of 7d is the first to be {when}")


@pytest.mark.parametrize(("days", "first"), [(42, "14d"), (48, "30d")])
def test_replay_uses_the_reference_and_the_windows_that_init_wrote(
    capsys, written, initialized, days, first
):
    path = written(claims(days=days, a_day=150))
    config, _, output = initialized(path, *OPTIONS)
    length = parse_duration(first)
    assert config.models["default"].reference.first == length
    found = json.loads(ran(capsys, "replay", path, "-c", output, "--json").out)["models"]["default"]
    opens, closes = (datetime.fromisoformat(found["reference"][end]) for end in ("open", "close"))
    assert (closes - opens).total_seconds() * 1000 == length
    starts = [datetime.fromisoformat(one["open"]) for one in found["windows"].values()]
    assert min(starts) >= closes
    assert f"windows: [{', '.join(config.windows)}] # what the volume of default carries; " in (
        output.read_text()
    )


def test_labels_as_late_as_usual_are_not_said_to_end(written, initialized):
    _, told, output = initialized(written(ended(claims(a_day=150), until=40)), *OPTIONS)
    assert "warning" not in told
    assert "hardly any" not in output.read_text()


def test_without_any_label_the_timeout_is_longer_than_the_data(written, initialized):
    rows = ended(claims(days=50, a_day=20), until=0)
    config, told, output = initialized(written(rows), *OPTIONS)
    assert config.models["default"].label_timeout == parse_duration("180d")
    assert "no label came in these 50 days; later labels do not count" in output.read_text()
    assert "1,000 predictions in 50 days, no labels yet" in told


@pytest.mark.slow
def test_the_bundled_flights_keep_their_segments(initialized):
    config, told, _ = initialized(FLIGHTS)
    model = config.models["delay-hgb-v1"]
    assert set(model.segments) == {"origin", "part_of_day", "carrier"}
    assert not config.feeds[0].is_mapped
    assert "57,286 predictions in 306 days, 55,811 labelled" in told


def test_scores_alone_get_a_threshold_that_is_said_to_be_assumed(tmp_path, initialized):
    path = tmp_path / "scores.ndjson"
    events = [{"id": n, "ts": 3_600 * n, "score": n % 10 / 10, "label": n % 2} for n in range(300)]
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    config, _, output = initialized(path)
    assert config.models["default"].threshold == 0.5
    assert "threshold: 0.5 # assumed" in output.read_text()


def test_names_that_yaml_would_misread_are_quoted(tmp_path, initialized):
    path = tmp_path / "odd: name.ndjson"
    fields = {"ts": 0, "id": "a", "prediction": 1, "model": "no"}
    path.write_text("".join(f"{json.dumps({**fields, 'id': n, 'ts': n})}\n" for n in range(9)))
    config, _, _ = initialized(path)
    assert list(config.models) == ["no"]
    assert str(config.feeds[0].path) == str(path)


def test_a_file_is_never_overwritten(capsys, tmp_path, written):
    path, output = written(claims(days=1)), tmp_path / "there.yaml"
    output.write_text("mine")
    done = ran(capsys, "init", path, "-o", output, *OPTIONS)
    assert (done.code, output.read_text()) == (2, "mine")
    assert "is there already" in done.err
    shown = ran(capsys, "init", path, "-o", "-", *OPTIONS)
    assert shown.code == 0
    assert shown.out.startswith("# Written by precision-monitor init")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "has no column 'ts', got a, b"),
        ("ts,prediction,label\n1,yes,1\n", "1 of 1 record was rejected: 1 bad_value"),
        ("id,ts,label\na,1,1\n", "has no predictions"),
        ("", "has no predictions"),
    ],
)
def test_what_cannot_be_monitored_is_refused(capsys, tmp_path, text, message):
    path = tmp_path / "events.csv"
    path.write_text(text)
    done = ran(capsys, "init", path, "-o", "-")
    assert (done.code, done.out) == (3, "")
    assert message in done.err
