import json
import random

from hypothesis import given
from hypothesis import strategies as st
from streams import batch_of, in_batches

from monitor.events.watermark import Watermark
from monitor.feeds.decode import Decoder, DecodeSettings

events = st.lists(
    st.builds(
        lambda kind, i, ts: {"type": kind, "id": f"{i}", "ts": ts, "prediction": 1, "label": 1},
        st.sampled_from(["prediction", "label"]),
        st.integers(0, 5),
        st.integers(0, 30),
    ),
    max_size=40,
)


def watermark_of(stream, size=1000):
    watermark = Watermark()
    for batch in in_batches(stream, size):
        watermark.advance(batch)
    return watermark.time


@given(events, st.integers(1, 40), st.randoms(use_true_random=False))
def test_it_is_the_third_highest_time_of_distinct_events(stream, size, random):
    distinct = {(e["ts"], e["id"], e["type"]) for e in stream}
    times = sorted((ts for ts, _, _ in distinct), reverse=True)
    expected = times[2] * 1000 if len(times) > 2 else None
    assert watermark_of(stream, size) == expected
    assert watermark_of(random.sample(stream, len(stream)), size) == expected


def outcome(ts, label_ts=None, **more):
    late = {} if label_ts is None else {"label_ts": label_ts}
    fields = {"type": "outcome", "ts": ts, "prediction": 1, "label": 1, "model": "m"}
    return json.dumps(fields | late | more).encode()


def after(*lines):
    watermark, decoder = Watermark(), Decoder(DecodeSettings())
    for line in lines:
        watermark.advance(decoder.decode_lines(line, source=""))
    return watermark.time


def test_an_outcome_is_one_event_at_the_time_of_its_prediction():
    assert after(*(outcome(i, 500 + i, id=f"{i}") for i in range(5))) == 2_000
    assert after(outcome(1, 9, id="a"), outcome(2, 9, id="b")) is None


def test_an_outcome_without_an_id_counts_once_however_often_it_is_delivered():
    assert after(*[outcome(9, 10)] * 5, outcome(9, 11)) is None
    assert after(outcome(9, 10), outcome(9, 11), outcome(9, 12)) == 9_000
    assert after(b"\n".join([outcome(9, 10)] * 5)) is None


def test_it_never_goes_back():
    watermark, seen, chance = Watermark(), [], random.Random(5)
    for _ in range(200):
        event = {"type": "label", "id": f"{chance.random()}", "ts": chance.random(), "label": 1}
        watermark.advance(batch_of([event]))
        seen.append(-1 if watermark.time is None else watermark.time)
    assert seen == sorted(seen)


def test_it_does_not_fall_behind_what_a_sender_of_counts_has_reached():
    decoder, watermark = Decoder(DecodeSettings()), Watermark()
    reached = []
    for line in (
        b'{"type":"counts","ts":10,"watermark":100,"tp":1,"fp":0,"fn":0,"tn":0,"model":"m"}',
        b'{"type":"label","id":"a","ts":101,"label":1}',
        b'{"type":"label","id":"b","ts":102,"label":1}',  # the third-highest is of the counts
        b'{"type":"label","id":"c","ts":103,"label":1}',
    ):
        watermark.advance(decoder.decode_lines(line, source=""))
        reached.append(watermark.time)
    assert reached == [100_000, 100_000, 100_000, 101_000]
