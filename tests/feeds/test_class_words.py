"""The words true and false as text: classes 1 and 0 of a binary model, names where it has more."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from monitor import Monitor as EmbeddedMonitor
from monitor.config import Config
from monitor.config.mapping import ClassField, ClassValues, MappedRecords
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.files import read
from monitor.kernel import Kernel
from monitor.snapshot import ModelState, Snapshot

WORDS = ("true", "false", "unclear")
ROWS = [("true", "true"), ("false", "false"), ("unclear", "unclear")]
ROWS += [("true", "false"), ("true", "unclear")]
TWO = [ROWS[row] for row in (0, 1, 3)]
MATRIX = [[1, 1, 1], [0, 1, 0], [0, 0, 1]]
MANY = pytest.mark.parametrize("classes", [[*WORDS], "learned"], ids=["listed", "learned"])
KERNELS = pytest.mark.parametrize("kernel", ["c", "python"])
MISSING = {ClassField.LABEL: ClassValues(missing=("?",))}


def table(prediction: str = "prediction", **columns: Any) -> pd.DataFrame:
    predicted, actual = zip(*ROWS, strict=True)
    times = [60.0 * row for row in range(len(ROWS))]
    return pd.DataFrame({"ts": times, prediction: predicted, "label": actual, **columns})


def write_lines(frame: pd.DataFrame, path: Path) -> None:
    path.write_text("\n".join(json.dumps(row) for row in frame.to_dict("records")))


WRITERS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "ndjson": write_lines,
}
ENDINGS = pytest.mark.parametrize("ending", [*WRITERS])


def counted(
    path: Path, models: dict[str, Any], mapping: MappedRecords | None, kernel: Kernel | None = None
) -> Snapshot:
    config = Config(models=models)
    decoder = Decoder(DecodeSettings.from_config(config), kernel=kernel)
    monitor = Monitor(config)
    mappings = {} if mapping is None else {str(path): mapping}
    for batch in read([path], decoder, mappings=mappings, say=lambda _: None):
        assert not batch.rejected
        monitor.apply(batch)
    return monitor.snapshot()


def cells_of(snapshot: Snapshot, model: str) -> list[int]:
    (row,) = (one.row for one in snapshot.models if one.name == model)
    counts = snapshot.lifetime.counts
    return [int(cells[row]) for cells in (counts.tp, counts.fp, counts.fn, counts.tn)]


def matrix_of(model: ModelState) -> list[list[int]]:
    matrix: list[list[int]] = model.classes["all"].matrix.tolist()
    return [row[: len(WORDS)] for row in matrix[: len(WORDS)]]


@MANY
@ENDINGS
@pytest.mark.parametrize(
    "mapping",
    [
        None,
        MappedRecords(fields={"prediction": "said"}),
        MappedRecords(fields={"prediction": "said"}, values=MISSING),
    ],
    ids=["own names", "other names", "missing"],
)
def test_they_name_classes_of_a_model_that_has_more_than_two(
    classes: Any, ending: str, mapping: MappedRecords | None, tmp_path: Path
) -> None:
    path = tmp_path / f"events.{ending}"
    WRITERS[ending](table("prediction" if mapping is None else "said"), path)
    (model,) = counted(path, {"m": {"classes": classes}}, mapping).models
    assert matrix_of(model) == MATRIX


@MANY
@KERNELS
def test_labels_of_their_own_name_them_too(classes: Any, kernel: Kernel, tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    rows = [f"prediction,{row},0,many,{said},\n" for row, (said, _) in enumerate(ROWS)]
    rows += [f"label,{row},60,,,{was}\n" for row, (_, was) in enumerate(ROWS)]
    path.write_text("type,id,ts,model,prediction,label\n" + "".join(rows))
    (model,) = counted(path, {"many": {"classes": classes}}, None, kernel).models
    assert matrix_of(model) == MATRIX


@MANY
@KERNELS
@ENDINGS
def test_each_model_reads_them_by_its_own_classes(
    classes: Any, kernel: Kernel, ending: str, tmp_path: Path
) -> None:
    mapping = None if ending == "csv" else MappedRecords(fields={"prediction": "said"})
    many = table("prediction" if mapping is None else "said", model="many")
    path = tmp_path / f"events.{ending}"
    WRITERS[ending](pd.concat([many, many.iloc[[0, 1, 3]].assign(model="two")]), path)
    found = counted(path, {"many": {"classes": classes}, "two": {}}, mapping, kernel)
    assert matrix_of(found.models[0]) == MATRIX
    assert cells_of(found, "two") == [1, 1, 0, 1]


@KERNELS
def test_a_label_that_names_its_model_reads_them_as_that_model_does(
    kernel: Kernel, tmp_path: Path
) -> None:
    path = tmp_path / "events.csv"
    rows = [f"prediction,{row},0,many,{said},\n" for row, (said, _) in enumerate(ROWS)]
    rows += [f"label,{row},60,many,,{was}\n" for row, (_, was) in enumerate(ROWS)]
    path.write_text("type,id,ts,model,prediction,label\n" + "".join(rows))
    found = counted(path, {"many": {"classes": [*WORDS]}, "two": {}}, None, kernel)
    assert matrix_of(found.models[0]) == MATRIX


@KERNELS
def test_a_label_beside_a_binary_model_reads_them_as_classes_1_and_0(
    kernel: Kernel, tmp_path: Path
) -> None:
    path = tmp_path / "events.csv"
    rows = [f"prediction,{row},0,two,{said},\n" for row, (said, _) in enumerate(TWO)]
    rows += [f"label,{row},60,,,{was}\n" for row, (_, was) in enumerate(TWO)]
    path.write_text("type,id,ts,model,prediction,label\n" + "".join(rows))
    found = counted(path, {"many": {"classes": [*WORDS]}, "two": {}}, None, kernel)
    assert cells_of(found, "two") == [1, 1, 0, 1]


@MANY
@pytest.mark.parametrize("dtype", ["object", "category"])
def test_a_frame_has_them_too(classes: Any, dtype: str) -> None:
    monitor = EmbeddedMonitor(Config(models={"m": {"classes": classes}}))
    monitor.feed(table("said").astype({"said": dtype, "label": dtype}), prediction="said")
    assert matrix_of(monitor.snapshot().models[0]) == MATRIX


@ENDINGS
def test_a_binary_model_whose_missing_labels_are_listed_reads_them(
    ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"events.{ending}"
    frame = table("said").replace("unclear", "false")
    WRITERS[ending](frame.assign(label=["true", " FALSE", "?", "0.0", "?"], id=[*"abcde"]), path)
    mapping = MappedRecords(fields={"prediction": "said"}, values=MISSING)
    assert cells_of(counted(path, {"m": {}}, mapping), "m") == [1, 1, 0, 1]
