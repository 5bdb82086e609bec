"""Classes by their names in the compiled kernel: as the Python decoder reads them, bit for bit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from feeds.decode.test_kernel_seam import assert_same_batch
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.events.columns import NO_CLASS, EventBatch
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.scanning import Scanner
from monitor.kernel import compiled_module

pytestmark = pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")

MODELS = {
    "mail": {"classes": ["card", "loan", "0", "-7", 'ü"\\ß', "True", "x" * 241]},
    "fraud": {"classes": ["fine", "fraud"], "threshold": 0.5},
    "digits": {"classes": [str(number) for number in range(10)]},
    "spam": {"threshold": 0.25},
}
SETTINGS = DecodeSettings.from_config(Config(models=MODELS))
ONE = DecodeSettings.from_config(Config(models={"mail": MODELS["mail"]}))
CLASSES = st.sampled_from(
    [
        *("card", "loan", "0", "1", "-7", 'ü"\\ß', "True", "x" * 241, "fine", "fraud", "cash", ""),
        *(0, 1, 2, 9, 10, -7, 1 << 70, True, False, None, 1.0, ["card"], {}),
    ]
)
RECORDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["prediction", "label", "outcome"]), "ts": st.integers(1, 9)},
    optional={
        "id": st.sampled_from(["a", "b", 7]),
        "model": st.sampled_from([*MODELS, *MODELS, "other"]),
        "prediction": CLASSES,
        "label": CLASSES,
        "score": st.sampled_from([0.25, 0.75, None]),
        "scores": st.sampled_from([None, {"fine": 0.1, "fraud": 0.9}, [0.1] * 10]),
        "audit": st.just(True),
    },
)


def lines_of(records: list[dict[str, Any]], *, ascii_only: bool) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=ascii_only) + "\n" for one in records).encode()


@pytest.mark.parametrize("settings_", [SETTINGS, ONE], ids=["models", "model"])
@settings(max_examples=60, deadline=None)  # a machine may be busy
@given(records=st.lists(RECORDS, max_size=20), ascii_only=st.booleans())
def test_both_decoders_read_the_same(
    settings_: DecodeSettings, records: list[dict[str, Any]], *, ascii_only: bool
) -> None:
    data = lines_of(records, ascii_only=ascii_only)
    found, expected = (
        Decoder(settings_, kernel=kernel).decode_lines(data, source="t")
        for kernel in ("c", "python")
    )
    assert_same_batch(found, expected)
    assert found.rejected == expected.rejected


CELLS = st.sampled_from(
    [
        *(
            "card",
            "loan",
            "0",
            "1",
            "1.0",
            " 1 ",
            "TRUE",
            "true",
            "True",
            "\x1ffalse",
            "fa\u017fse",
        ),
        *("-7", "9", "09", " card", "\xa01", "fraud", "fine", "x" * 241, "", "cash", "0.0 "),
    ]
)


@settings(max_examples=60, deadline=None)  # a machine may be busy
@given(rows=st.lists(st.tuples(CELLS, CELLS, st.sampled_from(list(MODELS))), max_size=20))
def test_both_readers_of_rows_read_the_same(rows: list[tuple[str, str, str]]) -> None:
    table = "".join(
        f"{time},{model},{predicted},{actual}\n"
        for time, (predicted, actual, model) in enumerate(rows)
    )
    whole = [b"ts,model,prediction,label\n" + table.encode()]
    found, expected = (
        list(read_csv(whole, "t", Decoder(SETTINGS, kernel=kernel), 1 << 20, separator=","))
        for kernel in ("c", "python")
    )
    for mine, theirs in zip(found, expected, strict=True):
        assert_same_batch(mine, theirs)
        assert mine.rejected == theirs.rejected


def scanned(*records: dict[str, Any]) -> tuple[EventBatch, bytes]:
    found = Scanner(compiled_module(), SETTINGS).scan(lines_of([*records], ascii_only=True), None)
    assert found is not None
    return found.batch, found.left


def test_the_kernel_takes_what_has_a_class_of_its_model() -> None:
    case = {"type": "prediction", "id": "a", "ts": 1}
    batch, left = scanned(
        {**case, "model": "mail", "prediction": "loan"},
        {**case, "model": "mail", "prediction": -7},
        {**case, "model": "digits", "prediction": 1},
        {**case, "model": "digits", "prediction": 9},
        {**case, "model": "fraud", "prediction": "fraud"},
        {**case, "model": "fraud", "score": 0.4},
        {**case, "type": "outcome", "model": "mail", "prediction": "card", "label": 'ü"\\ß'},
        {"type": "outcome", "ts": 1, "model": "digits", "prediction": 3, "label": "7"},
        {"type": "outcome", "ts": 1, "model": "fraud", "prediction": True, "label": "fraud"},
        {"type": "label", "id": "a", "ts": 2, "label": "fine"},
    )
    assert left == b""
    assert batch.predictions.predicted_class.tolist() == [1, 3, 1, 9, NO_CLASS, NO_CLASS, 0]
    assert batch.predictions.predicted_positive.tolist() == [True] * 5 + [False, True]
    assert batch.outcomes.predicted_class.tolist() == [3, NO_CLASS]
    assert batch.outcomes.actual_class.tolist() == [7, NO_CLASS]
    assert batch.outcomes.actual_positive.tolist() == [True, True]


def test_the_kernel_leaves_what_has_no_class_of_its_model() -> None:
    case = {"type": "prediction", "id": "a", "ts": 1, "model": "mail"}
    unfit = [
        {**case, "prediction": "fraud"},
        {**case, "prediction": True},
        {**case, "model": "fraud", "prediction": 5},
        {**case, "score": 0.5},
        {**case, "type": "outcome", "prediction": "card", "label": "fine"},
    ]
    batch, left = scanned({**case, "prediction": "card"}, *unfit)
    assert left == lines_of(unfit, ascii_only=True)
    assert (len(batch.predictions), len(batch.labels), len(batch.outcomes)) == (1, 0, 0)
