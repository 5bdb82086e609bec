"""`replay` and `diagnose` learn the classes that recorded events name, where nobody lists them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest
from cli.commands import ran

DAY = 86_400


def stream(path: Path, classes: Sequence[object], *, cases: int = 1_200, days: int = 3) -> Path:
    """Write outcomes of these classes in turn, one of ten predicted as the next class."""
    rows = []
    for case in range(cases):
        label, other = classes[case % len(classes)], classes[(case + 1) % len(classes)]
        prediction = other if case % 10 == 7 else label
        rows.append({"ts": case * days * DAY / cases, "prediction": prediction, "label": label})
    return written(path, rows)


def written(path: Path, rows: Sequence[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps({"type": "outcome", **row}) + "\n" for row in rows))
    return path


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    "classes", [["loan", "card", "other"], [0, 1, 2], [-1, 0, 1], ["7", "10", "9", "x"]]
)
def test_the_names_of_the_predictions_are_the_classes(
    classes: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", classes)
    done = ran(capsys, "replay", path, "--json")
    found = json.loads(done.out)
    (model,) = found["models"].values()
    rows = rows_of(path)
    names = model["classes"]["names"]
    assert sorted(names) == sorted(map(str, classes))
    assert found["events_rejected"] == {}
    assert model["classes"]["matrix"] == [
        [
            sum(str(r["prediction"]) == predicted and str(r["label"]) == actual for r in rows)
            for actual in names
        ]
        for predicted in names
    ]
    shown = ", ".join(names)
    assert f"{path}: has predictions of {len(classes)} classes, {shown}; to make" in done.err


def test_names_of_a_table_are_classes_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of(stream(tmp_path / "events.ndjson", ["card", "loan", "other"], days=16))
    path = tmp_path / "cases.csv"
    lines = [f"{row['ts']},{row['prediction']},{row['label']}" for row in rows]
    path.write_text("\n".join(["time,predicted,actual", *lines]) + "\n")
    done = ran(capsys, "diagnose", path)
    assert done.code == 0
    _, table = done.out.split("\nclass ")
    assert [line.split()[0] for line in table.splitlines()[1::2]][:3] == ["card", "loan", "other"]
    assert "has predictions of 3 classes, card, loan, other" in done.err


def test_a_class_that_first_comes_after_the_head_is_learned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "loan", "other"], cases=6_000)
    assert path.stat().st_size > 400_000
    late = [{"ts": 41 * DAY, "prediction": name, "label": "loan"} for name in ("cash", 7)]
    written(path, [*rows_of(path), *late])
    done = ran(capsys, "replay", path, "--json")
    (model,) = json.loads(done.out)["models"].values()
    assert model["classes"]["names"] == ["7", "card", "cash", "loan", "other"]
    assert sum(map(sum, model["classes"]["matrix"])) == 6_002


def test_the_names_of_scores_are_the_classes_in_their_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["b", "c", "a"]
    scores = [
        {name: 0.8 if case % 3 == n else 0.1 for n, name in enumerate(names)} for case in range(600)
    ]
    rows = [
        {"ts": case * 600, "scores": one, "label": names[case % 3]}
        for case, one in enumerate(scores)
    ]
    done = ran(capsys, "replay", written(tmp_path / "events.ndjson", rows), "--json")
    (model,) = json.loads(done.out)["models"].values()
    assert model["classes"]["names"] == names
    assert model["classes"]["matrix"] == [[200, 0, 0], [0, 200, 0], [0, 0, 200]]


def test_a_name_that_only_labels_have_may_stand_for_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "loan", "other"])
    rows = rows_of(path)
    for row in rows[::20]:
        row["label"] = "open"
    done = ran(capsys, "replay", written(path, rows))
    assert "has predictions of 3 classes, card, loan, other" in done.err
    assert "60 of 1,200 records were rejected: 60 bad_value" in done.err


@pytest.mark.parametrize(
    ("classes", "changed", "why"),
    [
        (["yes", "no"], {}, "two names"),
        (["yes", "no", "No"], {}, "one name in two cases"),
        ([f"c{number}" for number in range(51)], {}, "more than 50"),
        (["yes", "no", "maybe"], {"label": lambda one: f"was {one}"}, "other names of labels"),
        (["yes", "no", "maybe"], {"prediction": lambda one: int(one == "yes")}, "names of labels"),
        (["yes", "no"], {"prediction": lambda one: one, "stray": "maybe"}, "a stray one"),
        ([0, 1], {"stray": 2}, "a stray number"),
        ([-1, 1], {}, "two numbers"),
        ([0, 1], {"prediction": lambda one: one, "stray": "maybe"}, "a name beside 0 and 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_names_that_a_person_has_to_look_at_are_not_learned(
    classes: list[object],
    changed: dict[str, object],
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = stream(tmp_path / "events.ndjson", classes)
    rows = rows_of(path)
    for row in rows:
        for name, change in changed.items():
            if callable(change):
                row[name] = change(row[name])
    if "stray" in changed:
        rows[5]["prediction"] = changed["stray"]
    done = ran(capsys, "replay", written(path, rows))
    assert "has predictions of" not in done.err, why
    assert "rejected: " in done.err


def test_what_a_person_has_configured_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "loan", "other"])
    config = tmp_path / "m.yaml"
    config.write_text("models: {default: {classes: [card, loan, cash]}}\n")
    done = ran(capsys, "replay", path, "-c", config)
    assert "has predictions of" not in done.err
    assert "bad_value" in done.err
    options = ["--positive", "prediction=card", "--positive", "label=card"]
    done = ran(
        capsys,
        "replay",
        path,
        *options,
        *(o.replace("positive", "negative").replace("card", "loan") for o in options),
    )
    assert "has predictions of" not in done.err


def test_a_value_that_stands_for_no_class_is_named_beside_learned_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", [0, 1, 2])
    rows = [{**row, "id": str(case)} for case, row in enumerate(rows_of(path))]
    for row in rows[::4]:
        row["label"] = "pending"
    done = ran(capsys, "replay", written(path, rows))
    advice = "--missing label=pending"
    assert f"'pending' seems to stand for no class: {advice}" in done.err
    done = ran(capsys, "replay", path, *advice.split(), "--json")
    (model,) = json.loads(done.out)["models"].values()
    assert (model["classes"]["names"], model["pending"]) == (["0", "1", "2"], 300)
    assert json.loads(done.out)["events_rejected"] == {}


def test_a_prediction_without_a_class_asks_for_scores_of_all_classes_and_no_threshold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "loan", "other"])
    rows = rows_of(path)
    for row in rows[::4]:
        row["prediction"] = None
    done = ran(capsys, "replay", written(path, rows))
    assert "--field prediction=COLUMN, or write the scores of all classes" in done.err
    assert "threshold" not in done.err


def test_diagnose_asks_which_of_several_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "loan", "other"], cases=400, days=16)
    rows = [{**row, "model": name} for row in rows_of(path) for name in ("mail", "post")]
    written(path, rows)
    done = ran(capsys, "diagnose", path)
    assert (done.code, done.err.splitlines()[-1]) == (
        2,
        "precision-monitor: --model: the feed has several models: mail, post; name one",
    )
    assert ran(capsys, "diagnose", path, "--model", "post").code == 0
    assert "did you mean 'mail'?" in ran(capsys, "diagnose", path, "--model", "mial").err


@pytest.mark.parametrize("command", ["threshold", "compare", "audit"])
def test_commands_of_two_classes_say_that_a_file_has_more(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "loan", "other"])
    more = ["--objective", "precision>=0.9"] if command == "threshold" else []
    done = ran(capsys, command, path, *more)
    assert done.code == 2
    assert f"{command}: takes models of two classes only, and " in done.err
    assert " has 3; `diagnose`" in done.err


@pytest.mark.parametrize("command", ["threshold", "compare", "audit"])
def test_commands_of_two_classes_refuse_a_model_that_learns_them(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "loan", "other"])
    config = tmp_path / "monitor.yaml"
    config.write_text("defaults: {classes: learned}\n")
    more = ["--objective", "precision>=0.9"] if command == "threshold" else []
    done = ran(capsys, command, path, "-c", config, *more)
    assert done.code == 2
    assert f"{command}: takes models of two classes only, and " in done.err
    assert " learns its classes; `diagnose`" in done.err


def test_a_configuration_that_learns_classes_counts_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stream(tmp_path / "events.ndjson", ["card", "loan", "other"])
    config = tmp_path / "monitor.yaml"
    config.write_text("defaults: {classes: learned}\n")
    by_config = ran(capsys, "replay", path, "-c", config, "--json")
    assert "has predictions of" not in by_config.err
    alone = ran(capsys, "replay", path, "--json")
    assert "has predictions of 3 classes" in alone.err
    matrices = []
    for done in (by_config, alone):
        (model,) = json.loads(done.out)["models"].values()
        names, matrix = (model["classes"][key] for key in ("names", "matrix"))
        pairs = product(enumerate(names), repeat=2)
        matrices.append({(one, other): matrix[p][a] for (p, one), (a, other) in pairs})
    assert matrices[0] == matrices[1]


@pytest.mark.parametrize("command", ["init", "audit", "reference"])
def test_commands_that_read_twice_refuse_a_pipe(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = ran(capsys, command, tmp_path / "pipe")
    assert done.code == 2
    assert f"{tmp_path / 'pipe'}" in done.err
    assert "to a file" in done.err or "to one" in done.err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("replay", "400 events read, 0 rejected."),
        ("compare", "no prediction names its version"),
    ],
)
def test_a_pipe_is_read_once(
    command: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read, write = os.pipe()
    os.write(write, stream(tmp_path / "events.ndjson", [0, 1], cases=400).read_bytes())
    os.close(write)
    done = ran(capsys, command, f"/dev/fd/{read}")
    os.close(read)
    assert said in done.out + done.err
    if command == "replay":
        assert done.out.splitlines()[-1].startswith("Next: save standard input as FILE; ")


def test_a_window_without_predictions_has_no_table_of_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    config.write_text("models: {mail: {classes: [a, b, c]}}\nwindows: [1h, 7d]\n")
    lines = [
        {"ts": 86_400 * day, "prediction": "a", "label": "a", "model": "mail"} for day in range(9)
    ]
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, _ = ran(capsys, "replay", events, "-c", config)
    assert code == 0
    assert "  7d      class" in out
    assert "  1h      class" not in out
