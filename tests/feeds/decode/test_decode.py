import json
from operator import mul

import numpy as np
import pandas as pd
import pytest
from feeds.decode.oracle import KEYS, SEGMENTS, THRESHOLDS, decode, key, rows_of
from feeds.decode.strategies import good, streams
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.errors import ConfigError
from monitor.events.batches import concatenate
from monitor.events.columns import KINDS, RETRACTED, Group
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode import Decoder, DecodeSettings, ModelFields
from monitor.kernel import compiled_module

MODELS = {name: ModelFields(THRESHOLDS[name], SEGMENTS[name]) for name in THRESHOLDS}
SETTINGS = DecodeSettings(models=MODELS)
DECODER = Decoder(SETTINGS)
ANY = Decoder(DecodeSettings())


def one(decoder=ANY, **fields):
    return decoder.decode_lines(json.dumps(fields).encode(), source="t")


@settings(max_examples=50)
@given(streams)
def test_any_stream_decodes_as_the_oracle_says(data):
    batch = DECODER.decode_lines(data, source="feed")
    rows, bad = decode(data)
    assert rows_of(batch) == rows
    assert [r.position for r in batch.rejected] == [f"feed:{line}" for line in sorted(bad)]
    for rejection, line in zip(batch.rejected, sorted(bad), strict=True):
        assert str(rejection.reason) in bad[line], rejection
    assert batch.records == sum(bool(line.strip(b" \t\r\n")) for line in data.split(b"\n"))


@settings(max_examples=50)
@given(streams)
def test_without_configured_models_any_stream_decodes_as_the_oracle_says(data):
    batch = ANY.decode_lines(data, source="feed")
    rows, _ = decode(data, models={})
    # Without configured segments, their values are not checked.
    assert set(map(repr, rows)) <= set(map(repr, rows_of(batch)))


@settings(max_examples=50)
@given(st.lists(good, max_size=20))
def test_the_fast_path_equals_the_slow_one(records):
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    fast = DECODER.decode_lines(data, source="f")
    slow = DECODER.decode_lines(b"{\n" + data, source="f")
    assert rows_of(fast) == rows_of(slow)
    assert not fast.rejected
    assert slow.records == fast.records + 1
    assert [r.position for r in slow.rejected] == ["f:1"]


@given(st.lists(st.builds(mul, st.sampled_from("aü💥\n"), st.integers(1, 256))), st.booleans())
def test_ids_are_too_large_by_their_own_bytes_however_long_the_lines_are(ids, ascii_only):
    records = [{"type": "label", "id": name, "ts": 1, "label": 1} for name in ids]
    lines = [json.dumps(record, ensure_ascii=ascii_only).encode() for record in records]
    batch = ANY.decode_lines(b"\n".join(lines), source="t")
    large = [i for i, name in enumerate(ids, 1) if len(name.encode()) > 256]
    assert [(r.position, r.reason) for r in batch.rejected] == [
        (f"t:{i}", "too_large") for i in large
    ]
    assert batch.labels.key.tolist() == [key(name) for name in ids if len(name.encode()) <= 256]


@settings(max_examples=25, deadline=None)  # a machine may be busy
@given(st.lists(streams, max_size=4))
def test_what_a_decoder_remembers_of_earlier_blocks_changes_nothing(blocks):
    used = Decoder(SETTINGS)
    for block in blocks:
        found = used.decode_lines(block, source="f")
        fresh = Decoder(SETTINGS).decode_lines(block, source="f")
        assert found.groups == fresh.groups
        assert rows_of(found) == rows_of(fresh)
        assert found.rejected == fresh.rejected


def test_more_groups_than_a_decoder_remembers_stay_distinct():
    records = [
        {"type": "prediction", "id": "a", "ts": 1, "prediction": 1, "version": str(number)}
        for number in range(20_000)
    ]
    data = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    decoder = Decoder(DecodeSettings())
    for _ in range(2):
        batch = decoder.decode_lines(data, source="t")
        assert batch.groups == tuple(Group("default", str(number)) for number in range(20_000))
        assert batch.predictions.group.tolist() == list(range(20_000))


@given(streams, st.integers(1, 7))
def test_blocks_of_any_number_of_lines_give_the_same(data, size):
    lines = data.split(b"\n")
    starts = range(0, len(lines), size)
    parts = [
        DECODER.decode_lines(b"\n".join(lines[i : i + size]) + b"\n", source="f", first_line=i + 1)
        for i in starts
    ]
    whole = DECODER.decode_lines(data, source="f")
    together = concatenate(parts)
    assert rows_of(together) == rows_of(whole)
    assert together.rejected == whole.rejected
    assert together.records == whole.records


def test_predictions_of_outcomes_stand_in_the_order_of_the_records():
    def prediction(i):
        return {"type": "prediction", "id": str(i), "ts": i, "prediction": 1}

    def outcome(i):
        return {"type": "outcome", "id": str(i), "ts": i, "prediction": 1, "label": 0}

    records = [prediction(0), outcome(1), {**prediction(2), "ts": 1e300}, outcome(3), prediction(4)]
    batch = ANY.decode_lines(b"\n".join(json.dumps(r).encode() for r in records), source="t")
    assert batch.predictions.time.tolist() == [0, 1000, 3000, 4000]
    assert [r.position for r in batch.rejected] == ["t:3"]


def test_an_object_over_two_lines_is_two_bad_records_and_glued_ones_are_one():
    label = b'{"type":"label","id":"a","ts":1,"label":1}'
    broken = b'{"type":"label","id":"a",\n"ts":1,"label":1}\n'
    batch = ANY.decode_lines(broken + label + label + b"\n" + label + b"\n", source="t")
    assert [r.position for r in batch.rejected] == ["t:1", "t:2", "t:3"]
    assert len(batch.labels) == 1


def test_a_score_alone_is_judged_by_the_threshold_of_its_model():
    for score, positive in ((0.5, True), (0.49, False)):
        batch = one(DECODER, type="prediction", id="a", ts=1, score=score, model="fraud")
        assert batch.predictions.predicted_positive.tolist() == [positive]
    batch = one(DECODER, type="prediction", id="a", ts=1, score=0.9, model="spam")
    assert [r.reason for r in batch.rejected] == [RejectReason.MISSING_FIELD]


def test_a_prediction_wins_over_its_score():
    batch = one(DECODER, type="prediction", id="a", ts=1, score=0.9, prediction=0, model="fraud")
    assert batch.predictions.predicted_positive.tolist() == [False]
    assert batch.predictions.score.tolist() == [0.9]


def test_the_model_may_be_left_out_where_there_is_one_or_none():
    fields = {"type": "prediction", "id": "a", "ts": 1, "prediction": 1}
    assert one(ANY, **fields).groups == (Group("default"),)
    only = Decoder(DecodeSettings(models={"fraud": ModelFields()}))
    assert one(only, **fields).groups == (Group("fraud"),)
    assert one(DECODER, **fields).rejected[0].reason is RejectReason.MISSING_FIELD
    assert one(only, **fields, model="x").rejected[0].reason is RejectReason.UNKNOWN_MODEL


def test_segments_keep_the_configured_keys_in_their_order():
    segment = {"channel": "web", "x": 1, "region": None}
    for model, values in (("fraud", ("__missing__", "web")), ("spam", ("web",))):
        fields = {"type": "prediction", "id": "a", "ts": 1, "prediction": 1, "model": model}
        batch = one(DECODER, **fields, version="v2", segment=segment)
        assert batch.groups == (Group(model, "v2", values),)
    assert DECODER.settings.segment_keys == KEYS


def test_a_null_label_retracts_and_an_outcome_without_label_is_a_prediction():
    batch = one(type="label", id="a", ts=1, label=None)
    assert batch.labels.value.tolist() == [RETRACTED]
    batch = one(type="outcome", id="a", ts=1, prediction=1, label=None)
    assert len(batch.predictions) == 1
    assert len(batch.labels) == 0


def test_an_outcome_with_an_id_is_a_prediction_and_a_label():
    fields = {"type": "outcome", "ts": 1, "label_ts": 2.5, "prediction": True, "label": False}
    batch = one(**fields, id="a", sampling_probability=0.25)
    assert batch.predictions.key.tolist() == batch.labels.key.tolist() == [key("a")]
    assert (batch.predictions.time.tolist(), batch.labels.time.tolist()) == ([1000], [2500])
    assert batch.labels.sampling_probability.tolist() == [0.25]
    alone = one(**fields).outcomes
    assert (alone.time.tolist(), alone.label_time.tolist()) == ([1000], [2500])
    assert (alone.predicted_positive.tolist(), alone.actual_positive.tolist()) == ([True], [False])


def test_counts_default_their_population_to_the_labelled():
    fields = {"type": "counts", "ts": 1, "tp": 5, "fp": -1, "fn": 2, "tn": 7}
    counts = one(**fields).counts
    assert counts.cells.tolist() == [[5, -1, 2, 7]]
    assert counts.population.tolist() == [[4, 9]]
    assert counts.batch_key.tolist() == [0]
    assert one(**fields, predicted_negative=100).counts.population.tolist() == [[4, 100]]


def test_a_pair_of_source_and_batch_has_one_key_of_its_own():
    def batch_key(source, batch):
        fields = {"type": "counts", "ts": 1, "tp": 0, "fp": 0, "fn": 0, "tn": 0}
        return int(one(**fields, source=source, batch=batch).counts.batch_key[0])

    pairs = [("a", "b"), ("b", "a"), ("a,b", "c"), ("a", "b,c"), ('a","b', "c")]
    assert len({batch_key(*pair) for pair in pairs}) == len(pairs)
    assert batch_key("a", "b") == batch_key("a", "b") != 0


def test_the_last_of_a_repeated_key_counts():
    line = b'{"type":"label","id":"a","ts":1,"label":0,"label":1}'
    assert ANY.decode_lines(line, source="t").labels.value.tolist() == [1]
    line = b'{"type":"label","id":"a","ts":1,"label":1,"prediction":1,"type":"prediction"}'
    assert ANY.decode_lines(line, source="t").rejected[0].reason is RejectReason.BAD_VALUE


def test_the_type_may_be_left_out_where_the_other_fields_imply_it():
    lines = [
        b'{"id":"a","ts":1,"prediction":1}',
        b'{"id":"a","ts":2,"label":1}',
        b'{"type":null,"ts":1,"prediction":1,"label":0,"sampling_probability":null}',
        b'{"ts":1,"tp":1,"fp":0,"fn":0,"tn":0}',
    ]
    batch = ANY.decode_lines(b"\n".join(lines), source="t")
    assert batch.rejected == ()
    assert [len(getattr(batch, kind)) for kind in KINDS] == [1, 1, 1, 1]


def test_an_integer_id_is_its_text():
    lines = b'{"id":17,"ts":1,"prediction":1}\n{"type":"label","id":"17","ts":2,"label":1}\n'
    batch = ANY.decode_lines(lines, source="t")
    assert batch.predictions.key.tolist() == batch.labels.key.tolist()
    assert batch.predictions.row.tolist() == [0]


@pytest.mark.parametrize(
    ("ts", "expected"),
    [
        (1.001, 1001),
        (1362128400.001, 1362128400001),
        (59.999999, 59999),
        (-0.0005, -1),
        (-2208988800, -2208988800000),
        (7258118399.999, 7258118399999),
        ("1970-01-01T00:00:59.999999Z", 59999),
        ("1970-01-01T01:00:00.0015+01:00", 1),
    ],
)
def test_times_are_exact_to_the_microsecond_and_floored_to_the_millisecond(ts, expected):
    assert one(type="label", id="a", ts=ts, label=1).labels.time.tolist() == [expected]


def test_a_pushed_feed_refuses_what_lies_ahead_of_the_clock():
    pushed = Decoder(DecodeSettings(latest_ms=10_000))
    assert len(one(pushed, type="label", id="a", ts=10, label=1).labels) == 1
    late = one(pushed, type="label", id="a", ts=10.001, label=1)
    assert late.rejected[0].reason is RejectReason.TIMESTAMP_OUT_OF_RANGE
    line = b'{"type":"label","id":"a","ts":11,"label":1}'
    assert len(pushed.decode_lines(line, source="t", latest_ms=11_000).labels) == 1


@example([["a"], [], ["b"]])
@given(st.lists(st.lists(st.sampled_from("abc"), max_size=3), max_size=4))
def test_blank_lines_carriage_returns_and_the_mark_are_no_records(stretches):
    lines = []
    for stretch in stretches:
        lines += [f'{{"type":"label","id":"{i}","ts":1,"label":1}}'.encode() for i in stretch]
        lines.append(b" \t")
    batch = ANY.decode_lines(b"\xef\xbb\xbf" + b"\r\n".join(lines), source="t")
    assert batch.labels.key.tolist() == [key(i) for stretch in stretches for i in stretch]
    assert not batch.rejected


def test_settings_come_from_the_configuration():
    from monitor.config import Config  # noqa: PLC0415 - config stands to the right of feeds

    config = Config.model_validate(
        {"models": {"fraud": {"threshold": 0.5, "segments": ["region"]}, "spam": {}}}
    )
    settings = DecodeSettings.from_config(config)
    assert settings.models == {"fraud": ModelFields(0.5, ("region",)), "spam": ModelFields()}
    assert DecodeSettings.from_config(Config()).models is None


def test_arrays_have_the_types_of_the_columns():
    batch = ANY.decode_lines(b"", source="t")
    assert batch.records == 0
    batch = one(type="prediction", id="a", ts=1, prediction=1)
    columns = batch.predictions
    kinds = [np.uint64, np.int64, np.bool_, np.float64, np.int64]
    names = ["key", "time", "predicted_positive", "score", "group"]
    assert [getattr(columns, name).dtype for name in names] == kinds


def test_a_segment_key_that_no_record_type_can_hold_is_a_config_fault():
    with pytest.raises(ConfigError, match="holds no quote and no backslash, got 'a\"b'"):
        Decoder(DecodeSettings(default=ModelFields(None, ('a"b',))))


def test_a_line_above_the_configured_length_is_too_large():
    config = Config(max_record_bytes=100)
    line = b'{"type":"label","id":"a","ts":1,"label":1,"note":"%s"}\n'
    batch = Decoder(DecodeSettings.from_config(config)).decode_lines(
        line % b"" + line % (b"x" * 100), source="x"
    )
    assert len(batch.labels) == 1
    assert [(r.reason, r.detail) for r in batch.rejected] == [
        ("too_large", "record: must be at most 100 bytes")
    ]


def test_the_labels_of_counts_may_be_ahead_of_the_clock():
    line = b'{"type": "counts", "ts": 100, "label_ts": 9000, "tp": 1, "fp": 0, "fn": 0, "tn": 0}'
    batch = Decoder(DecodeSettings()).decode_lines(line, source="t", latest_ms=200_000)
    assert (batch.counts.label_time.tolist(), batch.rejected) == ([9_000_000], ())
    late = Decoder(DecodeSettings()).decode_lines(
        line.replace(b'"ts": 100', b'"ts": 900'), source="t", latest_ms=200_000
    )
    assert [one.reason for one in late.rejected] == ["timestamp_out_of_range"]


@pytest.mark.parametrize("kernel", ["c", "python"])
@pytest.mark.parametrize("classes", [[], ["0", "1", "2"]])
def test_classes_that_pandas_writes_as_floats_are_read(kernel, classes):
    """`DataFrame.to_json` writes a column with missing values so."""
    if kernel == "c" and compiled_module() is None:
        pytest.skip("no compiled kernel is installed")
    settings = DecodeSettings.from_config(Config(models={"m": {"classes": classes}}))
    decoder = Decoder(settings, kernel=kernel)
    table = {"ts": [0, 1, 2, 3], "prediction": [1.0, 0, None, 1], "label": [0, 1.0, 1, None]}
    frame = pd.DataFrame(table | {"id": list("abcd")}).drop(index=2)
    written = frame.to_json(orient="records", lines=True)
    assert '"prediction":1.0,"label":0.0' in written
    found = decoder.decode_lines(written.encode(), source="t")
    whole = written.replace(".0", "").encode()
    assert not found.rejected
    assert rows_of(found) == rows_of(decoder.decode_lines(whole, source="t"))
    rows = [{"type": "outcome", **json.loads(line)} for line in written.splitlines()]
    again = decoder.decode_fields(rows, position=str, record=lambda _: b"")
    assert rows_of(again) == rows_of(found)
