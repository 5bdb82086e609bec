"""Times as ISO 8601 writes them: the same in every format, by the kernel and by Python."""

import json
from datetime import UTC, datetime

import pandas as pd
import pyarrow as pa
import pytest
from feeds.decode.test_kernel_seam import assert_same_batch
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor import Monitor
from monitor.config.mapping import mapped_records
from monitor.events.columns import EventBatch
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.time_texts import seconds_of_text
from monitor.feeds.mapping.mapped_lines import MappedLines
from monitor.kernel import compiled_module
from monitor.python.tables import TableReader

TEN = 1_782_900_000_000
"""2026-07-01T10:00:00Z, milliseconds, by `date -ud`."""
FORMS = [
    *("2026-07-01T10:00:00Z", "2026-07-01T10:00Z", "2026-07-01T10Z", "2026-07-01 10:00:00+00"),
    *("2026-07-01T12:00+02", "2026-07-01T12:00+0200", "2026-07-01 12:00:00+02:00"),
    *("2026-07-01T12:00:00.000+02", "20260701T100000Z", "20260701T1200+02", "2026-W27-3T10:00Z"),
    *("2026-07-01t10:00z", " 2026-07-01T10:00Z", "2026-07-01 10:00:00 UTC"),
    *("2026-07-01T07:30-02:30", "2026-07-01T10:00:00,000Z", "2026-07-01T10:00:00.0000000Z"),
]
REJECTED = [
    *("13/07/2026", "13/07/2026 10:00", "13.07.2026 10:00Z", "2026-07-01T10:00", "2026-07-01"),
    *("2026-07-32T10:00Z", "2026-07-01T10:60Z", "2026-07-01T10:00+24", "2026-07-01Z", "Z", ""),
]
KERNELS = ["python", *(["c"] if compiled_module() else [])]


def ndjson(text: str, kernel: str) -> EventBatch:
    line = json.dumps({"type": "label", "id": "a", "ts": text, "label": 1})
    return Decoder(DecodeSettings(), kernel=kernel).decode_lines(line.encode(), source="t")


def csv(text: str, kernel: str) -> EventBatch:
    rows = f"id;ts;label\na;{text};1\n".encode()
    return next(read_csv([rows], "t", Decoder(DecodeSettings(), kernel=kernel), 1000))


def mapped(text: str, kernel: str) -> EventBatch:
    decoder = Decoder(DecodeSettings(), kernel=kernel)
    lines = MappedLines(decoder, mapped_records({"ts": "when"}, {}, {"zone": "Asia/Tokyo"}))
    line = json.dumps({"id": "a", "when": text, "label": 1})
    return lines.decode_lines(line.encode(), source="t")


def frame(text: str, kernel: str) -> EventBatch:
    table = pd.DataFrame({"id": ["a"], "ts": [text], "label": [1]})
    reader = TableReader(
        table, mapped_records({}, {}, {}), Decoder(DecodeSettings(), kernel=kernel)
    )
    return next(iter(reader.batches()))


def of_two_forms(text: str, kernel: str) -> EventBatch:
    """A column whose first row is written in the usual form."""
    table = pa.table({"id": ["a", "b"], "ts": [FORMS[0], text], "label": [1, 1]})
    reader = TableReader(
        table, mapped_records({}, {}, {}), Decoder(DecodeSettings(), kernel=kernel)
    )
    return next(iter(reader.batches()))


WAYS = [ndjson, csv, mapped, frame, of_two_forms]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("text", FORMS)
def test_each_form_is_the_same_time_in_every_format(text, way, kernel):
    batch = way(text, kernel)
    assert not batch.rejected
    assert set(batch.labels.time.tolist()) == {TEN}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("way", [ndjson, csv, frame], ids=lambda way: way.__name__)
@pytest.mark.parametrize("text", REJECTED)
def test_what_names_no_zone_or_no_day_is_rejected_in_every_format(text, way, kernel):
    batch = way(text, kernel)
    assert [r.field for r in batch.rejected] == ["ts"]
    assert not len(batch.labels)


@pytest.mark.parametrize("text", FORMS)
def test_a_single_event_takes_each_form(text):
    monitor = Monitor()
    monitor.predict("a", ts=text, prediction=True)
    (model,) = monitor.snapshot().models
    assert model.last_prediction_ms == TEN + 60_000  # the end of its pane


@settings(max_examples=120, deadline=None)  # a machine may be busy
@given(
    st.sampled_from(FORMS + REJECTED),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from("0129-:.,+ZTzt WU%é"))),
    st.booleans(),
)
def test_the_kernel_takes_no_other_time_than_python(text, changes, cut):
    for place, character in changes[:3]:
        text = text[:place] + character + text[place + cut :]
    if compiled_module() is not None:
        for way in (ndjson, csv):
            assert_same_batch(way(text, "c"), way(text, "python"))
    found = ndjson(text, "python")
    try:
        expected = datetime.fromisoformat(text.strip().upper().replace(" UTC", "+00:00"))
    except ValueError:
        expected = None
    if expected is None or expected.tzinfo is None:
        assert found.rejected
    elif not found.rejected:
        since = expected - datetime(1970, 1, 1, tzinfo=UTC)
        assert found.labels.time.tolist() == [
            (since.days * 86400 + since.seconds) * 1000 + since.microseconds // 1000
        ]


@given(st.datetimes(timezones=st.timezones()))
def test_a_moment_as_python_writes_it_is_that_moment(moment):
    assert seconds_of_text(moment.isoformat()) == moment.timestamp()
    assert seconds_of_text(moment.isoformat(timespec="minutes")) is not None
