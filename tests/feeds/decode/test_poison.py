"""Each kind of bad input, between good records that must all count."""

import json

import pytest

from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode import Decoder, DecodeSettings, ModelFields

DECODER = Decoder(
    DecodeSettings(models={"fraud": ModelFields(0.5, ("region",)), "spam": ModelFields()})
)
GOOD = b'{"type":"label","id":"good","ts":1600000000,"label":1}'


def label(**fields):
    return {"type": "label", "id": "a", "ts": 1600000000, "label": 1} | fields


def prediction(**fields):
    common = {"type": "prediction", "id": "a", "ts": 1600000000, "prediction": 1, "model": "fraud"}
    return common | fields


def counts(**fields):
    return dict.fromkeys(("tp", "fp", "fn", "tn"), 1) | {
        "type": "counts", "ts": 1600000000, "model": "fraud",
    } | fields  # fmt: skip


def without(record, name):
    return {key: value for key, value in record.items() if key != name}


MALFORMED = [
    b'{"type":"label","id":"a","ts":1600000000,"label":1',
    b'{"type":"label","id":"a","ts":1600000000,"label":1}}',
    b'{"type":"label","id":"a","ts":1600000000,"label":1,}',
    b"{'type':'label'}",
    b"not json at all",
    b"\0\0\0\0",
    b'{"type":"label","id":"a\0","ts":1600000000,"label":1}',
    b'{"type":"label","id":"\xff","ts":1600000000,"label":1}',
    b'{"type":"label","id":"a","ts":1600000000,"label":1,"ignored":"\xff"}',
    b'{"type":"label","id":"\\ud800","ts":1600000000,"label":1}',
    b'{"type":"label","id":"a","ts":1600000000,"label":1,"ignored":"\\udc00x"}',
    b'{"type":"label","id":"a","ts":1600000000,"label":1,"ignored":NaN}',
    b'\xef\xbb\xbf{"type":"label","id":"a","ts":1600000000,"label":1}',
    b'{"type":"label","id":"a","ts":01,"label":1}',
    b"[" * 10_000 + b"]" * 10_000,
    b"[" * 10_000,
    b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    b'{"type":"label","id":"a","ts":1600000000,"label":1,"x":' + b"[" * 9999 + b"]" * 9999 + b"}",
    b'[{"type":"label","id":"a","ts":1600000000,"label":1}]',
    b"null",
    b"1",
    b'"label"',
    GOOD + GOOD,
]

REASONS = {
    RejectReason.MISSING_FIELD: [
        {},
        without(label(), "id"),
        without(label(), "ts"),
        without(label(), "label"),
        label(ts=None),
        without(prediction(), "prediction"),
        without(prediction(), "model"),
        {**without(prediction(), "prediction"), "score": 0.7, "model": "spam"},
        without(counts(), "fn"),
        counts(source="a"),
        counts(batch="a"),
        without(prediction(type="outcome"), "label"),
        without(prediction(type="outcome", label=None), "id"),
        without(prediction(type="outcome", label=1, sampling_probability=0.5), "id"),
    ],
    RejectReason.BAD_VALUE: [
        label(label=7),
        label(label=-1),
        label(label=0.5),
        label(label=2.0),
        label(label="1"),
        label(label=[]),
        label(id=""),
        label(id=True),
        label(id=1.5),
        label(ts="yesterday"),
        label(ts="2020-01-01T00:00:00"),
        label(ts=True),
        label(ts=[1]),
        label(ts=float("nan")),
        label(ts=float("inf")),
        label(type=3),
        label(sampling_probability=0),
        label(sampling_probability=1.5),
        label(sampling_probability=float("nan")),
        label(audit=2),
        label(audit="yes"),
        prediction(type="outcome", label=1, audit=True),
        prediction(prediction=2),
        prediction(prediction=None, score="0.5"),
        prediction(score=float("nan")),
        prediction(score=float("inf")),
        prediction(score=float("-inf")),
        prediction(score=-0.1),
        prediction(score=1.1),
        prediction(model=""),
        prediction(model=5.0),
        prediction(version=1.2),
        prediction(version=True),
        prediction(version="a\0"),
        prediction(segment="eu"),
        prediction(segment={"region": 5.0}),
        prediction(segment={"region": ""}),
        prediction(segment={"region": "ü" * 129}),
        prediction(segment={"region": "a\0"}),
        counts(tp=1.5),
        counts(tp=2**31 + 1),
        counts(fn="1"),
        counts(tn=True),
        counts(predicted_positive=-(10**30)),
        counts(source=1.5, batch="a"),
    ],
    RejectReason.UNKNOWN_TYPE: [label(type="lable"), label(type=""), label(type="LABEL")],
    RejectReason.UNKNOWN_MODEL: [prediction(model="x"), prediction(model=5), counts(model="x")],
    RejectReason.TOO_LARGE: [
        label(id="a" * 257),
        label(id="ü" * 129),
        label(id="a" * 1_000_000),
        label(ignored="a" * 65_536),
        label(ignored=["a"] * 20_000),
    ],
    RejectReason.TIMESTAMP_OUT_OF_RANGE: [
        label(ts=7258118400),
        label(ts=-2208988801),
        label(ts=1e10),
        label(ts=1e300),
        label(ts=-1e300),
        label(ts=10**30),
        label(ts="2200-01-01T00:00:00Z"),
        label(ts="0001-01-01T00:00:00Z"),
        prediction(type="outcome", label=1, label_ts=1e11),
    ],
    RejectReason.TIMESTAMP_IN_MILLISECONDS: [
        label(ts=1_600_000_000_000),
        label(ts=1_600_000_000_000_000),
        label(ts=1_600_000_000_000_000_000),
        prediction(ts=1_600_000_000_123.5),
        prediction(type="outcome", label=1, label_ts=1_600_000_000_000),
    ],
}
CASES = [(line, RejectReason.MALFORMED) for line in MALFORMED] + [
    (json.dumps(record).encode(), reason)
    for reason, records in REASONS.items()
    for record in records
] + [
    (b'{"type":"prediction","id":"a","ts":1600000000,"model":"fraud","score":1e999}',
     RejectReason.BAD_VALUE),
    (b'{"type":"label","id":"a","label":1,"ts":' + b"9" * 5000 + b"}", RejectReason.BAD_VALUE),
    (b'{"type":"label","id":' + b"9" * 400 + b',"label":1,"ts":1}', RejectReason.BAD_VALUE),
]  # fmt: skip


@pytest.mark.parametrize(("line", "reason"), CASES, ids=lambda v: str(v)[:60])
def test_a_bad_record_has_its_reason_and_costs_nothing_but_itself(line, reason):
    for data in (b"\n".join([GOOD, line, GOOD]), line, line + b"\r\n"):
        batch = DECODER.decode_lines(data, source="feed", first_line=100)
        assert [r.reason for r in batch.rejected] == [reason]
        rejection = batch.rejected[0]
        assert rejection.detail
        assert rejection.record == line[:1024]
        assert len(batch.labels) == batch.records - 1 == 2 * (data.count(b"\n") == 2)
    assert rejection.position == "feed:100"


def test_all_bad_records_at_once_keep_their_lines_and_all_good_ones():
    data = b"".join(line + b"\n" + GOOD + b"\n" for line, _ in CASES)
    batch = DECODER.decode_lines(data, source="f")
    assert [r.reason for r in batch.rejected] == [reason for _, reason in CASES]
    assert [r.position for r in batch.rejected] == [f"f:{2 * i + 1}" for i in range(len(CASES))]
    assert len(batch.labels) == len(CASES)
    assert batch.records == 2 * len(CASES)


@pytest.mark.parametrize(
    ("ts", "unit"),
    [
        (1_600_000_000_000, "milliseconds"),
        (1_600_000_000_000_000, "microseconds"),
        (1_600_000_000_000_000_000, "nanoseconds"),
    ],
)
def test_a_time_in_another_unit_is_named(ts, unit):
    batch = DECODER.decode_lines(json.dumps(label(ts=ts)).encode(), source="f")
    assert batch.rejected[0].detail == f"ts: must be in epoch seconds, got {ts}, which is {unit}"


def test_details_name_the_field_the_rule_and_the_value():
    def detail(record):
        return DECODER.decode_lines(json.dumps(record).encode(), source="f").rejected[0].detail

    assert detail(label(label=7)) == "label: must be 0, 1, true, false or null, got 7"
    assert detail(label(id=1.5)) == (
        "id: must be a string that is not empty, or an integer, got 1.5; make it text or an "
        "integer, since 1.10 and 1.1 are one float"
    )
    assert detail(prediction(model="frod")) == (
        "model: is none of those configured ('fraud', 'spam'), got \"frod\""
    )
    assert detail(prediction(segment={"region": True})) == (
        "segment.region: must be a string that is not empty, or an integer, got true"
    )


def test_the_record_of_largest_size_is_taken():
    line = b'{"type":"label","id":"a","ts":1,"label":1,"x":"%s"}'
    room = 64 * 1024 - len(line) + 2
    for spare, reasons in ((0, []), (1, [RejectReason.TOO_LARGE])):
        data = line % (b"a" * (room + spare))
        assert [r.reason for r in DECODER.decode_lines(data, source="f").rejected] == reasons


def test_names_of_ids_may_be_anything_that_is_text():
    for name in ("a\0b", "\n", "💥" * 64, "a" * 256, "__proto__", '"'):
        batch = DECODER.decode_lines(json.dumps(label(id=name)).encode(), source="f")
        assert len(batch.labels) == 1
