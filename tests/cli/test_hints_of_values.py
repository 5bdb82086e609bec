"""What to write instead of values and columns that are no events."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import ran

from monitor.cli.rejected_values import class_hint
from monitor.feeds.mapping.written import OptionNotation

CLASSES = "write one of the configured classes, 'card', 'loan'"


@pytest.mark.parametrize(
    ("classes", "given", "hint"),
    [
        ("[card, loan, other]", {"label": "cash"}, f"{CLASSES}, 'other' or null; or add 'cash' "),
        ("[card, loan, other]", {"label": "x" * 90}, f"{CLASSES}, 'other' or null; or name "),
        ("[card, loan, other]", {"prediction": "cash"}, f"{CLASSES} or 'other'; or add 'cash' to "),
        ("[card, loan]", {"prediction": "cash"}, "write one of the configured classes, 'card' or "),
        ("[card, loan]", {"label": "NA"}, "'NA' seems to stand for no class: --missing label=NA"),
        ("[]", {"label": ["a", "b"]}, "for several labels a case, configure a model for each"),
        (
            "[]",
            {"label": "cash"},
            (
                "say which values are of the positive class, which of the negative, and which of "
                "none: --positive label="
            ),
        ),
    ],
    ids=repr,
)
def test_a_class_that_is_none_of_the_configured_ones_is_not_asked_to_be_positive(
    capsys, tmp_path, classes, given, hint
):
    path, config = tmp_path / "a.ndjson", tmp_path / "monitor.yaml"
    config.write_text(f"models: {{m: {{classes: {classes}}}}}\n")
    known = 0 if classes == "[]" else "card"
    record = {"ts": 1, "id": "a", "prediction": known, "label": known} | given
    path.write_text(json.dumps(record) + "\n")
    done = ran(capsys, "replay", path, "-c", config)
    assert done.code == 3
    last = done.err.splitlines()[-1]
    start = "error: 1 of 1 record was rejected: 1 bad_value; "
    if given == {"label": "cash"} and known:
        start += "no figure has the 1 label of no class of the model, 100.0 % of all, so that "
        start += "precision and recall are those of the other cases; "
    assert last.startswith(f"{start}{hint}"), last


@pytest.mark.parametrize("form", ["csv", "json", "ndjson", "parquet"])
@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            ("timestamp", "proba", "decision", "fraud"),
            (
                "has no column 'ts', got timestamp, proba, decision, fraud; say which column is "
                "which: write --field ts=timestamp --field score=proba --field prediction=COLUMN "
                "--field label=COLUMN"
            ),
        ),
        (
            ("ts", "decision", "fraud"),
            (
                "its columns make no events, got ts, decision, fraud; say which column is which: "
                "write --field prediction=COLUMN --field label=COLUMN"
            ),
        ),
    ],
)
def test_columns_that_make_no_events_are_named_with_what_to_write(
    capsys, tmp_path, form, columns, said
):
    path, rows = tmp_path / f"a.{form}", [dict.fromkeys(columns, 1)] * 3
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif form == "csv":
        path.write_text("\n".join([",".join(columns), *[",".join("1" * len(columns))] * 3]))
    else:
        separator = "\n" if form == "ndjson" else ","
        text = separator.join(map(json.dumps, rows))
        path.write_text(text if form == "ndjson" else f"[{text}]")
    done = ran(capsys, "replay", path)
    assert done.code == 3
    assert done.err.count(f"{path}: {said}") == 1
    if columns[0] == "ts":
        assert said.partition("; ")[2] in done.err.splitlines()[-1]


@pytest.mark.parametrize(("name", "advised"), [("cash", True), ("two\tcolumns", False)])
def test_only_a_name_that_a_configuration_takes_is_to_be_added(name, advised):
    hint = class_hint("prediction", [name], "'card', 'loan' or 'other'", OptionNotation())
    assert hint.startswith("write one of the configured classes")
    assert ("to `classes` of the model" in hint) is advised
