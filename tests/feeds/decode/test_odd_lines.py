"""Lines that msgspec takes for no record: read fast, they have the faults that they always had.

The reference converts first and asks for the fault of what the standard library parses, one line
at a time, as the decoder did for every line before it read them by msgspec alone.
"""

import json
from itertools import product

import msgspec
import pytest
from feeds.decode.strategies import ids, predictions, times
from feeds.decode.test_poison import DECODER as BINARY
from feeds.decode.test_poison import MALFORMED, REASONS
from hypothesis import given
from hypothesis import strategies as st

from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode import Decoder, DecodeSettings, ModelFields
from monitor.feeds.decode.assemble import Assembler
from monitor.feeds.decode.completed import completed
from monitor.feeds.decode.groups import GroupNames
from monitor.feeds.decode.odd_lines import UNDECODABLE, OddLines
from monitor.feeds.decode.reasons import Fault, NotARecordError, parse
from monitor.feeds.decode.record_faults import RecordFaults
from monitor.feeds.decode.records import RecordTypes
from monitor.feeds.decode.time_texts import with_rfc_3339
from monitor.kernel import compiled_module

SETTINGS = [
    DecodeSettings(),
    BINARY.settings,
    DecodeSettings(
        models={
            "fraud": ModelFields(classes=("card", "loan", "other")),
            "spam": ModelFields(0.5, ("region",)),
        }
    ),
]
LATEST = 1_700_000_000_000
ODD = [
    None, True, False, 0, 1, 7, -1, 1.0, 0.0, 0.5, 2**31, 10**20, 10**21, 10**30, 1e20, "", "a",
    "card", "cash", "2026-01-01T00:00:00", "2026-01-01T00:00:00Z", "20260101T0000Z", "2026-01-01",
    "2300-01-01T00:00:00Z", "2026-01-01T00:00:00.1234567+00:00", "0001-01-01T00:00+12", "a\0",
    "ü" * 129, "a" * 257, "1.0", [], ["x"], {}, {"card": 1, "loan": 0, "other": 0}, {"region": 7},
    {"region": [1]}, [[[["x"]]]], 1_600_000_000_000,
]  # fmt: skip
FIELDS = (
    *("type", "id", "ts", "label_ts", "watermark", "prediction", "label", "audit", "score"),
    *("scores", "sampling_probability", "model", "version", "segment", "source", "batch"),
    *("tp", "fp", "fn", "tn", "predicted_positive", "late", "x"),
)
BASES = [
    {},
    {"type": "prediction", "id": "a", "ts": 1600000000, "prediction": 1, "model": "spam"},
    {"type": "label", "id": "a", "ts": 1600000000, "label": 1},
    {"type": "outcome", "ts": 1600000000, "prediction": 0, "label": 1, "model": "fraud"},
    {"type": "counts", "ts": 1600000000, "model": "spam", "tp": 1, "fp": 0, "fn": 0, "tn": 1},
    {"id": 7, "ts": 1600000000, "label": 1.0},
    {"id": 7, "ts": "20200101T0000Z", "score": 0.7, "label": 1, "model": "spam"},
]


class Reference:
    """What a line is by the parser of the standard library, after every attempt to convert it."""

    def __init__(self, settings):
        self._types, self._faults = typed(settings), RecordFaults(settings)
        self._names = GroupNames(settings, self._types.segment_values)
        self._longest = settings.max_record_bytes
        self._json = msgspec.json.Decoder(self._types.any)

    def read(self, line, latest):
        if len(line) > self._longest:
            return self.fault(line, latest)
        try:
            line.decode()
            return self._json.decode(line)
        except UNDECODABLE:
            return self._converted(line) or (self.fault(line, latest) if line.strip() else None)

    def found(self, line, read):
        """What comes of a line in the end: the fields of its record, or its fault."""
        if not isinstance(read, msgspec.Struct):
            return read
        types = self._types
        kind = types.by_name[type(read).__struct_config__.tag]
        record = msgspec.convert(msgspec.to_builtins(read), kind)
        unfit = Assembler([record], types, self._names, LATEST).assemble().unfit
        return self.fault(line, LATEST) if unfit else msgspec.to_builtins(record)

    def fault(self, line, latest):
        if len(line) > self._longest:
            return Fault(RejectReason.TOO_LARGE, f"record: must be at most {self._longest} bytes")
        try:
            fault = self._faults.first(completed(parse(line)), latest)
        except NotARecordError as error:
            return Fault(RejectReason.MALFORMED, f"record: {error}")
        if fault is not None:
            return fault
        try:
            msgspec.json.decode(line)
            self._json.decode(line)
        except msgspec.ValidationError as error:
            return Fault(RejectReason.BAD_VALUE, f"record: {error}")
        except UNDECODABLE as error:
            return Fault(RejectReason.MALFORMED, f"record: {error}")
        return Fault(RejectReason.BAD_VALUE, "record: cannot be used")

    def _converted(self, line):
        try:
            line.decode()
            written = msgspec.json.decode(line)
            if not isinstance(written, dict):
                return None
            fields = completed(written)
            if fields == written and [*map(type, fields.values())] == [
                *map(type, written.values())
            ]:
                fields = with_rfc_3339(fields)
                if fields == written:
                    return None
            try:
                return msgspec.convert(fields, self._types.of(fields))
            except msgspec.ValidationError:
                return msgspec.convert(with_rfc_3339(fields), self._types.of(fields))
        except UNDECODABLE:
            return None


def typed(settings):
    return RecordTypes(settings.segment_keys, named=settings.has_class_names)


READERS = [(OddLines(s, typed(s), RecordFaults(s)), Reference(s)) for s in SETTINGS]


def check(line):
    for odd, reference in READERS:
        read = reference.read(line, LATEST)
        expected = reference.found(line, read)
        for doubted in (False, True):
            found = odd.read(line, LATEST, doubted=doubted)
            assert reference.found(line, found) == expected, line
        if isinstance(read, msgspec.Struct):
            assert odd.fault(line, LATEST) == reference.fault(line, LATEST), line


@pytest.mark.parametrize("base", range(len(BASES)))
def test_every_field_with_every_odd_value_has_the_fault_of_the_reference(base):
    for name, value in product(FIELDS, ODD):
        check(json.dumps({**BASES[base], name: value}, ensure_ascii=False).encode())
    for name in BASES[base]:
        check(json.dumps({n: v for n, v in BASES[base].items() if n != name}).encode())


def test_damaged_lines_have_the_fault_of_the_reference():
    for line in MALFORMED:
        check(line)
    for record in [record for records in REASONS.values() for record in records]:
        check(json.dumps(record).encode())


@given(
    st.dictionaries(
        st.sampled_from(FIELDS), st.one_of(st.sampled_from(ODD), times, ids), max_size=6
    ),
    st.one_of(st.sampled_from(BASES), predictions),
    st.sampled_from(["none", "twice", "cut", "NaN", "surrogate", "inf"]),
    st.integers(0, 80),
)
def test_lines_by_chance_have_the_fault_of_the_reference(more, base, damage, place):
    line = json.dumps({**base, **more}, ensure_ascii=False).encode()
    inner = line[1:-1] or b'"a": 1'
    check(
        {
            "none": line,
            "twice": b"{" + inner + b", " + inner.replace(b"1", b"2") + b"}",
            "cut": line[:place] + line[place + 1 :],
            "NaN": b"{" + inner + b', "x": NaN}',
            "surrogate": b"{" + inner + b', "y\\udc00": "\\ud800"}',
            "inf": b"{" + inner + b', "score": 1e400}',
        }[damage]
    )


@given(st.lists(st.tuples(st.sampled_from(BASES), st.sampled_from(ODD)), max_size=8))
def test_neighbours_of_a_line_do_not_change_what_it_is(records):
    lines = [json.dumps({**base, "id": value}).encode() for base, value in records]
    decoder = Decoder(SETTINGS[1])
    whole = decoder.decode_lines(b"\n".join(lines), source="f", latest_ms=LATEST)
    alone = [
        (str(r.reason), r.detail)
        for n, line in enumerate(lines, 1)
        for r in decoder.decode_lines(line, source="f", first_line=n, latest_ms=LATEST).rejected
    ]
    assert [(str(r.reason), r.detail) for r in whole.rejected] == alone


def test_no_line_of_a_rejected_body_is_parsed_twice(monkeypatch):
    parsed = []
    monkeypatch.setattr("monitor.feeds.decode.odd_lines.parse", parsed.append)
    lines = b'{"type":"label","id":"a","ts":0,"label":7}\n' * 100 + b"{}\n" * 100
    batch = Decoder(SETTINGS[0]).decode_lines(lines, source="f")
    assert (len(batch.rejected), parsed) == (200, [])


@pytest.mark.parametrize("kernel", ["c", "python"])
def test_a_batch_has_no_group_of_rejected_lines_alone(kernel):
    if kernel == "c" and compiled_module() is None:
        pytest.skip("no compiled kernel is installed")
    lines = [
        json.dumps(
            {"type": "prediction", "id": "a", "ts": 0, "prediction": 1, "model": name} | more
        )
        for name, more in (
            ("b", {"ts": 1.7e12}),
            ("a", {}),
            ("c", {"prediction": 7}),
            ("d", {"id": 0.5}),
        )
    ]
    batch = Decoder(DecodeSettings(), kernel=kernel).decode_lines(
        "\n".join(lines).encode(), source="f"
    )
    assert (len(batch.rejected), [group.model for group in batch.groups]) == (3, ["a"])
