"""Classes with names in tables: CSV, Parquet and frames give the same counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from monitor import Monitor, compare
from monitor.cli.entry import main
from monitor.config import Config
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings

NAMES = ("card", "loan", "0", "1")
ROWS = 300


@pytest.fixture(params=["names", "categories", "integers", "floats"])
def table(request: pytest.FixtureRequest) -> tuple[pd.DataFrame, tuple[str, ...], np.ndarray]:
    """A table of outcomes, the names of its classes, and its matrix."""
    rng = np.random.default_rng(2)
    predicted, actual = rng.integers(4, size=(2, ROWS))
    matrix = np.zeros((4, 4), dtype=np.int64)
    np.add.at(matrix, (predicted, actual), 1)
    numbers = {"integers": np.int64, "floats": np.float64}.get(request.param)
    names = NAMES if numbers is None else ("0", "1", "2", "3")
    values = [
        np.array(names)[codes] if numbers is None else codes.astype(numbers)
        for codes in (predicted, actual)
    ]
    if request.param == "categories":
        values = [pd.Categorical(texts) for texts in values]
    columns = {"ts": np.arange(ROWS) * 60.0, "prediction": values[0], "label": values[1]}
    return pd.DataFrame(columns), names, matrix


def matrix_of(monitor: Monitor) -> np.ndarray:
    return np.asarray(monitor.snapshot().models[0].classes["all"].matrix)


def test_a_frame_counts_by_class(table: tuple[pd.DataFrame, tuple[str, ...], np.ndarray]) -> None:
    frame, names, matrix = table
    monitor = Monitor(Config(models={"m": {"classes": names}}))
    monitor.feed(frame)
    assert (matrix_of(monitor) == matrix).all()


@pytest.mark.parametrize(
    ("ending", "write"),
    [
        ("csv", lambda frame, path: frame.to_csv(path, index=False)),
        ("parquet", lambda frame, path: frame.to_parquet(path)),
    ],
)
def test_a_table_is_read_by_replay(
    table: tuple[pd.DataFrame, tuple[str, ...], np.ndarray],
    ending: str,
    write: Callable[[pd.DataFrame, Path], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    frame, names, matrix = table
    path, config = tmp_path / f"events.{ending}", tmp_path / "monitor.yaml"
    write(frame, path)
    config.write_text(f"models: {{m: {{classes: [{', '.join(names)}]}}}}\n")
    assert main(["replay", str(path), "-c", str(config)]) == 0
    shown = capsys.readouterr().out
    wrong = matrix * (1 - np.eye(4, dtype=np.int64))
    predicted, actual = np.unravel_index(wrong.argmax(), wrong.shape)
    said = f"{wrong.max()} of {matrix[:, actual].sum()} {names[actual]} were taken for"
    assert f"{said} {names[predicted]}" in shown
    assert "accuracy" in shown


def test_single_events_have_scores_or_a_name() -> None:
    monitor = Monitor(Config(models={"m": {"classes": NAMES}}))
    scores = {"card": 0.1, "loan": 0.7, "0": 0.1, "1": 0.1}
    monitor.predict("a", ts=1, scores=scores)
    monitor.predict("b", ts=1, scores=list(scores.values()))
    monitor.predict("c", ts=1, prediction="card")
    for name in "abc":
        monitor.label(name, ts=2, label="loan")
    assert matrix_of(monitor)[:2, :2].tolist() == [[0, 1], [0, 2]]
    with pytest.raises(ValueError, match="prediction: must be 'card', 'loan', '0' or '1'"):
        monitor.predict("d", ts=1, prediction="cash")


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (["card", "loan", "other"], [0, 1, False, True, np.float64(1)]),
        (["1", "2", "3"], [0, False, True]),
        ("learned", [False, True]),
    ],
)
def test_a_label_of_two_classes_is_refused_where_no_model_has_two(
    classes: Any, labels: list[Any]
) -> None:
    mail = {"mail": {"classes": classes}}
    monitor = Monitor(Config(models=mail))
    for label in labels:
        with pytest.raises(ValueError, match="label 'a': label: must be "):
            monitor.label("a", ts=2, label=label)
    rows = [{"id": "a", "ts": 2, "label": label} for label in [*labels, *[None] * len(labels)]]
    assert Monitor(Config(models=mail)).feed(rows).rejected == {"bad_value": len(labels)}
    beside = Monitor(Config(models={**mail, "spam": {}}))
    for number, label in enumerate(labels):
        beside.label(str(number), ts=2, label=label)
    assert beside.snapshot().labels.held == len(labels)  # of a case of spam, perhaps


@pytest.mark.parametrize("kernel", ["c", "python"])
def test_lines_with_a_label_of_two_classes_are_rejected_alike(kernel: Any) -> None:
    settings = DecodeSettings.from_config(Config(models={"m": {"classes": ["1", "2", "3"]}}))
    labels = ["1", "1.0", '"1"', "true", "0", '"0"', "false", "null", '"true"']
    lines = "".join(f'{{"type":"label","id":"a","ts":2,"label":{one}}}\n' for one in labels)
    batch = Decoder(settings, kernel=kernel).decode_lines(lines.encode(), source="t")
    assert [labels[row] for row in batch.labels.row.tolist()] == ["1", "1.0", '"1"', "null"]
    assert [one.value for one in batch.rejected] == [True, 0, "0", False, "true"]


@pytest.mark.parametrize(
    "scores",
    [
        np.array([0.1, 0.7, 0.1, 0.1]),
        np.array([0.1, 0.7, 0.1, 0.1], dtype=np.float32),
        tuple(np.float32([0.1, 0.7, 0.1, 0.1])),
        {"card": np.float32(0.1), "loan": np.float64(0.7), 1: 0.1, np.int64(0): 0.1},
        pd.Series({"loan": 0.7, "card": 0.1, 0: 0.1, 1: 0.1}),
    ],
    ids=["array", "singles", "tuple", "numbers as names", "series"],
)
def test_scores_are_taken_as_a_classifier_gives_them(scores: Any) -> None:
    monitor = Monitor(Config(models={"m": {"classes": NAMES}}))
    monitor.predict("a", ts=1, scores=scores)
    monitor.label("a", ts=2, label="card")
    assert matrix_of(monitor)[1, 0] == 1


@pytest.mark.parametrize("scores", [np.ones((1, 4)) / 4, [0.1, 0.2], "0.1", 0.7, {"card": 1.0}])
def test_scores_that_are_not_one_number_a_class_are_refused(scores: Any) -> None:
    monitor = Monitor(Config(models={"m": {"classes": NAMES}}))
    with pytest.raises(ValueError, match="scores: must have a finite number for each class"):
        monitor.predict("a", ts=1, scores=scores)


def test_further_numbers_of_classes_are_no_few_rejected_rows() -> None:
    codes = np.arange(90) % 3
    frame = pd.DataFrame({"ts": np.arange(90), "prediction": codes, "label": codes})
    for count in (Monitor().feed, lambda table: compare(table, table)):
        with pytest.warns(UserWarning, match=r"30 of 90 rows .*, or, of more than two, "):
            count(frame)


@pytest.mark.parametrize(
    ("classes", "value", "way"),
    [
        (["true", "false", "maybe"], True, '; write the name of a class as text, "true"'),
        (["True", "False", "maybe"], False, '; write the name of a class as text, "False"'),
        ("learned", True, '; write the name of a class as text, "true"'),
        (["card", "loan", "other"], True, ""),
    ],
)
def test_a_bool_for_a_class_of_its_name_is_refused_with_how_to_write_it(
    classes: Any, *, value: bool, way: str
) -> None:
    for config in (
        Config(models={"m": {"classes": classes}}),
        Config(defaults={"classes": classes}),
    ):
        for field in ("prediction", "label"):
            monitor = Monitor(config)
            take = monitor.predict if field == "prediction" else monitor.label
            with pytest.raises(ValueError, match=f"{field}: must be ") as refused:
                take("a", ts=0, **{field: value})
            assert str(refused.value).endswith(f", got {str(value).lower()}{way}")


@pytest.mark.parametrize("written", ["true, false, maybe", "yes, no, maybe", "1, 2, 3", "on, off"])
def test_words_and_numbers_of_yaml_are_names_without_quotes(written: str, tmp_path: Path) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text(f"models: {{m: {{classes: [{written}]}}}}\n")
    monitor = Monitor.from_yaml(path)
    for number, name in enumerate(written.split(", ")):
        values = [name, int(name), float(name)] if name.isdecimal() else [name]
        for value in values:
            monitor.predict(f"{number} {value!r}", ts=0, prediction=value)
            monitor.label(f"{number} {value!r}", ts=1, label=value)
    (model,) = monitor.snapshot().models
    assert model.matched == sum(3 if one.isdecimal() else 1 for one in written.split(", "))
    assert not monitor.snapshot().labels.misnamed


def test_two_classes_of_which_one_is_numbered_1_are_refused_with_how_to_map_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {m: {classes: [1, 2]}}\n")
    assert main(["check-config", str(path)]) == 2
    said = capsys.readouterr().err
    assert "values: {label: {positive: [2]}} of a feed, or --positive label=2, and the same" in said


def test_rejected_rows_of_learned_classes_are_told_what_names_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    way = r"(give|write) the name of a class, .*, as text or a whole number"
    rows = [{"id": str(n), "ts": n, "prediction": "card", "label": True} for n in range(9)]
    with pytest.raises(ValueError, match=way):
        Monitor(Config(defaults={"classes": "learned"})).feed(rows)
    path, config = tmp_path / "events.ndjson", tmp_path / "monitor.yaml"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config.write_text("models: {m: {classes: learned}}\n")
    assert main(["replay", str(path), "-c", str(config)]) == 3
    said = capsys.readouterr().err
    assert re.search(way, said)
    assert "configured classes" not in said


@pytest.mark.parametrize("kernel", ["c", "python"])
def test_a_table_of_text_teaches_a_class_that_comes_many_rows_after_its_header(kernel: Any) -> None:
    config = Config(models={"m": {"classes": "learned"}})
    rows = [(NAMES[n % 2] if n < ROWS // 2 else "late", NAMES[n % 2]) for n in range(ROWS)]
    text = "ts,prediction,label\n" + "".join(f"{n},{p},{a}\n" for n, (p, a) in enumerate(rows))
    monitor = Monitor(config)
    decoder = Decoder(DecodeSettings.from_config(config), kernel=kernel)
    for batch in read_csv([text.encode()], "t", decoder, 500):
        monitor.apply(batch)
    found = monitor.snapshot().models[0].classes["all"]
    assert found.names == ("card", "loan", "late")
    quarter = ROWS // 4
    assert found.matrix.tolist() == [[quarter, 0, 0], [0, quarter, 0], [quarter, quarter, 0]]
