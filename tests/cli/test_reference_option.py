"""`--reference FILE` of `replay` and `run`: a test set takes the place of configured counts."""

import json
import shlex
from argparse import Namespace

import pandas as pd
import pytest
import yaml
from cli.commands import ran
from cli.made_test_set import LABELLED, cells, held, outcomes

from monitor.cli.run import _checked
from monitor.config import load_config


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


def test_replay_takes_what_reference_printed(capsys, tmp_path):
    """Scores alone need a threshold, which `reference` takes."""
    live, printed = tmp_path / "live.csv", tmp_path / "reference.yaml"
    csv = tmp_path / "test_set.csv"
    held().to_csv(csv, index=False)
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
