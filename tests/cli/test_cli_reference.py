"""`reference FILE` and `--reference FILE`: the outcomes of a test set, recounted by pandas."""

import gzip
import json
import random
import shlex
from argparse import Namespace

import pandas as pd
import pytest
import yaml
from cli.commands import ran
from streams import FLIGHTS

from monitor import metrics
from monitor.cli.run import _checked
from monitor.config import load_config, parse_config
from monitor.counts import ConfusionCounts

CELLS = {"tp": (1, 1), "fp": (1, 0), "fn": (0, 1), "tn": (0, 0)}
FIELDS = ("prediction", "label")
MODEL = "delay-hgb-v1"


def cells(predicted, actual):
    """Outcomes, counted by pandas."""
    table = pd.crosstab(predicted.astype(int), actual.astype(int))
    return {name: int(table.loc[cell]) for name, cell in CELLS.items()}


def references(text):
    """The reference of each model of what the command printed."""
    models = parse_config(text, "printed.yaml").models
    return {name: model.reference.counts.model_dump() for name, model in models.items()}


def held(rows=3_000, seed=4):
    rng = random.Random(seed)
    proba = [round(rng.random(), 4) for _ in range(rows)]
    return pd.DataFrame(
        {
            "customer": [f"c{number}" for number in range(rows)],
            "proba": proba,
            "decision": ["deny" if one > 0.6 else "pay" for one in proba],
            "fraud": ["yes" if rng.random() < one**2 else "no" for one in proba],
        }
    )


DECIDED = ("--field", "prediction=decision", "--positive", "prediction=deny")
LABELLED = ("--field", "label=fraud", "--positive", "label=yes")


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "test_set.csv"
    held().to_csv(path, index=False)
    return path


@pytest.mark.slow
def test_the_flights_count_as_pandas_counts_them(capsys):
    with gzip.open(FLIGHTS, "rt") as lines:
        events = pd.DataFrame(json.loads(line) for line in lines)
    predictions = events[events["type"] == "prediction"].set_index("id")
    labels = events[events["type"] == "label"].sort_values("ts", kind="stable")
    latest = labels.drop_duplicates("id", keep="last").set_index("id")["label"]
    joined = predictions.drop(columns="label").join(latest, how="inner").dropna(subset=["label"])
    expected = cells(joined["prediction"], joined["label"])
    done = ran(capsys, "reference", FLIGHTS)
    assert done.code == 0
    assert references(done.out) == {MODEL: expected}
    left = len(predictions) - len(joined)
    assert f"{len(joined):,} outcomes, {left:,} predictions without a label left out" in done.err
    counts = ConfusionCounts(**expected)
    for name in ("precision", "recall"):
        lower, upper = metrics.intervals(counts, name)
        value = getattr(metrics, name)(counts)
        assert f"{name} {value:.3f} ({lower:.3f} to {upper:.3f})" in done.err
    assert "warning" not in done.err


@pytest.mark.parametrize("ending", ["csv", "parquet", "json", "ndjson"])
def test_a_table_needs_no_times(capsys, tmp_path, ending):
    table = held()
    path = tmp_path / f"test_set.{ending}"
    {
        "csv": lambda: table.to_csv(path, index=False),
        "parquet": lambda: table.to_parquet(path, index=False),
        "json": lambda: table.to_json(path, orient="records"),
        "ndjson": lambda: table.to_json(path, orient="records", lines=True),
    }[ending]()
    done = ran(capsys, "reference", path, *DECIDED, *LABELLED)
    assert done.code == 0, done.err
    expected = cells(table["decision"] == "deny", table["fraud"] == "yes")
    assert references(done.out) == {"default": expected}


def test_scores_need_a_threshold_of_the_option_or_the_configuration(capsys, csv, tmp_path):
    table = pd.read_csv(csv)
    without = ran(capsys, "reference", csv, *LABELLED)
    assert (without.code, without.out) == (3, "")
    assert "has scores and no predictions; give the threshold" in without.err
    config = tmp_path / "monitor.yaml"
    config.write_text("models: {claims: {threshold: 0.7}}")
    for words, name, threshold in (
        (("--threshold", "0.45"), "default", 0.45),
        (("-c", config), "claims", 0.7),
        (("-c", config, "--threshold", "0.8"), "claims", 0.8),
    ):
        done = ran(capsys, "reference", csv, *LABELLED, *words)
        expected = cells(table["proba"] >= threshold, table["fraud"] == "yes")
        assert references(done.out) == {name: expected}


def test_each_model_has_its_block(capsys, tmp_path):
    table = held().assign(model=["no" if i % 3 else "a b" for i in range(3_000)])
    path = tmp_path / "two.csv"
    table.to_csv(path, index=False)
    done = ran(capsys, "reference", path, *DECIDED, *LABELLED)
    assert references(done.out) == {
        name: cells(part["decision"] == "deny", part["fraud"] == "yes")
        for name, part in table.groupby("model")
    }
    assert set(yaml.safe_load(done.out)) == {"models"}


def test_times_do_not_matter_where_labels_come_late(capsys, tmp_path):
    """No label is too late in a test set, whatever the configuration says of production."""
    config = tmp_path / "monitor.yaml"
    config.write_text("models: {claims: {label_timeout: 1d, labelling: negatives_by_timeout}}")
    path = tmp_path / "events.ndjson"
    with path.open("w") as lines:
        for number in range(400):
            event = {
                "type": "prediction",
                "id": f"p{number}",
                "ts": number,
                "prediction": number % 2,
            }
            lines.write(f"{json.dumps(event)}\n")
        for number in range(400):
            label = {
                "type": "label",
                "id": f"p{number}",
                "ts": 5e5 + number,
                "label": number % 4 // 2,
            }
            lines.write(f"{json.dumps(label)}\n")
    done = ran(capsys, "reference", path, "-c", config)
    assert references(done.out) == {"claims": dict.fromkeys(CELLS, 100)}


def test_times_of_a_table_are_not_read(capsys, tmp_path):
    table = held(900)
    times = pd.date_range("1990-01-01", periods=900, freq="15D").astype(str)
    path = tmp_path / "decades.csv"
    for ts in (times, "some day"):
        table.assign(timestamp=ts, label_ts=times[::-1]).to_csv(path, index=False)
        done = ran(capsys, "reference", path, *DECIDED, *LABELLED, "--field", "ts=timestamp")
        expected = cells(table["decision"] == "deny", table["fraud"] == "yes")
        assert references(done.out) == {"default": expected}


@pytest.mark.parametrize(
    ("change", "words", "reported"),
    [
        (lambda t: t, DECIDED, "has no column for the label, got customer, proba, decision"),
        (lambda t: t.drop(columns="proba"), LABELLED, "has no column for the prediction, got"),
        (
            lambda t: t.assign(fraud="no"),
            (*DECIDED, *LABELLED),
            "has no actual positives among 3,000",
        ),
        (
            lambda t: t.assign(fraud="yes"),
            (*DECIDED, *LABELLED),
            "has no actual negatives among 3,000",
        ),
        (
            lambda t: t.assign(fraud="open", id=t["customer"]),
            (*DECIDED, *LABELLED, "--missing", "label=open"),
            "no prediction has a label",
        ),
        (lambda t: t[:0], (*DECIDED, *LABELLED), "has no predictions"),
    ],
)
def test_what_makes_no_reference_is_refused(capsys, tmp_path, change, words, reported):
    path = tmp_path / "bad.csv"
    change(held()).to_csv(path, index=False)
    done = ran(capsys, "reference", path, *words)
    assert (done.code, done.out) == (3, "")
    assert reported in done.err
    assert done.err.count("precision-monitor: ") == 1


@pytest.mark.parametrize(
    ("rows", "warning"),
    [
        (20, "nothing is compared with fewer than 10 positives or negatives"),
        (
            120,
            "; by 39 positives recall of .72 is known to be between .56 and .83 only, and at best",
        ),
        (2_000, "of 500 false positives in the reference: changes are found by days"),
        (20_000, ""),
    ],
)
def test_it_warns_of_a_small_test_set(capsys, tmp_path, rows, warning):
    path = tmp_path / "small.csv"
    held(rows).to_csv(path, index=False)
    done = ran(capsys, "reference", path, *DECIDED, *LABELLED)
    assert done.code == 0
    assert ("warning: " in done.err) is bool(warning)
    assert warning in done.err


@pytest.mark.parametrize("command", ["reference", "replay"])
def test_a_file_is_no_reference_of_many_classes(capsys, tmp_path, command):
    path, config = tmp_path / "held.csv", tmp_path / "monitor.yaml"
    held().to_csv(path, index=False)
    config.write_text("models: {mail: {classes: [card, loan, other]}}\n")
    extra = ["--reference", str(path)] if command == "replay" else []
    code, _, error = ran(capsys, command, str(path), "-c", str(config), *extra)
    assert code == 2
    assert "'mail' has 3 classes, and a file is the reference of models of two only" in error
    assert "positive" not in error


def test_a_file_is_no_reference_of_a_model_that_learns_its_classes(capsys, tmp_path):
    path, config = tmp_path / "held.csv", tmp_path / "monitor.yaml"
    held().to_csv(path, index=False)
    config.write_text("models: {mail: {classes: learned}}\n")
    code, _, error = ran(capsys, "reference", str(path), "-c", str(config))
    assert code == 2
    assert "'mail' learns its classes, and a file is the reference of models of two" in error


def test_a_file_that_names_three_classes_is_no_reference_without_a_configuration(capsys, tmp_path):
    """It said to list them in a configuration, which would have been refused, too."""
    path = tmp_path / "held.ndjson"
    names = ["card", "loan", "other"]
    rows = [{"ts": 60 * n, "prediction": names[n % 3], "label": names[n % 2]} for n in range(300)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    code, _, error = ran(capsys, "reference", str(path))
    assert code == 2
    assert "this one has 3 classes, and a file is the reference of models of two only" in error
    assert "if it has two, write --positive prediction=VALUE" in error


MIXED = "models: {fraud: {}, claims: {classes: [pay, deny]}, mail: {classes: [card, loan, other]}}"
OF_MODEL = {"fraud": [0, 1], "claims": ["pay", "deny"], "mail": ["card", "loan", "other"]}


def mixed(path, models):
    """Outcomes of models of two classes and of more in one file."""
    rng, rows = random.Random(9), []
    for number in range(600):
        model = models[number % len(models)]
        actual, other = rng.choice(OF_MODEL[model]), rng.choice(OF_MODEL[model])
        predicted = actual if rng.random() < 0.85 else other
        rows.append({"model": model, "ts": number, "prediction": predicted, "label": actual})
    path.write_text("".join(json.dumps({"type": "outcome", **row}) + "\n" for row in rows))
    return pd.DataFrame(rows)


def test_a_file_gives_a_block_for_each_model_of_two_classes_and_says_which_it_leaves_out(
    capsys, tmp_path
):
    path, config = tmp_path / "held.ndjson", tmp_path / "monitor.yaml"
    table = mixed(path, ["fraud", "claims", "mail"])
    config.write_text(MIXED)
    done = ran(capsys, "reference", path, "-c", config)
    assert done.code == 0
    counted = {
        model: cells(*(table[table["model"] == model][name] == positive for name in FIELDS))
        for model, positive in (("fraud", 1), ("claims", "deny"))
    }
    assert references(done.out) == counted
    assert "mail: left out: has 3 classes, and a file is the reference of models of two" in done.err
    assert "rejected" not in done.err
    replayed = ran(capsys, "replay", path, "-c", config, "--reference", path, "--json")
    models = json.loads(replayed.out)["models"]
    assert [models[name]["reference"]["source"] for name in counted] == ["counts", "counts"]


def test_a_file_of_models_of_many_classes_alone_is_refused_beside_one_of_two(capsys, tmp_path):
    path, config = tmp_path / "held.ndjson", tmp_path / "monitor.yaml"
    mixed(path, ["mail"])
    config.write_text(MIXED)
    done = ran(capsys, "reference", path, "-c", config, "--threshold", "0.5")
    assert (done.code, done.out) == (3, "")
    assert "has predictions of models of more than two classes only" in done.err


def test_standard_input_is_refused(capsys):
    done = ran(capsys, "reference", "-")
    assert (done.code, done.out) == (2, "")
    assert "must be a file" in done.err


def outcomes(path, name, rows, seed):
    table = held(rows, seed)
    table = table.assign(
        ts=pd.date_range("2026-09-01", periods=rows, freq="5min", tz="UTC").astype(str),
        model=name,
        prediction=(table["decision"] == "deny").astype(int),
        label=(table["fraud"] == "yes").astype(int),
    )
    table[["ts", "model", "prediction", "label"]].to_csv(path, index=False)
    return table


def test_replay_takes_the_reference_from_the_file_as_if_it_were_configured(capsys, tmp_path):
    live, tested = tmp_path / "live.csv", tmp_path / "held.csv"
    outcomes(live, "claims", 6_000, 7)
    table = outcomes(tested, "claims", 4_000, 8)
    counts = cells(table["prediction"], table["label"])
    config = tmp_path / "monitor.yaml"
    config.write_text("models: {claims: {label_timeout: 7d}, other: {reference: {first: 9d}}}")
    configured = tmp_path / "configured.yaml"
    configured.write_text(
        f"models: {{claims: {{label_timeout: 7d, reference: {{counts: {json.dumps(counts)}}}}}, "
        "other: {reference: {first: 9d}}}"
    )
    shortcut = ran(capsys, "replay", live, "-c", config, "--reference", tested, "--json")
    given = ran(capsys, "replay", live, "-c", configured, "--json")
    assert shortcut.code == given.code == 0
    assert shortcut.out == given.out
    assert f"claims: reference: 4,000 outcomes of {tested}" in shortcut.err
    found = json.loads(shortcut.out)["models"]["claims"]["reference"]
    assert found["source"] == "counts"

    # Without a configuration the only model of the test set stands for all.
    bare = ran(capsys, "replay", live, "--reference", tested, "--json")
    assert json.loads(bare.out)["models"]["claims"]["reference"]["source"] == "counts"


def test_replay_takes_what_reference_printed(capsys, csv, tmp_path):
    """Scores alone need a threshold, which `reference` takes."""
    live, printed = tmp_path / "live.csv", tmp_path / "reference.yaml"
    outcomes(live, "claims", 6_000, 7)
    refused = ran(capsys, "replay", live, "--reference", csv, *LABELLED)
    assert (refused.code, refused.out) == (3, "")
    advised = f"precision-monitor reference {csv} --threshold T > reference.yaml"
    assert advised in refused.err
    words = shlex.split(advised.replace(" T > reference.yaml", " 0.45"))[1:]
    printed.write_text(ran(capsys, *words, *LABELLED).out)
    done = ran(capsys, "replay", live, "--reference", printed, "--json")
    assert done.code == 0
    found = json.loads(done.out)["models"]["claims"]["reference"]
    table = pd.read_csv(csv)
    expected = cells(table["proba"] >= 0.45, table["fraud"] == "yes")
    assert (found["source"], found["outcomes"]) == ("counts", expected)


@pytest.mark.parametrize(
    ("text", "code", "reported"),
    [
        ("models: {a: {}}", 2, "has no model with reference.counts; give a test set, or what"),
        ("models: {a: {reference: {counts: {tp: 1}}}}", 2, "reference.yaml:1: "),
    ],
)
def test_a_configuration_without_counts_is_no_reference(capsys, tmp_path, text, code, reported):
    live, printed = tmp_path / "live.csv", tmp_path / "reference.yaml"
    outcomes(live, "claims", 300, 7)
    printed.write_text(text)
    done = ran(capsys, "replay", live, "--reference", printed)
    assert (done.code, done.out) == (code, "")
    assert reported in done.err


def test_replay_warns_of_a_test_set_of_twelve_positives(capsys, tmp_path):
    live, printed = tmp_path / "live.csv", tmp_path / "reference.yaml"
    outcomes(live, "claims", 3_000, 7)
    printed.write_text("models: {claims: {reference: {counts: {tp: 9, fp: 6, fn: 3, tn: 582}}}}")
    done = ran(capsys, "replay", live, "--reference", printed)
    said = (
        "by 12 positives recall of .75 is known to be between .47 and .91 only, and at best a fall "
        "to .24 shows, however many outcomes follow"
    )
    assert said in done.err
    assert said in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("of", "live", "warned"), [("a", "b", True), ("a", "a", False), ("default", "b", False)]
)
def test_replay_says_that_a_reference_is_that_of_another_model(capsys, tmp_path, of, live, warned):
    events, tested, printed = (tmp_path / one for one in ("live.csv", "held.csv", "reference.yaml"))
    outcomes(events, live, 300, 7)
    outcomes(tested, of, 4_000, 8)
    printed.write_text(ran(capsys, "reference", tested).out)
    assert set(yaml.safe_load(printed.read_text())["models"]) == {of}
    for path in (tested, printed):
        done = ran(capsys, "replay", events, "--reference", path)
        said = f"CAUTION: {path} is the reference of model 'a', and b is compared with it"
        assert done.code == 0
        assert (said in done.err) is ("CAUTION" in done.err) is warned


def test_a_reference_of_a_model_that_is_not_configured_is_refused_or_named(capsys, tmp_path):
    live, printed, config = (tmp_path / one for one in ("live.csv", "ref.yaml", "monitor.yaml"))
    outcomes(live, "b", 300, 7)
    config.write_text("models: {b: {}, c: {}}")
    block = "reference: {counts: {tp: 900, fp: 600, fn: 300, tn: 9000}}"
    printed.write_text(f"models: {{a: {{{block}}}}}")
    done = ran(capsys, "replay", live, "-c", config, "--reference", printed)
    assert (done.code, done.out) == (2, "")
    assert f"--reference: {printed} is of a, and configured are b, c; give the" in done.err
    printed.write_text(f"models: {{a: {{{block}}}, b: {{{block}}}}}")
    done = ran(capsys, "replay", live, "-c", config, "--reference", printed)
    assert done.code == 0
    assert f"a: not configured, so its outcomes of {printed} are the reference of none" in done.err
    assert "a: reference" not in done.err


def test_a_block_without_a_name_is_of_the_only_configured_model(capsys, tmp_path):
    """It was ignored."""
    live, printed, config = (tmp_path / one for one in ("live.csv", "ref.yaml", "monitor.yaml"))
    outcomes(live, "b", 300, 7)
    config.write_text("models: {b: {}}")
    printed.write_text(
        "models: {default: {reference: {counts: {tp: 900, fp: 600, fn: 300, tn: 9000}}}}"
    )
    done = ran(capsys, "replay", live, "-c", config, "--reference", printed, "--json")
    assert json.loads(done.out)["models"]["b"]["reference"]["source"] == "counts"


def test_several_models_must_be_configured(capsys, tmp_path):
    live, tested = tmp_path / "live.csv", tmp_path / "held.csv"
    table = outcomes(live, "claims", 300, 7)
    table.assign(model=["a", "b"] * 150).to_csv(tested, index=False)
    done = ran(capsys, "replay", live, "--reference", tested)
    assert (done.code, done.out) == (2, "")
    assert "has several models, got a, b; configure them (-c FILE)" in done.err


def test_run_takes_the_reference_from_the_file_at_each_start_and_reload(tmp_path):
    tested, config = tmp_path / "held.csv", tmp_path / "monitor.yaml"
    config.write_text(
        "models: {claims: {}, other: {reference: {first: 9d}}}\n"
        "feeds: [{type: file, path: events.ndjson}]\n"
    )
    plain = load_config(config)
    assert _checked(Namespace(config=config, reference=None)) == plain
    for rows in (500, 700):
        table = outcomes(tested, "claims", rows, 8)
        taken = _checked(Namespace(config=config, reference=str(tested)))
        expected = cells(table["prediction"], table["label"])
        assert taken.model("claims").reference.counts.model_dump() == expected
        assert taken.model("other") == plain.model("other")
