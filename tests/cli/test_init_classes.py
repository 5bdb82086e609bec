"""`init` learns the classes of a model of many, and `replay` says how where it cannot know them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.commands import ran

from monitor.config import Labelling, load_config

DAY = 86_400


def stream(path: Path, classes: list[str | int], *, cases: int = 4_000) -> Path:
    """Predictions of these classes in turn, a tenth of them wrong, and labels a day later."""
    events = []
    for case in range(cases):
        right, other = classes[case % len(classes)], classes[(case + 1) % len(classes)]
        ts = case * 20 * DAY // cases
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
    "classes", [["card", "loan", "other"], [3, 5, 7, 9], ["a", "b", "N/A" + "!"]]
)
def test_the_classes_that_came_are_those_of_the_configuration(
    classes: list[str | int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events, output = stream(tmp_path / "events.ndjson", classes), tmp_path / "monitor.yaml"
    done = ran(capsys, "init", events, "-o", output)
    assert (done.code, "4,000 predictions in 20 days" in done.err) == (0, True)
    (model,) = load_config(output).models.values()
    assert model.classes == tuple(sorted(map(str, classes)))
    assert (model.labelling, model.segments) == (Labelling.COMPLETE, ())
    assert ran(capsys, "check-config", output).code == 0
    replayed = json.loads(ran(capsys, "replay", events, "-c", output, "--json").out)
    assert replayed["events_rejected"] == {}
    matrix = replayed["models"]["mail"]["classes"]["matrix"]
    assert sum(map(sum, matrix)) == 4_000


def test_a_class_is_learned_however_late_it_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = stream(tmp_path / "events.ndjson", ["a", "b", "c"]), tmp_path / "monitor.yaml"
    last = {"type": "prediction", "id": "x", "ts": 21 * DAY, "model": "mail", "prediction": "rare"}
    path.write_text(path.read_text() + json.dumps(last) + "\n")
    assert ran(capsys, "init", path, "-o", output).code == 0
    assert load_config(output).models["mail"].classes == ("a", "b", "c", "rare")


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


@pytest.mark.parametrize(
    ("command", "listed"), [("init", True), ("replay", True), ("replay", False)]
)
def test_scores_without_configured_classes_are_answered_with_how_to_name_them(
    command: str,
    listed: bool,  # noqa: FBT001  # a parameter of the test
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = ran(capsys, command, scored(tmp_path / "events.ndjson", listed=listed))
    assert done.code == 3
    assert "for scores of all classes, list these as models.NAME.classes" in done.err
    assert "threshold" not in done.err


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
    done = ran(capsys, "replay", stream(tmp_path / "events.ndjson", ["a", "b", "c"]))
    assert done.code == 3
    assert (
        "for a model of more than two classes, list them as its classes in a configuration, which "
        "precision-monitor init FILE writes"
    ) in done.err
