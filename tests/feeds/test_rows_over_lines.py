"""Rows of CSV whose quoted cells have line breaks, against the module `csv` of Python."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.events.batches import concatenate
from monitor.events.keys import keys_of
from monitor.feeds.blocks import TornError
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import MAX_RECORD_BYTES, Decoder, DecodeSettings
from monitor.kernel import compiled_module

KERNELS = ["python", *(["c"] if compiled_module() else [])]
HEADER = "id,ts,label,note"
texts = st.lists(st.sampled_from([*'ab1,;"\n é', "\r\n"]), max_size=12).map("".join)
PLAIN = "b,2,0,plain\n"
OPEN = 'a,1,1,"two\nlines"\n'


def read(data, chunk_bytes=10_000, kernel="python", cut=None):
    """The labels of a table whose bytes come in pieces of any size."""
    raw = data.encode()
    size = cut or len(raw)
    stream = [raw[start : start + size] for start in range(0, len(raw), size)]
    decoder = Decoder(DecodeSettings(), kernel=kernel)
    return concatenate(list(read_csv(stream, "t", decoder, chunk_bytes)))


@pytest.mark.parametrize("kernel", KERNELS)
@settings(max_examples=40, deadline=None)  # a machine may be busy
@given(
    rows=st.lists(st.tuples(texts, st.integers(0, 9), texts), min_size=1, max_size=15),
    form=st.tuples(st.sampled_from(["\n", "\r\n"]), st.sampled_from([0, 1])),
    sizes=st.tuples(st.integers(1, 200), st.integers(1, 50)),
)
def test_every_row_that_csv_writes_is_read(kernel, rows, form, sizes):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=form[0], quoting=form[1])  # all cells, or some
    named = [(f"{number}{name}", ts, 1, note) for number, (name, ts, note) in enumerate(rows)]
    writer.writerows([HEADER.split(","), *named])
    found = read(text.getvalue(), sizes[0], kernel, sizes[1])
    assert not found.rejected
    assert found.records == len(rows)
    assert found.labels.key.tolist() == keys_of([name for name, *_ in named]).tolist()
    assert found.labels.time.tolist() == [1000 * ts for _, ts, *_ in named]


def test_rows_have_the_number_of_their_first_line():
    rows = f'{HEADER}\n{OPEN}{PLAIN}c,x,1,"two\nlines"\n{PLAIN}d,y,1,one\n'
    for chunk_bytes in (1, 10_000):
        batch = read(rows, chunk_bytes)
        rejected = {r.position: r.record for r in batch.rejected}
        assert rejected == {"t:5": b'c,x,1,"two\nlines"', "t:8": b"d,y,1,one"}
        assert batch.records == 5


def test_a_line_of_a_cell_that_looks_like_a_row_is_none():
    batch = read(f'{HEADER}\na,1,1,"first\nx,5,1,last"\n{PLAIN}')
    assert (batch.records, batch.labels.key.tolist()) == (2, keys_of(["a", "b"]).tolist())


@pytest.mark.parametrize("chunk_bytes", [1, 40, 10_000])
@pytest.mark.parametrize(
    ("stray", "rejected"),
    [
        ('a,1,1,"open\n', ["t:2"]),
        ('a,1,1,"open\n' + PLAIN * 3 + 'c,1,1,"open again\n', ["t:2", "t:6"]),
        ('a,1,1,"shut"x\n', ["t:2"]),
        ('a,1,1,5" wide\n' + PLAIN + 'c,1,1,7" wide\n', []),
        ('a,"open\n' + PLAIN + 'more",1\n', ["t:2", "t:4"]),
        ('a,1,1,"' + "x\n" * (MAX_RECORD_BYTES // 2) + '"\n', None),
    ],
)
def test_a_stray_quote_costs_its_own_line(stray, rejected, chunk_bytes):
    batch = read(f"{HEADER}\n{stray}{PLAIN * 30}", chunk_bytes)
    assert len(batch.labels) >= 30
    if rejected is not None:
        assert [r.position for r in batch.rejected] == rejected
        assert batch.records == len(f"{stray}{PLAIN * 30}".splitlines())


def test_lines_that_wait_at_a_damaged_place_are_read():
    def stream():
        yield f'{HEADER}\n{PLAIN}a,1,1,"open\n{PLAIN}'.encode()
        raise TornError("gzip ends too early")

    found = []
    with pytest.raises(TornError, match="within line 5"):
        found.extend(read_csv(stream(), "t", Decoder(DecodeSettings()), 10_000))
    batch = concatenate(found)
    assert (batch.records, len(batch.labels), len(batch.rejected)) == (3, 2, 1)
