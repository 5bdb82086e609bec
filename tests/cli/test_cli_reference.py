"""`reference FILE`: the outcomes of a test set, recounted by pandas."""

import gzip
import json
import random

import pandas as pd
import pytest
import yaml
from cli.commands import ran
from cli.made_test_set import CELLS, LABELLED, cells, held
from streams import FLIGHTS

from monitor import metrics
from monitor.config import parse_config
from monitor.counts import ConfusionCounts

FIELDS = ("prediction", "label")
MODEL = "delay-hgb-v1"


def references(text):
    """The reference of each model of what the command printed."""
    models = parse_config(text, "printed.yaml").models
    return {name: model.reference.counts.model_dump() for name, model in models.items()}


DECIDED = ("--field", "prediction=decision", "--positive", "prediction=deny")


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
