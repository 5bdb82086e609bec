"""`init` learns the classes of a model of many, and `replay` says how where it cannot know them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli.commands import ran

from monitor.config import Labelling, load_config

DAY = 86_400


def stream(
    path: Path, classes: Sequence[str | float], *, cases: int = 1_200, days: int = 3
) -> Path:
    """Predictions of these classes in turn, a tenth of them wrong, and labels a day later."""
    events = []
    for case in range(cases):
        right, other = classes[case % len(classes)], classes[(case + 1) % len(classes)]
        ts = case * days * DAY // cases
        given = {
            "prediction": other if case % 10 == 7 else right,
            "region": ("eu", "us")[case % 2],
        }
        events.append({"type": "prediction", "id": str(case), "ts": ts, "model": "mail", **given})
        events.append({"type": "label", "id": str(case), "ts": ts + DAY, "label": right})
    events.sort(key=lambda event: int(event["ts"]))
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


@pytest.mark.parametrize(
    "classes",
    [
        ["card", "loan", "other"],
        [3, 5, 7, 9],
        [0, 1, 2],
        [1, 2, 3],
        [-1, 0, 1],
        [0.0, 1.0, 2.0],
        ["a", "b", "N/A" + "!"],
    ],
)
def test_the_classes_that_came_are_those_of_the_configuration(
    classes: list[str | float], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events, output = stream(tmp_path / "events.ndjson", classes), tmp_path / "monitor.yaml"
    done = ran(capsys, "init", events, "-o", output)
    assert (done.code, "1,200 predictions in 3 days" in done.err) == (0, True)
    (model,) = load_config(output).models.values()
    assert model.classes == tuple(sorted(str(name).removesuffix(".0") for name in classes))
    assert (model.labelling, model.segments) == (Labelling.COMPLETE, ())
    assert ran(capsys, "check-config", output).code == 0
    replayed = json.loads(ran(capsys, "replay", events, "-c", output, "--json").out)
    assert replayed["events_rejected"] == {}
    matrix = replayed["models"]["mail"]["classes"]["matrix"]
    assert sum(map(sum, matrix)) == 1_200


def test_a_class_is_learned_however_late_it_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = stream(tmp_path / "events.ndjson", ["a", "b", "c"]), tmp_path / "monitor.yaml"
    last = {"type": "prediction", "id": "x", "ts": 5 * DAY, "model": "mail", "prediction": "rare"}
    path.write_text(path.read_text() + json.dumps(last) + "\n")
    assert ran(capsys, "init", path, "-o", output).code == 0
    assert load_config(output).models["mail"].classes == ("a", "b", "c", "rare")
    text = output.read_text()
    assert "long enough for detectors" not in text
    assert "a class that is to be watched by the hour needs 1,000 cases and 500 false " in text


def edited(path: Path, **names: dict[object, object]) -> Path:
    """Give predictions or labels other names."""
    events = list(map(json.loads, path.read_text().splitlines()))
    for event in events:
        for field in event.keys() & names.keys():
            event[field] = names[field].get(event[field], event[field])
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


@pytest.mark.parametrize("command", ["replay", "diagnose"])
def test_a_third_class_by_its_number_is_no_stray_record(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, config = stream(tmp_path / "events.ndjson", [0, 1, 2], days=16), tmp_path / "m.yaml"
    config.write_text("models: {mail: {}}\n")
    done = ran(capsys, command, path, "-c", config)
    assert done.code == 0
    assert "warning: 800 of 2,400 records were rejected: " in done.err
    assert "; for a model of more than two classes, list them" in done.err
    judged = "Not judged: 400 predictions of classes other than 0 and 1 were rejected."
    assert " ".join(done.out.split()).endswith(judged) is (command == "replay")


@pytest.mark.parametrize(("every", "judged"), [(5, False), (200, True)])
def test_what_lacks_a_class_that_is_not_configured_is_not_judged(
    every: int, judged: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, config = stream(tmp_path / "events.ndjson", ["a", "b", "c"]), tmp_path / "m.yaml"
    config.write_text("models: {mail: {classes: [a, b, c]}}\n")
    events = list(map(json.loads, path.read_text().splitlines()))
    renamed = [one for one in events if one.get("prediction") == "b"][::every]
    for one in renamed:
        one["prediction"] = "B"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    done = ran(capsys, "replay", path, "-c", config)
    why = f"{len(renamed)} predictions of classes that are not configured were rejected"
    assert (f"Not judged: {why}." in " ".join(done.out.split())) is not judged
    assert ("warning: " in done.err) is not judged


def test_few_predictions_of_2_are_stray_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", [0, 1])
    lines = path.read_text().splitlines()
    lines[5] = (
        lines[5]
        .replace('"prediction": 0', '"prediction": 2')
        .replace('"prediction": 1', '"prediction": 2')
    )
    path.write_text("\n".join(lines) + "\n")
    done = ran(capsys, "replay", path)
    assert "1 of 2,400 records was rejected: 1 bad_value" in done.err
    assert "warning" not in done.err
    assert "Judged: mail: " in done.out


def test_numbers_of_labels_alone_add_no_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited(stream(tmp_path / "events.ndjson", [0, 1, 2]), prediction={2: 1})
    output = tmp_path / "monitor.yaml"
    assert ran(capsys, "init", path, "-o", output).code == 0
    assert load_config(output).models["mail"].classes == ()


def test_values_of_no_class_leave_the_numbers_0_and_1_among_the_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", [0, 1, 2, 3, "open"])
    output = tmp_path / "monitor.yaml"
    options = ("--missing", "label=open", "--missing", "prediction=open")
    assert ran(capsys, "init", path, *options, "-o", output).code == 0
    assert load_config(output).models["mail"].classes == ("0", "1", "2", "3")


def test_names_that_differ_in_their_case_alone_are_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "Card", "loan"], cases=900)
    done = ran(capsys, "init", path, "-o", tmp_path / "monitor.yaml")
    assert (done.code, "warning: mail: Card, card differ in their case alone" in done.err) == (
        0,
        True,
    )
    done = ran(capsys, "init", stream(path, ["card", "loan", "other"], cases=900), "-o", "-")
    assert "in their case alone" not in done.err


def test_a_third_name_among_the_labels_is_a_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited(
        stream(tmp_path / "events.ndjson", ["no", "yes", "open"]), prediction={"open": "no"}
    )
    done = ran(capsys, "replay", path)
    assert (
        "; for a model of more than two classes, list them, 50 at most, as its classes" in done.err
    )
    assert done.err.rstrip().endswith("records have 'no', 'yes', 'open'")


def test_labels_with_other_names_than_predictions_are_the_same_two_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited(
        stream(tmp_path / "events.ndjson", ["no", "yes"]), label={"no": "fine", "yes": "fraud"}
    )
    for command in ("replay", "init"):
        done = ran(capsys, command, path, *(("-o", tmp_path / "m") if command == "init" else ()))
        assert (done.code, "more than two" in done.err) == (3, False)
        assert "--positive prediction=VALUE; records have 'no', 'yes'" in done.err


@pytest.mark.slow
def test_classes_that_are_numbers_are_in_their_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = stream(tmp_path / "events.ndjson", [*range(11), "other"])
    output = tmp_path / "monitor.yaml"
    assert ran(capsys, "init", events, "-o", output).code == 0
    assert load_config(output).models["mail"].classes == (*map(str, range(11)), "other")


def scored(path: Path, *, listed: bool) -> Path:
    """Outcomes whose scores are of three classes, by name or in a list."""
    lines = []
    for case in range(3_000):
        scores = {name: 0.8 if case % 3 == n else 0.1 for n, name in enumerate(("b", "c", "a"))}
        given = {"scores": [*scores.values()] if listed else scores, "label": "bca"[case % 3]}
        lines.append(json.dumps({"type": "outcome", "ts": case * 600, "model": "mail", **given}))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_names_of_scores_are_the_classes_in_their_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events, output = scored(tmp_path / "events.ndjson", listed=False), tmp_path / "monitor.yaml"
    done = ran(capsys, "init", events, "-o", output)
    assert (done.code, "3,000 predictions" in done.err) == (0, True)
    model = load_config(output).models["mail"]
    assert (model.classes, model.threshold) == (("b", "c", "a"), None)
    replayed = json.loads(ran(capsys, "replay", events, "-c", output, "--json").out)
    matrix = replayed["models"]["mail"]["classes"]["matrix"]
    assert matrix == [[1_000, 0, 0], [0, 1_000, 0], [0, 0, 1_000]]


@pytest.mark.parametrize("command", ["init", "replay"])
def test_scores_without_configured_classes_are_answered_with_how_to_name_them(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = ran(capsys, command, scored(tmp_path / "events.ndjson", listed=True))
    assert done.code == 3
    assert "for scores of all classes, list these as models.NAME.classes" in done.err
    assert "threshold" not in done.err


@pytest.mark.parametrize("classes", [["b", "c", "a"], [0, 1, 2, 3]])
def test_the_order_of_scores_in_a_list_is_not_guessed_from_the_labels(
    classes: list[str | int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = stream(tmp_path / "events.ndjson", classes), tmp_path / "monitor.yaml"
    events = list(map(json.loads, path.read_text().splitlines()))
    for event in events:
        if "prediction" in event:
            event["scores"] = [float(name == event["prediction"]) for name in classes]
            del event["prediction"]
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    done = ran(capsys, "init", path, "-o", output)
    assert (done.code, output.exists()) == (3, False)
    assert "list these as models.NAME.classes in a configuration, in the order of the" in done.err


@pytest.mark.slow
def test_more_classes_than_a_model_can_have_are_not_learned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", [f"c{number:02}" for number in range(60)])
    done = ran(capsys, "init", path, "-o", tmp_path / "monitor.yaml")
    assert done.code == 0
    assert len(load_config(tmp_path / "monitor.yaml").models["mail"].classes) == 50
    assert "records were rejected" in done.err
    assert f"{path}: has more than 50 classes, and a model has 50 at most" in done.err


def test_names_that_a_configuration_refuses_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["<b>card</b>", 'loan "x"', "Übertrag \\ 1", "line\nbreak"]
    path = stream(tmp_path / "events.ndjson", [*names, *names[:3] * 8])
    output = tmp_path / "monitor.yaml"
    done = ran(capsys, "init", path, "-o", output)
    assert (done.code, "records were rejected" in done.err) == (0, True)
    assert load_config(output).models["mail"].classes == tuple(sorted(names[:3]))


def test_which_of_two_classes_is_positive_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["fine", "fraud"])
    done = ran(capsys, "init", path, "-o", tmp_path / "monitor.yaml")
    assert done.code != 0
    assert "--positive prediction=VALUE" in done.err
    assert "more than two" not in done.err


def test_replay_says_how_to_name_more_than_two_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, config = stream(tmp_path / "events.ndjson", ["a", "b", "c"]), tmp_path / "m.yaml"
    config.write_text("models: {mail: {}}\n")
    done = ran(capsys, "replay", path, "-c", config)
    assert done.code == 3
    assert (
        "for a model of more than two classes, list them, 50 at most, as its classes in a "
        "configuration, which "
        "precision-monitor init FILE writes"
    ) in done.err
