"""Rows of CSV by the compiled kernel: the same events and the same rejections as by Python."""

import pytest
from feeds.decode.test_kernel_seam import assert_same_batch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.config.mapping import mapped_records
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings, LiveDecoder
from monitor.feeds.decode.scanning import RowLayout, Scanner
from monitor.kernel import compiled_module

pytestmark = pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")

SETTINGS = DecodeSettings.from_config(
    Config(
        models={
            "fraud": {"threshold": 0.5, "segments": ["region", "channel"]},
            "spam": {"segments": ["channel"]},
        },
        max_record_bytes=100,
    )
)
DECODERS = [Decoder(SETTINGS, kernel="c"), Decoder(SETTINGS, kernel="python")]

_TIMES = ["1600000000", "1600000000.25", "2020-09-13T12:26:40Z", "2020-09-13 12:26:40.5+02:00"]
_CLASSES = ["0", "1", "1.0", "0.0", "true", "False", " 1", "2", "yes", "1,0"]
_NUMBERS = [
    "0.5",
    "1",
    "0",
    "1e-3",
    "+0.5",
    " .5 ",
    "1.5",
    "-0",
    "nan",
    "0x1",
    "1_0",
    "٣",
    "0,5",
    "0,5,0",
]
_ODD = ["", "", "x", " ", "a\rb", "\x00", "ü" * 129, "a" * 250, '"q"', '"', "\\", "null", "1e400"]
CELLS = {
    "type": ["prediction", "label", "outcome", "counts", "other", " label"],
    "id": ["a", "b", "17", "ü", " a"],
    "ts": _TIMES, "label_ts": _TIMES,
    "prediction": _CLASSES, "label": _CLASSES,
    "score": _NUMBERS, "sampling_probability": _NUMBERS,
    "model": ["fraud", "spam", "new"], "version": ["1", "v2"],
    "segment": ['{"region": "eu"}', "{}", "x"], "segment.region": ["eu", "us"],
    "channel": ["web", "app"], "region": ["north"], "tp": ["1"], "note": ["?"],
}  # fmt: skip
UNMAPPED = {"channel", "region", "note", "tp"}


@st.composite
def tables(draw):
    """A table, its separator, and the good columns in many rows with one odd cell at times."""
    separator = draw(st.sampled_from([",", "\t", ";", "5"]))
    others = st.lists(st.sampled_from(sorted(set(CELLS) - {"ts"})), unique=True)
    columns = draw(st.permutations(["ts", *draw(others)]))
    lines = [separator.join(columns).encode()]
    for _ in range(draw(st.integers(0, 12))):
        cells = [draw(st.sampled_from(CELLS[column])) for column in columns]
        spoil = draw(st.integers(0, 12))
        if spoil < 5:
            cells[draw(st.integers(0, len(cells) - 1))] = draw(st.sampled_from(_ODD))
        if spoil == 5:
            cells = cells[1:] if draw(st.booleans()) else [*cells, ""]
        line = separator.join(cells).encode()
        if spoil == 6:
            line = draw(st.sampled_from([b"", b"  ", b"\t", b"\xff" + line, line + b"\r", b"\r"]))
        lines.append(line)
    return b"\n".join(lines) + draw(st.sampled_from([b"", b"\n"])), separator


def batches(data, separator, decoder, mapping=None, size=400):
    return [
        *read_csv(
            [data], "t", decoder, size, separator=separator, mapping=mapping, say=lambda _: None
        )
    ]


def assert_same(data, separator, mapping=None):
    found, expected = (batches(data, separator, decoder, mapping) for decoder in DECODERS)
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        assert_same_batch(mine, theirs)
        assert mine.rejected == theirs.rejected
        for kind in ("predictions", "labels", "outcomes", "counts"):
            assert getattr(mine, kind).row.tolist() == getattr(theirs, kind).row.tolist()


@example(table=(b"ts,id,prediction,model\n" + b"1600000000,a,1,spam\n" * 30, ","))
@example(table=(b"ts,tp,score\n\x1f1600000000,\x1f1,\x1f.5\n", ","))
@example(table=(b"ts,id,label,type\n1600000000,a,,label\n1600000000,b,1,\n", ","))
@example(table=(b"ts,id,score,model,region\n1600000000,a,.5,fraud,eu\n" + b" " * 70_000, ","))
@settings(max_examples=60, deadline=None)  # a machine may be busy
@given(table=tables())
def test_the_kernel_reads_rows_as_python_does(table):
    assert_same(*table)


@settings(max_examples=30, deadline=None)  # a machine may be busy
@given(table=tables())
def test_the_kernel_reads_rows_of_renamed_columns_as_python_does(table):
    data, separator = table
    header, newline, rows = data.partition(b"\n")
    columns = [f"own {column}" for column in header.decode().split(separator)]
    known = {c.removeprefix("own "): c for c in columns} | {"segment.channel": "own channel"}
    fields = {f: c for f, c in known.items() if c in columns and f not in UNMAPPED}
    mapping = mapped_records(fields, {}, {})
    assert_same(separator.join(columns).encode() + newline + rows, separator, mapping)


def test_the_kernel_takes_the_rows_of_a_plain_table(monkeypatch):
    def none(*_, **__):
        raise AssertionError("the kernel left a row")

    decoder = Decoder(SETTINGS, kernel="c")
    monkeypatch.setattr(decoder, "decode_fields", none)
    rows = b"type,id,ts,score,label,model,segment.region\nprediction,a,1600000000,0.25,,fraud,eu\n"
    (batch,) = batches(rows + b"label,a,1600000000.5,,1,,\n", ",", decoder)
    assert (len(batch.predictions), len(batch.labels), batch.records) == (1, 1, 2)
    assert [group.values for group in batch.groups] == [("eu", "__missing__")]


def test_a_table_is_read_by_the_latest_settings():
    decoder = LiveDecoder(SETTINGS)
    blocks = read_csv(
        [b"ts,id,prediction,model\n1600000000,a,1,fraud\n", b"1600000000,b,1,new\n"],
        "t", decoder, 1,
    )  # fmt: skip
    assert [group.model for group in next(blocks).groups] == ["fraud"]
    decoder.replace(DecodeSettings())
    assert [group.model for group in next(blocks).groups] == ["new"]


@pytest.mark.parametrize(
    "layout",
    [RowLayout((), ",", "label", False), RowLayout(("ts",), "ü", "label", False),
     RowLayout(("ts",), "\n", "label", False)],
)  # fmt: skip
def test_the_kernel_refuses_a_layout_without_columns_or_separator(layout):
    with pytest.raises(ValueError, match="a row must have columns and an ASCII separator"):
        Scanner(compiled_module(), SETTINGS).scan(b"1\n", None, layout)
